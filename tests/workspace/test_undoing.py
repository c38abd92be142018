"""Undo of moves, removals and creations of files, in any order, and of what is in their way."""

import stat
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tark_lsp.workspace.checkpoints.history_inverse import NOT_OURS
from tark_lsp.workspace.checkpoints.turn_undo import DELETED, LINKED, TAKEN, UndoResult
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.outcomes import Outcome, Stale
from tark_lsp.workspace.snapshot import Snapshot
from tests.checkpoints import checkpoints_in_memory
from tests.memory import MemoryBuffers
from tests.workspace.turn import Turn

TEN = "".join(f"{number}\n" for number in range(1, 11))
AGENT = TEN.replace("2\n", "agent\n")


@pytest.fixture
def turn(workspace: Workspace, buffers: MemoryBuffers) -> Turn:
    return Turn(workspace, buffers, checkpoints_in_memory())


def tree(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
        for path in folder.rglob("*")
        if path.is_file()
    }


async def swap(turn: Turn, folder: Path) -> None:
    await turn.move(folder / "a", folder / "c")
    await turn.move(folder / "b", folder / "a")
    await turn.move(folder / "c", folder / "b")


async def replace_by_a_move(turn: Turn, folder: Path) -> None:
    await turn.remove(folder / "b")
    await turn.write(folder / "a", AGENT)
    await turn.move(folder / "a", folder / "b")
    await turn.write(folder / "b", AGENT + "more\n")


async def come_and_go(turn: Turn, folder: Path) -> None:
    await turn.write(folder / "new", "x\n")
    await turn.move(folder / "new", folder / "newer")
    await turn.remove(folder / "newer")


async def write_anew(turn: Turn, folder: Path) -> None:
    await turn.write(folder / "a", AGENT)
    await turn.remove(folder / "a")
    await turn.write(folder / "a", "other\n")


async def create_and_move(turn: Turn, folder: Path) -> None:
    await turn.move(folder / "b", folder / "c")
    await turn.write(folder / "b", "new\n")
    await turn.write(folder / "b", "newer\n")
    await turn.move(folder / "b", folder / "deep/er/d")


async def through_a_place_of_another(turn: Turn, folder: Path) -> None:
    await turn.move(folder / "a", folder / "c")
    await turn.move(folder / "b", folder / "a")
    await turn.remove(folder / "a")
    await turn.move(folder / "c", folder / "a")


async def there_and_back(turn: Turn, folder: Path) -> None:
    await turn.move(folder / "a", folder / "c")
    await turn.write(folder / "c", AGENT)
    await turn.move(folder / "c", folder / "a")


async def edit_and_remove(turn: Turn, folder: Path) -> None:
    await turn.write(folder / "script", "#!/bin/sh\r\nexit 1\r\n")
    await turn.move(folder / "script", folder / "moved")
    await turn.remove(folder / "moved")
    await turn.write(folder / "a", "")
    await turn.remove(folder / "empty")


@pytest.mark.parametrize(
    "work",
    [
        swap,
        replace_by_a_move,
        come_and_go,
        write_anew,
        create_and_move,
        there_and_back,
        edit_and_remove,
        through_a_place_of_another,
    ],
)
@pytest.mark.parametrize("opened", [False, True])
async def test_all_comes_back(
    turn: Turn, folder: Path, work: Callable[[Turn, Path], Awaitable[None]], opened: bool
) -> None:
    (folder / "a").write_text(TEN)
    (folder / "b").write_bytes("\ufeffüber\r\nalles".encode("utf-16-le"))
    (folder / "script").write_bytes(b"\xef\xbb\xbf#!/bin/sh\r\nexit 0")
    (folder / "script").chmod(0o750)
    (folder / "empty").touch()
    before = tree(folder)
    turn.buffers.operates = opened
    if opened:
        turn.buffers.open(folder / "a")
    await work(turn, folder)
    assert tree(folder) != before or opened or work is there_and_back or work is come_and_go
    assert (await turn.undo()).kept == ()
    if opened and (document := turn.buffers.get(folder / "a")) is not None:
        assert document.text == TEN
        (folder / "a").write_text(document.text)  # the user saves
    assert tree(folder) == before
    assert await turn.undo() == UndoResult((), ())
    assert tree(folder) == before


async def test_a_moved_file_comes_back_with_what_was_typed_since(turn: Turn, folder: Path) -> None:
    (folder / "a").write_text(TEN)
    await turn.write(folder / "a", AGENT)
    await turn.move(folder / "a", folder / "b")
    await turn.write(folder / "b", AGENT.replace("8\n", "agent\n"))
    (folder / "b").write_text((folder / "b").read_text().replace("5\n", "5 mine\n") + "mine\n")
    assert await turn.undo() == UndoResult((folder / "a",), (), (folder / "b",))
    assert tree(folder).keys() == {"a"}
    assert (folder / "a").read_text() == TEN.replace("5\n", "5 mine\n") + "mine\n"


