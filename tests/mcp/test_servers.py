"""Servers over stdio, friendly and hostile: each fault is an error that says what happened, and no process is left."""

import asyncio
import contextlib
import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from tark_lsp.errors import McpError
from tark_lsp.mcp.client import Call
from tark_lsp.mcp.connection import Connection
from tark_lsp.mcp.content import Content
from tark_lsp.mcp.elicitation import Elicitation, UrlToOpen, Value
from tark_lsp.mcp.eras import Era
from tark_lsp.mcp.server import McpServer, ServerState
from tark_lsp.mcp.server_config import ServerConfig
from tark_lsp.mcp.stdio import Program, StdioTransport
from tests.mcp.servers import Desk
from tests.patience import AT_ONCE


async def use(desk: Desk, config: ServerConfig) -> McpServer:
    """Approved, and with the servers of the desk, which end with the test."""
    await desk.approve(config)
    desk.log.unlink(missing_ok=True)
    desk.servers.configure([config])
    return desk.servers.servers()[0]


async def call(server: McpServer, tool: str = "add", **more: object) -> Content:
    approved = server.approved().find(tool)
    assert approved is not None
    async with asyncio.timeout(AT_ONCE):
        return await server.call_tool(Call(approved, {"a": 1, "b": 2}, **more))  # type: ignore[arg-type]  # of Call


def is_gone(pid: int) -> bool:
    return not psutil.pid_exists(pid)


def of_group(process: psutil.Process, group: int) -> bool:
    with contextlib.suppress(psutil.Error, ProcessLookupError):
        return os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE
    return False


async def noted(desk: Desk, beginning: str) -> None:
    """Until a server has noted such a line."""
    async with asyncio.timeout(AT_ONCE):
        while not any(line.startswith(beginning) for line in desk.told()):  # noqa: ASYNC110  # a file of another process
            await asyncio.sleep(0.01)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tark_lsp.mcp.stdio.CLOSE_SECONDS", 0.3)


async def test_a_call_starts_the_server_and_the_next_one_uses_it(desk: Desk) -> None:
    server = await use(desk, desk.plain())
    assert server.state is ServerState.STOPPED
    assert (await call(server)).text == "3"
    assert (await call(server)).text == "3"
    assert [line.split()[0] for line in desk.told()] == ["start", "call", "call"]
    assert server.approved().era is Era.LEGACY


async def test_a_server_that_nobody_approved_does_not_start(desk: Desk) -> None:
    desk.servers.configure([desk.plain()])
    desk.servers.start()
    with pytest.raises(McpError, match="you have not approved it"):
        await desk.servers.servers()[0].ready()
    assert desk.servers.tools() == []
    assert desk.told() == []
    assert "tark-lsp mcp approve toy" in desk.servers.notices()[0]


async def test_a_tool_that_is_switched_off_is_not_offered_and_not_called(desk: Desk) -> None:
    server = await use(desk, desk.plain())
    pin = server.approved()
    desk.pins.write(replace(pin, off=("add",)))
    assert desk.servers.tools() == []
    with pytest.raises(McpError, match="you switched its tool add off"):
        await call(server)
    desk.pins.write(replace(pin, disabled=True))
    await desk.servers.end("toy")
    with pytest.raises(McpError, match="you switched it off"):
        await server.ready()
    assert desk.servers.notices() == []  # the user knows it
    assert [line.split()[0] for line in desk.told()] == ["start", "stdin"]  # one start, and its end


CHANGES: dict[str, dict[str, Any]] = {
    "another argument": {"args": ("x",)},
    "another variable": {"env": {"OTHER": "1"}},
    "out of the sandbox": {"sandbox": False},
    "with network": {"network": True},
}


@pytest.mark.parametrize("change", CHANGES)
async def test_another_command_has_to_be_approved_again(desk: Desk, change: str) -> None:
    await desk.approve(desk.plain())
    desk.log.unlink()
    desk.servers.configure([desk.plain(**CHANGES[change])])
    with pytest.raises(McpError, match="changed since you approved it"):
        await desk.servers.servers()[0].ready()
    assert desk.told() == []


async def test_a_script_of_the_workspace_is_approved_by_its_content(desk: Desk) -> None:
    script = desk.folder / "server.py"
    script.write_text((Path(__file__).parent / "plain_server.py").read_text())
    config = desk.config({"command": "python3", "args": ("-S", "server.py"), "env": {"TOY_LOG": str(desk.log)}})
    server = await use(desk, config)
    assert (await call(server)).text == "3"
    script.write_text(script.read_text() + "\n# another one\n")
    assert desk.servers.tools() == []
    with pytest.raises(McpError, match="changed since you approved it"):
        server.approved()


