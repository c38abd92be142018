"""The six real servers of docs/mcp.md, three of each era: approved, and used in a turn."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.agent.approval import Policy
from tark_lsp.mcp.eras import Era
from tark_lsp.messages import ApprovalLevel
from tark_lsp.tools.mcp_tool import mcp_tool
from tests.agent.bench import Bench
from tests.agent.script import answer, call
from tests.mcp.installed import node_servers, python_servers
from tests.mcp.servers import Desk

pytestmark = pytest.mark.exhaustive


@dataclass(frozen=True)
class Real:
    """`programs()` is the folder of its program. `said`: part of the result of the call of `tool`."""

    programs: Callable[[], Path]
    program: str
    args: tuple[str, ...]
    era: Era
    tools: int
    tool: str
    arguments: dict[str, Any]
    said: str


SERVERS = {
    "everything": Real(
        node_servers, "mcp-server-everything", ("stdio",), Era.LEGACY, 10, "echo", {"message": "hi"}, "Echo: hi"
    ),
    "filesystem": Real(
        node_servers,
        "mcp-server-filesystem",
        ("{folder}",),
        Era.LEGACY,
        10,
        "read_text_file",
        {"path": "{folder}/a.txt"},
        "words",
    ),
    "memory": Real(node_servers, "mcp-server-memory", (), Era.LEGACY, 5, "read_graph", {}, "entities"),
    "git": Real(python_servers, "mcp-server-git", (), Era.MODERN, 10, "git_status", {"repo_path": "{folder}"}, "a.txt"),
    "time": Real(
        python_servers, "mcp-server-time", (), Era.MODERN, 2, "get_current_time", {"timezone": "UTC"}, "datetime"
    ),
    "fetch": Real(
        python_servers, "mcp-server-fetch", (), Era.MODERN, 1, "fetch", {"url": "http://127.0.0.1:1/"}, "private"
    ),
}


@pytest.fixture
def desk(desk: Desk) -> Desk:
    """With a repository."""
    (desk.folder / "a.txt").write_text("words\n")
    subprocess.run(["git", "init", "-q", str(desk.folder)], check=True)
    return desk


@pytest.mark.parametrize("name", SERVERS)
async def test_a_real_server_in_a_turn(desk: Desk, name: str) -> None:
    real = SERVERS[name]

    def placed(text: Any) -> Any:
        return text.replace("{folder}", str(desk.folder)) if isinstance(text, str) else text

    program = real.programs() / real.program
    config = desk.config({"command": str(program), "args": tuple(map(placed, real.args))}, name)
    pin = await desk.approve(config)
    assert pin.era is real.era
    assert len(pin.tools) >= real.tools
    desk.servers.configure([config])
    bench = Bench(desk.folder, rules=Policy(ApprovalLevel.CAREFUL, trusted=True))
    bench.tools |= {offered.name: mcp_tool(offered) for offered in desk.servers.tools()}
    arguments = {key: placed(value) for key, value in real.arguments.items()}
    await bench.run(answer(call(f"mcp__{name}__{real.tool}", **arguments)), answer("done"))
    assert real.said in bench.results()[0], bench.results()[0]
    assert len(bench.user.asked) == 1
