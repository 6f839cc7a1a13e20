"""Which backends and seams are verified on this machine, and what is said of those that cannot be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adapters import registry
from orchestrator.backends import executable, require_backend
from orchestrator.claims import Row
from orchestrator.config_schema import Config
from orchestrator.errors import UsageProblem
from orchestrator.verify import Subject


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What will be run, and the rows that are known without running anything."""

    subjects: tuple[Subject, ...]
    absent: tuple[Row, ...]


def plan_verification(config: Config, environ: Mapping[str, str], names: Sequence[str]) -> Plan:
    """Plan for the named backends, or for every one that orch knows. Raises BackendProblem for an unknown name.

    A backend with two seams is verified through both.
    """
    own = next((name for name in names if name in config.own_backends), None)
    if own is not None:
        raise UsageProblem(
            f"{own} is defined in the configuration: orch does not know how to send its model's traffic elsewhere",
            "verify it by hand: spawn it with its model's address set to a server of yours",
        )
    # What the configuration defines is left out for the same reason.
    chosen = [require_backend(config, name) for name in names] or list(registry().values())
    subjects, absent = [], []
    for adapter in chosen:
        program = executable(adapter, config, environ)
        seams = [
            name for name, seam in (("file", adapter.file_seam), ("launch", adapter.launch_seam)) if seam is not None
        ]
        # The seam that is used when nothing is set comes first.
        seams.sort(key=lambda name: name != adapter.default_seam)
        if program is not None:
            subjects += [Subject(adapter=adapter, program=program, seam=seam) for seam in seams]
        else:
            row = Row(
                backend=adapter.name,
                seam=adapter.default_seam,
                version=None,
                tested=adapter.tested,
                note=f"not installed: {adapter.install}",
                installed=False,
            )
            absent.append(row)
    return Plan(subjects=tuple(subjects), absent=tuple(absent))
