"""What a client makes of the updates of whole turns is what `tark.session.open` says of them afterwards, and meanwhile.

A session does not keep a turn's mode and range, nor where in it a notice came; of a call that was not run it says more.
"""

from typing import Any

import pytest

from tests.editors.behaviour import NATIVE, NEOVIM
from tests.editors.conftest import OpenEditor
from tests.editors.connection import Json
from tests.editors.memory_editor import MemoryEditor
from tests.editors.question import allow, reject
from tests.editors.shapes import SHAPES
from tests.protocol.stored_session import from_session
from tests.protocol.transcript import Transcript

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

NOT_KEPT = {"range"}


def told(editor: MemoryEditor, session_id: str) -> Transcript:
    """By the updates until now."""
    transcript = Transcript(session_id)
    for message in editor.sent("tark/update"):
        transcript.reduce(message.params)
    return transcript


async def opened(editor: MemoryEditor, session_id: str) -> Transcript:
    return from_session(await editor.command("tark.session.open", {"sessionId": session_id}))


def assert_alike(by_updates: Transcript, stored: Transcript) -> list[Json]:
    """Gives the turns, in the session's order."""
    told, turns = ({turn["turnId"]: _kept(turn) for turn in update.json()["turns"]} for update in (by_updates, stored))
    assert told.keys() == turns.keys()
    for turn_id, turn in turns.items():
        blocks = told[turn_id]["blocks"]
        assert [block["kind"] for block in turn["blocks"]] == [block["kind"] for block in blocks]
        turn["blocks"] = [_as_told(block, known) for block, known in zip(turn["blocks"], blocks, strict=True)]
        assert told[turn_id] == turn
    return list(turns.values())


def _kept(turn: Json) -> Json:
    """The notices first."""
    blocks = sorted(turn["blocks"], key=lambda block: block["kind"] != "notice")
    return {**{name: value for name, value in turn.items() if name not in NOT_KEPT}, "blocks": blocks}


def _as_told(block: Json, told: Json) -> Json:
    """Without the arguments of a call that was refused unseen, and what the model is told of one that was cancelled."""
    if block["kind"] != "toolCall" or told.get("status") not in ("failed", "cancelled"):
        return block
    less = {name: value for name, value in block.items() if name in told}
    return {**less, "content": block["content"][: len(told["content"])]} if "content" in told else less


async def start(editor: MemoryEditor, prompt: str, **more: Any) -> Json:
    started: Json = await editor.command("tark.turn.start", {"prompt": prompt, **more})
    return started


def words(editor: MemoryEditor, turn: str) -> int:
    """Updates that told some."""
    return len(list(editor.updates(turn, "text")))


async def ended(editor: MemoryEditor, turn: str) -> None:
    await editor.end(turn)
    await editor.connection.until(lambda: list(editor.updates(turn, "end")), "the update `end`")


@pytest.mark.parametrize("answer", [allow, reject], ids=["allowed", "rejected"])
async def test_turns_with_edits(open_editor: OpenEditor, answer: Any) -> None:
    editor = await open_editor(NEOVIM, *NATIVE)
    editor.policy = answer
    uri = editor.new_file(SHAPES)
    name = uri.rpartition("/")[2]
    first = await start(editor, f"rewrite the area in {name}", textDocument={"uri": uri})
    await ended(editor, first["turnId"])
    session = first["sessionId"]
    selected = {"textDocument": {"uri": uri}, "range": editor.documents[uri].find("import math\n")}
    for prompt, more in (
        (f"rewrite area and volume in {name}", {}),
        (f"read and search {name}", {}),
        ("say goodbye", {}),
        ("fail", {}),
        ("", {"kind": "explain", **selected}),
    ):
        again = await start(editor, prompt, sessionId=session, **more)
        await ended(editor, again["turnId"])
    turns = assert_alike(told(editor, session), await opened(editor, session))
    assert [turn["stopReason"] for turn in turns] == ["end_turn"] * 4 + ["error"] + ["end_turn"]
    assert {block["kind"] for turn in turns for block in turn["blocks"]} == {"thinking", "text", "toolCall"}


async def test_while_turns_run_and_wait(open_editor: OpenEditor) -> None:
    """A client that opens the session in the midst of an answer goes on as one that heard all of it."""
    editor = await open_editor(NEOVIM, *NATIVE)
    running = await start(editor, "talk slowly")
    session = running["sessionId"]
    for prompt in ("say one", "say two"):
        await start(editor, prompt, sessionId=session)
    heard = await editor.connection.until(lambda: words(editor, running["turnId"]), "words")
    late = await opened(editor, session)
    assert [turn.state for turn in late.turns] == ["running", "queued", "queued"]
    await editor.connection.until(lambda: words(editor, running["turnId"]) > heard + 3, "more words")
    await editor.command("tark.turn.cancel", {"turnId": running["turnId"]})
    for turn in late.turns:
        await ended(editor, turn.id)
    for message in editor.sent("tark/update"):
        late.reduce(message.params)
    assert_alike(told(editor, session), late)
    assert_alike(told(editor, session), await opened(editor, session))


async def test_cancelled_while_a_call_waits_and_before_they_began(open_editor: OpenEditor) -> None:
    editor = await open_editor(NEOVIM, *NATIVE)
    uri = editor.new_file(SHAPES)
    waiting = await start(editor, f"rewrite the area in {uri.rpartition('/')[2]}", textDocument={"uri": uri})
    await editor.question()
    session = waiting["sessionId"]
    queued = await start(editor, "say never", sessionId=session)
    await editor.command("tark.turn.cancel", {"sessionId": session})
    for turn in (waiting, queued):
        await ended(editor, turn["turnId"])
    turns = assert_alike(told(editor, session), await opened(editor, session))
    assert [turn["stopReason"] for turn in turns] == ["cancelled", "cancelled"]
