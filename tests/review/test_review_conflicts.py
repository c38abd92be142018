"""The places of conflicts are followed, and the user settles them by editing: typed text is never lost."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tark_lsp.errors import RequestError
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.lines import Hunk, split_lines
from tests.exhaustive import examples
from tests.review.live_hunk import LiveHunk
from tests.review.review_desk import Desk
from tests.server.scripted import Json, line_starts

TEXT = "".join(f"line {n}\n" for n in range(20))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path.resolve())


def at(line: int, character: int = 0) -> int:
    return line_starts(TEXT)[line] + character


def region(desk: Desk, hunk: LiveHunk) -> str:
    return "".join(desk.lines(hunk.path)[hunk.start : hunk.end])


# The place of a conflict

TYPED: dict[str, tuple[tuple[int, int, str], str]] = {
    "inside a line": ((at(6, 2), at(6, 2), "x"), "line 5\nlixne 6\nline 7\n"),
    "a line broken": ((at(6, 2), at(6, 2), "\n"), "line 5\nli\nne 6\nline 7\n"),
    "a line more inside": ((at(6), at(6), "mine\n"), "line 5\nmine\nline 6\nline 7\n"),
    "a line less inside": ((at(6), at(7), ""), "line 5\nline 7\n"),
    "all of it gone": ((at(5), at(8), ""), ""),
    "more than it gone": ((at(3), at(10), ""), ""),
    "its end and what follows gone": ((at(7), at(10), ""), "line 5\nline 6\n"),
    "its start and what is above gone": ((at(3), at(6), ""), "line 6\nline 7\n"),
    "all of it written anew": ((at(5), at(8), "mine\nmine too\n"), "mine\nmine too\n"),
    "written anew with a line above": ((at(4), at(8), "A\nB\nC\nD\n"), "B\nC\nD\n"),
    "written anew with a line below": ((at(5), at(9), "A\nB\nC\nD\n"), "A\nB\nC\n"),
    "written anew with both, in more lines": ((at(4), at(9), "A\nB\nC\nD\nE\nF\n"), "B\nC\nD\nE\n"),
    "written anew with both, in fewer": ((at(4), at(9), "A\nB\n"), ""),
}


@pytest.mark.parametrize(("typed", "left"), TYPED.values(), ids=TYPED)
@pytest.mark.parametrize("applied", [False, True], ids=["proposed", "applied"])
async def test_a_conflict_is_what_stands_where_its_lines_stood(
    desk: Desk, typed: tuple[int, int, str], left: str, applied: bool
) -> None:
    path = desk.editor.open("f.py", TEXT)
    if applied:  # the hunk's new lines are those of TEXT
        desk.editor.replace(path, TEXT.replace("line 5\nline 6\nline 7\n", "old\n"))
        (hunk,) = desk.propose(path, (5, 6, ("line 5\n", "line 6\n", "line 7\n")))
        await desk.reviews.accept([hunk], decide=False)
    else:
        (hunk,) = desk.propose(path, (5, 8, ("NEW\n",)))
    assert desk.editor.text(path) == TEXT
    desk.editor.type(path, typed)
    assert (hunk.state, region(desk, hunk)) == ("conflict", left)
    desk.editor.type(path, (0, 0, "above\n"))
    assert region(desk, hunk) == left
    now = desk.editor.text(path)
    desk.editor.type(path, (len(now), len(now), "below\n"))
    assert region(desk, hunk) == left


@pytest.mark.parametrize("typed", [typed for typed, _ in TYPED.values()], ids=TYPED)
@pytest.mark.parametrize("applied", [False, True], ids=["proposed", "applied"])
async def test_a_conflict_ends_when_the_text_is_again_what_it_was(
    desk: Desk, typed: tuple[int, int, str], applied: bool
) -> None:
    path = desk.editor.open("f.py", TEXT)
    if applied:
        desk.editor.replace(path, TEXT.replace("line 5\nline 6\nline 7\n", "old\n"))
        (hunk,) = desk.propose(path, (5, 6, ("line 5\n", "line 6\n", "line 7\n")))
        await desk.reviews.accept([hunk], decide=False)
    else:
        (hunk,) = desk.propose(path, (5, 8, ("NEW\n",)))
    start, end, written = typed
    for _ in range(2):
        desk.editor.type(path, typed)
        assert hunk.state == "conflict"
        desk.editor.type(path, (start, start + len(written), TEXT[start:end]))
        assert desk.editor.text(path) == TEXT
        assert (hunk.state, hunk.applied, hunk.reason) == ("pending", applied, "")
        assert region(desk, hunk) == "line 5\nline 6\nline 7\n"
    await desk.reviews.reject([hunk])
    expected = TEXT.replace("line 5\nline 6\nline 7\n", "old\n") if applied else TEXT
    assert desk.editor.text(path) == expected


@pytest.mark.parametrize(("start", "more"), [(2, "above"), (1, "below")])
async def test_a_conflict_does_not_end_because_the_text_is_as_long_as_before(desk: Desk, start: int, more: str) -> None:
    """One of three equal lines is gone. With a line more elsewhere, the hunk's old place looks like before."""
    path = desk.editor.open("f.py", "top\n" + "}\n" * 3 + "mine\n")
    (hunk,) = desk.propose(path, (start, start + 2, ()))
    gone = len("top\n") + len("}\n") * start
    desk.editor.type(path, (gone, gone + len("}\n"), ""))
    end = len(desk.editor.text(path))
    desk.editor.type(path, (0, 0, "new\n") if more == "above" else (end, end, "new\n"))
    assert hunk.state == "conflict"
    now = desk.editor.text(path)
    await desk.reviews.accept([hunk])
    assert (hunk.state, desk.editor.text(path)) == ("conflict", now)


