"""Chats in a server in this process: which session continues, mentions, and the answers to LSP requests."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.agent.session import Session
from tark_lsp.server.protocol import lsp_params
from tark_lsp.server.protocol.capabilities import CHAT_FEATURES
from tests.patience import AT_ONCE
from tests.server.desk import Desk, MakeDesk

HELLO = "## You\n\nhello\n"
LITERALS = "textDocument.codeAction.codeActionLiteralSupport"
NESTED = "textDocument.documentSymbol.hierarchicalDocumentSymbolSupport"
DYNAMIC = [f"textDocument.{feature}.dynamicRegistration" for feature in CHAT_FEATURES]


async def send(desk: Desk, path: Path, **more: Any) -> dict[str, Any]:
    """Send, and wait until the answer is written."""
    turn = await desk.start("", path, chat=True, **more)
    end = await desk.end(turn)
    async with asyncio.timeout(AT_ONCE):
        while "Stop the answer" in titles(desk, path):  # noqa: ASYNC110  # a state of the server's, which tells nobody
            await asyncio.sleep(0.01)
    return end


def lens_commands(desk: Desk, path: Path) -> list[dict[str, Any]]:
    params = lsp_params.DocumentParams.model_validate({"textDocument": {"uri": path.as_uri()}})
    return [lens["command"] for lens in desk.app.parts.chat.lenses(params)]


def titles(desk: Desk, path: Path) -> list[str]:
    return [command["title"] for command in lens_commands(desk, path)]


def add(desk: Desk, path: Path, words: str) -> None:
    end = len(desk.editor.text(path))
    desk.editor.type(path, (end, end, words))


def sessions(desk: Desk) -> list[Session]:
    return desk.app.parts.sessions.live.all_sessions()


def told(session: Session) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in session.messages]


def position(path: Path, line: int, character: int) -> lsp_params.HoverParams:
    place = {"line": line, "character": character}
    return lsp_params.HoverParams.model_validate({"textDocument": {"uri": path.as_uri()}, "position": place})


def document(path: Path) -> lsp_params.DocumentParams:
    return lsp_params.DocumentParams.model_validate({"textDocument": {"uri": path.as_uri()}})


async def test_the_session_goes_on(make: MakeDesk) -> None:
    desk = make()
    path = desk.editor.open("notes.tark.md", HELLO)
    await send(desk, path)
    add(desk, path, "and then\n")
    desk.editor.type(path, (0, 0, "# A title above\n\n"))
    await send(desk, path)
    (session,) = sessions(desk)
    assert [role for role, _ in told(session)] == ["user", "assistant"] * 2
    assert told(session)[2][1].endswith("The person says:\n\nand then")


@pytest.mark.parametrize(
    ("before", "after"), [("hello", "good evening"), ("Hello.", "Goodbye."), ("## Tark\n\nHello.\n", "")]
)
async def test_what_was_changed_above_is_what_the_model_is_told(make: MakeDesk, before: str, after: str) -> None:
    desk = make()
    path = desk.editor.open("notes.tark.md", HELLO)
    await send(desk, path)
    add(desk, path, "and then\n")
    desk.editor.replace(path, desk.editor.text(path).replace(before, after, 1))
    await send(desk, path)
    assert len(sessions(desk)) == 2
    history = told(sessions(desk)[1])
    if after:
        assert history[:2] == [
            (role, text.replace(before, after)) for role, text in [("user", "hello"), ("assistant", "Hello.")]
        ]
        assert history[2][1].endswith("The person says:\n\nand then")
    else:
        assert history[0][1].endswith("The person says:\n\nhello\n\nand then"), "nothing stands between them any more"


async def test_another_server_takes_the_words_of_the_document(make: MakeDesk) -> None:
    desk = make()
    path = desk.editor.open(
        "notes.tark.md", "## Tark\n\nYes?\n\n## You\nhello\n\n## Tark\n\nHi.\n\n## You\n\nand then\n"
    )
    await send(desk, path)
    (session,) = sessions(desk)
    assert [role for role, _ in told(session)] == ["user", "assistant", "user", "assistant", "user", "assistant"]
    assert told(session)[1:4] == [("assistant", "Yes?"), ("user", "hello"), ("assistant", "Hi.")]


async def test_a_turn_that_failed_before_its_model_was_asked_is_in_the_document_alone(make: MakeDesk) -> None:
    desk = make()
    path = desk.editor.open("notes.tark.md", HELLO)
    end = await send(desk, path, model="nobody/nothing")
    assert end["stopReason"] == "error"
    assert "\n## Tark\n\n> error: " in desk.editor.text(path)
    add(desk, path, "again\n")
    await send(desk, path)
    assert told(sessions(desk)[1])[0] == ("user", "hello")
    add(desk, path, "once more\n")
    await send(desk, path, model="nobody/nothing")
    add(desk, path, "at last\n")
    await send(desk, path)
    assert [text for role, text in told(sessions(desk)[2]) if role == "user"][:3] == ["hello", "again", "once more"]


async def test_what_the_client_says_of_a_chat(make: MakeDesk) -> None:
    """A prompt or a range of its own do not count, and it is not what the model is pointed at."""
    desk = make()
    path = desk.editor.open("notes.tark.md", HELLO)
    span = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}
    turn = await desk.start("something else", path, chat=True, range=span)
    assert (await desk.end(turn))["stopReason"] == "end_turn"
    (start,) = desk.updates(turn, "start")
    assert start["prompt"] == "hello"
    assert "range" not in start
    assert "The person is in" not in told(sessions(desk)[0])[0][1]


@pytest.mark.parametrize(
    ("argument", "problem"),
    [
        ({"textDocument": {"uri": "untitled:notes.tark.md"}}, "is not open"),
        ({}, "a chat is a document"),
    ],
)
async def test_what_is_no_chat(make: MakeDesk, argument: dict[str, Any], problem: str) -> None:
    desk = make()
    with pytest.raises(Exception, match=problem):
        await desk.command("tark.turn.start", {"prompt": "", "chat": True, **argument})


async def test_documents_that_are_no_chats_are_left_alone(make: MakeDesk) -> None:
    desk = make()
    path = desk.editor.open("notes.md", "## You\n\n@file a.py:1\n")
    desk.editor.open("a.py", "x\n")
    chat = desk.app.parts.chat
    assert await chat.completion(position(path, 2, 5)) is None
    assert await chat.definition(position(path, 2, 8)) is None
    assert [await symbol(document(path)) for symbol in (chat.folding, chat.symbols, chat.links)] == [[], [], []]
    assert lens_commands(desk, path) == []
    with pytest.raises(Exception, match=r"not an open chat.*\.tark\.md"):
        await desk.start("", path, chat=True)


async def test_actions(make: MakeDesk) -> None:
    desk = make(LITERALS)
    path = desk.editor.open("notes.tark.md", "## You\nold\n## Tark\nHi.\n## You\n\n\x1b[2J\u202eevil\nmore\n")
    (action,) = await desk.actions(path, 6)
    assert action == {
        "title": "Send: \\u{1b}[2J\\u{202e}evil⏎more",
        "kind": "refactor.rewrite.tark",
        "command": {
            "title": action["title"],
            "command": "tark.turn.start",
            "arguments": [{"prompt": "", "chat": True, "textDocument": {"uri": path.as_uri(), "version": 1}}],
        },
    }
    assert lens_commands(desk, path) == [action["command"]]
    assert await desk.actions(path, 0) == []
    assert await desk.actions(path, 6, only=["quickfix"]) == []
    assert await desk.actions(path, 6, triggerKind=2) == [action]


async def test_actions_for_clients_without_literals(make: MakeDesk) -> None:
    desk = make()
    path = desk.editor.open("notes.tark.md", "hello " * 30)
    (command,) = await desk.actions(path, 0)
    assert command["command"] == "tark.turn.start"
    assert command["title"] == f"Send: {('hello ' * 30)[:59]}…"


async def test_folds_and_symbols(make: MakeDesk) -> None:
    desk = make(NESTED)
    text = "# Top\n\n## You\n\nhällo\nyou\n\n## Tark\n\nI look.\n\n> read_file a\n> read_file b\n\nHi.\n\n> one\n"
    text += "\n## You\n\n"
    path = desk.editor.open("notes.tark.md", text)
    folds = [(part["startLine"], part["endLine"]) for part in await desk.app.parts.chat.folding(document(path))]
    assert folds == [(2, 5), (7, 16), (11, 12)]
    symbols = await desk.app.parts.chat.symbols(document(path))
    assert [symbol["name"] for symbol in symbols] == ["You: hällo", "Tark: I look.", "You"]
    assert symbols[0]["range"] == {"start": {"line": 2, "character": 0}, "end": {"line": 5, "character": 3}}
    assert symbols[0]["selectionRange"] == {"start": {"line": 2, "character": 0}, "end": {"line": 2, "character": 6}}


async def test_symbols_for_clients_without_hierarchy(make: MakeDesk) -> None:
    desk = make()
    path = desk.editor.open("notes.tark.md", HELLO)
    (symbol,) = await desk.app.parts.chat.symbols(document(path))
    assert symbol["location"]["uri"] == path.as_uri()


async def test_links(make: MakeDesk) -> None:
    desk = make()
    path = desk.editor.open("notes.tark.md", "ä 🥧 [it](a.py#L2), a.py:99 and b.py:1\n")
    code = desk.editor.open("a.py", "one\ntwo\n")
    links = await desk.app.parts.chat.links(document(path))
    assert [(link["range"]["start"]["character"], link["target"]) for link in links] == [
        (5, f"{code.as_uri()}#L2"),
        (20, f"{code.as_uri()}#L99"),
    ]
    for column, line in ((6, 1), (21, 2)):
        found = await desk.app.parts.chat.definition(position(path, 0, column))
        assert found is not None
        assert (found["uri"], found["range"]["start"]["line"]) == (code.as_uri(), line)
    for column in (0, 3, 32, 99):
        assert await desk.app.parts.chat.definition(position(path, 0, column)) is None
    assert await desk.app.parts.chat.definition(position(path, 9, 0)) is None


async def test_completion(make: MakeDesk) -> None:
    desk = make()
    text = "ä🥧 @\n@fi\nmail a@file\n@file:S\n@file:\n@selection \n"
    path = desk.editor.open("notes.tark.md", text)
    (desk.folder / "src").mkdir()
    for name in ("src/shapes.py", "src/a b.py", "trees.py", "hidden.log", ".gitignore"):
        (desk.folder / name).write_text("*.log\n")

    async def at(line: int, character: int) -> Any:
        return await desk.app.parts.chat.completion(position(path, line, character))

    kinds = await at(0, 5)
    assert [kind["label"] for kind in kinds["items"]] == [
        "@file:",
        "@dir:",
        "@symbol:",
        "@selection",
        "@diagnostics",
        "@diff",
        "@mcp:",
        "@url:",
    ]
    assert kinds["items"][0]["textEdit"] == {
        "range": {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 5}},
        "newText": "@file:",
    }
    assert (await at(1, 3))["items"][0]["textEdit"]["range"]["start"]["character"] == 0
    assert await at(2, 11) is None
    assert await at(5, 11) is None
    assert await at(9, 0) is None
    found = await at(3, 7)
    assert found["isIncomplete"]
    assert [item["textEdit"]["newText"] for item in found["items"]] == [
        '@file:"src/a b.py"',
        "@file:src/shapes.py",
        "@file:trees.py",
        "@file:notes.tark.md",
    ]
    everything = [item["label"] for item in (await at(4, 6))["items"]]
    assert sorted(everything) == ["notes.tark.md", "src/a b.py", "src/shapes.py", "trees.py"]


async def test_mentions(make: MakeDesk) -> None:
    desk = make(tark=(), config='[permissions]\ndeny = ["read_file(secret.py)"]\nask = ["read_file(c.py)"]')
    code = desk.editor.open("a.py", "one\ntwo\nthree\n")
    (desk.folder / "secret.py").write_text("key\n")
    (desk.folder / "c.py").write_text("key\n")
    span = {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}}
    context: dict[str, Any] = {"diagnostics": [{"range": span, "message": "odd", "severity": 2}]}
    params = {"textDocument": {"uri": code.as_uri()}, "range": span, "context": context}
    await desk.app.code_actions(lsp_params.CodeActionParams.model_validate(params))
    words = "@file:a.py:3, @file:b.py @file:secret.py @file:c.py @file:../x @selection @diagnostics @diff"
    words += " @file me@file:a.py `@file:a.py`"
    path = desk.editor.open("notes.tark.md", f"## You\n\n{words}\n")
    await desk.actions(path, 0, 2)  # a range of the chat, and a caret: neither is what was selected
    await desk.actions(code, 0, **context)
    desk.editor.type(code, (0, 0, "zero\n"))
    await send(desk, path)
    (session,) = sessions(desk)
    prompt = told(session)[0][1]
    assert f'@file:a.py:3:\n<code="{code}" #3:3>\ntwo\n</code>' in prompt, "the text of now"
    assert f'The person selected this in a.py:\n\n<code="{code}" #3:3>\ntwo\n' in prompt
    assert "@diagnostics:\na.py:2:1: warning: odd" in prompt
    assert "@diff:\n" in prompt
    assert "read_changes" in prompt
    assert "key" not in prompt
    assert "@file:a.py:\n" not in prompt, "in backticks it is code"
    assert desk.connection.notes() == [], "said in the answer alone"
    assert session.seen.keys() == {code}
    notes = [line for line in desk.editor.text(path).split("\n") if line.startswith("> ")]
    assert [note.partition(": ")[0] for note in notes] == [
        "> @file:b.py",
        "> @file:secret.py",
        "> @file:c.py",
        "> @file:../x",
    ]
    assert prompt.count("[not there: ") == 4


async def test_what_the_client_says_is_selected(make: MakeDesk) -> None:
    desk = make(tark=("clientState",))
    code = desk.editor.open("a.py", "one\ntwo\n")
    span = {"start": {"line": 0, "character": 1}, "end": {"line": 0, "character": 3}}
    state: dict[str, Any] = {"selection": {"uri": code.as_uri(), "version": 1, "range": span}, "diagnostics": []}
    desk.connection.answers["tark/clientState"] = lambda _: state
    path = desk.editor.open("notes.tark.md", "@selection @diagnostics\n")
    await send(desk, path)
    prompt = told(sessions(desk)[0])[0][1]
    assert "<selected>\nne\n</selected>" in prompt
    assert "> @diagnostics: the editor shows no diagnostics" in desk.editor.text(path)
    state["selection"] = None
    add(desk, path, "@selection\n")
    await send(desk, path)
    assert "> @selection: nothing was selected" in desk.editor.text(path)


async def test_mentions_in_a_comment(make: MakeDesk) -> None:
    desk = make()
    desk.editor.open("b.py", "bee\n")
    path = desk.editor.open("a.py", "# tark: look at @file:b.py\nx = 1\n")
    (run,) = await desk.actions(path, 0, triggerKind=2)
    await desk.end((await desk.command(run["command"], *run["arguments"]))["turnId"])
    assert "bee" in told(sessions(desk)[0])[0][1]


@pytest.mark.parametrize("dynamic", [[], DYNAMIC[:1], DYNAMIC])
async def test_registered_for_chats_alone(make: MakeDesk, dynamic: list[str]) -> None:
    desk = make(*dynamic)
    desk.connection.answers["client/registerCapability"] = lambda _: None
    desk.app.initialized({})
    await desk.settled()
    asked = [params for method, params in desk.connection.asked if method == "client/registerCapability"]
    registered = [param for params in asked for param in params["registrations"]]
    assert [item["method"] for item in registered] == [f"textDocument/{name.split('.')[1]}" for name in dynamic]
    selectors = [item["registerOptions"]["documentSelector"] for item in registered]
    assert selectors == [[{"scheme": "file", "pattern": "**/*.tark.md"}]] * len(dynamic)
