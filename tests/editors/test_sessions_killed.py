"""kill -9 at a random point of a turn: what the client was told is stored, and every wire can send the history."""

import asyncio
import random
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.agent import history
from tark_lsp.llm.scripted.answer import read_request
from tark_lsp.llm.wire.wire import WIRES
from tark_lsp.messages import Message
from tark_lsp.sessions.store import SessionStore
from tests.editors.connection import Json
from tests.editors.memory_editor import MemoryEditor
from tests.editors.one_home import open_on, write_home
from tests.editors.question import Question
from tests.exhaustive import seeds
from tests.llm.wire.read_bodies import read_body
from tests.llm.wire.test_histories import check_pairs, check_roles, check_words, encoded

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

PARTS = 2
"""The kills are so many tests, which can run in different processes."""
LAST_MESSAGE = 75
"""A whole turn is about so many messages of the server."""
OVER = {"completed", "failed", "rejected", "cancelled"}
TEXT = "".join(f"line {number}\n" for number in range(10))
SCENARIO = """\
wire = "{wire}"

[[reply]]
when = 'go on'
text = "Gone on."

[[reply]]
tool = "edit_file"
text = "Both are changed now, the one that is open in the editor and the one that is not; that was all there was."
chunk = 4
delay_ms = 5

[[reply]]
tool = "list_directory"
thinking = "Two files, two edits."
text = "I have read them all, and change two of them."
chunk = 4
delay_ms = 5
calls = [
    {{ name = "edit_file", arguments = {{ path = "open.py", old_text = "line 3\\n", new_text = "THREE\\n" }} }},
    {{ name = "edit_file", arguments = {{ path = "closed.py", old_text = "line 4\\n", new_text = "FOUR\\n" }} }},
]

[[reply]]
thinking = "Let me look around first, at everything."
text = "First I read what is there, three things at a time, as that is quicker."
chunk = 4
delay_ms = 5
calls = [
    {{ name = "read_file", arguments = {{ path = "open.py" }} }},
    {{ name = "read_file", arguments = {{ path = "nonesuch.py" }} }},
    {{ name = "list_directory", arguments = {{ path = "." }} }},
]
"""


def told(editor: MemoryEditor, turn_id: str) -> list[Json]:
    sent = [message.params for message in editor.sent("tark/update")]
    of_turn = [params for params in sent if params["turnId"] == turn_id]
    assert [params["seq"] for params in of_turn] == list(range(1, len(of_turn) + 1))
    return [params["update"] for params in of_turn]


def check_kept(updates: list[Json], opened: Json, turn_id: str) -> None:
    """Everything the client was told is in what `tark.session.open` gives."""
    (turn,) = [item for item in opened["turns"] if item["turnId"] == turn_id]
    assert (turn["prompt"], turn["kind"]) == ("do it", "agent")
    ends = [update for update in updates if update["kind"] == "end"]
    if ends:
        assert turn["stopReason"] == ends[0]["stopReason"]
    elif turn["stopReason"] == "error":
        assert turn["error"]["code"] == "interrupted"
        assert turn["error"]["hint"]
    else:
        assert turn["stopReason"] == "end_turn"  # stored, and not told any more
    answers = [
        message for message in opened["messages"] if message["role"] == "assistant" and message["turnId"] == turn_id
    ]
    received = "".join(update["delta"] for update in updates if update["kind"] == "text")
    stored = "".join(answer["text"] for answer in answers)
    assert stored.startswith(received), (received, stored)
    shown: dict[str, Json] = {}
    for update in updates:
        if update["kind"] == "toolCall":
            shown.setdefault(update["toolCallId"], {}).update(update)
    kept = {call["toolCallId"]: call for answer in answers for call in answer.get("toolCalls", ())}
    for call_id, call in shown.items():
        assert kept[call_id]["name"] == call["name"]
        assert kept[call_id]["status"] in ({call["status"]} if call["status"] in OVER else OVER)
        for field in ("title", "toolKind", "arguments"):
            assert kept[call_id].get(field) == call.get(field) or field not in call
        if call["status"] in OVER and "content" in call:
            assert kept[call_id]["content"] == call["content"]


