"""Commands in an editor that tells of no change until it has the answer: answered in time, carried out all the same."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.errors import RequestError
from tark_lsp.server.connection import early_answers
from tark_lsp.server.connection.early_answers import EarlyAnswer, EarlyAnswers
from tark_lsp.server.protocol.outgoing import range_json
from tests.patience import AT_ONCE
from tests.server.desk import TEXT, Desk, MakeDesk
from tests.server.scripted import Json

pytestmark = pytest.mark.virtual_clock

ASK = "tark/requestPermission"


@pytest.fixture
def eglot(make: MakeDesk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return blocking(make(), monkeypatch)


def blocking(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setattr(early_answers, "PATIENCE_SECONDS", 0.1)
    client = desk.connection.client
    desk.connection.client = replace(client, flags=replace(client.flags, blocks_on_commands=True, drops_questions=True))
    return desk


async def hunk_of(desk: Desk) -> tuple[Path, str, str]:
    """A document, the turn that wants to change it, the hunk."""
    path = desk.editor.open("f.py", TEXT)
    turn = await desk.start("edit f.py")
    await desk.connection.asking(ASK)
    (hunk,) = (await desk.command("tark.hunk.list", {}))["hunks"]
    return path, turn, hunk["hunkId"]


async def test_an_accept_is_answered_before_the_text_is_there(eglot: Desk) -> None:
    path, turn, hunk_id = await hunk_of(eglot)
    untold: asyncio.Queue[Any] = asyncio.Queue()

    def apply(params: Json) -> Json:
        (change,) = params["edit"]["documentChanges"]
        untold.put_nowait(eglot.editor.type(path, *eglot.editor.spans(path, change["edits"]), tell=False))
        return {"applied": True}

    eglot.connection.answers["workspace/applyEdit"] = apply
    assert await eglot.command("tark.hunk.accept", {"hunkIds": [hunk_id]}) is None
    eglot.editor.tell(path, await untold.get())
    assert (await eglot.end(turn))["edits"] == [{"uri": path.as_uri(), "state": "applied"}]
    assert eglot.editor.text(path) == TEXT.replace("line 3\n", "THREE\n")


async def test_a_comment_to_write_into_is_answered_while_the_editor_asks(
    make: MakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """eglot asks the user before each edit, and gives up the command after 10 s."""
    eglot = blocking(make(tark=[]), monkeypatch)
    path = eglot.editor.open("f.py", TEXT)
    agreed, applied = asyncio.Event(), asyncio.Event()

    async def apply(params: Json) -> Json:
        await agreed.wait()
        applied.set()
        return eglot.editor.apply(params)

    eglot.connection.answers["workspace/applyEdit"] = apply
    about = {"uri": path.as_uri()}
    start = {"kind": "edit", "prompt": "", "askForPrompt": True, "textDocument": about, "range": range_json(0, 0, 1, 0)}
    assert await eglot.command("tark.turn.start", start) == {"inserted": True}
    assert eglot.editor.text(path) == TEXT
    agreed.set()
    await applied.wait()
    assert eglot.editor.text(path) == f"# tark: \n{TEXT}"


async def test_an_accept_is_answered_before_the_editor_is_asked(eglot: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that comes while eglot asks the user about the edit would end its question, and drop the edit."""
    monkeypatch.setattr(early_answers, "PATIENCE_SECONDS", 1e6)
    path, turn, hunk_id = await hunk_of(eglot)
    accepting = asyncio.ensure_future(eglot.command("tark.hunk.accept", {"hunkIds": [hunk_id]}))

    async def apply(params: Json) -> Json:
        assert accepting.done()
        return eglot.editor.apply(params)

    eglot.connection.answers["workspace/applyEdit"] = apply
    assert await accepting is None
    assert (await eglot.end(turn))["edits"] == [{"uri": path.as_uri(), "state": "applied"}]


async def test_what_is_done_in_time_is_told(eglot: Desk) -> None:
    _, _, hunk_id = await hunk_of(eglot)
    assert await eglot.command("tark.hunk.reject", {"hunkIds": [hunk_id]}) == {"hunks": [hunk_id], "skipped": []}
    with pytest.raises(RequestError, match="nonesuch"):
        await eglot.command("tark.hunk.accept", {"hunkIds": ["nonesuch"]})


async def test_a_client_with_a_review_of_its_own_waits(make: MakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an editor that nobody here has seen, too: a fork of VS Code."""
    desk = blocking(make(tark=["updates", "permission", "review"], config='editReview = "ask"'), monkeypatch)
    path, turn, hunk_id = await hunk_of(desk)

    async def apply(params: Json) -> Json:
        await asyncio.sleep(5 * early_answers.PATIENCE_SECONDS)
        return desk.editor.apply(params)

    desk.connection.answers["workspace/applyEdit"] = apply
    assert await desk.command("tark.hunk.accept", {"hunkIds": [hunk_id]}) == {"hunks": [hunk_id], "skipped": []}
    assert (await desk.end(turn))["edits"] == [{"uri": path.as_uri(), "state": "applied"}]


async def test_undo_is_pending_and_its_outcome_is_told(eglot: Desk) -> None:
    path, turn, hunk_id = await hunk_of(eglot)
    await eglot.command("tark.hunk.accept", {"hunkIds": [hunk_id]})
    await eglot.end(turn)
    untold: asyncio.Queue[Any] = asyncio.Queue()

    def apply(params: Json) -> Json:
        (change,) = params["edit"]["documentChanges"]
        untold.put_nowait(eglot.editor.type(path, *eglot.editor.spans(path, change["edits"]), tell=False))
        return {"applied": True}

    eglot.connection.answers["workspace/applyEdit"] = apply
    pending = await eglot.command("tark.turn.undo", {"turnId": turn})
    assert pending == {"restored": [], "kept": [], "pending": True}
    assert eglot.connection.notes() == []
    eglot.editor.tell(path, await untold.get())
    assert await eglot.connection.noting() == "Tark: the turn is undone in f.py"
    assert eglot.editor.text(path) == TEXT
    assert await eglot.command("tark.turn.undo", {"turnId": turn}) == {"restored": [], "kept": []}


async def test_a_failure_after_the_early_answer_is_told(eglot: Desk) -> None:
    """Nothing fails silently, also not in an editor that got its answer before."""
    told: asyncio.Queue[str] = asyncio.Queue()
    early = EarlyAnswers(eglot.connection, told.put_nowait)
    ready = asyncio.Event()

    async def fail() -> None:
        await ready.wait()
        raise RequestError("the disk is full")

    assert await early.answer("tark.hunk.accept", fail(), EarlyAnswer()) is None
    ready.set()
    async with asyncio.timeout(AT_ONCE):
        assert await told.get() == "Tark: tark.hunk.accept failed: the disk is full"