async def test_a_dead_server_is_started_again_by_the_next_call(desk: Desk) -> None:
    server = await use(desk, desk.plain("dies-in-a-call"))
    for _ in range(2):
        with pytest.raises(McpError, match=r"it has ended \(exit code 3\): out of memory"):
            await call(server)
    assert len([line for line in desk.told() if line.startswith("start")]) == 2


FAULTS = {
    "never-answers": "did not answer tools/call within 0.5 s",
    "huge": "a line of more than 16 MiB",
    "floods": "64 MiB that nobody asked for",
}


@pytest.mark.parametrize("kind", FAULTS)
async def test_a_hostile_server_ends_the_call_with_an_error(desk: Desk, kind: str) -> None:
    server = await use(desk, desk.plain(kind, timeout_seconds=0.5 if kind == "never-answers" else 100.0))
    with pytest.raises(McpError, match=FAULTS[kind]):
        await call(server)


async def test_progress_sets_the_clock_back(desk: Desk) -> None:
    server, seen = await use(desk, desk.plain("progress", timeout_seconds=0.6)), list[str]()
    assert (await call(server, report=seen.append)).text == "done"
    assert seen == ["0", "1", "2", "3", "4"]


async def test_garbage_is_skipped(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    server = await use(desk, desk.plain("garbage"))
    assert (await call(server)).text == "3"
    assert "skipped 1 lines that are not messages" in caplog.text


async def test_a_cancelled_call_is_cancelled_at_the_server(desk: Desk) -> None:
    server = await use(desk, desk.plain("never-answers"))
    running = asyncio.create_task(call(server))
    await noted(desk, "call")
    running.cancel()
    await asyncio.wait([running])
    assert running.cancelled()
    await noted(desk, "cancelled")


OPENING = {
    "broken": r"it has ended \(exit code 1\): cannot import name 'x'",
    "dies-when-probed": "",
}


@pytest.mark.parametrize("kind", OPENING)
async def test_a_server_that_ends_while_it_opens(desk: Desk, kind: str) -> None:
    if not OPENING[kind]:  # it ends at anything before `initialize`, and is asked again
        assert (await call(await use(desk, desk.plain(kind)))).text == "3"
        return
    with pytest.raises(McpError, match=OPENING[kind]):
        await desk.approve(desk.plain(kind))


NPM = """\
npm error code E404
npm error 404 Not Found - GET https://registry.example/server-memry - Not found
npm error 404 tarball, folder, http url, or git url.
npm error A complete log of this run can be found in: /home/me/.npm/_logs/debug-0.log
"""


async def test_a_package_that_does_not_exist(desk: Desk) -> None:
    """npm ends with the path of a log, which says nothing."""
    config = desk.config({"command": sys.executable, "args": ["-c", f"import sys; sys.exit({NPM!r})"]})
    with pytest.raises(McpError, match=r"npm error 404 Not Found - GET .*server-memry"):
        await desk.approve(config)


STDIN_CLOSED = {
    "and ends": ('print("no database", file=sys.stderr); sys.exit(1)', r"it has ended \(exit code 1\): no database"),
    "and lives on": ("time.sleep(60)", "it closed its stdin, so it was ended"),
}


@pytest.mark.parametrize("then", STDIN_CLOSED)
async def test_a_server_that_closes_its_stdin(desk: Desk, then: str) -> None:
    """Before the first request, which waits for its end: one that fails at once is not gone when its pipe is."""
    after, told = STDIN_CLOSED[then]
    body = f"import os, sys, time; os.close(0); time.sleep(0.3); {after}"
    program = Program([sys.executable, "-S", "-c", body], desk.folder, desk.environ)
    transport = StdioTransport("toy", program)
    connection = Connection(transport)
    try:
        await connection.start()
        async with asyncio.timeout(AT_ONCE):
            while not is_closing(transport):  # noqa: ASYNC110  # nothing tells
                await asyncio.sleep(0.01)
        with pytest.raises(McpError, match=told):
            await connection.request("ping", {}, seconds=AT_ONCE)
    finally:
        await connection.aclose()


ENDINGS = {
    "alone": "import os; os.write(2, b'no database'); os._exit(3)",
    "and a child keeps its pipes": "import os, time\nos.write(2, b'no database')\n"
    "os.fork() and os._exit(3)\ntime.sleep(60)",
}


@pytest.mark.parametrize(
    "ending", [pytest.param("alone"), pytest.param("and a child keeps its pipes", marks=pytest.mark.exhaustive)]
)
async def test_a_server_that_ends_while_the_machine_is_busy_still_says_why(desk: Desk, ending: str) -> None:
    """Its end and its words arrive at once, and the end first."""
    program = Program([sys.executable, "-S", "-c", ENDINGS[ending]], desk.folder, desk.environ)
    connection = Connection(StdioTransport("toy", program))
    try:
        starting = asyncio.ensure_future(connection.start())
        # On a busy machine it can be gone already.
        while not starting.done() and not psutil.Process().children():  # noqa: ASYNC110  # nothing tells
            await asyncio.sleep(0)
        time.sleep(0.3)  # noqa: ASYNC251  # it ends, and the event loop sees all of it together
        await starting
        with pytest.raises(McpError, match=r"it has ended \(exit code 3\): no database"):
            await connection.request("ping", {}, seconds=AT_ONCE)
    finally:
        await connection.aclose()


def is_closing(transport: StdioTransport) -> bool:
    stdin = transport._process.get_pipe_transport(0) if transport._process is not None else None
    return isinstance(stdin, asyncio.WriteTransport) and stdin.is_closing()


async def test_a_missing_program_says_so(desk: Desk) -> None:
    with pytest.raises(McpError, match="the program no-such-program is not installed"):
        await desk.approve(desk.config({"command": "no-such-program"}))


async def test_all_pages_are_read_and_an_endless_list_ends(desk: Desk) -> None:
    pin = await desk.approve(desk.plain("pages"))
    assert [tool.name for tool in pin.tools] == ["add0", "add1", "add2"]
    with pytest.raises(McpError, match="its list of tools does not end"):
        await desk.approve(desk.plain("endless-list"))


@pytest.mark.usefixtures("hasty")
async def test_a_stubborn_server_and_its_children_are_gone_in_the_end(desk: Desk) -> None:
    server = await use(desk, desk.plain("stubborn"))
    await call(server)
    pid = int(next(line for line in desk.told() if line.startswith("start")).split()[1])
    await desk.servers.aclose()
    assert "stdin closed" in desk.told()
    assert is_gone(pid)
    async with asyncio.timeout(AT_ONCE):  # it was killed, but a busy machine takes its time
        while any(of_group(one, pid) for one in psutil.process_iter(["pid"])):  # noqa: ASYNC110  # nothing tells
            await asyncio.sleep(0.05)


@pytest.mark.usefixtures("hasty")
async def test_a_cancelled_end_kills_at_once(desk: Desk) -> None:
    server = await use(desk, desk.plain("stubborn"))
    await call(server)
    pid = int(next(line for line in desk.told() if line.startswith("start")).split()[1])
    closing = asyncio.create_task(server.aclose())
    await asyncio.sleep(0)
    closing.cancel()
    await asyncio.wait([closing])
    assert is_gone(pid)


async def test_the_environment_is_an_allowlist_and_what_is_configured(desk: Desk) -> None:
    desk.environ |= {"SECRET_API_KEY": "hidden", "TOKEN_SOURCE": "a token"}
    env = {"TOKEN": "${TOKEN_SOURCE}", "OTHER": "${NOT_SET:-else}"}
    seen = json.loads((await call(await use(desk, desk.plain("environment", env=env)))).text)
    assert (seen["TOKEN"], seen["OTHER"]) == ("a token", "else")
    assert "SECRET_API_KEY" not in seen
    assert "TOKEN_SOURCE" not in seen
    with pytest.raises(McpError, match="the variable NOT_SET is not set"):
        await desk.approve(desk.plain(env={"TOKEN": "${NOT_SET}"}))


async def test_a_form_is_answered_and_a_key_is_never_asked_for(desk: Desk) -> None:
    asked: list[Elicitation] = []

    async def elicit(elicitation: Elicitation) -> dict[str, Value] | None:
        asked.append(elicitation)
        return {} if isinstance(elicitation, UrlToOpen) else {"colour": "red", "count": 2}

    told = json.loads((await call(await use(desk, desk.plain("asks")), elicit=elicit)).text)
    assert told["result"] == {"action": "accept", "content": {"colour": "red", "count": 2}}
    told = json.loads((await call(await use(desk, desk.plain("wants-a-page")), elicit=elicit)).text)
    assert told["result"] == {"action": "accept"}
    assert asked[1] == UrlToOpen("Log in", "https://example.com/login?x=1")
    told = json.loads((await call(await use(desk, desk.plain("asks-for-secrets")), elicit=elicit)).text)
    assert "looks like a key or password" in told["error"]["message"]
    assert len(asked) == 2
    told = json.loads((await call(await use(desk, desk.plain("asks")))).text)
    assert told["result"] == {"action": "decline"}  # nobody can be asked
