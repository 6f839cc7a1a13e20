"""A stand-in for the `claude` program, for the README's session: it makes one commit and reports as claude does."""

import json
import subprocess
import sys
import time
from pathlib import Path


def main(args: list[str]) -> int:
    if "--version" in args:
        sys.stdout.write("2.1.197 (Claude Code)\n")
        return 0
    task = sys.stdin.read()
    test = Path("tests/test_login.py")
    test.parent.mkdir(exist_ok=True)
    test.write_text('from shop.login import login\n\n\ndef test_empty_password():\n    assert not login("ann", "")\n')
    subprocess.run(["git", "add", "--all"], check=True)
    subprocess.run(["git", "commit", "--quiet", "--message", "Test the login with an empty password"], check=True)
    Path("notes.txt").write_text("what is left to do\n")
    # Long enough that `orch spawn` sees it running.
    time.sleep(2)
    usage = {"inputTokens": 5200, "cacheReadInputTokens": 18000, "outputTokens": 640}
    result = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": f"Done: {task}",
        "session_id": args[args.index("--session-id") + 1],
        "num_turns": 4,
        "total_cost_usd": 0.05,
        "modelUsage": {"model": usage},
    }
    sys.stdout.write(json.dumps(result) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
