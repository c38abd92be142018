"""Any hunks, any typing while no server runs: hunks come back where their text is, or are stale."""

import asyncio
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tark_lsp.workspace.lines import Hunk, split_lines
from tests.exhaustive import examples
from tests.review.kept_desk import Server
from tests.review.live_hunk import LiveHunk
from tests.review.test_review import Mark, notifications, texts


@dataclass(frozen=True)
class Case:
    """A text, hunks of it, those applied before the server stopped, and the text as it was left then."""

    text: str
    hunks: tuple[Hunk, ...]
    applied: frozenset[int]
    then: str
    edits: list[tuple[int, int, str]]
    opened: bool


@st.composite
def cases(draw: st.DrawFn, some: st.SearchStrategy[str]) -> Case:
    text = draw(some)
    lines = split_lines(text)
    hunks: list[Hunk] = []
    at = 0
    while at <= len(lines) and len(hunks) < 4 and draw(st.booleans()):
        start = draw(st.integers(at, len(lines)))
        end = draw(st.integers(start, min(len(lines), start + 2)))
        new = tuple(split_lines(draw(st.sampled_from(["new\n", "new\nmore\n", "a\n", ""]))))
        if tuple(lines[start:end]) != new and (end < len(lines) or text.endswith("\n") or not text):
            hunks.append(Hunk(start, tuple(lines[start:end]), new))
            at = end + 1
    applied = frozenset(index for index in range(len(hunks)) if draw(st.booleans()))
    then = [*lines]
    for index in sorted(applied, reverse=True):
        then[hunks[index].start : hunks[index].end] = hunks[index].new
    return Case(text, tuple(hunks), applied, "".join(then), draw(notifications("".join(then))), draw(st.booleans()))


def typed(text: str, edits: list[tuple[int, int, str]]) -> str:
    for start, end, new in edits:
        text = text[:start] + new + text[end:]
    return text


async def restarted(case: Case, folder: Path) -> tuple[Server, Path, list[LiveHunk], list[LiveHunk]]:
    """The second server, the file, its hunks, and the hunks of the first server."""
    (folder / "workspace").mkdir()
    (folder / "state").mkdir()
    server = Server(folder / "workspace", folder / "state")
    path = server.folder / "a.py"
    path.write_bytes(case.text.encode())
    hunks = server.propose(path, *[(hunk.start, hunk.end, hunk.new) for hunk in case.hunks])
    await server.apply([hunks[index] for index in case.applied])
    assert path.read_bytes().decode() == case.then
    server.killed()
    path.write_bytes(typed(case.then, case.edits).encode())
    after = server.follow(*["a.py"] * case.opened)
    found = {item.id: item for item in after.find_hunks(path)}
    assert sorted(found) == sorted(item.id for item in hunks)
    return after, path, [found[item.id] for item in hunks], hunks


async def nothing_wrong_is_written(case: Case, folder: Path, decisions: list[bool]) -> None:
    server, path, hunks, _ = await restarted(case, folder)
    assert {hunk.state for hunk in hunks} <= {"pending", "stale"}
    for hunk, accepted in zip(hunks, decisions, strict=False):
        before = split_lines(server.editor.workspace.read(path).text)
        if not hunk.pending:
            continue
        there, other = (hunk.new, hunk.old) if hunk.applied else (hunk.old, hunk.new)
        assert tuple(before[hunk.start : hunk.end]) == there
        start, end, moves = hunk.start, hunk.end, hunk.applied is not accepted
        if accepted:
            await server.reviews.accept([hunk])
        else:
            await server.reviews.reject([hunk])
        now = split_lines(server.editor.workspace.read(path).text)
        wanted = [*before[:start], *(other if moves else there), *before[end:]]
        if hunk.state in ("accepted", "rejected"):
            assert "".join(now).rstrip("\r\n") == "".join(wanted).rstrip("\r\n")
        else:  # in conflict with a hunk beside it, or at a line that lost its ending
            assert now == before
    server.killed()


@settings(max_examples=examples(60))
@given(case=cases(texts), decisions=st.lists(st.booleans(), min_size=4, max_size=4))
def test_nothing_wrong_is_written(case: Case, decisions: list[bool]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(nothing_wrong_is_written(case, Path(folder).resolve(), decisions))


unlike = st.integers(0, 12).map(lambda count: "".join(f"line {n}\n" for n in range(count)))
"""Texts without equal lines."""


async def stands_where_it_did(case: Case, folder: Path) -> None:
    offsets = [0]
    for line in split_lines(case.then):
        offsets.append(offsets[-1] + len(line))
    _, _, hunks, before = await restarted(case, folder)
    for hunk, was in zip(hunks, before, strict=True):
        text, mark = case.then, Mark(offsets[was.start], offsets[was.end])
        for start, end, new in case.edits:
            mark.follow(text, start, end, new)
            text = text[:start] + new + text[end:]
        if mark.touched or not mark.whole(text) or not hunk.pending or hunk.applied is not was.applied:
            continue
        if re.search(r"\w\Z", text[: mark.start]):
            continue  # an insertion below a line that lost its ending
        assert hunk.start == len(split_lines(text[: mark.start]))


@settings(max_examples=examples(60))
@given(case=cases(unlike))
def test_what_nobody_touched_is_where_it_was(case: Case) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(stands_where_it_did(case, Path(folder).resolve()))


@pytest.mark.parametrize("opened", [True, False], ids=["open", "closed"])
def test_what_nobody_touched_comes_back(opened: bool, tmp_path: Path) -> None:
    """Not everything may become stale: if you type far from them, all hunks are undecided."""
    text = "".join(f"line {n}\n" for n in range(40))
    hunks = tuple(Hunk(n, (f"line {n}\n",), (f"new {n}\n",)) for n in (5, 15, 25, 35))
    then = text.replace("line 15\n", "new 15\n").replace("line 35\n", "new 35\n")
    edits = [
        (0, 0, "top\n"),
        (then.index("line 20"), then.index("line 21"), ""),
        (len(then) - 7, len(then) - 7, "end\n"),
    ]

    async def run() -> list[tuple[str, bool, int]]:
        case = Case(text, hunks, frozenset({1, 3}), then, edits, opened)
        _, _, found, _ = await restarted(case, tmp_path.resolve())
        return [(item.state, item.applied, item.start) for item in found]

    assert asyncio.run(run()) == [
        ("pending", False, 6),
        ("pending", True, 16),
        ("pending", False, 25),
        ("pending", True, 35),
    ]
