"""Hunks under review: their places while the user types, and what a decision does."""

import asyncio
import re
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tark_lsp.errors import RequestError
from tark_lsp.review import applying as hunk_writing
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.lines import Hunk, split_lines
from tark_lsp.workspace.outcomes import MISPLACED
from tests.exhaustive import examples
from tests.patience import AT_ONCE
from tests.review.live_hunk import LiveHunk
from tests.review.review_desk import Desk
from tests.server.scripted import line_starts

pytestmark = pytest.mark.virtual_clock

TEXT = "".join(f"line {n}\n" for n in range(20))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


# Following

LINES = ["a\n", "b\n", "a\n", "\n", "  x\n", "é\n", "c\r\n", "d\r\n", "🥧 pie\n"]
texts = st.tuples(st.lists(st.sampled_from(LINES), max_size=12), st.sampled_from(["", "end", "a"])).map(
    lambda parts: "".join(parts[0]) + parts[1]
)
pieces = st.sampled_from(["", "", "z", "\n", "z\n", "\nz", "a\n", "a\nb\n", "\r\n", "\r", "q\r\n", "🥧", "z\nz\nz"])


def between_characters(text: str, offset: int) -> int:
    """LSP has no position inside a line ending."""
    return offset + (text[offset - 1 : offset + 1] == "\r\n")


@st.composite
def notifications(draw: st.DrawFn, text: str) -> list[tuple[int, int, str]]:
    """One or several edits of one didChange, as offsets into the text at that point."""
    edits = []
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        starts = line_starts(text)
        border = (st.sampled_from(starts) | st.integers(0, len(text))).map(partial(between_characters, text))
        start = draw(border)
        end = draw(st.just(start) | border)
        start, end = min(start, end), max(start, end)
        new = draw(pieces)
        edits.append((start, end, new))
        text = text[:start] + new + text[end:]
    return edits


@dataclass(slots=True)
class Mark:
    """Where a hunk's lines are, in characters: exact while no edit touches them."""

    start: int
    end: int
    touched: bool = False

    def follow(self, text: str, start: int, end: int, new: str) -> None:
        if self.start == self.end and text[end : self.start] in ("", "\n", "\r", "\r\n") and start < self.start:
            self.touched = True  # a new line right above an insertion can be above or below it
        if end <= self.start and (start < self.start or self.start < self.end):
            self.start += len(new) - (end - start)
            self.end += len(new) - (end - start)
        elif start < self.end or start == self.start:
            self.touched = True

    def whole(self, text: str) -> bool:
        """Are the characters still whole lines?"""
        return self.start in line_starts(text) and (self.end in line_starts(text) or self.end == len(text))


async def follow_typing(data: st.DataObject, folder: Path) -> None:
    desk = Desk(folder)
    text = data.draw(texts)
    path = desk.editor.open("f.py", text)
    count = len(split_lines(text))
    borders = sorted(data.draw(st.lists(st.integers(0, count), min_size=2, max_size=6)))
    places = list(zip(borders[::2], borders[1::2], strict=False))
    hunks = desk.propose(path, *((start, end, ("NEW\n",)) for start, end in places))
    starts = [*line_starts(text), len(text)]
    marks = [Mark(starts[start], starts[end] if end < count else len(text)) for start, end in places]
    for _ in range(data.draw(st.integers(1, 4))):
        if data.draw(st.integers(0, 9)) == 0:
            desk.editor.replace(path, data.draw(texts))
            for mark in marks:
                mark.touched = True
        else:
            now = desk.editor.text(path)
            edits = data.draw(notifications(now))
            for start, end, new in edits:
                for mark in marks:
                    mark.follow(now, start, end, new)
                now = now[:start] + new + now[end:]
                for mark in marks:
                    # A line that was split, and perhaps joined again, was touched.
                    mark.touched = mark.touched or not mark.whole(now)
            desk.editor.type(path, *edits)
        now = desk.editor.text(path)
        for hunk, mark in zip(hunks, marks, strict=True):
            if hunk.pending:
                assert desk.standing(path, hunk), "an open hunk stands where it says"
            if not mark.touched:
                assert hunk.pending, "only the person's touch makes a conflict"
                assert line_starts(now).index(mark.start) == hunk.start


