"""MCP servers in the whole language server: when they start, what the user is told, and what is imported."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tark_lsp.agent.events import AgentEvent, Requested
from tark_lsp.folders import mcp_pins_folder
from tark_lsp.mcp.pin_store import PinStore
from tark_lsp.mcp.server_config import ServerConfig
from tark_lsp.server.protocol import lsp_params
from tark_lsp.server.sessions.session_rows import session_from_store
from tark_lsp.server.turns.context_budget import ContextBudget
from tark_lsp.server.turns.mcp_start import McpStart
from tark_lsp.server.turns.turn_record import TurnRecord
from tests.mcp.servers import PLAIN, Desk
from tests.patience import AT_ONCE
from tests.server.desk import Desk as WholeServer

Make = Callable[..., WholeServer]


@pytest.fixture
async def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Make]:
    made: list[WholeServer] = []

    def new(*lines: str, trusted: bool = True, kind: str = "", things: str = "", **more: Any) -> WholeServer:
        files = f'"TOY_LOG" = "{tmp_path / "log"}", "TOY_CHANGED" = "{tmp_path / "changed"}"'
        env = f'{{ {files}, "TOY_THINGS" = "{things}" }}'
        args = f'["-S", "-E", "{PLAIN}", "{kind}"]'
        toy = f'[mcp.servers.toy]\ncommand = "{sys.executable}"\nargs = {args}\nenv = {env}\n'
        head = f'sandbox = "off"\nworkspaceTrusted = {json.dumps(trusted)}\n'
        whole = WholeServer(tmp_path, monkeypatch, config="\n".join([head, toy, *lines]), **more)
        made.append(whole)
        return whole

    yield new
    for one in made:
        await one.stop()


async def approve(whole: WholeServer, tmp_path: Path) -> ServerConfig:
    """As `tark-lsp mcp approve` would."""
    settings = whole.app.parts.configuration.settings.mcp.servers["toy"]
    desk = Desk(tmp_path)
    desk.folder, desk.pins = whole.folder, PinStore(mcp_pins_folder)
    config = ServerConfig("toy", settings)
    await desk.approve(config)
    (tmp_path / "log").unlink()
    return config


def no_servers() -> NoReturn:
    raise AssertionError("there is a server")


async def started(tmp_path: Path) -> None:
    async with asyncio.timeout(AT_ONCE):
        log = tmp_path / "log"
        while not (log.exists() and log.read_text()):  # noqa: ASYNC110  # a file of another process
            await asyncio.sleep(0.01)


async def test_it_starts_when_a_chat_opens_in_a_trusted_workspace(make: Make, tmp_path: Path) -> None:
    whole = make()
    await approve(whole, tmp_path)
    tools = whole.app.parts.preparation.contexts.tools()
    assert "mcp__toy__add" in tools
    assert not (tmp_path / "log").exists()
    await whole.command("tark.session.new")
    await started(tmp_path)


async def test_it_starts_after_the_first_request_of_a_turn_is_sent(make: Make, tmp_path: Path) -> None:
    """Nothing takes the processor before the model is asked; and its tools are part of that request."""
    whole = make()
    await approve(whole, tmp_path)
    (server,) = (whole.app.parts.mcp.servers() or no_servers()).servers()
    seen: list[str] = []

    class Watch(McpStart):
        def on_turn_event(self, record: TurnRecord, event: AgentEvent) -> None:
            if isinstance(event, Requested):
                assert record.turn is not None
                seen.append(f"{'mcp__toy__add' in record.turn.resources.tools} {server.state}")

    whole.app.parts.turns.listen(Watch(whole.app.parts.mcp))
    await whole.end(await whole.start("hello"))
    assert seen == ["True stopped"]
    await started(tmp_path)


async def completed(whole: WholeServer, text: str) -> dict[str, str]:
    """Detail by the text that is inserted."""
    document = {"uri": "tark://chat/prompt.tark.md", "languageId": "markdown", "version": 1, "text": text}
    whole.app.parts.document_sync.did_open({"textDocument": document})
    place = {"textDocument": {"uri": document["uri"]}, "position": {"line": 0, "character": len(text)}}
    answer = await whole.app.parts.chat.completion(lsp_params.HoverParams.model_validate(place))
    whole.app.parts.document_sync.did_close(place)
    return {item["textEdit"]["newText"]: item.get("detail", "") for item in (answer or {})["items"]}


async def test_its_prompts_and_resources_are_completed_once_it_runs(make: Make, tmp_path: Path) -> None:
    whole = make()
    await approve(whole, tmp_path)
    assert "/toy:greet" not in await completed(whole, "/")
    assert await completed(whole, "@mcp:toy") == {}
    assert not (tmp_path / "log").exists(), "completion starts nothing"
    assert whole.app.parts.mcp.servers() is not None
    for server in (whole.app.parts.mcp.servers() or no_servers()).servers():
        await server.ready()
    fast = await asyncio.gather(completed(whole, "@mcp:toy"), completed(whole, "@mcp:toy:n"))
    assert all(len(each) == 2 for each in fast), "a key does not show that there is nothing while the first one waits"
    assert (await completed(whole, "/toy:g"))["/toy:greet"] == "of an MCP server: "
    assert await completed(whole, "@mcp:today") == {"@mcp:toy:notes://today": "Today\\u{202e}"}
    assert list(await completed(whole, "@mcp:toy:")) == ["@mcp:toy:notes://week", "@mcp:toy:notes://today"]


async def test_it_does_not_start_in_a_workspace_that_is_not_trusted(make: Make, tmp_path: Path) -> None:
    whole = make(trusted=False)
    await approve(whole, tmp_path)
    await whole.command("tark.session.new")
    assert (await whole.end(await whole.start("hello")))["stopReason"] == "end_turn"
    assert not (tmp_path / "log").exists()


async def test_the_user_is_told_once_what_is_not_approved(make: Make) -> None:
    whole = make()
    turns = [await whole.start("hello"), await whole.start("hello again")]
    for turn in turns:
        await whole.end(turn)
    notices = [[one["message"] for one in whole.updates(turn, "notice")] for turn in turns]
    assert [len(one) for one in notices] == [1, 0]
    assert "the MCP server toy is off: you have not approved it (approve it in your editor's list" in notices[0][0]


async def test_a_project_can_switch_a_server_off_and_nothing_else(make: Make, tmp_path: Path) -> None:
    whole = make()
    await approve(whole, tmp_path)
    (whole.folder / ".tark").mkdir()
    config = '[mcp.servers.toy]\nenabled = false\ntrusted = true\n[mcp.servers.evil]\ncommand = "evil"\n'
    (whole.folder / ".tark" / "config.toml").write_text(config)
    whole.app.parts.configuration.reload()
    servers = whole.app.parts.configuration.settings.mcp.servers
    assert [(name, one.enabled, one.trusted) for name, one in servers.items()] == [("toy", False, False)]
    assert not any(name.startswith("mcp__") for name in whole.app.parts.preparation.contexts.tools())
    assert "mcp.servers.evil.command" in "\n".join(whole.app.parts.configuration.problems)


async def test_values_of_variables_are_never_shown(make: Make, tmp_path: Path) -> None:
    whole = make()
    shown = json.dumps((await whole.settings())["mcp"])
    assert "(hidden)" in shown
    assert str(tmp_path / "log") not in shown


ADDS = """\
[[reply]]
tool = "mcp__toy__add"
text = "Added."

