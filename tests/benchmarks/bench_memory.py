"""Memory of one server over 1,000 turns: resident megabytes after every 100, all in one session and each in its own.

    python -m tests.benchmarks.bench_memory [turns]

Each turn reads a file and answers. Goals: within 10 % of what it was after 100 turns, and 120 MB at the end. The
history is kept in bounds by the window of 64,000 tokens, as with real models.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import psutil

from tests.server.raw import RawServer, python

SCENARIO = """\
[[reply]]
when = "<conversation>"
text = "Files were read, and nothing was changed."

[[reply]]
tool = "read_file"
text = "I looked at the file and found what was asked for; nothing there needs a change."
chunk = 8

[[reply]]
calls = [{ name = "read_file", arguments = { path = "a.py" } }]
"""
CONFIG = """\
model = "scripted/memory"
[limits]
turnUsd = 100
[providers.scripted]
scenario = {scenario!r}
[providers.scripted.models.memory]
contextWindow = 64000
"""
GOAL_MB, GOAL_GROWTH = 120, 0.10


def measure(folder: Path, turns: int, *, one_session: bool) -> list[float]:
    """Resident megabytes after each tenth of the turns."""
    workspace, home = folder / "workspace", folder / "config" / "tark"
    workspace.mkdir(parents=True)
    home.mkdir(parents=True)
    (workspace / "a.py").write_text("".join(f"value_{line} = compute({line})\n" for line in range(150)))
    (home / "scenario.toml").write_text(SCENARIO)
    (home / "config.toml").write_text(CONFIG.format(scenario=str(home / "scenario.toml")))
    env = {"XDG_CONFIG_HOME": str(folder / "config"), "XDG_STATE_HOME": str(folder / "state")}
    experimental = {"tark": {"protocol": 1, "updates": True}}
    folders = [{"uri": workspace.as_uri(), "name": "workspace"}]
    found = []
    with RawServer(python("tark_lsp"), env=env) as server:
        server.call(
            "initialize",
            {
                "processId": os.getpid(),
                "capabilities": {"experimental": experimental},
                "workspaceFolders": folders,
                "clientInfo": {"name": "bench"},
            },
        )
        server.notify("initialized", {})
        process = psutil.Process(server.process.pid)
        session: dict[str, str] = {}
        for number in range(1, turns + 1):
            start = {"prompt": f"read it once more, number {number}", **session}
            started = server.call("workspace/executeCommand", {"command": "tark.turn.start", "arguments": [start]})
            turn = {"turnId": started["result"]["turnId"]}
            end = server.call("workspace/executeCommand", {"command": "tark.turn.wait", "arguments": [turn]})["result"]
            assert end["stopReason"] == "end_turn", end
            session = {"sessionId": end["sessionId"]} if one_session else {}
            server.others.clear()
            if number % (turns // 10) == 0:
                found.append(process.memory_info().rss / 2**20)
        server.call("shutdown")
        server.notify("exit")
        server.wait()
    return found


def main(turns: int) -> None:
    for one_session in (True, False):
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            found = measure(Path(folder).resolve(), turns, one_session=one_session)
        where = "one session" if one_session else "a session each"
        growth = found[-1] / found[0] - 1
        print(f"{turns} turns in {where}, {time.monotonic() - began:.0f} s: MB after each tenth")
        print("  " + " ".join(f"{item:.1f}" for item in found))
        good = growth <= GOAL_GROWTH and found[-1] <= GOAL_MB
        print(f"  growth {growth:+.1%} (goal {GOAL_GROWTH:.0%}), {found[-1]:.1f} MB (goal {GOAL_MB}): {good}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
