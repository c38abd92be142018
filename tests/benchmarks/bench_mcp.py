"""What MCP servers cost a server of ours: its memory, the CPU until a turn begins, and the time to the first token.

    python -m tests.benchmarks.bench_mcp [ROUNDS]

Without any server, with six that answer at once, and with six that never answer. Goals: without a server nothing of
tark_lsp.mcp is imported (tests/mcp/test_server.py); six servers add nothing to the first token but what reading their
pins takes.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from tark_lsp.mcp.eras import Era
from tark_lsp.mcp.pin_store import PinStore
from tark_lsp.mcp.pins import Pin
from tark_lsp.mcp.server_config import ServerConfig, resolve
from tark_lsp.mcp.server_tools import read_tools
from tark_lsp.mcp_settings import McpServerSettings
from tests.mcp.plain_server import many
from tests.mcp.servers import PLAIN
from tests.server.raw import RawServer, python

CONFIG = 'model = "scripted/m"\nworkspaceTrusted = true\nsandbox = "off"\n[providers.scripted]\nscenario = "{}"\n'
SCENARIO = 'wire = "openai-chat"\n[[reply]]\ntext = "Hello."\n'
THINGS = "issue label milestone"
CASES = {
    "no server": ("", 0, 0.0),
    "six servers": ("many", 6, 0.0),
    "six silent servers": ("silent", 6, 0.0),
    "no server, in a chat that is open": ("", 0, 3.0),
    "six servers, in a chat that is open": ("many", 6, 3.0),
}
"""The kind of servers, their number, and for how many seconds a chat is open before the first prompt; 0: none is."""
IDLE_SECONDS = 2.0
"""Between the start of our server and the first prompt: somebody has to type it."""
COLUMNS = (
    "memory at start, MB",
    "CPU until then, ms",
    "first token, ms",
    "CPU of that, ms",
    "second turn's first token, ms",
    "CPU of that, ms",
)
"""CPU is that of our process: on a busy machine the time says little, since six programs start."""


def measure(kind: str, count: int, opened: float) -> tuple[float, ...]:
    """The values of `COLUMNS`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        workspace, home = folder / "workspace", folder / "config" / "tark"
        workspace.mkdir()
        home.mkdir(parents=True)
        (folder / "scenario.toml").write_text(SCENARIO)
        config = CONFIG.format(folder / "scenario.toml")
        pins = PinStore(lambda: folder / "state" / "tark" / "mcp")
        for number in range(count):
            args = ["-S", "-E", PLAIN, kind]
            settings = McpServerSettings(command=sys.executable, args=tuple(args), env={"TOY_THINGS": THINGS})
            config += f'[mcp.servers.s{number}]\ncommand = "{sys.executable}"\nargs = {json.dumps(args)}\n'
            config += f'env = {{ "TOY_THINGS" = "{THINGS}" }}\n'
            server = ServerConfig(f"s{number}", settings)
            tools, _ = read_tools(many(THINGS))
            pins.write(Pin(server.name, resolve(server, [workspace]).digest, tools, server.scope, Era.LEGACY))
        (home / "config.toml").write_text(config)
        env = {"XDG_CONFIG_HOME": str(folder / "config"), "XDG_STATE_HOME": str(folder / "state")}
        with RawServer(python("tark_lsp"), cwd=workspace, env=env) as server_process:
            return run(server_process, workspace, 15 * count, opened)


def run(server: RawServer, workspace: Path, tools: int, opened: float) -> tuple[float, ...]:
    folders = [{"uri": workspace.as_uri(), "name": "workspace"}]
    tark = {"experimental": {"tark": {"protocol": 1, "updates": True}}}
    server.call("initialize", {"processId": os.getpid(), "capabilities": tark, "workspaceFolders": folders})
    server.notify("initialized", {})
    process = psutil.Process(server.process.pid)
    command(server, "tark.state", {})
    memory, used = process.memory_info().rss, cpu(process)
    time.sleep(IDLE_SECONDS)
    if opened:
        command(server, "tark.session.new", {})
        time.sleep(opened)
    measured = []
    for _ in range(2):
        before = cpu(process)
        took, session = first_token(server)
        measured += [took * 1e3, cpu(process) - before]
    shown = json.dumps(command(server, "tark.session.context", {"sessionId": session}))
    assert (f"{tools} more on demand" in shown) == (tools > 0), shown
    server.call("shutdown")
    server.notify("exit")
    server.wait()
    return memory / 2**20, used, *measured


def cpu(process: psutil.Process) -> float:
    """Milliseconds."""
    times = process.cpu_times()
    return (times.user + times.system) * 1e3


def command(server: RawServer, name: str, argument: object) -> dict[str, object]:
    answer = server.call("workspace/executeCommand", {"command": name, "arguments": [argument]})
    assert "error" not in answer, answer
    result: dict[str, object] = answer["result"]
    return result


def first_token(server: RawServer) -> tuple[float, object]:
    """Seconds from the command to the first text, and the id of the session."""
    began = time.perf_counter()
    turn = command(server, "tark.turn.start", {"prompt": "say hello", "kind": "agent"})
    server.find(is_text)
    took = time.perf_counter() - began
    command(server, "tark.turn.wait", {"turnId": turn["turnId"]})
    return took, turn["sessionId"]


def is_text(message: dict[str, Any]) -> bool:
    return message.get("method") == "tark/update" and message["params"]["update"]["kind"] == "text"


def main(rounds: int) -> None:
    rows: dict[str, list[tuple[float, ...]]] = {name: [] for name in CASES}
    for name, case in CASES.items():
        measure(*case)  # byte code is compiled, files are in memory
        rows[name].clear()
    for _ in range(rounds):
        for name, case in CASES.items():
            rows[name].append(measure(*case))
    for name, found in rows.items():
        medians = [statistics.median(column) for column in zip(*found, strict=True)]
        told = ", ".join(f"{column} {value:.1f}" for column, value in zip(COLUMNS, medians, strict=True))
        print(f"{name}: {told}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
