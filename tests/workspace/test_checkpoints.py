"""Undo reverts what the agent did, completely if it can, and nothing that the user did."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tark_lsp.workspace.checkpoints.checkpoints import Checkpoints
from tark_lsp.workspace.checkpoints.turn_undo import TRIES, UndoResult
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.encoding import MARKED, UTF_8, Encoding
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.lines import split_lines
from tark_lsp.workspace.outcomes import Applied, Outcome, Stale
from tark_lsp.workspace.snapshot import Snapshot
from tests.checkpoints import checkpoints_in_memory
from tests.exhaustive import examples
from tests.memory import MemoryBuffers
from tests.workspace.texts import texts
from tests.workspace.turn import Turn

TEN = "".join(f"{number}\n" for number in range(1, 11))


def changed(checkpoints: Checkpoints, turn_id: str) -> tuple[Path, ...]:
    return tuple(history.place for history in checkpoints.histories(turn_id))


@pytest.fixture
def turn(workspace: Workspace, buffers: MemoryBuffers) -> Turn:
    return Turn(workspace, buffers, checkpoints_in_memory())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(50))
@given(st.lists(texts(), min_size=2, max_size=4), st.sampled_from([UTF_8, *MARKED]))
def test_bytes_come_back(folder: Path, versions: list[str], encoding: Encoding) -> None:
    path = folder / "a.txt"
    path.write_bytes(encoding.encode(versions[0]))
    buffers = MemoryBuffers()
    turn = Turn(Workspace([folder], buffers), buffers, checkpoints_in_memory())

    async def run() -> UndoResult:
        for version in versions[1:]:
            await turn.write(path, version)
        return await turn.undo()

    assert asyncio.run(run()).kept == ()
    assert path.read_bytes() == encoding.encode(versions[0])


async def test_a_created_file_goes(turn: Turn, folder: Path) -> None:
    await turn.write(folder / "new.py", "a\n")
    await turn.write(folder / "new.py", "b\n")
    assert changed(turn.checkpoints, "t1") == (folder / "new.py",)
    assert await turn.undo() == UndoResult((folder / "new.py",), ())
    assert not (folder / "new.py").exists()
    assert await turn.undo() == UndoResult((), ())  # nothing is left to do


async def test_a_created_file_that_was_changed_stays(turn: Turn, folder: Path) -> None:
    await turn.write(folder / "new.py", "a\n")
    (folder / "new.py").write_text("a\nmine\n")
    undone = await turn.undo()
    assert [path for path, _ in undone.kept] == [folder / "new.py"]
    assert (folder / "new.py").read_text() == "a\nmine\n"


async def test_typed_between_two_changes_of_a_created_file(turn: Turn, folder: Path) -> None:
    await turn.write(folder / "new.py", "a\n")
    (folder / "new.py").write_text("a\nmine\n")
    await turn.write(folder / "new.py", "b\nmine\n")
    assert len((await turn.undo()).kept) == 1
    assert (folder / "new.py").read_text() == "b\nmine\n"


async def test_a_created_file_that_is_open_stays(turn: Turn, folder: Path) -> None:
    await turn.write(folder / "new.py", "a\n")
    turn.buffers.open(folder / "new.py")
    ((path, reason),) = (await turn.undo()).kept
    assert path == folder / "new.py"
    assert reason.startswith("it is open in the editor")


async def test_open_documents_are_undone_in_the_editor(turn: Turn, folder: Path) -> None:
    path = folder / "a.py"
    path.write_text("disk\n")
    turn.buffers.open(path, "unsaved\n")
    await turn.write(path, "agent\n")
    assert await turn.undo() == UndoResult((path,), ())
    assert turn.buffers.documents[path].text == "unsaved\n"
    assert path.read_text() == "disk\n"
    assert turn.buffers.applied[-1][1] == "Undo Tark"


async def test_saved_and_closed_meanwhile(turn: Turn, folder: Path) -> None:
    path = folder / "a.py"
    path.write_bytes(b"\xef\xbb\xbfold\r\n")
    turn.buffers.open(path, "old\r\n")
    await turn.write(path, "agent\r\n")
    turn.buffers.close(path)
    path.write_bytes(b"\xef\xbb\xbfagent\r\n")
    assert await turn.undo() == UndoResult((path,), ())
    assert path.read_bytes() == b"\xef\xbb\xbfold\r\n"


async def test_what_was_typed_later_stays(turn: Turn, folder: Path) -> None:
    path = folder / "a.py"
    path.write_text(TEN)
    await turn.write(path, TEN.replace("2\n", "agent\n").replace("8\n", "agent\n"))
    path.write_text("mine\n" + path.read_text().replace("3\n", "3 mine\n"))
    assert await turn.undo() == UndoResult((path,), ())
    assert path.read_text() == "mine\n" + TEN.replace("3\n", "3 mine\n")


async def test_what_was_typed_over_the_agents_lines_stays(turn: Turn, folder: Path) -> None:
    path = folder / "a.py"
    path.write_text(TEN)
    await turn.write(path, TEN.replace("2\n", "agent\n").replace("8\n", "agent\n"))
    path.write_text(path.read_text().replace("agent\n", "agent, mine\n", 1))
    undone = await turn.undo()
    assert undone == UndoResult((path,), ((path, "1 of 2 changes were changed again since"),))
    assert path.read_text() == TEN.replace("2\n", "agent, mine\n")
    assert await turn.undo() == UndoResult((), undone.kept)
    assert path.read_text() == TEN.replace("2\n", "agent, mine\n")


async def test_a_second_undo_does_nothing_twice(turn: Turn, folder: Path) -> None:
    """The first one left a part. Then the user types in the line below one that came back."""
    path = folder / "a.py"
    path.write_text(TEN)
    await turn.write(path, TEN.replace("2\n", "agent\n").replace("8\n", ""))
    path.write_text(path.read_text().replace("agent\n", "agent, mine\n"))
    undone = await turn.undo()
    assert undone.kept == ((path, "1 of 2 changes were changed again since"),)
    now = TEN.replace("2\n", "agent, mine\n").replace("9\n", "9 mine\n")
    path.write_text(now)
    assert await turn.undo() == UndoResult((), undone.kept)
    assert path.read_text() == now


async def test_what_another_turn_rewrote_is_not_called_restored(turn: Turn, folder: Path) -> None:
    path = folder / "a.py"
    path.write_text("\nmine\n")
    await turn.write(path, "1\n2\n3\n\nmine\n")
    later = Turn(turn.workspace, turn.buffers, turn.checkpoints, "t2")
    await later.write(path, "one\ntwo\nthree\nfour\nfive\n")
    path.write_text("\none\ntwo\nthree\nfour\nfive\n")
    assert await turn.undo() == UndoResult((), ((path, "1 of 1 changes were changed again since"),))


async def test_what_was_typed_between_two_changes_stays(turn: Turn, folder: Path) -> None:
    path = folder / "a.py"
    path.write_text(TEN)
    await turn.write(path, TEN.replace("2\n", "agent\n"))
    path.write_text(path.read_text().replace("5\n", "5 mine\n"))
    await turn.write(path, path.read_text().replace("8\n", "agent\n"))
    assert await turn.undo() == UndoResult((path,), ())
    assert path.read_text() == TEN.replace("5\n", "5 mine\n")


async def test_a_later_turn_stays(turn: Turn, folder: Path) -> None:
    path = folder / "a.py"
    path.write_text(TEN)
    later = Turn(turn.workspace, turn.buffers, turn.checkpoints, "t2")
    await turn.write(path, TEN.replace("2\n", "first\n"))
    await later.write(path, path.read_text().replace("8\n", "second\n"))
    assert await turn.undo() == UndoResult((path,), ())
    assert path.read_text() == TEN.replace("8\n", "second\n")
    assert await later.undo() == UndoResult((path,), ())
    assert path.read_text() == TEN


async def test_removed_since(turn: Turn, folder: Path) -> None:
    (folder / "a.py").write_text("old\n")
    await turn.write(folder / "a.py", "new\n")
    (folder / "a.py").unlink()
    assert await turn.undo() == UndoResult((), ((folder / "a.py", "it was deleted since"),))
    assert not (folder / "a.py").exists()


async def test_undone_by_hand(turn: Turn, folder: Path) -> None:
    (folder / "a.py").write_text("old\n")
    await turn.write(folder / "a.py", "new\n")
    (folder / "a.py").write_text("old\n")
    assert await turn.undo() == UndoResult((folder / "a.py",), ())


async def test_one_bad_file_does_not_keep_the_others(turn: Turn, folder: Path) -> None:
    for name in ("a.py", "b.py"):
        (folder / name).write_text("old\n")
        await turn.write(folder / name, "new\n")
    (folder / "a.py").write_bytes(b"\0")
    undone = await turn.undo()
    assert (undone.restored, [path for path, _ in undone.kept]) == ((folder / "b.py",), [folder / "a.py"])
    assert (folder / "a.py").read_bytes() == b"\0"


class Typing(MemoryBuffers):
    """A user who types a line at the top just before an edit arrives, `times` times."""

    times = 1

    async def apply(self, edit: ProposedEdit, label: str) -> Outcome:
        if label == "Undo Tark" and self.times:
            self.times -= 1
            self.type(edit.path, "mine\n" + self.documents[edit.path].text)
        return await super().apply(edit, label)


@pytest.mark.parametrize(("times", "restored"), [(1, True), (2, True), (TRIES, False)])
async def test_typing_while_it_is_undone(folder: Path, times: int, restored: bool) -> None:
    buffers = Typing()
    buffers.times = times
    turn = Turn(Workspace([folder], buffers), buffers, checkpoints_in_memory())
    (folder / "a.py").write_text(TEN)
    buffers.open(folder / "a.py")
    await turn.write(folder / "a.py", TEN.replace("2\n", "agent\n"))
    undone = await turn.undo()
    assert bool(undone.restored) is restored
    assert bool(undone.kept) is not restored
    text = TEN if restored else TEN.replace("2\n", "agent\n")
    assert buffers.documents[folder / "a.py"].text == "mine\n" * times + text


def test_a_change_that_never_came_is_no_change() -> None:
    checkpoints = checkpoints_in_memory()
    checkpoints.settle_change(checkpoints.record_edit("t1", Path("/a.py"), "old", "new"), Stale("typed"))
    assert changed(checkpoints, "t1") == ()
    checkpoints.settle_change(
        checkpoints.record_edit("t1", Path("/a.py"), "typed", "new"), Applied(Snapshot(Path("/a.py"), ""))
    )
    assert changed(checkpoints, "t1") == (Path("/a.py"),)
    assert changed(checkpoints, "unknown") == ()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(80))
@given(texts(), st.lists(st.tuples(st.booleans(), st.integers(0, 12), st.booleans()), max_size=6))
def test_undo_loses_nothing_that_was_typed(folder: Path, text: str, moves: list[tuple[bool, int, bool]]) -> None:
    path = folder / "a.py"
    path.unlink(missing_ok=True)
    buffers = MemoryBuffers()
    path.write_text(text, newline="")
    buffers.open(path, text)
    turn = Turn(Workspace([folder], buffers), buffers, checkpoints_in_memory())

    async def run() -> None:
        for number, (agent, at, replace) in enumerate(moves):
            lines = split_lines(buffers.documents[path].text)
            at = min(at, len(lines))
            typed = [line for line in lines[at : at + 1] if "typed" in line] if replace and agent else []
            if typed:
                continue  # What the agent was allowed to overwrite is gone.
            lines[at : at + replace] = [f"{'agent' if agent else 'typed'} {number}\n"]
            if agent:
                await turn.write(path, "".join(lines))
            else:
                buffers.type(path, "".join(lines))
        kept = [line for line in split_lines(buffers.documents[path].text) if "typed" in line]
        undone = await turn.undo()
        now = split_lines(buffers.documents[path].text)
        assert [line for line in now if "typed" in line] == kept
        assert undone.kept or not any("agent" in line for line in now)

    asyncio.run(run())