[[reply]]
when = "add"
calls = [{ name = "mcp__toy__add", arguments = { a = 1, b = 2 } }]

"""


def answers_first(whole: WholeServer, replies: str) -> None:
    """Replies that come before those of the script."""
    scenario = whole.config.parent.parent.parent / "scenario.toml"
    wire, rest = scenario.read_text().split("\n", 1)
    scenario.write_text(f"{wire}\n{replies}{rest}")


def _runs(whole: WholeServer, turn: str) -> bool:
    return any(update.get("status") == "in_progress" for update in whole.updates(turn, "toolCall"))


async def test_the_first_prompt_calls_a_tool_while_its_server_still_starts(make: Make, tmp_path: Path) -> None:
    whole = make(kind="starts-late")
    answers_first(whole, ADDS)
    whole.connection.answers["tark/requestPermission"] = lambda _: {"outcome": "allow"}
    (tmp_path / "changed").touch()
    await approve(whole, tmp_path)
    (tmp_path / "changed").unlink()
    turn = await whole.start("add")
    await started(tmp_path)
    async with asyncio.timeout(AT_ONCE):
        while not _runs(whole, turn):  # noqa: ASYNC110  # a notification has no event
            await asyncio.sleep(0.01)
    assert [line.split()[0] for line in (tmp_path / "log").read_text().splitlines()] == ["start"]
    (tmp_path / "changed").touch()
    end = await whole.end(turn)
    assert end["text"] == "Added."
    assert 'call add {"a": 1, "b": 2}' in (tmp_path / "log").read_text()


async def test_many_tools_are_shown_as_deferred_and_stay_the_same_in_the_next_server(
    make: Make, tmp_path: Path
) -> None:
    whole = make(kind="many", things="a b c d e f g h i")
    await approve(whole, tmp_path)
    preparation, sessions = whole.app.parts.preparation, whole.app.parts.sessions
    new = await ContextBudget(preparation).measure_context(sessions.new())
    session_id = (await whole.end(await whole.start("hello")))["sessionId"]
    session = sessions.use(session_id)
    context = await ContextBudget(preparation).measure_context(session)
    for measured in (new, context):
        (tools,) = [part for part in measured["parts"] if part["kind"] == "tools"]
        assert re.fullmatch(r"\d+ tools; 45 more on demand, \d\.\dk tokens if they were sent", tools["name"])
        assert tools["tokens"] < 10_000
    assert len(session.deferred) == 45
    stored = session_from_store(sessions.store, sessions.rows.find_row(session_id))
    assert stored.deferred == session.deferred


NO_MCP = """
import sys
from pathlib import Path
from typing import Any
import tark_lsp.server.parts, tark_lsp.server.app, tark_lsp.settings
from tark_lsp.tools import load_tools
load_tools()
print([name for name in sys.modules if name.startswith("tark_lsp.mcp.") or name == "tark_lsp.mcp"])
"""


def test_without_a_server_nothing_of_mcp_is_imported() -> None:
    done = subprocess.run([sys.executable, "-c", NO_MCP], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def prompt_of(whole: WholeServer, typed: str) -> tuple[str, dict[str, Any]]:
    """What the model was told for this, and the end of the turn."""
    end = await whole.end(await whole.start(typed))
    messages = whole.app.parts.sessions.rows.read_session(end["sessionId"]).messages
    return "".join(message.text for message in messages[:1]), end


async def test_a_prompt_of_a_server(make: Make, tmp_path: Path) -> None:
    whole = make()
    await approve(whole, tmp_path)
    (whole.folder / "secret.txt").write_text("hidden words")
    told, _ = await prompt_of(whole, "/toy:greet you and all")
    assert 'Greet {"who": "you", "how": "and all"}.' in told
    assert told.count("</mcp>") == 1
    assert "hidden words" not in told
    _, end = await prompt_of(whole, "/toy:greet")
    assert "the prompt needs who" in end["error"]["message"]
    _, end = await prompt_of(whole, "/toy:other")
    assert "has no prompt 'other'" in end["error"]["message"]
    told, _ = await prompt_of(whole, "/etc:hosts is a path")
    assert "/etc:hosts is a path" in told


async def test_a_resource_is_mentioned_and_asked_about(make: Make, tmp_path: Path) -> None:
    whole = make()
    await approve(whole, tmp_path)
    asked: list[Any] = []

    def answer(params: Any) -> Any:
        asked.append(params)
        return {"outcome": "allow" if len(asked) == 1 else "reject"}

    whole.connection.answers["tark/requestPermission"] = answer
    told, _ = await prompt_of(whole, "look at @mcp:toy:x://a")
    assert "a resource\n</mcp>" in told
    assert asked[0]["title"] == "read x://a from the MCP server toy"
    told, _ = await prompt_of(whole, "look at @mcp:toy:x://b")
    assert "the person said no" in told
    assert "read x://b" not in (tmp_path / "log").read_text()
    told, _ = await prompt_of(whole, "look at @mcp:nobody:x://b")
    assert "there is no MCP server 'nobody'" in told
    assert len(asked) == 2


async def test_without_trust_no_prompt_and_no_resource_is_read(make: Make, tmp_path: Path) -> None:
    whole = make(trusted=False)
    await approve(whole, tmp_path)
    told, _ = await prompt_of(whole, "/toy:greet you, look at @mcp:toy:x://a")
    assert "/toy:greet you" in told
    assert "you do not trust this workspace" in told
    assert not (tmp_path / "log").exists()
