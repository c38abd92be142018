"""Hunks that nobody decided on before their server ended: what the next one makes of them."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from tark_lsp.server.review.hunks import GONE, ReviewHunk
from tark_lsp.server.review.kept import LONG
from tark_lsp.server.review.returning import AWAY, THERE
from tark_lsp.sessions import hunks as hunk_rows
from tark_lsp.sessions.hunks import HunkRows, KeptText
from tark_lsp.sessions.store import SessionStore
from tark_lsp.workspace.edits import ProposedEdit
from tests.server.kept_desk import Server

TEXT = "".join(f"line {n}\n" for n in range(20))


@pytest.fixture
def server(tmp_path: Path) -> Server:
    folder, state = tmp_path.resolve() / "workspace", tmp_path.resolve() / "state"
    folder.mkdir()
    state.mkdir()
    return Server(folder, state)


def write(server: Server, name: str, text: str) -> Path:
    path = server.folder / name
    path.write_bytes(text.encode())
    return path


def no_file() -> Path:
    raise OSError("there is no place for it")


def standing(hunks: Sequence[ReviewHunk]) -> list[tuple[str, bool, int, str]]:
    return [(each.state, each.applied, each.start, each.reason) for each in hunks]


@pytest.mark.parametrize("opened", [True, False], ids=["open", "closed"])
async def test_proposed_hunks_come_back_where_their_lines_are_now(server: Server, opened: bool) -> None:
    path = server.editor.open("a.py", TEXT)
    hunks = server.propose(path, (3, 4, ["THREE\n"]), (10, 12, []), (15, 15, ["new\n"]))
    server.killed()
    write(server, "a.py", "typed\nmore\n" + TEXT)
    after = server.follow(*["a.py"] * opened)
    found = after.reviews.find(path)
    assert [each.id for each in found] == [each.id for each in hunks]
    assert standing(found) == [("pending", False, 5, ""), ("pending", False, 12, ""), ("pending", False, 17, "")]
    assert after.came_back == ["turn"]
    await after.reviews.accept(found)
    assert {each.state for each in found} == {"accepted"}
    lines = TEXT.splitlines(keepends=True)
    lines[15:15], lines[10:12], lines[3:4] = ["new\n"], [], ["THREE\n"]
    assert after.editor.workspace.read(path).text == "typed\nmore\n" + "".join(lines)
    undone = await after.checkpoints.undo("turn", after.editor.workspace)
    assert undone.kept == ()
    assert after.editor.workspace.read(path).text == "typed\nmore\n" + TEXT
    assert after.rows_kept() == 0


@pytest.mark.parametrize("opened", [True, False], ids=["open", "closed"])
async def test_applied_hunks_are_still_to_be_decided(server: Server, opened: bool) -> None:
    path = write(server, "a.py", TEXT)
    hunks = server.propose(path, (3, 4, ["THREE\n"]), (10, 10, ["ten\n", "and more\n"]), (15, 17, []))
    await server.apply(hunks)
    server.killed()
    write(server, "a.py", path.read_text() + "typed\n")
    after = server.follow(*["a.py"] * opened)
    found = after.reviews.find(path)
    assert standing(found) == [("pending", True, 3, ""), ("pending", True, 10, ""), ("pending", True, 17, "")]
    await after.reviews.reject(found[:2])
    await after.reviews.accept(found[2:])
    assert [each.state for each in found] == ["rejected", "rejected", "accepted"]
    lines = TEXT.splitlines(keepends=True)
    lines[15:17] = []
    assert after.editor.workspace.read(path).text == "".join(lines) + "typed\n"
    assert after.rows_kept() == 0


def put(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


THREE, TEN, BEFORE_TEN = ("line 3\n", "THREE\n"), ("line 10\n", "new\nline 10\n"), ("line 9\n", "mine\n")
STALE, PENDING, APPLIED = ("stale", False, AWAY), ("pending", False, ""), ("pending", True, "")
CHANGED = {
    "its lines": (put(TEXT, ("line 3\n", "mine\n")), [STALE, PENDING], [TEN]),
    "beside an insertion": (put(TEXT, BEFORE_TEN), [PENDING, STALE], [THREE]),
    "all": ("something else\n", [STALE, STALE], []),
    "nothing left": ("", [STALE, STALE], []),
    "written by hand": (put(TEXT, THREE), [APPLIED, PENDING], [TEN]),
    "inserted by hand": (put(TEXT, TEN), [PENDING, APPLIED], [THREE]),
    "both by hand": (put(TEXT, TEN, THREE), [APPLIED, APPLIED], []),
}
"""The text when the next server starts, how the two hunks then stand, and what accepting them changes."""


@pytest.mark.parametrize(("text", "expected", "changes"), CHANGED.values(), ids=CHANGED)
async def test_what_was_changed_meanwhile_is_never_written_over(
    server: Server, text: str, expected: list[tuple[str, bool, str]], changes: list[tuple[str, str]]
) -> None:
    path = write(server, "a.py", TEXT)
    server.propose(path, (3, 4, ["THREE\n"]), (10, 10, ["new\n"]))
    server.killed()
    write(server, "a.py", text)
    after = server.follow()
    found = after.reviews.find(path)
    assert [(each.state, each.applied, each.reason) for each in found] == expected
    await after.reviews.accept([each for each in found if each.open])
    assert path.read_text() == put(text, *changes)


async def test_a_file_that_is_gone(server: Server) -> None:
    path = write(server, "a.py", TEXT)
    (hunk,) = server.propose(path, (3, 4, ["THREE\n"]))
    server.killed()
    path.unlink()
    after = server.follow()
    (found,) = after.reviews.find(path)
    assert (found.id, found.state, found.reason) == (hunk.id, "stale", GONE)
    await after.reviews.accept([found])
    assert not path.exists()
    after.killed()
    assert after.follow().reviews.find() == []  # it was told once
    write(server, "a.py", TEXT)
    await after.reviews.accept([found])
    assert found.state == "accepted"
    assert path.read_text() == put(TEXT, THREE)


async def test_a_link_where_the_file_was(server: Server) -> None:
    path, other = write(server, "a.py", TEXT), write(server, "b.py", TEXT)
    server.propose(path, (3, 4, ["THREE\n"]))
    server.killed()
    path.unlink()
    path.symlink_to(other)
    after = server.follow()
    found = after.reviews.find(path)
    assert [each.state for each in found] == ["stale"]
    await after.reviews.accept(found)
    assert [each.state for each in found] == ["conflict"]
    assert other.read_text() == TEXT


NEW = ("one\n", "two\n")


@pytest.mark.parametrize(
    ("applied", "text", "expected", "left"),
    [
        (False, None, ("pending", False, ""), None),
        (False, "".join(NEW), ("pending", True, ""), None),
        (False, "mine\n", ("stale", False, THERE), "mine\n"),
        (True, "".join(NEW), ("pending", True, ""), None),
        (True, "mine\n", ("stale", True, AWAY), "mine\n"),
        (True, None, ("pending", False, ""), None),
    ],
    ids=["not made", "just made", "another by now", "made", "made and changed", "made and removed"],
)
async def test_a_new_file(
    server: Server, applied: bool, text: str | None, expected: tuple[str, bool, str], left: str | None
) -> None:
    path = server.folder / "new.py"
    hunks = server.propose(path, (0, 0, NEW))
    if applied:
        await server.apply(hunks)
        assert path.exists()
    server.killed()
    if text is None:
        path.unlink(missing_ok=True)
    else:
        path.write_text(text)
    after = server.follow()
    (found,) = after.reviews.find(path)
    assert (found.state, found.applied, found.reason) == expected
    await after.reviews.reject([found])
    assert (path.read_text() if path.exists() else None) == left


@pytest.mark.parametrize("text", [TEXT, "", "no end"], ids=["text", "empty", "no newline"])
@pytest.mark.parametrize("applied", [False, True], ids=["proposed", "applied"])
async def test_a_removal(server: Server, applied: bool, text: str) -> None:
    path = write(server, "a.py", text)
    path.chmod(0o750)
    base = server.editor.workspace.read(path)
    hunks = server.reviews.add("turn", [(ProposedEdit.removal(base), ())])
    if applied:
        await server.apply(hunks)
    assert path.exists() is not applied
    server.killed()
    after = server.follow()
    (found,) = after.reviews.find(path)
    assert (found.state, found.applied, found.operation) == ("pending", applied, "remove")
    if applied:
        await after.reviews.reject([found])
        assert (found.state, path.read_text(), path.stat().st_mode & 0o777) == ("rejected", text, 0o750)
    else:
        await after.reviews.accept([found])
        assert (found.state, path.exists()) == ("accepted", False)
        await after.checkpoints.undo("turn", after.editor.workspace)
        assert path.read_text() == text


@pytest.mark.parametrize("applied", [False, True], ids=["proposed", "applied"])
async def test_a_removal_of_what_is_another_file_by_now(server: Server, applied: bool) -> None:
    path = write(server, "a.py", TEXT)
    hunks = server.reviews.add("turn", [(ProposedEdit.removal(server.editor.workspace.read(path)), ())])
    if applied:
        await server.apply(hunks)
    server.killed()
    write(server, "a.py", "mine\n")
    after = server.follow()
    (found,) = after.reviews.find(path)
    assert found.state == "stale"
    await after.reviews.reject([found])
    assert path.read_text() == "mine\n"


async def test_a_removal_that_was_carried_out_before_anybody_noted_it(server: Server) -> None:
    """And one that was taken back so."""
    one, two = write(server, "a.py", TEXT), write(server, "b.py", TEXT)
    read = server.editor.workspace.read
    server.reviews.add("turn", [(ProposedEdit.removal(read(one)), ())])
    await server.apply(server.reviews.add("turn", [(ProposedEdit.removal(read(two)), ())]))
    server.killed()
    one.unlink()
    two.write_text(TEXT)
    after = server.follow()
    assert [(each.state, each.applied, each.reason) for each in after.reviews.find()] == [
        ("stale", False, GONE),
        ("pending", False, ""),
    ]


MOVES: dict[str, tuple[bool, tuple[str, ...], tuple[str, bool], str]] = {
    "proposed": (False, (), ("pending", False), "a.py"),
    "applied": (True, (), ("pending", True), "b.py"),
    "killed after it": (False, ("a.py", "b.py"), ("pending", True), "b.py"),
    "taken back by hand": (True, ("b.py", "a.py"), ("pending", False), "a.py"),
    "gone": (False, ("a.py", "../elsewhere.py"), ("stale", False), "a.py"),
}
"""Whether it was applied, what somebody moved while no server ran, and where the hunks then are."""


@pytest.mark.parametrize(("applied", "meanwhile", "expected", "place"), MOVES.values(), ids=MOVES)
async def test_a_move_with_a_change_of_text(
    server: Server,
    applied: bool,
    meanwhile: tuple[str, ...],
    expected: tuple[str, bool],
    place: str,
) -> None:
    source, target = write(server, "a.py", TEXT), server.folder / "b.py"
    base = server.editor.workspace.read(source)
    edit = ProposedEdit.between(base, TEXT.replace("line 3\n", "THREE\n"))
    hunks = server.reviews.add("turn", [(ProposedEdit(source, base, edit.hunks, target=target), ())], whole=True)
    if applied:
        await server.apply(hunks)
        assert target.read_text() == edit.after
    server.killed()
    if meanwhile:
        (server.folder / meanwhile[0]).rename(server.folder / meanwhile[1])
    after = server.follow()
    found = after.reviews.find()
    assert {each.path.name for each in found} == {place}
    (move,) = [each for each in found if each.operation]
    assert (move.state, move.applied) == expected
    if expected[0] == "pending":
        await after.reviews.reject(found)
        assert {each.state for each in found} == {"rejected"}, standing(found)
        assert source.exists()
        assert not target.exists()
        assert source.read_text() == TEXT
    assert after.rows_kept() == 0


async def test_what_is_made_all_or_nothing_comes_back_whole(server: Server) -> None:
    """Though but one of its files is open, in an editor without a folder."""
    paths = [server.editor.open(name, TEXT) for name in ("a.py", "b.py")]
    edits = []
    for path in paths:
        base = server.editor.workspace.read(path)
        edits.append((ProposedEdit.between(base, TEXT.replace("line 3\n", "THREE\n")), ()))
    server.reviews.add("turn", edits, whole=True)
    server.killed()
    after = Server(server.folder, server.state)
    after.editor.workspace.set_folders([])
    after.editor.open("a.py", TEXT)
    after.kept.bring_back()
    found = after.reviews.find()
    assert {each.path for each in found} == {*paths}
    await after.reviews.accept(found[:1])
    assert [each.state for each in found] == ["stale", "stale"]
    assert [path.read_text() for path in paths] == [TEXT, TEXT]


async def test_a_conflict_stays_one(server: Server) -> None:
    path = server.editor.open("a.py", TEXT)
    (hunk,) = server.propose(path, (3, 4, ["THREE\n"]))
    server.editor.type(path, (TEXT.index("3"), TEXT.index("3") + 1, "mine"))
    assert hunk.state == "conflict"
    server.propose(path, (10, 11, ["TEN\n"]))  # since then it is kept as such
    server.killed()
    write(server, "a.py", "new\n" + server.editor.text(path))
    after = server.follow("a.py")
    found, _ = after.reviews.find(path)
    assert (found.state, found.start, found.size) == ("conflict", 4, 1)
    await after.reviews.edit(found.id, "".join(found.new))
    await after.reviews.accept([found])
    assert after.editor.text(path).splitlines()[4] == "THREE"


async def test_what_was_undone_by_other_means_does_not_come_back(server: Server) -> None:
    """As by `tark-lsp undo`, which is no server."""
    path, other = write(server, "a.py", TEXT), write(server, "b.py", TEXT)
    await server.apply([*server.propose(path, (3, 4, ["THREE\n"])), *server.propose(other, (3, 4, ["X\n"]), turn="2")])
    server.killed()
    await server.checkpoints.undo("turn", server.editor.workspace)
    other.write_text(TEXT)  # while this one was lost with an editor that had not saved it
    after = server.follow()
    (undone,), (lost,) = after.reviews.find(path), after.reviews.find(other)
    assert (undone.state, undone.applied) == ("rejected", False)
    assert (lost.state, lost.applied) == ("pending", False)
    assert path.read_text() == TEXT


async def test_only_of_servers_that_are_gone_and_only_once(server: Server) -> None:
    path = write(server, "a.py", TEXT)
    hunks = server.propose(path, (3, 4, ["THREE\n"]), (10, 11, ["TEN\n"]))
    other = server.follow()
    assert other.reviews.find() == []
    server.killed()
    other.kept.bring_back()
    assert [each.id for each in other.reviews.find()] == [each.id for each in hunks]
    third = server.follow()
    assert third.reviews.find() == []
    await other.reviews.reject(other.reviews.find()[:1])
    other.killed()
    third.kept.bring_back()
    assert [(each.id, each.state) for each in third.reviews.find()] == [(hunks[1].id, "pending")]


async def test_only_of_this_workspace(server: Server, tmp_path: Path) -> None:
    path = write(server, "a.py", TEXT)
    server.propose(path, (3, 4, ["THREE\n"]))
    server.killed()
    elsewhere = tmp_path.resolve() / "elsewhere"
    elsewhere.mkdir()
    foreign = Server(elsewhere, server.state)
    foreign.kept.bring_back()
    assert foreign.reviews.find() == []
    assert len(server.follow().reviews.find()) == 1


async def test_an_orderly_end_leaves_them_to_the_next(server: Server) -> None:
    path = write(server, "a.py", TEXT)
    await server.apply(server.propose(path, (3, 4, ["THREE\n"])))
    server.store.release()
    server.store.close()
    assert standing(server.follow().reviews.find()) == [("pending", True, 3, "")]


async def test_nothing_is_opened_where_nothing_is_kept(server: Server) -> None:
    path = write(server, "a.py", TEXT)
    assert server.follow("a.py").reviews.find() == []
    assert list(server.state.iterdir()) == []
    hunks = server.propose(path, (3, 4, ["THREE\n"]))
    assert server.rows.there_are_any
    await server.reviews.reject(hunks)
    assert not server.rows.there_are_any


async def test_a_mark_that_stands_for_nothing_goes(server: Server) -> None:
    (server.state / "mark").touch()
    server.follow()
    assert not server.rows.there_are_any


@pytest.mark.parametrize("changed", [False, True], ids=["as it was", "changed"])
async def test_of_a_long_file_only_the_digest_is_kept(
    server: Server, monkeypatch: pytest.MonkeyPatch, changed: bool
) -> None:
    monkeypatch.setattr(hunk_rows, "LARGEST_TEXT", 100)
    monkeypatch.setattr("tark_lsp.server.review.kept.LARGEST_TEXT", 100)
    path = write(server, "a.py", TEXT)
    server.propose(path, (3, 4, ["THREE\n"]))
    assert server.store.read("SELECT text FROM kept_hunks") == [(None,)]
    server.killed()
    if changed:
        path.write_text(TEXT + "typed\n")
    (found,) = server.follow().reviews.find()
    assert (found.state, found.reason) == (("stale", LONG) if changed else ("pending", ""))


async def decided(server: Server, hunks: list[ReviewHunk]) -> None:
    await server.reviews.accept(hunks)


async def edited(server: Server, hunks: list[ReviewHunk]) -> None:
    await server.reviews.edit(hunks[0].id, "THE PERSON'S\n")
    assert hunks[0].open


async def renamed(server: Server, hunks: list[ReviewHunk]) -> None:
    target = hunks[0].path.with_name("c.py")
    hunks[0].path.rename(target)
    server.reviews.renamed(hunks[0].path, target)


@pytest.mark.parametrize(
    ("do", "expected"),
    [
        (decided, []),
        (edited, [("a.py", ("THE PERSON'S\n",), "pending")]),
        (renamed, [("c.py", ("THREE\n",), "pending")]),
    ],
    ids=["decided", "edited", "renamed"],
)
async def test_what_is_kept_is_as_of_the_last_decision(
    server: Server,
    do: Callable[[Server, list[ReviewHunk]], Awaitable[None]],
    expected: list[tuple[str, tuple[str, ...], str]],
) -> None:
    path = write(server, "a.py", TEXT)
    await do(server, server.propose(path, (3, 4, ["THREE\n"])))
    server.killed()
    after = server.follow()
    assert [(each.path.name, each.new, each.state) for each in after.reviews.find()] == expected


async def test_two_servers_that_are_gone_had_hunks_in_one_text(server: Server) -> None:
    path = write(server, "a.py", TEXT)
    server.propose(path, (3, 4, ["THREE\n"]))
    other = Server(server.folder, server.state)
    other.propose(path, (10, 11, ["TEN\n"]), (12, 13, ["TWELVE\n"]), turn="2")
    server.killed()
    other.killed()
    after = server.follow()
    found = after.reviews.find()
    assert [each.new for each in found] == [("THREE\n",), ("TEN\n",), ("TWELVE\n",)]
    await after.reviews.reject(found[1:2])
    after.killed()
    write(server, "a.py", "typed\n" + TEXT)
    again = after.follow().reviews.find()
    assert standing(again) == [("pending", False, 4, ""), ("pending", False, 13, "")]


async def test_what_is_decided_goes_though_the_text_of_then_stays(server: Server) -> None:
    """One of many: the others are kept as they were, and come back where they are."""
    path = server.editor.open("a.py", TEXT)
    hunks = server.propose(path, (3, 4, ["THREE\n", "more\n"]), (10, 11, ["TEN\n"]), (15, 15, ["new\n"]))
    before = server.store.read("SELECT number, digest, text FROM kept_hunks")
    server.editor.type(path, (0, 0, "typed\n"))
    await server.reviews.accept(hunks[:1])
    await server.reviews.reject(hunks[2:])
    assert server.store.read("SELECT number, digest, text FROM kept_hunks") == before
    write(server, "a.py", server.editor.text(path))
    server.killed()
    (found,) = server.follow("a.py").reviews.find()
    assert (found.id, found.state, found.start) == (hunks[1].id, "pending", 12)


async def test_a_server_in_memory_leaves_the_mark_to_those_with_the_file(server: Server) -> None:
    path = server.editor.open("a.py", TEXT)
    hunks = server.propose(path, (3, 4, ["THREE\n"]))
    said: list[str] = []
    in_memory = HunkRows(SessionStore(no_file, said.append), lambda: server.state / "mark")
    b = server.folder / "b.py"
    in_memory.keep(b, [KeptText(b, "digest", "text", ())])
    in_memory.keep(b, [])
    in_memory.take(lambda _: True)
    assert "memory" in said[0]
    server.killed()
    write(server, "a.py", TEXT)
    assert [each.id for each in server.follow("a.py").reviews.find(path)] == [each.id for each in hunks]
