"""The preview of an undo says what the undo then does, no matter what happened to the files; it changes nothing."""

import random
from contextlib import suppress
from pathlib import Path

import pytest

from tark_lsp.errors import NotText
from tark_lsp.workspace.checkpoints.checkpoints import Checkpoints
from tark_lsp.workspace.checkpoints.store import CheckpointStore, LoggedChange
from tark_lsp.workspace.checkpoints.turn_undo import DELETED, TAKEN, UndoResult
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.outcomes import Applied, Stale
from tark_lsp.workspace.snapshot import Snapshot
from tests.checkpoints import checkpoints_in_memory, unexpected
from tests.exhaustive import seeds
from tests.memory import MemoryBuffers
from tests.workspace.turn import Turn

NAMES = ("a", "b", "d/c")
LINES = ("same\n", "other\n", "é\n", "x = 1\n", "last")
AGENT = ("write", "write", "write", "move", "move", "move", "remove", "note")
TURNS = ("t2", "t1")
"""In the order of their undo."""
PERSON = ("put", "put", "drop", "rename", "undo")


@pytest.fixture
def turn(workspace: Workspace, buffers: MemoryBuffers) -> Turn:
    return Turn(workspace, buffers, checkpoints_in_memory())


def changes(turn: Turn) -> list[LoggedChange]:
    return [change for turn_id in TURNS for one in turn.checkpoints.histories(turn_id) for change in one.changes]


