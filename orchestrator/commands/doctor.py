"""`orch doctor`: what is well, what is missing, what is left over, and the repairs that are safe."""

import click


@click.command()
@click.option("--fix", is_flag=True, help="Repair what can be repaired without losing anything.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(fix: bool, as_json: bool) -> int:
    """Look at git, the configuration, the backends, the memory file and what killed runs have left.

    The exit code is 1 while something is broken; what is only missing or odd does not count.
    """
    from pathlib import Path

    from orchestrator.config import environment
    from orchestrator.doctor import examine
    from orchestrator.finding import repaired
    from orchestrator.view import print_json, print_table

    findings = list(examine(Path.cwd(), environment()))
    if fix:
        findings = [repaired(finding) for finding in findings]
    if as_json:
        shown = [
            {
                "state": finding.state,
                "area": finding.area,
                "text": finding.text,
                "hint": finding.hint,
                "fixable": finding.repair is not None,
            }
            for finding in findings
        ]
        print_json({"findings": shown})
    else:
        rows = [(finding.state, finding.area, finding.text, finding.hint) for finding in findings]
        print_table(("state", "what", "finding", "what helps"), rows)
    return int(any(finding.state == "fault" for finding in findings))
