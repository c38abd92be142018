"""`tark.turn.undo` across servers: which turns it knows, and what it says if nothing can be stored."""

from pathlib import Path
from typing import Any

import pytest

from tark_lsp.errors import RequestError
from tark_lsp.folders import checkpoints_path
from tark_lsp.server.app import App
from tark_lsp.workspace.checkpoints.store import CheckpointStore
from tests.checkpoints import unexpected
from tests.server.desk import TEXT, Desk, MakeDesk, allow
from tests.server.scripted import ScriptedConnection, ScriptedEditor, capabilities

ASK = "tark/requestPermission"
CHANGED = TEXT.replace("line 3", "THREE")


async def changed(desk: Desk, path: Path) -> str:
    """A turn that changed a line; its id."""
    desk.connection.answers[ASK] = allow
    turn = await desk.start(f"edit {path.name}", path)
    await desk.end(turn)
    return turn


def again(desk: Desk, *folders: Path) -> Desk:
    """Another server of the same user, with the same files and an editor that has nothing open yet."""
    desk.connection = ScriptedConnection(capabilities(tark=["updates", "permission"]), "Helix", folders)
    desk.app = App(desk.connection)
    desk.app.begin()
    desk.editor = ScriptedEditor(desk.folder, capabilities())
    desk.editor.connection, desk.editor.documents = desk.connection, desk.app.parts.documents
    desk.connection.answers["workspace/applyEdit"] = desk.editor.apply
    return desk


async def undo(desk: Desk, turn: str) -> Any:
    return await desk.command("tark.turn.undo", {"turnId": turn})


@pytest.mark.parametrize("opened", [False, True])
async def test_a_turn_of_an_earlier_server(make: MakeDesk, opened: bool) -> None:
    desk = make()
    path = desk.editor.open("f.py", TEXT)
    turn = await changed(desk, path)
    path.write_text(desk.editor.text(path))  # the user saves
    await desk.app.stop()
    desk = again(desk, desk.folder)
    if opened:
        desk.editor.open("f.py", "mine\n" + CHANGED)
    assert await undo(desk, turn) == {"restored": [path.as_uri()], "kept": []}
    if opened:
        assert desk.editor.text(path) == "mine\n" + TEXT
    else:
        assert path.read_text() == TEXT
    assert await undo(desk, turn) == {"restored": [], "kept": []}


async def test_turns_of_other_workspaces_are_none(make: MakeDesk, tmp_path: Path) -> None:
    desk = make()
    path = desk.editor.open("f.py", TEXT)
    turn = await changed(desk, path)
    path.write_text(CHANGED)
    await desk.app.stop()
    (tmp_path / "other").mkdir()
    desk = again(desk, tmp_path / "other")
    for unknown in (turn, "nonesuch", "\ud800"):
        with pytest.raises(RequestError, match="there is no turn") as caught:
            await undo(desk, unknown)
        assert caught.value.rpc_code == -32602
    assert path.read_text() == CHANGED
    desk.editor.open("f.py", CHANGED)  # not in a folder of the workspace, but open
    assert await undo(desk, turn) == {"restored": [path.as_uri()], "kept": []}
    assert desk.editor.text(path) == TEXT


async def test_a_turn_that_changed_nothing(make: MakeDesk) -> None:
    desk = make()
    turn = await desk.start("say hello")
    await desk.end(turn)
    assert await undo(desk, turn) == {"restored": [], "kept": []}
    await desk.app.stop()
    assert await undo(again(desk, desk.folder), turn) == {"restored": [], "kept": []}


async def test_turns_are_listed_by_what_was_asked(make: MakeDesk) -> None:
    desk = make()
    turn = await changed(desk, desk.editor.open("f.py", TEXT))
    (logged,) = CheckpointStore(checkpoints_path, unexpected).turns()
    assert (logged.id, logged.title, logged.folders) == (turn, "edit f.py", (desk.folder,))


async def test_hunks_of_a_turn_undone_are_rejected(make: MakeDesk) -> None:
    desk = make(config='editReview = "after"\napproval = "balanced"')
    path = desk.editor.open("f.py", TEXT)
    turn = await changed(desk, path)
    (hunk,) = (await desk.command("tark.hunk.list", {"turnId": turn}))["hunks"]
    assert (hunk["state"], hunk["applied"]) == ("pending", True)
    await undo(desk, turn)
    (hunk,) = (await desk.command("tark.hunk.list", {"turnId": turn}))["hunks"]
    assert (hunk["state"], hunk["applied"]) == ("rejected", False)


async def test_without_a_state_folder_edits_go_on_and_that_is_said_once(make: MakeDesk, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "state").write_text("a file where the folder should be")
    desk = make()
    path = desk.editor.open("f.py", TEXT)
    turn = await changed(desk, path)
    assert desk.editor.text(path) == CHANGED
    await changed(desk, desk.editor.open("g.py", TEXT))
    (note,) = [note for note in desk.connection.notes() if "cannot be recorded on disk" in note]
    assert "docs/undo.md" in note
    assert await undo(desk, turn) == {"restored": [path.as_uri()], "kept": []}
    assert desk.editor.text(path) == TEXT
