"""`tark.turn.redo`, and what clients are told about turns that are undone."""

from typing import Any

import pytest

from tark_lsp.errors import RequestError
from tests.server.desk import TEXT, Desk, MakeDesk, allow
from tests.server.hunks.test_undo import CHANGED, again, changed, undo

pytestmark = pytest.mark.virtual_clock


async def redo(desk: Desk, turn: str) -> Any:
    return await desk.command("tark.turn.redo", {"turnId": turn})


def told(desk: Desk, turn: str) -> list[Any]:
    """What the updates `undone` of a turn said."""
    return [update["undone"] for update in desk.updates(turn, "undone")]


async def opened(desk: Desk) -> Any:
    """The turns of the only session, as `tark.session.open` answers them."""
    (session,) = (await desk.command("tark.session.list", {}))["sessions"]
    return (await desk.command("tark.session.open", {"sessionId": session["sessionId"]}))["turns"]


async def test_what_is_undone_can_be_done_again(make: MakeDesk) -> None:
    desk = make()
    path = desk.editor.open("f.py", TEXT)
    turn = await changed(desk, path)
    done = {"restored": [path.as_uri()], "kept": []}
    assert await redo(desk, turn) == {"restored": [], "kept": []}
    for _ in range(2):
        assert await undo(desk, turn) == done
        assert desk.editor.text(path) == TEXT
        assert [item.get("undone") for item in await opened(desk)] == ["all"]
        assert await redo(desk, turn) == done
        assert desk.editor.text(path) == CHANGED
        assert ["undone" in item for item in await opened(desk)] == [False]
    assert told(desk, turn) == [None, "all", None, "all", None]


async def test_what_you_typed_since_stays(make: MakeDesk) -> None:
    desk = make()
    path = desk.editor.open("f.py", TEXT)
    turn = await changed(desk, path)
    await undo(desk, turn)
    desk.editor.open("f.py", "mine\n" + TEXT)
    assert (await redo(desk, turn))["kept"] == []
    assert desk.editor.text(path) == "mine\n" + CHANGED
    await undo(desk, turn)
    desk.editor.open("f.py", TEXT.replace("line 3", "my line 3"))
    reason = "1 of 1 changes were changed again since"
    assert await redo(desk, turn) == {"restored": [], "kept": [{"uri": path.as_uri(), "reason": reason}]}
    assert desk.editor.text(path) == TEXT.replace("line 3", "my line 3")
    assert [item.get("undone") for item in await opened(desk)] == ["all"]


async def test_by_another_server(make: MakeDesk) -> None:
    desk = make()
    path = desk.editor.open("f.py", TEXT)
    turn = await changed(desk, path)
    await undo(desk, turn)
    path.write_text(desk.editor.text(path))
    await desk.app.stop()
    desk = again(desk, desk.folder)
    assert [item.get("undone") for item in await opened(desk)] == ["all"]
    assert (await redo(desk, turn))["restored"] == [path.as_uri()]
    assert path.read_text() == CHANGED
    assert told(desk, turn) == [None]
    assert [(item.get("undone"), item["seq"]) for item in await opened(desk)] == [(None, 1)]


async def test_a_created_file_comes_back_as_it_was(make: MakeDesk) -> None:
    desk = make()
    desk.connection.answers["tark/requestPermission"] = allow
    turn = await desk.start("write new.py")
    await desk.end(turn)
    path = desk.folder / "new.py"
    path.chmod(0o600)
    await undo(desk, turn)
    assert not path.exists()
    await redo(desk, turn)
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new\n", 0o600)
    await undo(desk, turn)
    path.write_text("mine\n")
    reason = "there is another file where it was"
    assert await redo(desk, turn) == {"restored": [], "kept": [{"uri": path.as_uri(), "reason": reason}]}
    assert path.read_text() == "mine\n"


async def test_hunks_of_a_turn_done_again_are_accepted(make: MakeDesk) -> None:
    desk = make(config='editReview = "after"\napproval = "balanced"')
    path = desk.editor.open("f.py", TEXT)
    turn = await changed(desk, path)
    await undo(desk, turn)
    await redo(desk, turn)
    (hunk,) = (await desk.command("tark.hunk.list", {"turnId": turn}))["hunks"]
    assert (hunk["state"], hunk["applied"]) == ("accepted", True)
    await undo(desk, turn)
    assert desk.editor.text(path) == TEXT


async def test_it_is_refused_as_undo_is(make: MakeDesk) -> None:
    desk = make()
    desk.connection.answers["tark/requestPermission"] = allow
    with pytest.raises(RequestError, match="there is no turn"):
        await redo(desk, "nonesuch")
    turn = await desk.start("wait")
    with pytest.raises(RequestError, match="still running") as caught:
        await redo(desk, turn)
    assert "cancel it first" in caught.value.hint
    await desk.command("tark.turn.cancel", {})
    await desk.end(turn)


async def test_a_copy_in_a_fork_is_the_same_turn(make: MakeDesk) -> None:
    desk = make()
    path = desk.editor.open("f.py", TEXT)
    turn = await changed(desk, path)
    (session,) = (await desk.command("tark.session.list", {}))["sessions"]
    fork = (await desk.command("tark.session.fork", {"sessionId": session["sessionId"]}))["sessionId"]
    again_ = (await desk.command("tark.session.fork", {"sessionId": fork}))["sessionId"]
    copies = [
        (await desk.command("tark.session.open", {"sessionId": each}))["turns"][0]["turnId"] for each in (fork, again_)
    ]
    assert (await undo(desk, copies[1]))["restored"] == [path.as_uri()]
    assert desk.editor.text(path) == TEXT
    assert [told(desk, each) for each in (turn, *copies)] == [["all"]] * 3
    assert (await redo(desk, turn))["restored"] == [path.as_uri()]
    exported = (await desk.command("tark.session.export", {"sessionId": fork, "format": "json"}))["path"]
    imported = (await desk.command("tark.session.new", {"import": exported}))["sessionId"]
    (stranger,) = (await desk.command("tark.session.open", {"sessionId": imported}))["turns"]
    assert await undo(desk, stranger["turnId"]) == {"restored": [], "kept": []}
    assert desk.editor.text(path) == CHANGED