def check_sendable(messages: tuple[Message, ...]) -> None:
    """By our own rule, and on every wire by what its provider reads."""
    history.check_history(messages)
    for wire in WIRES:
        body = encoded(wire, *messages)
        said = read_body(wire, body)
        check_pairs(wire, said)
        check_roles(wire, said)
        check_words(said, messages)
        assert read_request(body, wire).text


async def kill_once(seed: int, wire: str, folder: Path) -> str:
    """How the turn ended by what the store says."""
    chance = random.Random(seed)
    workspace, home = folder / "workspace", folder / "home"
    workspace.mkdir(parents=True)
    for name in ("open.py", "closed.py"):
        (workspace / name).write_text(TEXT)
    write_home(home, SCENARIO.format(wire=wire))

    editor = await open_on(workspace, home)
    editor.open(workspace / "open.py")
    at, delay, patience = (
        chance.randint(1, LAST_MESSAGE),
        chance.choice([0.0, chance.random() / 30]),
        chance.random() / 20,
    )
    loop = asyncio.get_running_loop()

    def allow(question: Question) -> None:
        if question.open:
            question.allow()

    def policy(question: Question) -> None:
        loop.call_later(patience, allow, question)

    def kill() -> None:
        if editor.connection.exit_code is None:
            editor.connection._process.kill()
        for question in editor.questions:
            allow(question)  # too late, but pygls's client fails where its server ends with a question open

    editor.policy = policy
    started = await editor.command("tark.turn.start", {"prompt": "do it"})
    turn_id, session_id = started["turnId"], started["sessionId"]
    before = len(editor.connection.messages)

    def count(_: Any) -> None:
        seen = sum(message.sender == "server" for message in editor.connection.messages[before:])
        if seen == at:
            loop.call_later(delay, kill)

    editor.connection.listeners.append(count)
    waiting = asyncio.ensure_future(editor.command("tark.turn.wait", {"turnId": turn_id}))
    gone = asyncio.ensure_future(editor.connection.exited(60))
    await asyncio.wait({waiting, gone}, return_when=asyncio.FIRST_COMPLETED)
    if not gone.done():
        kill()  # it was over sooner
    await gone
    waiting.cancel()
    await editor.connection.stop()
    updates = told(editor, turn_id)
    for uri in editor.documents:
        (workspace / Path(uri).name).write_bytes(editor.text(uri).encode())

    other = await open_on(workspace, home)
    assert session_id in [session["sessionId"] for session in (await other.command("tark.session.list"))["sessions"]]
    opened = await other.command("tark.session.open", {"sessionId": session_id})
    assert not opened["readOnly"]
    check_kept(updates, opened, turn_id)
    end = await other.end(turn_id)  # of an earlier server, and over
    (turn,) = opened["turns"]
    assert end["stopReason"] == turn["stopReason"]
    if turn["stopReason"] == "error":
        assert turn["error"]["code"] == "interrupted"
        assert other.notes == [], "an editor that shows turns shows the error at its turn"
    again = await other.turn("go on", sessionId=session_id)
    assert (await other.end(again))["text"] == "Gone on."
    reopened = await other.command("tark.session.open", {"sessionId": session_id})
    assert reopened["messages"][: len(opened["messages"])] == opened["messages"]
    assert await other.close() == 0
    await other.connection.stop()

    store = SessionStore(lambda: home / "state" / "tark" / "sessions.sqlite3", pytest.fail)
    messages = store.log.history(session_id).messages
    check_sendable(messages)
    if messages[:-2]:  # without the turn that was made since; nothing where the kill came before the prompt was said
        check_sendable(messages[:-2])
    store.close()
    return str(turn["stopReason"])


@pytest.mark.property
@pytest.mark.parametrize("part", range(PARTS))
async def test_nothing_told_is_lost(tmp_path: Path, part: int) -> None:
    points = islice(zip(seeds(len(WIRES)), cycle(WIRES), strict=False), part, None, PARTS)
    ends = [await kill_once(seed, wire, tmp_path.resolve() / str(seed)) for seed, wire in points]
    assert "error" in ends, "every one of them came too late"
