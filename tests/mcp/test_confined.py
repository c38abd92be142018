"""Servers in the sandbox: no network, a workspace that cannot be written to, and keys that no command line shows."""

import json
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from tark_lsp.agent.approval import Policy
from tark_lsp.agent.rules import Rule
from tark_lsp.errors import McpError
from tark_lsp.mcp.client import Call
from tark_lsp.mcp.launching import Surroundings
from tark_lsp.mcp.server import McpServer, ServerState
from tark_lsp.messages import ApprovalLevel
from tark_lsp.sandbox.planning import Places
from tark_lsp.sandbox.sandbox import Sandbox
from tark_lsp.tools.mcp_tool import mcp_tool
from tests.agent.bench import Bench
from tests.agent.script import answer
from tests.agent.script import call as call_of
from tests.mcp.servers import PLAIN, Desk


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    home = tmp_path / "home"
    home.mkdir()
    project = tmp_path / "project"
    project.mkdir()
    sandbox = Sandbox(Places(home, tmp_path / "caches", tmp_path / "state"), [project])
    if not await sandbox.check():
        pytest.skip(sandbox.why_not)
    desk = Desk(tmp_path, sandbox=lambda: sandbox)
    shutil.copy(PLAIN, project / "server.py")
    yield desk
    await desk.servers.aclose()


async def use(desk: Desk, kind: str, **settings: Any) -> McpServer:
    config = desk.config({"command": "/usr/bin/python3", "args": ("-S", "server.py", kind), **settings})
    await desk.approve(config)
    desk.servers.configure([config])
    return desk.servers.servers()[0]


async def call(server: McpServer) -> str:
    tool = server.approved().tools[0]
    return (await server.call_tool(Call(tool, {}))).text


async def test_it_cannot_write_to_the_workspace(desk: Desk) -> None:
    server = await use(desk, "writes")
    before = server.is_confined  # it was approved for the sandbox
    assert await call(server) == "OSError"
    assert (before, server.is_confined) == (True, True)
    assert sorted(path.name for path in desk.folder.iterdir()) == ["server.py"]


async def test_without_the_sandbox_it_can(desk: Desk) -> None:
    server = await use(desk, "writes", sandbox=False)
    assert await call(server) == "written"
    assert server.unconfined == "its settings say so"
    assert not server.is_confined


async def test_with_network_it_does_not_count_as_confined(desk: Desk) -> None:
    server = await use(desk, "", network=True)
    await call(server)
    assert not server.is_confined


async def test_after_it_died_its_next_call_needs_no_other_permission(desk: Desk) -> None:
    server = await use(desk, "dies-in-a-call")
    (offered,) = desk.servers.tools()
    bench = Bench(desk.folder, rules=Policy(ApprovalLevel.CAREFUL, trusted=True, allow=(Rule.parse(offered.name),)))
    bench.tools |= {offered.name: mcp_tool(offered)}
    await bench.run(answer(call_of(offered.name, a=1)), answer(call_of(offered.name, a=2)), answer("ok"))
    assert server.state is not ServerState.READY
    assert bench.errors() == ["mcp", "mcp"]
    assert bench.user.asked == []


async def test_a_call_that_was_allowed_for_the_sandbox_is_not_made_without_one(desk: Desk) -> None:
    """The user approves the server without a sandbox between the permission and the call."""
    server = await use(desk, "writes")
    allowed = server.is_confined
    without = replace(desk.around, sandbox=lambda: None)
    server = McpServer(server.config, desk.pins, without)
    desk.around = without
    await desk.approve(server.config)
    assert (allowed, server.is_confined) == (True, False)
    with pytest.raises(McpError, match="allowed for a server in the sandbox, but it runs without one: the sandbox is"):
        await server.call_tool(Call(server.approved().tools[0], {}), confined=allowed)
    assert [path.name for path in desk.folder.iterdir()] == ["server.py"]
    await server.aclose()


async def test_its_variables_are_on_no_command_line(desk: Desk) -> None:
    server = await use(desk, "environment", env={"TOKEN": "s3cret 'quoted' $HOME"})
    seen = json.loads(await call(server))
    assert seen["TOKEN"] == "s3cret 'quoted' $HOME"
    lines = [" ".join(one.info["cmdline"] or ()) for one in psutil.process_iter(["cmdline"])]
    assert any("server.py environment" in line for line in lines)
    assert not any("s3cret" in line for line in lines)


async def test_a_required_sandbox_that_is_off_starts_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path, sandbox_required=lambda: True)
    with pytest.raises(McpError, match="without a sandbox, but your settings require one"):
        await desk.approve(desk.plain())
    assert desk.told() == []


async def test_what_was_approved_for_the_sandbox_does_not_start_without_one(desk: Desk) -> None:
    config = desk.config({"command": "/usr/bin/python3", "args": ("-S", "server.py", "writes")}, source=desk.folder)
    await desk.approve(config)
    without = McpServer(config, desk.pins, Surroundings(lambda: [desk.folder], desk.environ))
    with pytest.raises(McpError, match="approved it for the sandbox, but it would run without one: the sandbox is"):
        await call(without)
    assert [path.name for path in desk.folder.iterdir()] == ["server.py"]
    desk.around = replace(desk.around, sandbox=lambda: None)
    await desk.approve(config)  # again, after the warning
    assert await call(without) == "written"
    await without.aclose()
