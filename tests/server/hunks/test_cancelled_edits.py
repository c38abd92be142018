"""What the row of an edit says after its turn was cancelled: "cancelled" only if nothing of it is applied or waits."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import pytest

from tests.server.desk import TEXT, Desk, MakeDesk, allow

pytestmark = pytest.mark.virtual_clock

ASK, APPLY = "tark/requestPermission", "workspace/applyEdit"
IN_PLACE, ASKING = 'editReview = "after"', 'approval = "manual"'
EDITED = TEXT.replace("line 3\n", "THREE\n")
Json: TypeAlias = dict[str, Any]


async def cancel(desk: Desk) -> None:
    await desk.command("tark.turn.cancel", {})


def stop_while_applying(desk: Desk) -> None:
    """The editor has the edit, and makes it after Stop."""

    async def apply(params: Json) -> Any:
        await cancel(desk)
        await asyncio.sleep(0.1)
        return await answer(desk.editor.apply(params))

    desk.connection.answers[APPLY] = apply


async def answer(value: Any) -> Any:
    return await value if isinstance(value, Awaitable) else value


def allow_and_stop_while_applying(desk: Desk) -> None:
    desk.connection.answers[ASK] = allow
    stop_while_applying(desk)


def stop_at_the_question(desk: Desk) -> None:
    async def ask(_: Json) -> Any:
        await cancel(desk)
        await asyncio.Event().wait()

    desk.connection.answers[ASK] = ask


def accept_the_hunk_and_stop(desk: Desk) -> None:
    async def ask(params: Json) -> Any:
        first = params["edits"][0]["hunks"][0]["hunkId"]
        await desk.command("tark.hunk.accept", {"hunkIds": [first]})
        await cancel(desk)
        await asyncio.Event().wait()

    desk.connection.answers[ASK] = ask


CLASSES = [
    # settings, what happens, the row, the file in the end, the hunk, the text
    (IN_PLACE, stop_while_applying, "completed", "applied", ("pending", True), EDITED),
    (ASKING, allow_and_stop_while_applying, "completed", "applied", ("accepted", True), EDITED),
    (ASKING, accept_the_hunk_and_stop, "completed", "applied", ("accepted", True), EDITED),
    (ASKING, stop_at_the_question, "cancelled", None, ("rejected", False), TEXT),
]


@pytest.mark.parametrize(("config", "happens", "status", "file", "hunk", "text"), CLASSES)
async def test_the_row_says_what_is_true(
    make: MakeDesk,
    config: str,
    happens: Callable[[Desk], None],
    status: str,
    file: str | None,
    hunk: tuple[str, bool],
    text: str,
) -> None:
    desk = make(config=config)
    path = desk.editor.open("f.py", TEXT)
    happens(desk)
    turn = await desk.start("edit f.py", path)
    end = await desk.end(turn)
    assert end["stopReason"] == "cancelled"
    assert [edit["state"] for edit in end["edits"]] == ([] if file is None else [file])
    assert desk.updates(turn, "toolCall")[-1]["status"] == status
    (shown,) = (await desk.command("tark.hunk.list", {}))["hunks"]
    assert (shown["state"], shown["applied"]) == hunk
    assert desk.editor.text(path) == text