@settings(max_examples=examples(80))
@given(st.data())
def test_hunks_follow_typing_exactly(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(follow_typing(data, Path(folder)))


async def decide_while_typing(data: st.DataObject, folder: Path) -> None:
    desk = Desk(folder)
    text = "".join(f"line {n}\n" for n in range(12)) + data.draw(st.sampled_from(["", "last"]))
    path = desk.editor.open("f.py", text)
    count = len(split_lines(text))
    borders = sorted(data.draw(st.lists(st.integers(0, count), min_size=6, max_size=6)))
    places = list(zip(borders[::2], borders[1::2], strict=True))
    hunks = desk.propose(path, *((start, end, (f"NEW {n}\n",)) for n, (start, end) in enumerate(places)))
    applied_first = data.draw(st.booleans())
    if applied_first:
        await desk.reviews.accept(hunks, decide=False)
    typed = []
    for step in range(data.draw(st.integers(2, 6))):
        if data.draw(st.booleans()):
            now = desk.editor.text(path)
            at = data.draw(st.sampled_from(line_starts(now)) | st.integers(0, len(now)))
            typed.append(chr(0xE000 + step))
            desk.editor.type(path, (at, at, typed[-1] + data.draw(st.sampled_from(["", "\n"]))))
        else:
            hunk = hunks[data.draw(st.integers(0, len(hunks) - 1))]
            await (desk.reviews.accept if data.draw(st.booleans()) else desk.reviews.reject)([hunk])
    now = desk.editor.text(path)
    assert all(now.count(item) == 1 for item in typed), "every character typed is still there"
    assert desk.editor.workspace.read(path).text == now, "the server knows the text"
    for hunk in hunks:
        if hunk.state == "accepted":
            assert hunk.applied
        if hunk.state == "rejected":
            assert not hunk.applied
        if hunk.pending:
            assert desk.standing(path, hunk)
        if not hunk.applied:
            assert hunk.new_text not in now
    for line in split_lines(text):
        taken = any(hunk.applied and line in hunk.old for hunk in hunks)
        if not taken:
            assert line.rstrip("\n") in re.sub("[\ue000-\ue0ff]+\n*", "", now), f"{line!r} is gone"


@settings(max_examples=examples(80))
@given(st.data())
def test_nothing_typed_is_lost_whatever_is_decided_when(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(decide_while_typing(data, Path(folder)))


@pytest.mark.parametrize(
    ("edit", "start"),
    [
        ((0, 0, "above\n"), 6),
        ((0, 7, ""), 4),
        ((0, 0, "x"), 5),
        ((34, 34, "\nbegun at the end of the line above"), 6),
        ((35, 35, "right above\n"), 6),
        ((42, 42, "right below\n"), 5),
        ((49, 49, "x"), 5),
    ],
)
async def test_typing_beside_a_hunk(desk: Desk, edit: tuple[int, int, str], start: int) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    desk.editor.type(path, edit)
    assert (hunk.state, hunk.start) == ("pending", start)
    assert desk.moved == [path]
    typed = desk.editor.text(path)
    await desk.reviews.accept([hunk])
    assert desk.editor.text(path) == typed.replace("line 5\n", "NEW\n", 1)
    assert hunk.state == "accepted"


@pytest.mark.parametrize(
    "edit", [(35, 35, "x"), (38, 38, "x"), (35, 42, ""), (30, 40, ""), (41, 41, "x"), (41, 42, "")]
)
async def test_typing_in_a_hunk_makes_a_conflict(desk: Desk, edit: tuple[int, int, str]) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    desk.editor.type(path, edit)
    assert (hunk.state, hunk.reason) == ("conflict", "the person changed these lines")
    typed = desk.editor.text(path)
    await desk.reviews.accept([hunk])
    assert desk.editor.text(path) == typed
    await desk.reviews.reject([hunk])
    assert hunk.state == "rejected"


async def test_a_look_alike_is_not_taken_for_lines_the_person_deleted(desk: Desk) -> None:
    path = desk.editor.open("f.py", "same\nsame\nsame\n")
    (hunk,) = desk.propose(path, (0, 1, ("NEW\n",)))
    desk.editor.type(path, (0, 5, ""))
    assert hunk.state == "conflict"


async def test_a_formatter_replaces_the_whole_document(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    above, inside, below = desk.propose(path, (1, 2, ("A\n",)), (5, 7, ("B\n",)), (12, 13, ("C\n",)))
    desk.editor.replace(path, TEXT.replace("line 6\n", "line  6\n").replace("line 9\n", "line 9\nand more\n"))
    assert [hunk.state for hunk in (above, inside, below)] == ["pending", "conflict", "pending"]
    assert (above.start, below.start) == (1, 13)


async def test_a_formatter_indents_lines_as_others_were_before(desk: Desk) -> None:
    path = desk.editor.open("f.py", "{\n    {\n        {\n        }\n    }\n}\n")
    (hunk,) = desk.propose(path, (4, 5, ("NEW\n",)))
    desk.editor.replace(path, "".join(f"    {line}" for line in split_lines(desk.editor.text(path))))
    assert (hunk.state, hunk.start) == ("conflict", 4)


async def test_line_endings_are_kept(desk: Desk) -> None:
    path = desk.editor.open("f.py", "a\r\nb\r\nc\r\n")
    (hunk,) = desk.propose(path, (1, 2, ("B\r\n",)))
    desk.editor.type(path, (0, 0, "typed\r\n"))
    await desk.reviews.accept([hunk])
    assert desk.editor.text(path) == "typed\r\na\r\nB\r\nc\r\n"


@pytest.mark.parametrize(
    ("text", "change", "edit", "expected"),
    [
        ("a\nb", (1, 2, ("B",)), (0, 0, "x\n"), "x\na\nB"),
        ("a\nb", (1, 2, ("B\n",)), (0, 0, "x\n"), "x\na\nB\n"),
        ("a\nb", (1, 2, ()), (0, 0, "x\n"), "x\na\n"),
        ("a\nb\n", (1, 2, ("B",)), (4, 4, "c\n"), "a\nB\nc\n"),
        ("a\n", (1, 1, ("new",)), (2, 2, "typed\n"), "a\nnew\ntyped\n"),
        ("a\r\n", (1, 1, ("new",)), (3, 3, "typed\r\n"), "a\r\nnew\r\ntyped\r\n"),
        ("a\nb\n", (2, 2, ("new\n",)), (3, 4, ""), "a\nb"),
        ("", (0, 0, ("new\n",)), (0, 0, "typed\n"), "new\ntyped\n"),
    ],
)
async def test_the_end_of_the_file(
    desk: Desk, text: str, change: tuple[int, int, tuple[str, ...]], edit: tuple[int, int, str], expected: str
) -> None:
    path = desk.editor.open("f.py", text)
    (hunk,) = desk.propose(path, change)
    desk.editor.type(path, edit)
    await desk.reviews.accept([hunk])
    assert desk.editor.text(path) == expected
    if hunk.applied:
        assert desk.standing(path, hunk)


async def test_the_text_on_opening_is_not_that_on_disk(desk: Desk) -> None:
    path = desk.folder / "f.py"
    path.write_text(TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    desk.editor.open("f.py", "unsaved\n" + TEXT, on_disk=False)
    assert hunk.start == 6
    desk.editor.type(path, (0, 0, "typed\n"))
    assert hunk.start == 7
    desk.editor.close(path)
    assert hunk.start == 5
    await desk.reviews.accept([hunk])
    assert path.read_text() == TEXT.replace("line 5\n", "NEW\n")


async def test_two_documents_of_one_file(desk: Desk) -> None:
    """A file and a link to it, each with its own text; places refer to the document that was used last."""
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    (desk.folder / "link.py").symlink_to(path)
    link = desk.editor.open("link.py", "other\nother\n" + TEXT, on_disk=False)
    assert hunk.start == 7
    desk.editor.type(path, (0, 0, "typed\n"))
    assert hunk.start == 6
    desk.editor.type(link, (0, 0, "typed\n"))
    assert (hunk.state, hunk.start) == ("pending", 8)


# Deciding


async def test_applied_hunks_follow_and_are_taken_back(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    hunks = desk.propose(path, (2, 3, ()), (5, 6, ("NEW\n", "NEWER\n")), (10, 10, ("ADDED\n",)))
    await desk.reviews.accept(hunks, decide=False)
    assert [(hunk.state, hunk.applied, hunk.start) for hunk in hunks] == [
        ("pending", True, 2),
        ("pending", True, 4),
        ("pending", True, 10),
    ]
    assert desk.applied == [(path, True)]
    desk.editor.type(path, (0, 0, "typed\n"))
    await desk.reviews.reject([hunks[1]])
    assert desk.editor.text(path) == "typed\n" + TEXT.replace("line 2\n", "").replace("line 9\n", "line 9\nADDED\n")
    await desk.reviews.reject([hunks[0], hunks[2]])
    assert desk.editor.text(path) == "typed\n" + TEXT
    assert {hunk.state for hunk in hunks} == {"rejected"}


async def test_lines_that_come_back_at_the_place_of_an_insertion(desk: Desk) -> None:
    """It was proposed for the text without them, so it could belong above or below them."""
    path = desk.editor.open("f.py", TEXT)
    (removal,) = desk.propose(path, (3, 6, ()))
    await desk.reviews.accept([removal], decide=False)
    (insertion,) = desk.propose(path, (3, 3, ("NEW\n",)), turn="other")
    await desk.reviews.reject([removal])
    assert (insertion.state, insertion.reason) == ("conflict", "another change was made to these lines")


@pytest.mark.parametrize(("place", "after"), [(3, 3), (6, 6)])
async def test_lines_that_come_back_beside_an_insertion_that_was_proposed_with_them(
    desk: Desk, place: int, after: int
) -> None:
    path = desk.editor.open("f.py", TEXT)
    (removal,) = desk.propose(path, (3, 6, ()))
    (insertion,) = desk.propose(path, (place, place, ("NEW\n",)), turn="other")
    await desk.reviews.accept([removal], decide=False)
    assert (insertion.state, insertion.start) == ("pending", 3)
    await desk.reviews.reject([removal])
    assert (insertion.state, insertion.start) == ("pending", after)


async def test_an_applied_hunk_the_person_typed_into_is_not_taken_back(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    await desk.reviews.accept([hunk], decide=False)
    at = desk.editor.text(path).index("NEW") + 3
    desk.editor.type(path, (at, at, " and mine"))
    await desk.reviews.reject([hunk])
    assert "NEW and mine\n" in desk.editor.text(path)
    assert (hunk.state, hunk.applied) == ("conflict", True)


async def test_of_two_changes_of_the_same_lines_one_is_made(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    (one,) = desk.propose(path, (5, 8, ("ONE\n",)), turn="one")
    (other,) = desk.propose(path, (6, 7, ("OTHER\n",)), turn="other")
    (beside,) = desk.propose(path, (8, 9, ("BESIDE\n",)), turn="other")
    await desk.reviews.accept([one, other, beside])
    expected = TEXT.replace("line 5\nline 6\nline 7\nline 8\n", "ONE\nBESIDE\n")
    assert desk.editor.text(path) == expected
    assert [hunk.state for hunk in (one, other, beside)] == ["accepted", "conflict", "accepted"]
    assert other.reason == "another change was made to these lines"


async def test_undo_is_of_one_turn_whatever_was_accepted_together(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    hunks = [*desk.propose(path, (3, 4, ("ONE\n",)), turn="one"), *desk.propose(path, (9, 10, ("TWO\n",)), turn="two")]
    await desk.reviews.accept(hunks)
    await desk.checkpoints.undo("one", desk.editor.workspace)
    assert desk.editor.text(path) == TEXT.replace("line 9\n", "TWO\n")


async def test_hunks_of_an_undone_turn_are_rejected(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    hunks = desk.propose(path, (3, 4, ("ONE\n",)), (9, 10, ("TWO\n",)))
    await desk.reviews.accept(hunks, decide=False)
    undone = await desk.checkpoints.undo("turn", desk.editor.workspace)
    desk.outside.undo_turn("turn", undone.restored)
    assert desk.editor.text(path) == TEXT
    assert [(hunk.state, hunk.applied) for hunk in hunks] == [("rejected", False)] * 2


async def test_deciding_twice_at_the_same_time(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    begun, gate = asyncio.Event(), asyncio.Event()

    async def slow(params: Any) -> Any:
        begun.set()
        await gate.wait()
        return desk.editor.apply(params)

    desk.editor.connection.answers["workspace/applyEdit"] = slow
    accepting = asyncio.create_task(desk.reviews.accept([hunk]))
    await begun.wait()
    rejecting = asyncio.create_task(desk.reviews.reject([hunk]))
    again = asyncio.create_task(desk.reviews.accept([hunk]))
    await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(accepting, rejecting, again)
    assert (hunk.state, hunk.applied) == ("accepted", True)
    assert desk.editor.text(path) == TEXT.replace("line 5\n", "NEW\n")


@pytest.mark.parametrize("made", [True, False])
async def test_hunks_that_come_while_an_edit_is_on_its_way(desk: Desk, *, made: bool) -> None:
    """The text already has that edit, which is not known yet, or it never gets it."""
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (2, 3, ("A\n", "B\n", "C\n")))
    later: list[LiveHunk] = []

    async def slow(params: Any) -> Any:
        answer = desk.editor.apply(params) if made else {"applied": False, "failureReason": "read-only"}
        if not later:
            later.extend(desk.propose(path, (8, 9, ("LATER\n",)), turn="later"))
        await asyncio.sleep(0.01)
        return answer

    desk.editor.connection.answers["workspace/applyEdit"] = slow
    await desk.reviews.accept([hunk])
    assert hunk.applied is made
    assert [(item.state, item.start) for item in later] == [("pending", 8)]
    assert desk.standing(path, later[0])


async def test_what_is_typed_among_lines_that_look_the_same_while_an_edit_is_refused(desk: Desk) -> None:
    """A diff of the whole text cannot show which of the empty lines is new."""
    path = desk.editor.open("f.py", "\n\n\nline\n")
    (hunk,) = desk.propose(path, (0, 1, ("NEW\n",)))
    typed = ["\n", "typed\n"]

    def apply(params: Any) -> Any:
        while typed:
            desk.editor.type(path, (0, 0, typed.pop()))
        return desk.editor.apply(params)

    desk.editor.connection.answers["workspace/applyEdit"] = apply
    await desk.reviews.accept([hunk])
    assert desk.editor.text(path) == "\ntyped\nNEW\n\n\nline\n"


@pytest.mark.parametrize("made", [True, False])
async def test_hunks_that_came_while_an_edit_was_on_its_way_follow_each_change(desk: Desk, *, made: bool) -> None:
    """A diff of the whole text would take the typed line for the one that the hunk changes."""
    path = desk.editor.open("f.py", "}\nline\nend\n")
    (hunk,) = desk.propose(path, (1, 2, ("NEW\n",)))
    later: list[LiveHunk] = []

    def apply(params: Any) -> Any:
        if later:
            return {"applied": False, "failureReason": "read-only"}
        later.extend(desk.propose(path, (0, 1, ("LATER\n",)), turn="later"))
        answer = desk.editor.apply(params) if made else {"applied": False, "failureReason": "not now"}
        desk.editor.type(path, (0, 0, "top\n}\n\ntyped\n"))
        at = desk.editor.text(path).rindex("}")
        desk.editor.type(path, (at + 1, at + 1, "\nbelow"))
        return answer

    desk.editor.connection.answers["workspace/applyEdit"] = apply
    await desk.reviews.accept([hunk])
    assert hunk.applied is made
    assert [(item.state, item.start) for item in later] == [("pending", 4)]


async def test_an_edit_in_the_wrong_place_says_so(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (5, 7, ("NEW\n",)))
    asked: list[Any] = []

    def stale(params: Any) -> Any:
        asked.append(params)
        for words in ("line 6", "NEW") if len(asked) == 1 else ():
            at = desk.editor.text(path).index(words)
            desk.editor.type(path, (at, at, "typed "))
            if words == "line 6":
                desk.editor.apply(params, check=False)
        return desk.editor.apply(params) if len(asked) > 1 else {"applied": True}

    desk.editor.connection.answers["workspace/applyEdit"] = stale
    await desk.reviews.accept([hunk])
    assert (hunk.state, hunk.applied, hunk.reason) == ("conflict", False, MISPLACED)
    assert "typed line 6\n" in desk.lines(path)
    assert "typed NEW\n" in desk.lines(path)


async def test_an_edit_that_was_taken_back_is_no_change_of_the_hunk(desk: Desk) -> None:
    """It was once taken for what the person made of the lines, and the empty line in it for their undo."""
    path = desk.editor.open("f.py", "a\n\nb\n")
    (hunk,) = desk.propose(path, (1, 2, ("1\n", "\n", "2\n")))
    await desk.reviews.accept([hunk], decide=False)
    typed = ["typed"]

    def stale(params: Any) -> Any:
        if typed:
            desk.editor.type(path, (2, 2, typed.pop()))
        return desk.editor.apply(params, check=False)

    desk.editor.connection.answers["workspace/applyEdit"] = stale
    await desk.reviews.reject([hunk])
    desk.editor.type(path, (0, 0, "above\n"))
    assert desk.editor.text(path) == "above\na\ntyped1\n\n2\nb\n"
    assert (hunk.state, hunk.applied, hunk.start, hunk.end) == ("conflict", True, 2, 5)


async def test_a_reject_that_waited_for_an_edit_in_the_wrong_place_does_not_hide_it(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (5, 7, ("NEW\n",)))
    asked: list[Any] = []
    rejecting: list[asyncio.Task[None]] = []

    async def stale(params: Any) -> Any:
        asked.append(params)
        for words in ("line 6", "NEW") if len(asked) == 1 else ():
            at = desk.editor.text(path).index(words)
            desk.editor.type(path, (at, at, "typed "))
            if words == "line 6":
                desk.editor.apply(params, check=False)
        if len(asked) == 1:
            rejecting.append(asyncio.create_task(desk.reviews.reject([hunk])))
            await asyncio.sleep(0)
        return desk.editor.apply(params) if len(asked) > 1 else {"applied": True}

    desk.editor.connection.answers["workspace/applyEdit"] = stale
    await desk.reviews.accept([hunk])
    await rejecting[0]
    assert (hunk.state, hunk.applied, hunk.reason) == ("conflict", False, MISPLACED)
    assert "typed NEW\n" in desk.lines(path)
    await desk.reviews.reject([hunk])
    assert hunk.state == "rejected"


async def test_what_an_editor_applies_and_saves_at_once_is_applied(desk: Desk) -> None:
    """It once counted as applied twice, and then as undone by the user."""
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (1, 1, ["new\n"]))

    def apply_and_save(params: Any) -> Any:
        answer = desk.editor.apply(params)
        desk.editor.save(path)
        return answer

    desk.editor.connection.answers["workspace/applyEdit"] = apply_and_save
    await desk.reviews.accept([hunk])
    assert (hunk.state, hunk.applied, hunk.start, hunk.end) == ("accepted", True, 1, 2)


@pytest.mark.parametrize(("reason", "state"), [(1, "accepted"), (2, "pending"), (3, "pending")])
async def test_a_save_accepts_what_is_applied_but_not_auto_save(desk: Desk, reason: int, state: str) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (1, 1, ["new\n"]))
    await desk.reviews.accept([hunk], decide=False)
    desk.editor.save(path, reason=reason)
    assert (hunk.state, hunk.applied) == (state, True)
    desk.editor.save(path)
    assert hunk.state == "accepted"


async def test_an_accept_that_waited_for_one_that_failed_does_not_try_it_again(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (1, 1, ["new\n"]))
    desk.editor.connection.answers["workspace/applyEdit"] = lambda _: {"applied": False}
    await asyncio.gather(desk.reviews.accept([hunk]), desk.reviews.accept([hunk]))
    assert hunk.state == "stale"
    asked = len(desk.editor.connection.asked)
    await desk.reviews.accept([hunk])
    assert hunk.state == "stale"
    assert len(desk.editor.connection.asked) == 2 * asked


async def test_what_is_taken_back_while_its_turn_is_undone_is_not_the_persons_undo(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (1, 1, ["new\n"]))
    await desk.reviews.accept([hunk], decide=False)
    async with desk.reviews.locks.hold_files([path]):
        await desk.checkpoints.undo("turn", desk.editor.workspace)
        assert hunk.state != "rejected"
    desk.outside.undo_turn("turn", [path])
    assert (hunk.state, hunk.reason) == ("rejected", "the turn was undone")


async def test_a_save_does_not_accept_what_is_being_taken_back(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (2, 3, ("A\n",)))
    await desk.reviews.accept([hunk], decide=False)

    def saved_before(params: Any) -> Any:
        desk.editor.save(path)
        return desk.editor.apply(params)

    desk.editor.connection.answers["workspace/applyEdit"] = saved_before
    await desk.reviews.reject([hunk])
    assert (hunk.state, hunk.applied, desk.editor.text(path)) == ("rejected", False, TEXT)


async def test_undo_waits_for_what_is_on_its_way(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (2, 3, ("A\n",)))
    begun, gate = asyncio.Event(), asyncio.Event()

    async def slow(params: Any) -> Any:
        begun.set()
        await gate.wait()
        return desk.editor.apply(params)

    desk.editor.connection.answers["workspace/applyEdit"] = slow
    accepting = asyncio.create_task(desk.reviews.accept([hunk], decide=False))
    await begun.wait()

    async def undo() -> None:
        async with desk.reviews.locks.hold_files(desk.checkpoints.changed_paths("turn")):
            undone = await desk.checkpoints.undo("turn", desk.editor.workspace)
            desk.outside.undo_turn("turn", undone.restored)

    undoing = asyncio.create_task(undo())
    await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(accepting, undoing)
    assert desk.editor.text(path) == TEXT
    assert (hunk.state, hunk.applied) == ("rejected", False)


async def test_what_an_undo_took_back_in_part_is_not_taken_back_again(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    typed_over, removal = desk.propose(path, (2, 3, ("A\n",)), (5, 7, ()))
    await desk.reviews.accept([typed_over, removal], decide=False)
    start = desk.editor.text(path).index("A\n")
    desk.editor.type(path, (start, start, "my "))
    undoing = asyncio.create_task(desk.outside.undo("turn", desk.editor.workspace))
    await asyncio.sleep(0)
    await desk.reviews.reject([removal])
    undone = await undoing
    assert [kept for kept, _ in undone.kept] == [path]
    assert desk.editor.text(path) == TEXT.replace("line 2\n", "my A\n")
    assert (removal.state, typed_over.state) == ("rejected", "conflict")


async def test_what_an_undo_took_back_in_part_beside_typed_text_is_not_taken_back_again(desk: Desk) -> None:
    """You type above the removed lines while the undo is on its way, so no diff shows which lines came back."""
    path = desk.editor.open("f.py", TEXT)
    typed_over, removal = desk.propose(path, (2, 3, ("A\n",)), (5, 7, ()))
    await desk.reviews.accept([typed_over, removal], decide=False)
    start = desk.editor.text(path).index("A\n")
    desk.editor.type(path, (start, start, "my "))

    def typed_before(params: Any) -> Any:
        desk.editor.connection.answers["workspace/applyEdit"] = desk.editor.apply
        start = desk.editor.text(path).index("line 4\n")
        desk.editor.type(path, (start, start, "my "))
        return desk.editor.apply(params)

    desk.editor.connection.answers["workspace/applyEdit"] = typed_before
    undoing = asyncio.create_task(desk.outside.undo("turn", desk.editor.workspace))
    await asyncio.sleep(0)
    await desk.reviews.reject([removal])
    await undoing
    assert desk.editor.text(path) == TEXT.replace("line 2\n", "my A\n").replace("line 4\n", "my line 4\n")
    assert (removal.state, typed_over.state) == ("rejected", "conflict")


@pytest.mark.parametrize(
    "removal", [(7, 9, ()), (7, 9, ("B\n",)), (7, 7, ("B\n",))], ids=["removed", "changed", "added"]
)
async def test_what_an_undo_took_back_with_an_accepted_hunk_beside_it(
    desk: Desk, removal: tuple[int, int, tuple[str, ...]]
) -> None:
    """Nothing follows the accepted hunk, and one change takes back both."""
    path = desk.editor.open("f.py", TEXT)
    typed_over, accepted, beside = desk.propose(path, (2, 3, ("A\n",)), (5, 7, ("NEW\n",)), removal)
    await desk.reviews.accept([typed_over, accepted, beside], decide=False)
    await desk.reviews.accept([accepted])
    start = desk.editor.text(path).index("A\n")
    desk.editor.type(path, (start, start, "my "), (0, 0, "above\n"))
    await desk.outside.undo("turn", desk.editor.workspace)
    await desk.reviews.reject([beside])
    assert desk.editor.text(path) == "above\n" + TEXT.replace("line 2\n", "my A\n")
    assert (beside.state, beside.reason) == ("rejected", "the turn was undone")


async def test_hunks_of_one_file_decided_at_the_same_time(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    hunks = desk.propose(path, (2, 3, ("A\n",)), (6, 7, ("B\n", "B\n")), (10, 11, ()))
    await asyncio.gather(*(desk.reviews.accept([hunk]) for hunk in reversed(hunks)))
    assert desk.editor.text(path) == TEXT.replace("line 2\n", "A\n").replace("line 6\n", "B\nB\n").replace(
        "line 10\n", ""
    )
    assert {hunk.state for hunk in hunks} == {"accepted"}


async def test_a_person_who_types_on_gets_the_edit_when_they_pause(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hunk_writing, "PAUSE_SECONDS", 0.05)
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (15, 16, ("NEW\n",)))

    def apply(params: Any) -> Any:
        if len(desk.editor.text(path)) < len(TEXT) + 4:
            desk.editor.type(path, (0, 0, "x"))
        return desk.editor.apply(params)

    desk.editor.connection.answers["workspace/applyEdit"] = apply
    accepting = asyncio.create_task(desk.reviews.accept([hunk]))
    for _ in range(20):
        await asyncio.sleep(0.02)
        desk.editor.type(path, (0, 0, "y"))
    await accepting
    assert hunk.state == "accepted"
    assert "NEW\n" in desk.editor.text(path)


async def test_an_edit_the_editor_refuses_is_stale_and_says_why(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    desk.editor.connection.answers["workspace/applyEdit"] = lambda _: {"applied": False, "failureReason": "read-only"}
    await desk.reviews.accept([hunk])
    assert (hunk.state, hunk.reason) == ("stale", "the editor refused the edit: read-only")
    assert desk.editor.text(path) == TEXT


@pytest.mark.parametrize("typed", ["", "above", "inside"])
async def test_what_an_editor_refused_is_tried_again(desk: Desk, typed: str) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    honest = desk.editor.connection.answers["workspace/applyEdit"]
    desk.editor.connection.answers["workspace/applyEdit"] = lambda _: {"applied": False, "failureReason": "read-only"}
    await desk.reviews.accept([hunk])
    desk.editor.connection.answers["workspace/applyEdit"] = honest
    if typed:
        at = 0 if typed == "above" else TEXT.index("line 5")
        desk.editor.type(path, (at, at, "typed\n" if typed == "above" else "my "))
    now = desk.editor.text(path)
    await desk.reviews.accept([hunk])
    if typed == "inside":
        assert (hunk.state, hunk.reason, desk.editor.text(path)) == ("conflict", "the person changed these lines", now)
    else:
        assert (hunk.state, desk.editor.text(path)) == ("accepted", now.replace("line 5\n", "NEW\n"))


async def test_a_file_that_can_no_longer_be_read(desk: Desk) -> None:
    path = desk.folder / "f.py"
    path.write_text(TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    path.write_bytes(b"\0\xff" * 100)
    await desk.reviews.accept([hunk])
    assert hunk.state == "stale"
    assert "f.py" in hunk.reason
    assert path.read_bytes() == b"\0\xff" * 100


async def test_a_file_that_was_deleted(desk: Desk) -> None:
    path = desk.folder / "f.py"
    path.write_text(TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    path.unlink()
    await desk.reviews.accept([hunk])
    assert (hunk.state, hunk.reason) == ("stale", "the file is not there any more")
    with pytest.raises(RequestError, match="the file is not there any more"):
        await desk.reviews.edit(hunk.id, "NEW\n")
    desk.editor.open("f.py", "", on_disk=False)
    with pytest.raises(RequestError, match="the file is not there any more"):
        await desk.reviews.edit(hunk.id, "NEW\n")
    assert not path.exists()


async def test_a_file_that_was_deleted_and_is_back(desk: Desk) -> None:
    path = desk.folder / "f.py"
    path.write_text(TEXT)
    hunks = desk.propose(path, (5, 6, ("NEW\n",)), (9, 10, ("NINE\n",)))
    path.unlink()
    await desk.reviews.accept(hunks)
    path.write_text(TEXT.replace("line 1\n", "").replace("line 9", "mine 9"))
    await desk.reviews.accept(hunks)
    assert [hunk.state for hunk in hunks] == ["accepted", "conflict"]
    assert path.read_text() == TEXT.replace("line 1\n", "").replace("line 9", "mine 9").replace("line 5", "NEW")


async def test_an_applied_one_whose_file_was_deleted(desk: Desk) -> None:
    path = desk.folder / "f.py"
    path.write_text(TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    await desk.reviews.accept([hunk], decide=False)
    path.unlink()
    await desk.reviews.reject([hunk])
    assert (hunk.state, hunk.reason) == ("stale", "the file is not there any more")
    path.write_text(TEXT)
    await desk.reviews.reject([hunk])
    assert (hunk.state, hunk.applied, path.read_text()) == ("rejected", False, TEXT)


async def test_the_empty_line_of_a_file_is_thrown_away(desk: Desk) -> None:
    """It is not the empty line that an editor may show for a file that does not exist."""
    path = desk.editor.open("f.py", "")
    desk.editor.type(path, (0, 0, "\n"))
    (hunk,) = desk.propose(path, (0, 1, ("NEW\n",)))
    desk.editor.close(path)
    assert (hunk.state, hunk.end) == ("conflict", 0)


async def test_a_new_file_somebody_else_made_meanwhile(desk: Desk) -> None:
    path = desk.folder / "new.py"
    (hunk,) = desk.propose(path, (0, 0, ("NEW\n",)))
    path.write_text("theirs\n")
    await desk.reviews.accept([hunk])
    assert path.read_text() in ("theirs\n", "NEW\ntheirs\n")
    assert "theirs\n" in path.read_text()


async def test_a_save_of_the_person_accepts_and_ours_does_not(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (5, 6, ("NEW\n",)))
    await desk.reviews.accept([hunk], decide=False)
    desk.editor.documents.our_saves.add(path)
    seen = []
    for _ in range(2):
        desk.editor.save(path)
        seen.append(hunk.state)
    assert seen == ["pending", "accepted"]


async def test_what_was_decided_is_waited_for(desk: Desk) -> None:
    path = desk.editor.open("f.py", TEXT)
    hunks = desk.propose(path, (2, 3, ("A\n",)), (6, 7, ("B\n",)))
    waiting = asyncio.create_task(desk.reviews.wait_until_decided(hunks))
    await desk.reviews.reject([hunks[0]])
    await asyncio.sleep(0)
    assert not waiting.done()
    await desk.reviews.accept([hunks[1]])
    await asyncio.wait_for(waiting, AT_ONCE)


async def test_a_proposal_made_on_an_older_text(desk: Desk) -> None:
    """The model made its edit before the user typed, and the question came after that."""
    path = desk.editor.open("f.py", TEXT)
    (earlier,) = desk.propose(path, (10, 11, ("EARLIER\n",)))
    base = desk.editor.workspace.read(path)
    desk.editor.type(path, (0, 0, "typed\n"))
    later, lost = desk.add_proposal(
        "other",
        [
            (ProposedEdit(path, base, (Hunk(3, ("line 3\n",), ("LATER\n",)),)), ()),
            (ProposedEdit(path, base, (Hunk(0, ("line 0\n",), ()),)), ()),
        ],
    )
    assert (earlier.start, later.start, lost.start) == (11, 4, 1)
    await desk.reviews.accept([earlier, later])
    assert desk.editor.text(path) == "typed\n" + TEXT.replace("line 3\n", "LATER\n").replace("line 10\n", "EARLIER\n")