async def test_one_undo_step_for_all_edits_of_a_file(turn: Turn, folder: Path) -> None:
    turn.buffers.operates = True
    (folder / "a").write_text(TEN)
    turn.buffers.open(folder / "a")
    await turn.write(folder / "a", AGENT)
    await turn.move(folder / "a", folder / "b")
    turn.buffers.type(folder / "b", "mine\n" + turn.buffers.documents[folder / "b"].text)
    await turn.write(folder / "b", turn.buffers.documents[folder / "b"].text.replace("8\n", "agent\n"))
    done = len(turn.buffers.applied)
    assert (await turn.undo()).kept == ()
    assert [label for _, label in turn.buffers.applied[done:]] == ["Undo Tark"]
    assert turn.buffers.documents[folder / "a"].text == "mine\n" + TEN


async def test_where_a_moved_file_was_there_is_another_now(turn: Turn, folder: Path) -> None:
    (folder / "a").write_text(TEN)
    await turn.move(folder / "a", folder / "b")
    await turn.write(folder / "b", AGENT)
    (folder / "a").write_text("mine\n")
    undone = await turn.undo()
    assert undone.restored == (folder / "b",), "its text is as it was"
    assert [path for path, _ in undone.kept] == [folder / "b"]
    assert (folder / "a").read_text() == "mine\n"
    assert (folder / "b").read_text() == TEN
    (folder / "a").unlink()
    (folder / "b").write_text(AGENT)  # made again by the user: the second call does not touch it
    assert await turn.undo() == UndoResult((folder / "a",), (), (folder / "b",))
    assert (folder / "a").read_text() == AGENT


async def test_a_place_between_is_taken(turn: Turn, folder: Path) -> None:
    (folder / "a").write_text(TEN)
    await turn.move(folder / "a", folder / "b")
    await turn.move(folder / "b", folder / "c")
    (folder / "b").write_text("mine\n")
    assert await turn.undo() == UndoResult((folder / "a",), (), (folder / "c",))
    assert tree(folder).keys() == {"a", "b"}
    assert await turn.undo() == UndoResult((), ())


@pytest.mark.parametrize(
    ("data", "restored"), [(b"mine\n", False), (b"\0", False), (TEN.encode(), True)], ids=["other", "binary", "same"]
)
async def test_where_a_removed_file_was_there_is_one(turn: Turn, folder: Path, data: bytes, restored: bool) -> None:
    (folder / "a").write_text(TEN)
    await turn.write(folder / "a", AGENT)
    await turn.remove(folder / "a")
    (folder / "a").write_bytes(data)
    undone = await turn.undo()
    assert undone == (UndoResult((folder / "a",), ()) if restored else UndoResult((), ((folder / "a", TAKEN),)))
    assert (folder / "a").read_bytes() == data
    if not restored:
        (folder / "a").unlink()
        assert await turn.undo() == UndoResult((folder / "a",), ())
        assert (folder / "a").read_text() == TEN


async def test_what_the_person_typed_before_the_removal_comes_back(turn: Turn, folder: Path) -> None:
    (folder / "a").write_text(TEN)
    await turn.write(folder / "a", AGENT.replace("8\n", "agent\n"))
    (folder / "a").write_text((folder / "a").read_text().replace("agent\n", "mine\n", 1))
    await turn.remove(folder / "a")
    undone = await turn.undo()
    assert undone == UndoResult((folder / "a",), ((folder / "a", "1 of 2 changes were changed again since"),))
    assert (folder / "a").read_text() == TEN.replace("2\n", "mine\n")
    assert await turn.undo() == UndoResult((), undone.kept)


@pytest.mark.parametrize("moved", [False, True])
async def test_gone_since(turn: Turn, folder: Path, moved: bool) -> None:
    (folder / "a").write_text(TEN)
    await turn.write(folder / "a", AGENT)
    if moved:
        await turn.move(folder / "a", folder / "b")
    place = folder / ("b" if moved else "a")
    place.unlink()
    assert await turn.undo() == UndoResult((), ((place, DELETED),))
    assert tree(folder) == {}


async def test_a_created_file_the_person_changed_stays_where_it_is(turn: Turn, folder: Path) -> None:
    (folder / "a").write_text(TEN)
    await turn.remove(folder / "a")
    await turn.write(folder / "new", "x\n")
    await turn.move(folder / "new", folder / "a")
    (folder / "a").write_text("x\nmine\n")
    assert await turn.undo() == UndoResult((), ((folder / "a", NOT_OURS),))
    assert tree(folder).keys() == {"a"}
    (folder / "a").write_text("x\n")
    assert (await turn.undo()).kept == ()
    assert (folder / "a").read_text() == TEN


