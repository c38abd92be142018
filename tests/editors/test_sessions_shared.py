"""Two servers on one workspace and one session: the second is told, and nothing is lost."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.editors.connection import Json, ResponseError
from tests.editors.memory_editor import MemoryEditor
from tests.editors.one_home import open_on, write_home

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

WORDS = "This takes its time, and all of it is there at the end, whoever looks at it meanwhile."
SCENARIO = f"""\
wire = "openai-responses"

[[reply]]
when = 'says:\\s+slowly'
text = "{WORDS}"
chunk = 2
delay_ms = 30

[[reply]]
when = 'says:\\s+for ever'
text = "{WORDS}"
chunk = 2
delay_ms = 500

[[reply]]
text = "Hello."
"""


@pytest_asyncio.fixture(loop_scope="session")
async def editors(tmp_path: Path) -> AsyncIterator[tuple[MemoryEditor, MemoryEditor]]:
    folder, home = tmp_path.resolve() / "workspace", tmp_path.resolve() / "home"
    folder.mkdir()
    write_home(home, SCENARIO)
    first, second = await asyncio.gather(open_on(folder, home), open_on(folder, home))
    yield first, second
    for editor in (first, second):
        await editor.connection.stop()


async def start(editor: MemoryEditor, prompt: str) -> tuple[str, str]:
    """Ids of session and turn, once some words of the answer were told."""
    started = await editor.command("tark.turn.start", {"prompt": prompt})
    turn = started["turnId"]
    await editor.connection.until(lambda: len(list(editor.updates(turn, "text"))) > 3 or None, "some words")
    return started["sessionId"], turn


async def opened(editor: MemoryEditor, session: str) -> Json:
    return dict(await editor.command("tark.session.open", {"sessionId": session}))


async def refused(editor: MemoryEditor, session: str) -> str:
    with pytest.raises(ResponseError) as caught:
        await editor.turn("hello", sessionId=session)
    return caught.value.message


def texts(session: Json) -> list[str]:
    return [message["text"] for message in session["messages"]]


async def test_the_second_is_told_and_nothing_is_lost(editors: tuple[MemoryEditor, MemoryEditor]) -> None:
    first, second = editors
    session, turn = await start(first, "slowly")
    pid = first.connection.process_id
    seen = await opened(second, session)
    assert (seen["readOnly"], seen["heldBy"]["pid"]) == (True, pid)
    assert WORDS.startswith(texts(seen)[1])
    assert texts(seen)[1]
    assert f"another editor (process {pid}) has this session open: fork it, or close it there" in (
        await refused(second, session)
    )
    fork = (await second.command("tark.session.fork", {"sessionId": session}))["sessionId"]
    own = await second.turn("hello")  # beside it, in a session of its own
    assert (await second.end(own))["text"] == "Hello."
    assert (await first.end(turn))["text"] == WORDS
    assert (await first.end(await first.turn("hello", sessionId=session)))["text"] == "Hello."
    await second.end(await second.turn("hello", sessionId=fork))
    assert await first.close() == 0
    after = await opened(second, session)
    assert (after["readOnly"], texts(after)) == (False, ["slowly", WORDS, "hello", "Hello."])
    await second.end(await second.turn("hello", sessionId=session))
    assert texts(await opened(second, fork))[-2:] == ["hello", "Hello."]
    assert len((await second.command("tark.session.list"))["sessions"]) == 3
    assert second.notes == []


async def test_the_second_takes_over_what_a_killed_one_leaves(editors: tuple[MemoryEditor, MemoryEditor]) -> None:
    first, second = editors
    session, turn = await start(first, "for ever")
    assert (await opened(second, session))["readOnly"] is True
    first.connection._process.kill()
    await first.connection.exited()
    received = "".join(update["delta"] for update in first.updates(turn, "text"))
    taken = await opened(second, session)
    assert taken["readOnly"] is False
    (cut,) = taken["turns"]
    assert (cut["stopReason"], cut["error"]["code"]) == ("error", "interrupted")
    kept = texts(taken)[1]
    assert kept.endswith("\n\n[interrupted]")
    assert kept.startswith(received)
    assert second.notes == [], "an editor that shows turns shows the error at its turn"
    assert (await second.end(turn))["error"]["code"] == "interrupted"
    assert (await second.end(await second.turn("hello", sessionId=session)))["text"] == "Hello."