async def test_a_conflict_with_other_lines_beside_it_ends_with_its_own_lines(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    desk.editor.type(path, (at(5), at(5), "x"))
    desk.editor.type(path, (0, 0, "above\n"))
    assert hunk.state == "conflict"
    line = at(5) + len("above\n")
    desk.editor.type(path, (line, line + 1, ""))
    assert (hunk.state, hunk.start) == ("pending", 6)
    await desk.reviews.accept([hunk])
    assert desk.editor.text(path) == "above\n" + TEXT.replace("line 5\n", "NEW\n")


async def test_it_grows_and_shrinks(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    seen = []
    for typed in ((at(5), at(6), ""), (at(5), at(5), "a\nb\n"), (at(5), at(5), "above\n"), (at(5) + 8, at(5) + 10, "")):
        desk.editor.type(path, typed)
        seen.append((hunk.start, hunk.size, region(desk, hunk)))
    assert seen == [(5, 0, ""), (5, 2, "a\nb\n"), (6, 2, "a\nb\n"), (6, 1, "a\n")]


async def test_of_a_file_that_is_gone_the_places_are_kept(desk: Desk) -> None:
    path = desk.folder / "f.py"
    path.write_text(TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    path.unlink()
    await desk.reviews.accept([hunk])
    assert (hunk.state, hunk.start, hunk.size) == ("stale", 5, 1), "where they stood, for when it is back"


@pytest.mark.parametrize("how", ["formatted", "closed and opened"])
async def test_it_is_followed_where_the_text_changes_unseen(desk: Desk, how: str) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (5, 7, ("NEW\n",)))
    desk.editor.type(path, (at(5), at(5), "x"))
    after = "a\nb\n" + desk.editor.text(path).replace("line 6\n", "line  6\nmore\n").replace("line 9\n", "")
    if how == "formatted":
        desk.editor.replace(path, after)
    else:
        desk.editor.close(path)
        desk.editor.open("f.py", after)
    assert region(desk, hunk) == "xline 5\nline  6\nmore\n"


pieces = st.sampled_from(["", "z", "\n", "z\n", "\nz", "a\nb\n", "z\nz\nz", "\r\n"])


async def stays_in_the_text(data: st.DataObject, folder: Path) -> None:
    """Its borders are lines of the text, and lines that were never touched are not in it."""
    desk = Desk(folder)
    path = desk.editor.open("f.py", f"first\n{TEXT}last\n")
    start = data.draw(st.integers(1, 20))
    (hunk,) = desk.propose(path, (start, data.draw(st.integers(start, 20)), ("NEW\n",)))
    for _ in range(data.draw(st.integers(1, 8))):
        now = desk.editor.text(path)
        low, high = len("first\n"), len(now) - len("\nlast\n")
        if low > high:
            break
        start, end = sorted(data.draw(st.tuples(st.integers(low, high), st.integers(low, high))))
        if "\r\n" in (now[start - 1 : start + 1], now[end - 1 : end + 1]):
            continue  # LSP has no position inside a line ending
        desk.editor.type(path, (start, end, data.draw(pieces)))
        lines = desk.lines(path)
        assert 1 <= hunk.start <= hunk.end <= len(lines) - 1
        if hunk.pending:
            assert region(desk, hunk) == hunk.old_text


@settings(max_examples=examples(80))
@given(st.data())
def test_it_stays_in_the_text_whatever_is_typed(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(stays_in_the_text(data, Path(folder)))


# Settled by editing


@pytest.mark.parametrize("applied", [False, True], ids=["proposed", "applied"])
async def test_a_conflict_is_settled_by_editing(desk: Desk, applied: bool) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    if applied:
        await desk.reviews.accept([hunk], decide=False)
    start = desk.editor.text(path).index("line 4\n") + 7
    desk.editor.type(path, (start, start, "my "), (0, 0, "typed\n"))
    standing = "my NEW\n" if applied else "my line 5\n"
    await desk.reviews.edit(hunk.id, "both\nlines\n")
    assert (hunk.state, hunk.applied, hunk.start) == ("pending", False, 6)
    assert (hunk.old_text, hunk.new) == (standing, ("both\n", "lines\n"))
    assert standing in desk.editor.text(path)
    await desk.reviews.accept([hunk])
    assert hunk.state == "accepted"
    assert desk.editor.text(path) == "typed\n" + TEXT.replace("line 5\n", "both\nlines\n")
    assert hunk.proposed == Hunk(5, ("line 5\n",), ("NEW\n",))


async def test_a_settled_conflict_goes_back_to_what_the_person_had(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    desk.editor.type(path, (at(5), at(5), "my "))
    mine = desk.editor.text(path)
    await desk.reviews.edit(hunk.id, "both\n")
    await desk.reviews.accept([hunk], decide=False)
    await desk.reviews.reject([hunk])
    assert (hunk.state, desk.editor.text(path)) == ("rejected", mine)


async def test_what_is_typed_after_that_is_a_conflict_again(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    for _ in range(3):
        desk.editor.type(path, (at(5), at(5), "my "))
        assert hunk.state == "conflict"
        await desk.reviews.edit(hunk.id, "both\n")
        assert hunk.pending
    assert hunk.old == ("my my my line 5\n",)


async def test_what_stands_there_is_written_by_nobody(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    desk.editor.type(path, (at(5), at(5), "my "))
    await desk.reviews.edit(hunk.id, "my line 5\n")
    await desk.reviews.accept([hunk])
    assert (hunk.state, hunk.applied, region(desk, hunk)) == ("accepted", True, "my line 5\n")
    assert not [method for method, _ in desk.editor.connection.asked if method == "workspace/applyEdit"]


async def test_a_stale_one_is_tried_again_by_editing(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    honest = desk.editor.connection.answers["workspace/applyEdit"]
    desk.editor.connection.answers["workspace/applyEdit"] = lambda _: {"applied": False}
    await desk.reviews.accept([hunk])
    assert hunk.state == "stale"
    desk.editor.connection.answers["workspace/applyEdit"] = honest
    desk.editor.type(path, (0, 0, "typed\n"))
    await desk.reviews.edit(hunk.id, "NEWER\n")
    await desk.reviews.accept([hunk])
    assert desk.editor.text(path) == "typed\n" + TEXT.replace("line 5\n", "NEWER\n")


async def test_a_proposed_one_gets_other_lines(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    await desk.reviews.edit(hunk.id, "")
    assert (hunk.state, hunk.new, desk.editor.text(path)) == ("pending", (), TEXT)
    assert hunk.reason == "the person changed the text before accepting it"
    await desk.reviews.accept([hunk])
    assert desk.editor.text(path) == TEXT.replace("line 5\n", "")


async def test_an_applied_one_is_changed_at_once_by_one_edit(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    await desk.reviews.accept([hunk], decide=False)
    desk.editor.type(path, (0, 0, "typed\n"))
    await desk.reviews.edit(hunk.id, "NEWER\nSTILL\n")
    assert desk.editor.text(path) == "typed\n" + TEXT.replace("line 5\n", "NEWER\nSTILL\n")
    assert (hunk.state, hunk.applied, hunk.size) == ("pending", True, 2)
    sent = [params for method, params in desk.editor.connection.asked if method == "workspace/applyEdit"]
    assert len(sent) == 2
    await desk.reviews.reject([hunk])
    assert desk.editor.text(path) == "typed\n" + TEXT
    undone = await desk.checkpoints.undo("turn", desk.editor.workspace)
    assert undone.kept == ()
    assert desk.editor.text(path) == "typed\n" + TEXT


async def test_the_last_line_without_an_ending(desk: Desk) -> None:
    path = desk.editor.open("f.py", "a\nb")
    (hunk,) = desk.propose(path, (0, 1, ("A\n",)))
    await desk.reviews.edit(hunk.id, "typed without an ending")
    await desk.reviews.accept([hunk])
    assert desk.editor.text(path) == "typed without an ending\nb"


@pytest.mark.parametrize(
    ("text", "written"),
    [("a\r\nb\r\n", "A\nA2\n"), ("a\r\nb\r\n", "A\rA2\r\n"), ("x\r\nb", "A\nA2\n"), ("a\nb\n", "A\r\nA2\r\n")],
)
@pytest.mark.parametrize("how", ["proposed", "applied", "answered"])
async def test_what_is_written_gets_the_line_endings_of_the_document(
    desk: Desk, text: str, written: str, how: str
) -> None:
    path = desk.editor.open("f.py", text)
    last = text == "x\r\nb"  # then only the lines around it have an ending
    (hunk,) = desk.propose(path, (1, 2, ("B",)) if last else (0, 1, ("B" + text[1 : text.index("b")],)))
    await desk.reviews.accept([hunk] * (how == "applied"), decide=False)
    if how == "answered":
        await desk.reviews.rewrite(hunk.id, written)
    else:
        await desk.reviews.edit(hunk.id, written)
    await desk.reviews.accept([hunk])
    ending = "\r\n" if "\r\n" in text else "\n"
    expected = f"A{ending}A2{ending}"
    assert desk.editor.text(path) == (f"x\r\n{expected}" if last else expected + f"b{ending}")


@pytest.mark.parametrize("made", [True, False])
async def test_an_answer_with_other_lines_while_it_is_accepted(desk: Desk, *, made: bool) -> None:
    """The lines are written, or the reason shows them to the model."""
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (1, 2, ("NEW\n",)))
    answering: list[asyncio.Task[None]] = []

    async def apply(params: Any) -> Any:
        answering.append(asyncio.create_task(desk.reviews.rewrite(hunk.id, "mine\n")))
        await asyncio.sleep(0)
        return desk.editor.apply(params) if made else {"applied": False, "failureReason": "read-only"}

    desk.editor.connection.answers["workspace/applyEdit"] = apply
    await desk.reviews.accept([hunk])
    await asyncio.gather(*answering)
    if made:
        assert (hunk.state, desk.lines(path)[1]) == ("accepted", "NEW\n")
        assert hunk.reason == "it was already accepted when the person sent their own text for it: mine\n"
    else:
        assert (hunk.state, hunk.new) == ("stale", ("mine\n",))


async def test_what_cannot_be_edited(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    accepted, rejected, applied = desk.propose(path, (1, 2, ()), (5, 6, ("NEW\n",)), (9, 10, ("NINE\n",)))
    await desk.reviews.accept([accepted])
    await desk.reviews.reject([rejected])
    await desk.reviews.accept([applied], decide=False)
    (removal,) = desk.add_proposal("other", [(ProposedEdit.removal(desk.editor.workspace.read(path)), ())])
    desk.editor.connection.answers["workspace/applyEdit"] = lambda _: {"applied": False, "failureReason": "read-only"}
    for hunk_id, words in (
        (accepted.id, "the change is accepted already"),
        (rejected.id, "the change is rejected already"),
        ("hunk-none", "there is no hunk 'hunk-none'"),
        (removal.id, "this change would remove a file, so it has no lines to edit"),
        (applied.id, "the edited lines could not be applied: the editor refused the edit: read-only"),
    ):
        with pytest.raises(RequestError, match=words):
            await desk.reviews.edit(hunk_id, "x\n")


async def test_of_a_file_that_cannot_be_read_no_conflict_is_settled(desk: Desk) -> None:
    path = desk.folder / "f.py"
    path.write_text(TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    path.write_bytes(b"\0\xff" * 100)
    await desk.reviews.accept([hunk])
    with pytest.raises(RequestError, match=r"f\.py cannot be read"):
        await desk.reviews.edit(hunk.id, "x\n")


# Applied, and then typed over


async def test_a_save_settles_what_was_applied_and_typed_over(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    hunks = desk.propose(path, (5, 6, ("NEW\n",)), (9, 10, ("NINE\n",)))
    await desk.reviews.accept(hunks, decide=False)
    place = desk.editor.text(path).index("NEW")
    desk.editor.type(path, (place, place, "my "))
    assert [hunk.state for hunk in hunks] == ["conflict", "pending"]
    desk.editor.save(path)
    assert [hunk.state for hunk in hunks] == ["accepted", "accepted"]
    assert "my NEW\n" in desk.editor.text(path)


UNDO: dict[str, tuple[str, tuple[int, int], list[str]]] = {
    "replaced": ("a\nb\nc\n", (1, 2), ["B\n"]),
    "several lines": ("a\nb\nc\nd\n", (1, 3), ["B\n", "C\n"]),
    "fewer lines": ("a\nb\nc\nd\n", (1, 3), ["X\n"]),
    "added": ("a\nb\n", (1, 1), ["new\n"]),
    "added among lines like them": ("a\n\nb\n", (1, 1), ["\n", "new\n"]),
    "taken away": ("a\nb\nc\n", (1, 2), []),
    "taken away among lines like them": ("a\na\n\nb\n\nc\n", (2, 4), []),
    "the first of lines alike": ("a\na\nb\n", (0, 1), []),
    "the last line": ("a\nb", (1, 2), ["B\n", "C"]),
    "all": ("a\nb\n", (0, 2), ["A\n"]),
}


def shrunk(before: str, after: str, *, below: bool) -> tuple[int, int, str]:
    """The change as reported by an editor that compares from the first line, or from the last line."""
    old, new = split_lines(before), split_lines(after)
    head = tail = 0
    for way in ("tail", "head") if below else ("head", "tail"):
        room = min(len(old), len(new)) - head - tail
        if way == "head":
            head = next((n for n in range(room) if old[n] != new[n]), room)
        else:
            tail = next((n for n in range(room) if old[-1 - n] != new[-1 - n]), room)
    start = len("".join(old[:head]))
    return start, len("".join(old[: len(old) - tail])), "".join(new[head : len(new) - tail])


@pytest.mark.parametrize(("text", "place", "new"), UNDO.values(), ids=UNDO)
@pytest.mark.parametrize("told", ["above", "below", "whole", "twice"])
async def test_what_the_person_undoes_is_rejected_and_what_they_redo_is_applied(
    desk: Desk, text: str, place: tuple[int, int], new: list[str], told: str
) -> None:
    path = desk.editor.open("f.py", text)
    (hunk,) = desk.propose(path, (*place, new))
    await desk.reviews.accept([hunk], decide=False)
    applied = desk.editor.text(path)

    def become(after: str) -> None:
        now = desk.editor.text(path)
        if told == "whole":
            desk.editor.replace(path, after)
        elif told == "twice" and hunk.size:  # the lines are removed, and then written
            start, end, put = shrunk(now, after, below=True)
            desk.editor.type(path, (start, end, ""))
            desk.editor.type(path, (start, start, put))
        else:
            desk.editor.type(path, shrunk(now, after, below=told == "below"))
        assert desk.editor.text(path) == after

    for _ in range(2):
        become(text)
        assert (hunk.state, hunk.applied, hunk.reason) == ("rejected", False, "the person undid it")
        desk.editor.type(path, (0, 0, "typed\n"))
        desk.editor.type(path, (0, 6, ""))
        become(applied)
        assert (hunk.state, hunk.applied, hunk.reason) == ("pending", True, "")
        assert desk.standing(path, hunk)
    become(text)
    desk.editor.save(path)
    await desk.reviews.reject([hunk])
    assert (hunk.state, desk.editor.text(path)) == ("rejected", text)


async def test_a_change_undone_line_by_line(desk: Desk) -> None:
    path = desk.editor.open("f.py", "a\nb\nc\n")
    (hunk,) = desk.propose(path, (0, 2, ["A\n", "B\n"]))
    await desk.reviews.accept([hunk], decide=False)
    seen = []
    for start, line in ((0, "a"), (2, "b"), (2, "B"), (0, "A"), (0, "x"), (0, "A")):
        desk.editor.type(path, (start, start + 1, line))
        seen.append((hunk.state, hunk.applied))
    lost, back, again = ("conflict", True), ("rejected", False), ("pending", True)
    assert seen == [lost, back, back, again, lost, again]


async def test_what_could_not_be_taken_back_says_why_while_it_stands(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    await desk.reviews.accept([hunk], decide=False)
    desk.editor.connection.answers["workspace/applyEdit"] = lambda _: {"applied": False, "failureReason": "read-only"}
    await desk.reviews.reject([hunk])
    desk.editor.type(path, (0, 0, "typed\n"))
    assert (hunk.state, hunk.reason) == ("stale", "the editor refused the edit: read-only")
    desk.editor.replace(path, TEXT)
    assert (hunk.state, hunk.applied) == ("rejected", False)


@pytest.mark.parametrize("saved", [False, True])
async def test_what_is_thrown_away_with_the_buffer_is_undone(desk: Desk, saved: bool) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    await desk.reviews.accept([hunk], decide=False)
    if saved:
        path.write_text(desk.editor.text(path))
    desk.editor.close(path)
    assert (hunk.state, hunk.applied) == (("pending", True) if saved else ("rejected", False))


async def test_a_proposed_one_in_conflict_is_not_settled_by_a_save(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    desk.editor.type(path, (at(5), at(5), "my "))
    desk.editor.save(path)
    assert hunk.state == "conflict"


async def test_what_a_formatter_made_of_it_is_kept(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW = 1\n",)))
    await desk.reviews.accept([hunk], decide=False)
    desk.editor.replace(path, desk.editor.text(path).replace("NEW = 1", "NEW=1"))
    await desk.reviews.reject([hunk])
    assert (hunk.state, hunk.applied, hunk.reason) == ("conflict", True, "the person changed these lines")
    assert region(desk, hunk) == "NEW=1\n"
    await desk.reviews.accept([hunk])
    assert (hunk.state, region(desk, hunk)) == ("accepted", "NEW=1\n")


@pytest.mark.parametrize("joined", ["2 A B\n", "2 A\nB 3\n", "2 A B 3\n"])
async def test_inserted_lines_that_a_formatter_joined_to_others_are_not_undone(desk: Desk, joined: str) -> None:
    path = desk.editor.open("f.py", "1\n2\n3\n4\n")
    (hunk,) = desk.propose(path, (2, 2, ("A\n", "B\n")))
    await desk.reviews.accept([hunk], decide=False)
    text = "1\n" + joined + ("" if "3" in joined else "3\n") + "4\n"
    desk.editor.replace(path, text)
    assert (hunk.state, hunk.applied) == ("conflict", True)
    desk.editor.type(path, (0, 0, "typed\n"))
    assert (hunk.state, hunk.applied) == ("conflict", True)
    desk.editor.replace(path, "1\n2\nA\nB\n3\n4\n")
    await desk.reviews.reject([hunk])
    assert hunk.state != "rejected" or desk.editor.text(path) == "1\n2\n3\n4\n"


async def test_a_proposed_one_in_conflict_is_not_accepted(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    desk.editor.type(path, (at(5), at(5), "my "))
    await desk.reviews.accept([hunk])
    assert (hunk.state, hunk.applied) == ("conflict", False)


async def test_a_stale_or_conflicting_one_can_be_put_away(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    conflict, stale = desk.propose(path, (5, 6, ("NEW\n",)), (9, 10, ("NINE\n",)))
    desk.editor.type(path, (at(5), at(5), "my "))
    answers: dict[str, Any] = desk.editor.connection.answers
    answers["workspace/applyEdit"] = lambda _: {"applied": False}
    await desk.reviews.accept([stale])
    assert (conflict.state, stale.state) == ("conflict", "stale")
    await desk.reviews.reject([conflict, stale])
    assert (conflict.state, stale.state) == ("rejected", "rejected")


@pytest.mark.parametrize("pause", [0.0, 0.1])
async def test_an_accepted_hunk_of_a_document_that_is_opened_again_with_it(desk: Desk, pause: float) -> None:
    """As `:e` right after an accept, in an editor that reports changes late: the edit is never reported alone."""
    path = desk.editor.open("f.py", "1\n2\n3\n4\n")
    (hunk,) = desk.propose(path, (1, 2, ["new\n"]))

    async def reload(params: Json) -> Json:
        desk.editor.apply(params, tell=False)
        text = desk.editor.text(path)
        desk.editor.close(path)
        await asyncio.sleep(pause)
        desk.editor.open("f.py", text)
        return {"applied": True}

    desk.editor.connection.answers["workspace/applyEdit"] = reload
    await desk.reviews.accept([hunk])
    assert (hunk.state, hunk.reason) == ("accepted", "")
    assert desk.lines(path) == ["1\n", "new\n", "3\n", "4\n"]
