"""A chat document under the next server: its session continues only if it has exactly the messages of the document."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from tests.server.chat.test_chat import HELLO, add, send
from tests.server.desk import Desk, MakeDesk
from tests.server.sessions.probe import listed, process_is_gone, run, said, sql, talking
from tests.server.sessions.probe import opened as session_of

NAME = "notes.tark.md"
FIRST = [("user", "hello"), ("assistant", "Hello.")]


@pytest.fixture
def desk(make: MakeDesk) -> Desk:
    return make()


@pytest.fixture
async def other(desk: Desk) -> AsyncIterator[Desk]:
    """The next server, or a second one."""
    other = desk.another()
    yield other
    await other.stop()


async def answered(desk: Desk) -> tuple[Path, str]:
    path = desk.editor.open(NAME, HELLO)
    return path, str((await send(desk, path))["sessionId"])


def reopened(other: Desk, path: Path, text: str) -> None:
    path.write_text(text)
    other.editor.open(NAME, text)
    add(other, path, "\nand then\n")


async def test_its_session_goes_on(desk: Desk, other: Desk) -> None:
    """Formatted meanwhile; nothing of it is stored a second time."""
    path, session = await answered(desk)
    await desk.stop()
    reopened(other, path, desk.editor.text(path).replace("\n\n", "\n\n\n"))
    assert (await send(other, path))["sessionId"] == session
    (row,) = await listed(other)
    assert (row["sessionId"], row["turns"]) == (session, 2)
    assert said(await session_of(other, session)) == [*FIRST, ("user", "and then"), ("assistant", "Hello.")]
    assert sql("SELECT count(*) FROM messages") == [(4,)]


async def test_a_turn_that_failed_before_its_model_was_asked_leaves_the_session_as_it_was(
    desk: Desk, other: Desk
) -> None:
    path, session = await answered(desk)
    saved = desk.editor.text(path)
    add(desk, path, "again\n")
    assert (await send(desk, path, model="nobody/nothing"))["stopReason"] == "error"
    await desk.stop()
    reopened(other, path, saved)
    assert (await send(other, path))["sessionId"] == session


async def deleted(desk: Desk, session: str) -> None:
    await desk.command("tark.session.delete", {"sessionId": session})
    await desk.stop()


async def held(desk: Desk, session: str) -> None:
    assert (await listed(desk))[0]["sessionId"] == session


async def gone_on_with(desk: Desk, session: str) -> None:
    await run(desk, "list .", session)
    await desk.stop()


async def cut_off(desk: Desk, session: str) -> None:
    """The server was killed in its next turn, and the document was not saved since."""
    path = desk.folder / NAME
    add(desk, path, "wait\n")
    turn = await desk.start("", path, chat=True)
    await talking(desk, turn)
    process_is_gone(session)


@pytest.mark.parametrize("happens", [deleted, held, gone_on_with, cut_off])
async def test_else_a_new_one_is_told_the_words(
    desk: Desk, other: Desk, happens: Callable[[Desk, str], Awaitable[None]]
) -> None:
    path, session = await answered(desk)
    saved = desk.editor.text(path)
    await happens(desk, session)
    reopened(other, path, saved)
    new = (await send(other, path))["sessionId"]
    assert new != session
    assert said(await session_of(other, new)) == [*FIRST, ("user", "and then"), ("assistant", "Hello.")]


@pytest.mark.parametrize(("before", "after"), [("hello", "good evening"), ("Hello.", "Goodbye.")])
async def test_what_was_changed_by_hand_is_what_the_model_is_told(
    desk: Desk, other: Desk, before: str, after: str
) -> None:
    path, session = await answered(desk)
    await desk.stop()
    reopened(other, path, desk.editor.text(path).replace(before, after, 1))
    new = (await send(other, path))["sessionId"]
    assert new != session
    assert (("user" if before == "hello" else "assistant"), after) in said(await session_of(other, new))[:2]


async def test_of_two_servers_the_one_that_answered_last_goes_on(desk: Desk, other: Desk) -> None:
    path, _ = await answered(desk)
    reopened(other, path, desk.editor.text(path))
    second = (await send(other, path))["sessionId"]
    await other.stop()
    desk.editor.replace(path, other.editor.text(path))
    add(desk, path, "and at last\n")
    assert (await send(desk, path))["sessionId"] == second
