"""Hunks that were undecided when their server stopped, and what the next server makes of them."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from tark_lsp.review.hunk import GONE
from tark_lsp.review.restored_places import FILE_EXISTS, LINES_CHANGED
from tark_lsp.review.restoring import TOO_LONG
from tark_lsp.sessions import hunks as hunk_rows
from tark_lsp.sessions.hunks import HunkRows, KeptText
from tark_lsp.sessions.store import SessionStore
from tark_lsp.workspace.edits import ProposedEdit
from tests.review.kept_desk import Server
from tests.review.live_hunk import LiveHunk

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


def standing(hunks: Sequence[LiveHunk]) -> list[tuple[str, bool, int, str]]:
    return [(hunk.state, hunk.applied, hunk.start, hunk.reason) for hunk in hunks]


@pytest.mark.parametrize("opened", [True, False], ids=["open", "closed"])
async def test_proposed_hunks_come_back_where_their_lines_are_now(server: Server, opened: bool) -> None:
    path = server.editor.open("a.py", TEXT)
    hunks = server.propose(path, (3, 4, ["THREE\n"]), (10, 12, []), (15, 15, ["new\n"]))
    server.killed()
    write(server, "a.py", "typed\nmore\n" + TEXT)
    after = server.follow(*["a.py"] * opened)
    found = after.find_hunks(path)
    assert [item.id for item in found] == [hunk.id for hunk in hunks]
    assert standing(found) == [("pending", False, 5, ""), ("pending", False, 12, ""), ("pending", False, 17, "")]
    assert after.came_back == ["turn"]
    await after.reviews.accept(found)
    assert {item.state for item in found} == {"accepted"}
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
    found = after.find_hunks(path)
    assert standing(found) == [("pending", True, 3, ""), ("pending", True, 10, ""), ("pending", True, 17, "")]
    await after.reviews.reject(found[:2])
    await after.reviews.accept(found[2:])
    assert [item.state for item in found] == ["rejected", "rejected", "accepted"]
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
STALE, PENDING, APPLIED = ("stale", False, LINES_CHANGED), ("pending", False, ""), ("pending", True, "")
CHANGED = {
    "its lines": (put(TEXT, ("line 3\n", "mine\n")), [STALE, PENDING], [TEN]),
    "beside an insertion": (put(TEXT, BEFORE_TEN), [PENDING, STALE], [THREE]),
    "all": ("something else\n", [STALE, STALE], []),
    "nothing left": ("", [STALE, STALE], []),
    "written by hand": (put(TEXT, THREE), [APPLIED, PENDING], [TEN]),
    "inserted by hand": (put(TEXT, TEN), [PENDING, APPLIED], [THREE]),
    "both by hand": (put(TEXT, TEN, THREE), [APPLIED, APPLIED], []),
}
"""The text when the next server starts, the state of the two hunks then, and what accepting them changes."""


@pytest.mark.parametrize(("text", "expected", "changes"), CHANGED.values(), ids=CHANGED)
async def test_what_was_changed_meanwhile_is_never_written_over(
    server: Server, text: str, expected: list[tuple[str, bool, str]], changes: list[tuple[str, str]]
) -> None:
    path = write(server, "a.py", TEXT)
    server.propose(path, (3, 4, ["THREE\n"]), (10, 10, ["new\n"]))
    server.killed()
    write(server, "a.py", text)
    after = server.follow()
    found = after.find_hunks(path)
    assert [(item.state, item.applied, item.reason) for item in found] == expected
    await after.reviews.accept([item for item in found if item.pending])
    assert path.read_text() == put(text, *changes)


async def test_a_file_that_is_gone(server: Server) -> None:
    path = write(server, "a.py", TEXT)
    (hunk,) = server.propose(path, (3, 4, ["THREE\n"]))
    server.killed()
    path.unlink()
    after = server.follow()
    (found,) = after.find_hunks(path)
    assert (found.id, found.state, found.reason) == (hunk.id, "stale", GONE)
    await after.reviews.accept([found])
    assert not path.exists()
    after.killed()
    assert after.follow().find_hunks() == []  # it was reported once
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
    found = after.find_hunks(path)
    assert [item.state for item in found] == ["stale"]
    await after.reviews.accept(found)
    assert [item.state for item in found] == ["conflict"]
    assert other.read_text() == TEXT


NEW = ("one\n", "two\n")


@pytest.mark.parametrize(
    ("applied", "text", "expected", "left"),
    [
        (False, None, ("pending", False, ""), None),
        (False, "".join(NEW), ("pending", True, ""), None),
        (False, "mine\n", ("stale", False, FILE_EXISTS), "mine\n"),
        (True, "".join(NEW), ("pending", True, ""), None),
        (True, "mine\n", ("stale", True, LINES_CHANGED), "mine\n"),
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
    (found,) = after.find_hunks(path)
    assert (found.state, found.applied, found.reason) == expected
    await after.reviews.reject([found])
    assert (path.read_text() if path.exists() else None) == left


@pytest.mark.parametrize("text", [TEXT, "", "no end"], ids=["text", "empty", "no newline"])
@pytest.mark.parametrize("applied", [False, True], ids=["proposed", "applied"])
async def test_a_removal(server: Server, applied: bool, text: str) -> None:
    path = write(server, "a.py", text)
    path.chmod(0o750)
    base = server.editor.workspace.read(path)
    hunks = server.add_proposal("turn", [(ProposedEdit.removal(base), ())])
    if applied:
        await server.apply(hunks)
    assert path.exists() is not applied
    server.killed()
    after = server.follow()
    (found,) = after.find_hunks(path)
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
    hunks = server.add_proposal("turn", [(ProposedEdit.removal(server.editor.workspace.read(path)), ())])
    if applied:
        await server.apply(hunks)
    server.killed()
    write(server, "a.py", "mine\n")
    after = server.follow()
    (found,) = after.find_hunks(path)
    assert found.state == "stale"
    await after.reviews.reject([found])
    assert path.read_text() == "mine\n"


async def test_a_removal_that_was_carried_out_before_anybody_noted_it(server: Server) -> None:
    """Also one that was taken back like that."""
    one, two = write(server, "a.py", TEXT), write(server, "b.py", TEXT)
    read = server.editor.workspace.read
    server.add_proposal("turn", [(ProposedEdit.removal(read(one)), ())])
    await server.apply(server.add_proposal("turn", [(ProposedEdit.removal(read(two)), ())]))
    server.killed()
    one.unlink()
    two.write_text(TEXT)
    after = server.follow()
    assert [(hunk.state, hunk.applied, hunk.reason) for hunk in after.find_hunks()] == [
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
"""Whether it was applied, what was moved while no server ran, and where the hunks are then."""


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
    hunks = server.add_proposal("turn", [(ProposedEdit(source, base, edit.hunks, target=target), ())], whole=True)
    if applied:
        await server.apply(hunks)
        assert target.read_text() == edit.after
    server.killed()
    if meanwhile:
        (server.folder / meanwhile[0]).rename(server.folder / meanwhile[1])
    after = server.follow()
    found = after.find_hunks()
    assert {item.path.name for item in found} == {place}
    (move,) = [item for item in found if item.operation]
    assert (move.state, move.applied) == expected
    if expected[0] == "pending":
        await after.reviews.reject(found)
        assert {item.state for item in found} == {"rejected"}, standing(found)
        assert source.exists()
        assert not target.exists()
        assert source.read_text() == TEXT
    assert after.rows_kept() == 0


async def test_what_is_made_all_or_nothing_comes_back_whole(server: Server) -> None:
    """Even if only one of its files is open, in an editor without a folder."""
    paths = [server.editor.open(name, TEXT) for name in ("a.py", "b.py")]
    edits = []
    for path in paths:
        base = server.editor.workspace.read(path)
        edits.append((ProposedEdit.between(base, TEXT.replace("line 3\n", "THREE\n")), ()))
    server.add_proposal("turn", edits, whole=True)
    server.killed()
    after = Server(server.folder, server.state)
    after.editor.workspace.set_folders([])
    after.editor.open("a.py", TEXT)
    after.restorer.restore_now()
    found = after.find_hunks()
    assert {item.path for item in found} == {*paths}
    await after.reviews.accept(found[:1])
    assert [item.state for item in found] == ["stale", "stale"]
    assert [path.read_text() for path in paths] == [TEXT, TEXT]


async def test_a_conflict_stays_one(server: Server) -> None:
    path = server.editor.open("a.py", TEXT)
    (hunk,) = server.propose(path, (3, 4, ["THREE\n"]))
    server.editor.type(path, (TEXT.index("3"), TEXT.index("3") + 1, "mine"))
    assert hunk.state == "conflict"
    server.propose(path, (10, 11, ["TEN\n"]))  # from now on it is stored as a conflict
    server.killed()
    write(server, "a.py", "new\n" + server.editor.text(path))
    after = server.follow("a.py")
    found, _ = after.find_hunks(path)
    assert (found.state, found.start, found.size) == ("conflict", 4, 1)
    await after.reviews.edit(found.id, "".join(found.new))
    await after.reviews.accept([found])
    assert after.editor.text(path).splitlines()[4] == "THREE"


async def test_what_was_undone_by_other_means_does_not_come_back(server: Server) -> None:
    """As `tark-lsp undo` does, which is not a server."""
    path, other = write(server, "a.py", TEXT), write(server, "b.py", TEXT)
    await server.apply([*server.propose(path, (3, 4, ["THREE\n"])), *server.propose(other, (3, 4, ["X\n"]), turn="2")])
    server.killed()
    await server.checkpoints.undo("turn", server.editor.workspace)
    other.write_text(TEXT)  # but this file was lost with an editor that had not saved it
    after = server.follow()
    (undone,), (lost,) = after.find_hunks(path), after.find_hunks(other)
    assert (undone.state, undone.applied) == ("rejected", False)
    assert (lost.state, lost.applied) == ("pending", False)
    assert path.read_text() == TEXT


async def test_only_of_servers_that_are_gone_and_only_once(server: Server) -> None:
    path = write(server, "a.py", TEXT)
    hunks = server.propose(path, (3, 4, ["THREE\n"]), (10, 11, ["TEN\n"]))
    other = server.follow()
    assert other.find_hunks() == []
    server.killed()
    other.restorer.restore_now()
    assert [hunk.id for hunk in other.find_hunks()] == [hunk.id for hunk in hunks]
    third = server.follow()
    assert third.find_hunks() == []
    await other.reviews.reject(other.find_hunks()[:1])
    other.killed()
    third.restorer.restore_now()
    assert [(hunk.id, hunk.state) for hunk in third.find_hunks()] == [(hunks[1].id, "pending")]


async def test_only_of_this_workspace(server: Server, tmp_path: Path) -> None:
    path = write(server, "a.py", TEXT)
    server.propose(path, (3, 4, ["THREE\n"]))
    server.killed()
    elsewhere = tmp_path.resolve() / "elsewhere"
    elsewhere.mkdir()
    foreign = Server(elsewhere, server.state)
    foreign.restorer.restore_now()
    assert foreign.find_hunks() == []
    assert len(server.follow().find_hunks()) == 1


async def test_an_orderly_end_leaves_them_to_the_next(server: Server) -> None:
    path = write(server, "a.py", TEXT)
    await server.apply(server.propose(path, (3, 4, ["THREE\n"])))
    server.store.release_leases()
    server.store.close()
    assert standing(server.follow().find_hunks()) == [("pending", True, 3, "")]


async def test_nothing_is_opened_where_nothing_is_kept(server: Server) -> None:
    path = write(server, "a.py", TEXT)
    assert server.follow("a.py").find_hunks() == []
    assert list(server.state.iterdir()) == []
    hunks = server.propose(path, (3, 4, ["THREE\n"]))
    assert server.rows.any_exist
    await server.reviews.reject(hunks)
    assert not server.rows.any_exist


async def test_a_mark_that_stands_for_nothing_goes(server: Server) -> None:
    (server.state / "mark").touch()
    server.follow()
    assert not server.rows.any_exist


@pytest.mark.parametrize("changed", [False, True], ids=["as it was", "changed"])
async def test_of_a_long_file_only_the_digest_is_kept(
    server: Server, monkeypatch: pytest.MonkeyPatch, changed: bool
) -> None:
    monkeypatch.setattr(hunk_rows, "LARGEST_TEXT", 100)
    monkeypatch.setattr("tark_lsp.review.keeping.LARGEST_TEXT", 100)
    path = write(server, "a.py", TEXT)
    server.propose(path, (3, 4, ["THREE\n"]))
    assert server.store.file.read("SELECT text FROM kept_hunks") == [(None,)]
    server.killed()
    if changed:
        path.write_text(TEXT + "typed\n")
    (found,) = server.follow().find_hunks()
    assert (found.state, found.reason) == (("stale", TOO_LONG) if changed else ("pending", ""))


async def decided(server: Server, hunks: list[LiveHunk]) -> None:
    await server.reviews.accept(hunks)


async def edited(server: Server, hunks: list[LiveHunk]) -> None:
    await server.reviews.edit(hunks[0].id, "THE PERSON'S\n")
    assert hunks[0].pending


async def renamed(server: Server, hunks: list[LiveHunk]) -> None:
    target = hunks[0].path.with_name("c.py")
    hunks[0].path.rename(target)
    server.outside.rename_file(hunks[0].path, target)


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
    do: Callable[[Server, list[LiveHunk]], Awaitable[None]],
    expected: list[tuple[str, tuple[str, ...], str]],
) -> None:
    path = write(server, "a.py", TEXT)
    await do(server, server.propose(path, (3, 4, ["THREE\n"])))
    server.killed()
    after = server.follow()
    assert [(hunk.path.name, hunk.new, hunk.state) for hunk in after.find_hunks()] == expected


async def test_two_servers_that_are_gone_had_hunks_in_one_text(server: Server) -> None:
    path = write(server, "a.py", TEXT)
    server.propose(path, (3, 4, ["THREE\n"]))
    other = Server(server.folder, server.state)
    other.propose(path, (10, 11, ["TEN\n"]), (12, 13, ["TWELVE\n"]), turn="2")
    server.killed()
    other.killed()
    after = server.follow()
    found = after.find_hunks()
    assert [item.new for item in found] == [("THREE\n",), ("TEN\n",), ("TWELVE\n",)]
    await after.reviews.reject(found[1:2])
    after.killed()
    write(server, "a.py", "typed\n" + TEXT)
    again = after.follow().find_hunks()
    assert standing(again) == [("pending", False, 4, ""), ("pending", False, 13, "")]


async def test_what_is_decided_goes_though_the_text_of_then_stays(server: Server) -> None:
    """One of many is decided: the others stay stored as they were, and come back in their places."""
    path = server.editor.open("a.py", TEXT)
    hunks = server.propose(path, (3, 4, ["THREE\n", "more\n"]), (10, 11, ["TEN\n"]), (15, 15, ["new\n"]))
    before = server.store.file.read("SELECT number, digest, text FROM kept_hunks")
    server.editor.type(path, (0, 0, "typed\n"))
    await server.reviews.accept(hunks[:1])
    await server.reviews.reject(hunks[2:])
    assert server.store.file.read("SELECT number, digest, text FROM kept_hunks") == before
    write(server, "a.py", server.editor.text(path))
    server.killed()
    (found,) = server.follow("a.py").find_hunks()
    assert (found.id, found.state, found.start) == (hunks[1].id, "pending", 12)


async def test_a_server_in_memory_leaves_the_mark_to_those_with_the_file(server: Server) -> None:
    path = server.editor.open("a.py", TEXT)
    hunks = server.propose(path, (3, 4, ["THREE\n"]))
    said: list[str] = []
    in_memory = HunkRows(SessionStore(no_file, said.append), lambda: server.state / "mark")
    b = server.folder / "b.py"
    in_memory.replace_rows(b, [KeptText(b, "digest", "text", ())])
    in_memory.replace_rows(b, [])
    in_memory.take_over_rows(lambda _: True)
    assert "memory" in said[0]
    server.killed()
    write(server, "a.py", TEXT)
    assert [hunk.id for hunk in server.follow("a.py").find_hunks(path)] == [hunk.id for hunk in hunks]