async def test_a_created_file_removed_with_the_persons_words_in_it(turn: Turn, folder: Path) -> None:
    await turn.write(folder / "new", "x\n")
    (folder / "new").write_text("x\nmine\n")
    await turn.remove(folder / "new")
    assert await turn.undo() == UndoResult((folder / "new",), ((folder / "new", NOT_OURS),))
    assert (folder / "new").read_text() == "x\nmine\n"


async def create(turn: Turn, folder: Path) -> None:
    await turn.write(folder / "new", "x\n")


async def move(turn: Turn, folder: Path) -> None:
    await turn.write(folder / "old", "x\n")
    turn.turn_id = "another"
    await turn.move(folder / "old", folder / "new")


async def change(turn: Turn, folder: Path) -> None:
    (folder / "new").write_text("y\n")
    await turn.write(folder / "new", "x\n")


@pytest.mark.parametrize("work", [create, move, change])
async def test_no_link_leads_to_another_file(
    turn: Turn, folder: Path, work: Callable[[Turn, Path], Awaitable[None]]
) -> None:
    await work(turn, folder)
    (folder / "new").unlink()
    (folder / "mine").write_text("x\n")
    (folder / "new").symlink_to("mine")
    undone = await turn.undo()
    assert dict(undone.kept) == {folder / "new": LINKED}
    assert (folder / "mine").read_text() == "x\n"
    assert (folder / "new").is_symlink()


async def test_each_change_is_taken_back_once(turn: Turn, folder: Path) -> None:
    """What the user does afterwards is theirs, even if it is the same text as the agent's."""
    for name in ("edited", "removed"):
        (folder / name).write_text(TEN)
    await turn.write(folder / "edited", AGENT)
    await turn.remove(folder / "removed")
    await turn.write(folder / "created", AGENT)
    assert len((await turn.undo()).restored) == 3
    (folder / "edited").write_text(AGENT)
    (folder / "removed").write_text("mine\n")
    (folder / "created").write_text(AGENT)
    before = tree(folder)
    assert await turn.undo() == UndoResult((), ())
    assert tree(folder) == before


async def test_what_a_turn_changes_after_it_was_undone(turn: Turn, folder: Path) -> None:
    """An undecided hunk is accepted later."""
    (folder / "a").write_text(TEN)
    await turn.write(folder / "a", AGENT)
    await turn.write(folder / "new", "x\n")
    await turn.move(folder / "a", folder / "b")
    assert (await turn.undo()).kept == ()
    (folder / "new").write_text("mine\n")
    before = tree(folder)
    await turn.write(folder / "a", TEN.replace("8\n", "agent\n"))
    await turn.write(folder / "new", "mine\nagent\n")
    assert await turn.undo() == UndoResult((folder / "a", folder / "new"), ())
    assert tree(folder) == before


@pytest.mark.parametrize("came", [False, True])
async def test_killed_between_note_and_change(turn: Turn, folder: Path, came: bool) -> None:
    """The change is recorded, but nobody confirmed whether it was made."""
    for name in ("edited", "moved", "removed"):
        (folder / name).write_text(TEN)
    before = tree(folder)
    turn.checkpoints.record_edit("t1", folder / "edited", TEN, AGENT)
    turn.checkpoints.record_edit("t1", folder / "created", None, AGENT)
    turn.checkpoints.record_move("t1", folder / "moved", folder / "there")
    turn.checkpoints.record_removal("t1", folder / "removed", TEN.encode(), 0o644)
    if came:
        (folder / "edited").write_text(AGENT)
        (folder / "created").write_text(AGENT)
        (folder / "moved").rename(folder / "there")
        (folder / "removed").unlink()
    assert (await turn.undo()).kept == ()
    assert tree(folder) == before
    assert await turn.undo() == UndoResult((), ())