def tree(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def step(turn: Turn, folder: Path, what: str, name: str, other: str, text: str) -> None:
    """A step of the agent or of the user (`PERSON`); an impossible one does nothing."""
    path, target = folder / name, folder / other
    free = not target.exists() and target != path
    match what:
        case "write":
            await turn.write(path, text)
        case "move" if path.exists() and free:
            await turn.move(path, target)
        case "remove" if path.exists():
            await turn.remove(path)
        case "note" if path.exists():  # and no more of it is known
            turn.checkpoints.record_move("t1", path, target)
            turn.checkpoints.record_removal("t1", path, path.read_bytes(), 0o644)
        case "put":
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(text.encode() or b"\0")
        case "drop":
            path.unlink(missing_ok=True)
        case "rename" if path.exists() and free:
            target.parent.mkdir(exist_ok=True)
            path.rename(target)
        case "undo":
            await turn.undo()


def imagined(before: dict[Path, bytes], edits: tuple[ProposedEdit, ...]) -> dict[Path, bytes]:
    after = {path: data for path, data in before.items() if path not in [edit.path for edit in edits]}
    return after | {edit.target or edit.path: edit.after.encode() for edit in edits if not edit.removes}


@pytest.mark.property
@pytest.mark.parametrize("seed", seeds(50))
async def test_foreseen_is_what_is_done(turn: Turn, folder: Path, seed: int) -> None:
    chance = random.Random(seed)

    def text() -> str:
        return "".join(chance.choices(LINES[:-1], k=chance.randrange(5)) + chance.choices(["", LINES[-1]]))

    (folder / "a").write_text(text())
    (folder / "b").write_text(text())
    second = chance.randrange(12)
    for number in range(chance.randrange(1, 12)):
        turn.turn_id = "t1" if number < second else "t2"
        what = chance.choice(AGENT if chance.random() < 0.6 else PERSON)
        with suppress(NotText):  # the user put something else there
            await step(turn, folder, what, chance.choice(NAMES), chance.choice(NAMES), text())
    before, logged = tree(folder), changes(turn)
    foreseen = await turn.checkpoints.preview_undo(TURNS, turn.workspace)
    assert (tree(folder), changes(turn)) == (before, logged)
    undone = UndoResult((), ())
    for turn.turn_id in TURNS:
        undone = undone.followed_by(await turn.undo())
    assert undone == foreseen.undone
    assert tree(folder) == imagined(before, foreseen.edits)
    assert all(edit.hunks or edit.operation or not edit.base.exists for edit in foreseen.edits)


async def test_all_lines_changed_since(turn: Turn, folder: Path) -> None:
    (folder / "a").write_text("one\n")
    await turn.write(folder / "a", "agent\n")
    (folder / "a").write_text("mine\n")
    foreseen = await turn.checkpoints.preview_undo(["t1"], turn.workspace)
    assert foreseen.edits == ()
    assert foreseen.undone == UndoResult((), ((folder / "a", "1 of 1 changes were changed again since"),))


async def test_deleted_since_and_another_in_its_place(turn: Turn, folder: Path) -> None:
    for name in ("edited", "removed"):
        (folder / name).write_text("one\n")
    await turn.write(folder / "edited", "agent\n")
    await turn.remove(folder / "removed")
    (folder / "edited").unlink()
    (folder / "removed").write_text("mine\n")
    foreseen = await turn.checkpoints.preview_undo(["t1"], turn.workspace)
    assert foreseen.edits == ()
    assert foreseen.undone.kept == ((folder / "edited", DELETED), (folder / "removed", TAKEN))


async def test_one_edit_a_file(turn: Turn, folder: Path) -> None:
    """Through two moves, and a file that is restored before it is moved, even an empty one."""
    for name in ("a", "b"):
        (folder / name).write_text("")
    await turn.move(folder / "a", folder / "c")
    await turn.write(folder / "c", "agent\n")
    await turn.move(folder / "c", folder / "d")
    await turn.move(folder / "b", folder / "e")
    await turn.remove(folder / "e")
    first, second = (await turn.checkpoints.preview_undo(["t1"], turn.workspace)).edits
    assert (first.path, first.target, first.after) == (folder / "d", folder / "a", "")
    assert (second.path, second.target, second.base.exists) == (folder / "b", None, False)


async def test_one_edit_of_a_file_that_the_person_moved_and_the_agent_moved_back(turn: Turn, folder: Path) -> None:
    """The log has two files of one path, and each has an edit to undo."""
    path, other = folder / "a", folder / "b"
    path.write_text("one\n")
    await turn.write(path, "one\ntwo\nthree\n")
    path.rename(other)
    await turn.move(other, path)
    await turn.write(path, "one\nthree\n")
    other.write_text("mine\n")
    (edit,) = (await turn.checkpoints.preview_undo(["t1"], turn.workspace)).edits
    assert (edit.path, edit.target, edit.base.text, edit.after) == (path, None, "one\nthree\n", "one\n")


async def test_one_edit_of_a_file_that_two_turns_changed(turn: Turn, folder: Path) -> None:
    for name in ("edited", "gone"):
        (folder / name).write_text("one\n")
    await turn.write(folder / "edited", "two\n")
    await turn.remove(folder / "gone")
    turn.turn_id = "t2"
    await turn.write(folder / "edited", "three\n")
    await turn.write(folder / "gone", "another\n")
    await turn.write(folder / "new", "new\n")
    edits = (await turn.checkpoints.preview_undo(["t2", "t1"], turn.workspace)).edits
    shown = {edit.path.name: (edit.removes, edit.base.text, edit.after) for edit in edits}
    assert shown == {
        "edited": (False, "three\n", "one\n"),
        "gone": (False, "another\n", "one\n"),
        "new": (True, "new\n", ""),
    }
    assert len(edits) == 3


# A server that still runs, and `tark-lsp undo` beside it

REMOVED, EDITED, MOVED = "removed", "edited", "moved"


@pytest.mark.parametrize("kind", [REMOVED, EDITED, MOVED])
@pytest.mark.parametrize("asked", ["preview_undo", "undo"])
async def test_undo_looks_between_note_and_change(
    workspace: Workspace, folder: Path, tmp_path: Path, kind: str, asked: str
) -> None:
    server, beside = (Checkpoints(CheckpointStore(lambda: tmp_path / "log", unexpected)) for _ in range(2))
    path = folder / "a"
    path.write_text("one\n")
    before = tree(folder)
    match kind:
        case "removed":
            noted = server.record_removal("t1", path, b"one\n", 0o644)
        case "edited":
            noted = server.record_edit("t1", path, "one\n", "agent\n")
        case _:
            noted = server.record_move("t1", path, folder / "b")
    if asked == "undo":
        assert (await beside.undo("t1", workspace)).kept == ()
        beside.record_edit("t2", folder / "c", None, "forgets what no turn needs")
    else:
        assert (await beside.preview_undo(["t1"], workspace)).edits == ()
    match kind:
        case "removed":
            path.unlink()
        case "edited":
            path.write_text("agent\n")
        case _:
            path.rename(folder / "b")
    server.settle_change(noted, Applied(Snapshot(path, "")))
    assert tree(folder) != before
    assert (await beside.undo("t1", workspace)).restored == (path,)
    assert tree(folder) == before
    assert await server.undo("t1", workspace) == UndoResult((), ())


async def test_undo_looks_and_the_change_never_comes(workspace: Workspace, folder: Path, tmp_path: Path) -> None:
    server, beside = (Checkpoints(CheckpointStore(lambda: tmp_path / "log", unexpected)) for _ in range(2))
    (folder / "a").write_text("one\n")
    noted = server.record_removal("t1", folder / "a", b"one\n", 0o644)
    assert await beside.undo("t1", workspace) == UndoResult((), ())
    server.settle_change(noted, Stale("typed"))
    (folder / "a").unlink()  # by the user
    assert await server.undo("t1", workspace) == UndoResult((), ())
    assert tree(folder) == {}