@pytest.mark.parametrize("came", [False, True])
@pytest.mark.parametrize("second", ["other\n", "agent\nmore\n", ""], ids=["the line again", "beside it", "taken out"])
@pytest.mark.parametrize("goes_on", [False, True])
async def test_killed_between_note_and_a_further_change(
    turn: Turn, folder: Path, came: bool, second: str, goes_on: bool
) -> None:
    """The files have the agent's text from before, or from now; another server can add changes of the turn."""
    (folder / "edited").write_text(TEN)
    (folder / "removed").write_text(TEN)
    before = tree(folder)
    further = AGENT.replace("agent\n", second)
    for name in ("edited", "created", "removed"):
        await turn.write(folder / name, AGENT)
        turn.checkpoints.record_edit("t1", folder / name, AGENT, further)
        if came:
            (folder / name).write_text(further)
        if goes_on:
            await turn.write(folder / name, (further if came else AGENT).replace("5\n", "5\n5\n"))
    await turn.remove(folder / "removed")
    with (folder / "edited").open("a") as file:
        file.write("mine\n")
    undone = await turn.undo()
    assert undone.kept == ()
    assert set(undone.restored) == {folder / name for name in ("edited", "created", "removed")}
    assert (folder / "edited").read_text() == TEN + "mine\n"
    (folder / "edited").write_text(TEN)
    assert tree(folder) == before


@pytest.mark.parametrize("came", [False, True])
@pytest.mark.parametrize("removed", [False, True])
async def test_killed_before_a_further_change_of_a_created_file_that_the_person_changed(
    turn: Turn, folder: Path, came: bool, removed: bool
) -> None:
    await turn.write(folder / "created", "agent\n")
    turn.checkpoints.record_edit("t1", folder / "created", "agent\n", "agent\nmore\n")
    mine = "agent\nmore\nmine\n" if came else "agent\nmine\n"
    (folder / "created").write_text(mine)
    if removed:
        await turn.remove(folder / "created")
    assert (await turn.undo()).kept == ((folder / "created", NOT_OURS),)
    assert (folder / "created").read_text() == mine


async def test_killed_while_it_was_undone(turn: Turn, folder: Path) -> None:
    """Everything is done, but nothing of it is recorded."""
    for name in ("edited", "moved", "removed"):
        (folder / name).write_text(TEN)
    before = tree(folder)
    await turn.write(folder / "edited", AGENT)
    await turn.write(folder / "created", AGENT)
    await turn.move(folder / "moved", folder / "there")
    await turn.remove(folder / "removed")
    (folder / "edited").write_text(TEN)
    (folder / "created").unlink()
    (folder / "there").rename(folder / "moved")
    (folder / "removed").write_text(TEN)
    assert (await turn.undo()).kept == ()
    assert tree(folder) == before


class NeverReady(MemoryBuffers):
    async def move(self, _: Snapshot, target: Path) -> Outcome | None:
        return Stale("the document has changed") if target.name == "a" else None


async def test_stale_each_time(folder: Path) -> None:
    buffers = NeverReady()
    turn = Turn(Workspace([folder], buffers), buffers, checkpoints_in_memory())
    (folder / "a").write_text(TEN)
    await turn.move(folder / "a", folder / "b")
    assert await turn.undo() == UndoResult((), ((folder / "b", "the document has changed"),))


async def test_nothing_outside_the_workspace_is_touched(turn: Turn, folder: Path, tmp_path: Path) -> None:
    """A log that names a file elsewhere, as the log of another workspace does."""
    outside = tmp_path.resolve() / "outside"
    outside.write_text(AGENT)
    turn.checkpoints.record_edit("t1", outside, TEN, AGENT)
    turn.checkpoints.record_edit("t1", outside.with_name("created"), None, "")
    turn.checkpoints.record_removal("t1", outside.with_name("removed"), b"x", 0o644)
    turn.checkpoints.record_move("t1", folder / "b", outside.with_name("moved"))
    outside.with_name("created").touch()
    outside.with_name("moved").touch()
    undone = await turn.undo()
    assert undone.restored == ()
    assert len(undone.kept) == 4
    assert all("outside" in reason for _, reason in undone.kept)
    assert {path.name for path in tmp_path.iterdir()} == {"project", "outside", "created", "moved"}


async def test_foreseen(turn: Turn, folder: Path) -> None:
    for name in ("edited", "moved", "removed", "mine"):
        (folder / name).write_text(TEN)
    await turn.write(folder / "edited", AGENT)
    await turn.write(folder / "created", AGENT)
    await turn.move(folder / "moved", folder / "there")
    await turn.remove(folder / "removed")
    await turn.write(folder / "kept", "x\n")
    (folder / "kept").write_text("mine\n")
    await come_and_go(turn, folder)
    before = tree(folder)
    foreseen = await turn.checkpoints.preview_undo(["t1"], turn.workspace)
    assert [(edit.path.name, edit.operation, edit.after) for edit in foreseen.edits] == [
        ("edited", "", TEN),
        ("created", "remove", ""),
        ("there", "move", TEN),
        ("removed", "", TEN),
    ]
    assert foreseen.edits[2].target == folder / "moved"
    assert not foreseen.edits[3].base.exists
    assert foreseen.undone.kept == ((folder / "kept", NOT_OURS),)
    assert tree(folder) == before
