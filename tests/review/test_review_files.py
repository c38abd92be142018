"""Moves and removals as hunks, and groups that are applied as a whole or not at all; typed text is never lost."""

import asyncio
import resource
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.agent.user_interface import HunkState, PermissionRequest
from tark_lsp.review.hunk import ReviewHunk
from tark_lsp.server.asking.permission import Permissions
from tark_lsp.server.asking.permission_asking import PermissionAsking
from tark_lsp.server.asking.preview import Preview
from tark_lsp.server.asking.questions import Questions
from tark_lsp.server.asking.text_display import TextDisplay
from tark_lsp.server.editing import apply, file_operations
from tark_lsp.server.protocol.hunks import HunksJson
from tark_lsp.server.protocol.incoming import PermissionReply
from tark_lsp.server.turns.turn_user import TurnUser
from tark_lsp.tools.tool import Risk, ToolContext, ToolKind
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.lines import Hunk
from tark_lsp.workspace.snapshot import Snapshot
from tests.memory import MemoryEditor
from tests.review.live_hunk import LiveHunk
from tests.review.review_desk import Desk
from tests.server.scripted import Json

pytestmark = pytest.mark.virtual_clock

TEXT = "".join(f"line {n}\n" for n in range(12))
NEW = TEXT.replace("line 3\n", "THREE\n")
BYTES = b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode()
OPERATES: Json = {"workspace": {"workspaceEdit": {"resourceOperations": ["create", "rename", "delete"]}}}


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("PROOF", 0.1), ("IN_FLIGHT", 0.05), ("LOOK", 0.01)):
        monkeypatch.setattr(file_operations, f"{name}_SECONDS", seconds)
    monkeypatch.setattr(apply, "IN_FLIGHT_SECONDS", 0.02)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path.resolve(), client=OPERATES)


def file(desk: Desk, name: str, data: bytes = TEXT.encode(), mode: int = 0o640) -> Path:
    path = desk.folder / name
    path.write_bytes(data)
    path.chmod(mode)
    return path


def on_disk(desk: Desk) -> dict[str, tuple[bytes, int]]:
    return {
        path.relative_to(desk.folder).as_posix(): (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
        for path in desk.folder.rglob("*")
        if path.is_file()
    }


def edit(desk: Desk, path: Path, after: str = NEW, target: str = "") -> ProposedEdit:
    changed = ProposedEdit.between(desk.editor.workspace.read(path), after)
    return replace(changed, target=desk.folder / target) if target else changed


def removal(desk: Desk, path: Path) -> ProposedEdit:
    return ProposedEdit.removal(desk.editor.workspace.read(path))


def creation(desk: Desk, name: str, text: str = "new\n") -> ProposedEdit:
    return ProposedEdit.between(Snapshot(desk.folder / name, "", exists=False), text)


def propose(desk: Desk, *edits: ProposedEdit, whole: bool = False, turn: str = "turn") -> list[LiveHunk]:
    return desk.add_proposal(turn, [(edit, ()) for edit in edits], whole=whole)


def states(hunks: Sequence[LiveHunk | ReviewHunk]) -> list[tuple[str, bool]]:
    return [(hunk.state, hunk.applied) for hunk in hunks]


def asked(desk: Desk) -> list[Json]:
    """What the editor was asked to do."""
    edits = [params["edit"] for method, params in desk.editor.connection.asked if method == "workspace/applyEdit"]
    return [change for edit in edits for change in edit["documentChanges"]]


# Moving


@pytest.mark.parametrize("is_open", [True, False], ids=["open", "closed"])
async def test_a_file_is_moved_and_changed(desk: Desk, is_open: bool) -> None:
    path, target = file(desk, "a.py"), desk.folder / "in/b.py"
    if is_open:
        desk.editor.open("a.py", TEXT)
    hunks = propose(desk, edit(desk, path, target="in/b.py"))
    assert [(hunk.operation, hunk.target) for hunk in hunks] == [("", None), ("move", target)]
    await desk.reviews.accept(hunks)
    assert states(hunks) == [("accepted", True)] * 2
    assert {hunk.path for hunk in hunks} == {target}
    assert desk.editor.workspace.read(target).text == NEW
    assert [change.get("kind", "text") for change in asked(desk)] == (["rename", "text"] if is_open else ["rename"])
    assert list(on_disk(desk)) == ["in/b.py"]
    assert desk.find_hunks(path) == []
    assert {path, target} <= set(desk.changed)


@pytest.mark.parametrize("is_open", [True, False], ids=["open", "closed"])
async def test_a_move_is_taken_back(desk: Desk, is_open: bool) -> None:
    path, target = file(desk, "a.py", BYTES), desk.folder / "in/b.py"
    before = on_disk(desk)
    if is_open:
        desk.editor.open("a.py", desk.editor.workspace.read(path).text, on_disk=False)
    hunks = propose(desk, edit(desk, path, BYTES.decode("utf-8-sig").replace("line 3\r\n", "THREE\r\n"), "in/b.py"))
    await desk.reviews.accept(hunks, decide=False)
    assert states(hunks) == [("pending", True)] * 2
    assert "THREE" in desk.editor.workspace.read(target).text
    await desk.reviews.reject(hunks)
    assert states(hunks) == [("rejected", False)] * 2
    assert on_disk(desk) == before
    assert desk.editor.workspace.read(path).text == BYTES.decode("utf-8-sig")
    assert {hunk.path for hunk in hunks} == {path}


async def test_what_waits_in_a_moved_file_goes_with_it(desk: Desk) -> None:
    path, target = desk.editor.open("a.py", TEXT), desk.folder / "b.py"
    (other,) = propose(desk, edit(desk, path, TEXT.replace("line 8\n", "EIGHT\n")), turn="other")
    hunks = propose(desk, edit(desk, path, TEXT, target="b.py"))
    await desk.reviews.accept(hunks)
    assert (other.path, other.state, desk.find_hunks(target)) == (target, "pending", [*hunks, other])
    desk.editor.type(target, (0, 0, "typed\n"))
    assert other.start == 9
    await desk.reviews.accept([other])
    assert desk.editor.text(target) == "typed\n" + TEXT.replace("line 8\n", "EIGHT\n")


async def test_decided_while_the_file_is_on_its_way(desk: Desk) -> None:
    path, target = desk.editor.open("a.py", TEXT), desk.folder / "b.py"
    (other,) = propose(desk, edit(desk, path, TEXT.replace("line 8\n", "EIGHT\n")), turn="other")
    hunks = propose(desk, edit(desk, path, TEXT, target="b.py"))
    later: list[LiveHunk] = []

    def answer(params: Any) -> Any:
        if not later:
            later.extend(propose(desk, edit(desk, path, TEXT.replace("line 1\n", "ONE\n")), turn="later"))
            tasks.append(loop.create_task(desk.reviews.accept([other])))
        return desk.editor.apply(params)

    loop, tasks = asyncio.get_running_loop(), list[asyncio.Task[None]]()
    desk.editor.connection.answers["workspace/applyEdit"] = answer
    await desk.reviews.accept(hunks)
    await asyncio.gather(*tasks)
    assert (other.path, other.state) == (target, "accepted")
    assert (later[0].path, later[0].state, later[0].start) == (target, "pending", 1)
    assert desk.editor.text(target) == TEXT.replace("line 8\n", "EIGHT\n")


async def test_undo_puts_moved_files_and_what_waits_in_them_back(desk: Desk) -> None:
    path, target = file(desk, "a.py"), desk.folder / "b.py"
    before = on_disk(desk)
    (other,) = propose(desk, edit(desk, path, TEXT.replace("line 8\n", "EIGHT\n")), turn="other")
    await desk.reviews.accept(propose(desk, edit(desk, path, target="b.py")))
    assert other.path == target
    undone = await desk.checkpoints.undo("turn", desk.editor.workspace)
    desk.outside.undo_turn("turn", [*undone.restored, *undone.left])
    assert on_disk(desk) == before
    assert (other.path, other.state) == (path, "pending")
    await desk.reviews.accept([other])
    assert path.read_text() == TEXT.replace("line 8\n", "EIGHT\n")


async def test_a_move_that_is_taken_back_is_nothing_to_undo(desk: Desk) -> None:
    path = file(desk, "a.py")
    before = on_disk(desk)
    hunks = propose(desk, edit(desk, path, target="b.py"))
    await desk.reviews.accept(hunks, decide=False)
    await desk.reviews.reject(hunks)
    undone = await desk.checkpoints.undo("turn", desk.editor.workspace)
    assert undone.kept == ()
    assert on_disk(desk) == before


async def test_a_move_that_cannot_be_is_said(desk: Desk) -> None:
    path = file(desk, "a.py")
    hunks = propose(desk, edit(desk, path, target="b.py"))
    file(desk, "b.py", b"mine\n")
    await desk.reviews.accept(hunks)
    text, move = hunks
    assert (move.state, move.reason) == ("stale", "there is something at the new place already")
    assert (text.state, path.read_text()) == ("accepted", NEW)
    assert (desk.folder / "b.py").read_text() == "mine\n"


async def test_unsaved_changes_keep_a_file_where_it_is(desk: Desk) -> None:
    path = desk.editor.open("a.py", TEXT)
    (move,) = propose(desk, edit(desk, path, TEXT, target="b.py"))
    desk.editor.type(path, (0, 0, "typed\n"))
    await desk.reviews.accept([move])
    assert (move.state, move.reason) == ("stale", "it has unsaved changes: save it, then try again")
    assert desk.editor.text(path) == "typed\n" + TEXT
    desk.editor.save(path)
    await desk.reviews.accept([move])
    assert (move.state, on_disk(desk)) == ("accepted", {"b.py": (("typed\n" + TEXT).encode(), 0o644)})


@pytest.mark.parametrize("typed", ["", "typed\n"])
async def test_a_removal_is_tried_again_of_the_file_that_was_shown(desk: Desk, typed: str) -> None:
    path = desk.editor.open("a.py", TEXT)
    desk.editor.type(path, (0, 0, "unsaved\n"))
    (hunk,) = propose(desk, removal(desk, path))
    await desk.reviews.accept([hunk])
    assert (hunk.state, hunk.reason) == ("stale", "it has unsaved changes: save it, then try again")
    desk.editor.type(path, (0, 0, typed))
    desk.editor.save(path)
    await desk.reviews.accept([hunk])
    assert hunk.state == ("conflict" if typed else "accepted")
    assert path.exists() == bool(typed)


async def test_the_save_before_a_move_accepts_nothing(tmp_path: Path) -> None:
    client = {**OPERATES, "experimental": {"tark": {"protocol": 1, "save": True}}}
    desk = Desk(tmp_path.resolve(), client=client)
    path = desk.editor.open("a.py", TEXT)

    def save(params: Json) -> Json:
        desk.editor.save(path)
        return {"saved": params["uris"]}

    desk.editor.connection.answers["tark/save"] = save
    (applied,) = propose(desk, edit(desk, path), turn="other")
    await desk.reviews.accept([applied], decide=False)
    await desk.reviews.accept(propose(desk, edit(desk, path, NEW, target="b.py")))
    assert (desk.folder / "b.py").read_text() == NEW
    assert states([applied]) == [("pending", True)]
    desk.editor.save(desk.folder / "b.py")
    assert states([applied]) == [("accepted", True)]


# Removing


@pytest.mark.parametrize("is_open", [True, False], ids=["open", "closed"])
@pytest.mark.parametrize("data", [BYTES, b""], ids=["text", "empty"])
async def test_a_file_is_removed_and_brought_back(desk: Desk, data: bytes, is_open: bool) -> None:
    path = file(desk, "a.py", data, 0o751)
    before = on_disk(desk)
    if is_open:
        desk.editor.open("a.py", data.decode("utf-8-sig"), on_disk=False)
    hunks = propose(desk, removal(desk, path))
    assert [hunk.operation for hunk in hunks] == ["remove"]
    await desk.reviews.accept(hunks, decide=False)
    assert on_disk(desk) == {}
    assert states(hunks) == [("pending", True)]
    await desk.reviews.reject(hunks)
    assert states(hunks) == [("rejected", False)]
    assert on_disk(desk) == before
    undone = await desk.checkpoints.undo("turn", desk.editor.workspace)
    assert (undone.restored, undone.kept) == ((), ())
    assert on_disk(desk) == before


async def test_undo_brings_a_removed_file_back(desk: Desk) -> None:
    path = file(desk, "a.py", BYTES, 0o751)
    before = on_disk(desk)
    await desk.reviews.accept(propose(desk, removal(desk, path)))
    assert on_disk(desk) == {}
    await desk.checkpoints.undo("turn", desk.editor.workspace)
    assert on_disk(desk) == before


@pytest.mark.parametrize("typed", [(0, 0, "x\n"), (len(TEXT), len(TEXT), "x\n"), (0, 7, ""), (8, 8, "x")])
async def test_a_removal_is_of_the_file_that_was_shown(desk: Desk, typed: tuple[int, int, str]) -> None:
    path = desk.editor.open("a.py", TEXT)
    (hunk,) = propose(desk, removal(desk, path))
    desk.editor.type(path, typed)
    assert hunk.state == "conflict"
    desk.editor.save(path)
    await desk.reviews.accept([hunk])
    assert path.exists()


async def test_a_closed_file_that_changed_is_not_removed(desk: Desk) -> None:
    path = file(desk, "a.py", b"")
    (hunk,) = propose(desk, removal(desk, path))
    path.write_text("mine\n")
    await desk.reviews.accept([hunk])
    assert (hunk.state, path.read_text()) == ("conflict", "mine\n")


async def test_a_removed_file_is_not_brought_back_over_another(desk: Desk) -> None:
    path = file(desk, "a.py")
    (hunk,) = propose(desk, removal(desk, path))
    await desk.reviews.accept([hunk], decide=False)
    path.write_text("mine\n")
    await desk.reviews.reject([hunk])
    assert path.read_text() == "mine\n"
    assert hunk.applied
    assert hunk.blocked


async def test_what_waits_in_a_removed_file_says_that_it_is_gone(desk: Desk) -> None:
    path = file(desk, "a.py")
    (other,) = propose(desk, edit(desk, path), turn="other")
    await desk.reviews.accept(propose(desk, removal(desk, path)))
    await desk.reviews.accept([other])
    assert (other.state, other.reason) == ("stale", "the file is not there any more")
    assert on_disk(desk) == {}


# Created files


@pytest.mark.parametrize("typed", ["", "mine\n"])
async def test_a_file_that_was_made_goes_again_but_not_what_was_typed(desk: Desk, typed: str) -> None:
    hunks = propose(desk, creation(desk, "in/new.py"))
    await desk.reviews.accept(hunks, decide=False)
    path = desk.folder / "in/new.py"
    assert path.read_text() == "new\n"
    path.write_text(typed + "new\n")
    await desk.reviews.reject(hunks)
    assert states(hunks) == [("rejected", False)]
    assert path.read_text() == typed if typed else not path.exists()


async def test_an_empty_file_is_made_and_goes_again(desk: Desk) -> None:
    path = desk.folder / "in/__init__.py"
    made = ProposedEdit(path, Snapshot(path, "", exists=False), (Hunk(0, (), ()),))
    hunks = propose(desk, made)
    await desk.reviews.accept(hunks, decide=False)
    assert path.read_bytes() == b""
    await desk.reviews.reject(hunks)
    assert states(hunks) == [("rejected", False)]
    assert not path.exists()


@pytest.mark.parametrize("blank", ["", "\n", "\r\n"])
@pytest.mark.parametrize("closed", [False, True])
async def test_a_file_that_is_to_be_made_is_looked_at_before(desk: Desk, blank: str, closed: bool) -> None:
    """Neovim shows a file that does not exist yet as one empty line."""
    (hunk,) = propose(desk, creation(desk, "a.py", "one\ntwo\n"))
    path = desk.editor.open("a.py", blank, on_disk=False)
    if closed:
        desk.editor.close(path)
    await desk.reviews.accept([hunk])
    assert states([hunk]) == [("accepted", True)]
    assert desk.editor.workspace.read(path).text == "one\ntwo\n"


async def test_the_empty_line_of_a_file_that_is_there_stays(desk: Desk) -> None:
    path = file(desk, "a.py", b"\n")
    (hunk,) = propose(desk, edit(desk, path, "one\n\n"))
    desk.editor.open("a.py", "\n")
    await desk.reviews.accept([hunk])
    assert states([hunk]) == [("accepted", True)]
    assert desk.editor.workspace.read(path).text == "one\n\n"


async def test_a_file_that_was_made_and_is_open_is_deleted_by_the_editor(desk: Desk) -> None:
    hunks = propose(desk, creation(desk, "new.py"))
    await desk.reviews.accept(hunks, decide=False)
    desk.editor.open("new.py", "new\n")
    await desk.reviews.reject(hunks)
    assert on_disk(desk) == {}
    assert [change["kind"] for change in asked(desk)] == ["delete"]


async def test_rejecting_can_be_tried_again(tmp_path: Path) -> None:
    desk = Desk(tmp_path.resolve())  # an editor that cannot delete files
    (hunk,) = propose(desk, creation(desk, "new.py"))
    await desk.reviews.accept([hunk], decide=False)
    path = desk.editor.open("new.py", "new\n")
    await desk.reviews.reject([hunk])
    assert (hunk.state, hunk.applied, hunk.reason) == (
        "stale",
        True,
        "it is open in the editor: close it, then try again",
    )
    assert path.exists()
    desk.editor.close(path)
    await desk.reviews.reject([hunk])
    assert states([hunk]) == [("rejected", False)]
    assert not path.exists()


# All or nothing


def refuses_the_last(desk: Desk) -> None:
    honest = desk.editor.apply

    def answer(params: Json) -> Json:
        if "last.py" in str(params):
            return {"applied": False, "failureReason": "read-only"}
        return honest(params)

    desk.editor.connection.answers["workspace/applyEdit"] = answer


def changes_the_last(desk: Desk) -> None:
    desk.editor.type(desk.folder / "last.py", (25, 25, "typed"))


def deletes_the_last(desk: Desk) -> None:
    desk.editor.close(desk.folder / "last.py")
    (desk.folder / "last.py").unlink()


FAILURES: dict[str, tuple[Callable[[Desk], None], str]] = {
    "the editor refuses": (refuses_the_last, "the editor refused the edit: read-only"),
    "it was changed": (changes_the_last, "the person changed these lines"),
    "it was deleted": (deletes_the_last, "the file is not there any more"),
}


@pytest.mark.parametrize(("fail", "why"), FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize("decide", [True, False], ids=["asked", "after"])
async def test_all_or_nothing(desk: Desk, fail: Callable[[Desk], None], why: str, place: int, decide: bool) -> None:
    for name in ("changed.py", "moved.py", "gone.py"):
        file(desk, name, BYTES, 0o751)
    opened, last = desk.editor.open("open.py", TEXT), desk.editor.open("last.py", TEXT)
    after = BYTES.decode("utf-8-sig").replace("line 3\r\n", "THREE\r\n")
    edits = [
        edit(desk, desk.folder / "changed.py", after),
        edit(desk, desk.folder / "moved.py", after, target="in/moved.py"),
        removal(desk, desk.folder / "gone.py"),
        creation(desk, "new.py"),
        edit(desk, opened),
    ]
    edits.insert(place, edit(desk, last))
    hunks = propose(desk, *edits, whole=True)
    fail(desk)
    before, text = on_disk(desk), desk.editor.text(opened)
    await desk.reviews.accept(hunks, decide=decide)
    assert on_disk(desk) == before
    assert desk.editor.text(opened) == text
    assert not any(hunk.applied for hunk in hunks)
    for hunk in hunks:
        if hunk.path == last:
            assert hunk.reason == why
        else:
            assert hunk.state == "stale"
            assert hunk.reason == f"last.py could not be changed ({why}), and all of these changes are made or none"


@contextmanager
def small_files() -> Iterator[None]:
    """Files cannot grow beyond the size of the small ones, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_nothing_is_left_half_on_a_full_disk(desk: Desk) -> None:
    for name in ("one.py", "two.py", "three.py"):
        file(desk, name)
    edits = [
        edit(desk, desk.folder / "one.py"),
        edit(desk, desk.folder / "two.py", target="2.py"),
        edit(desk, desk.folder / "three.py", TEXT + "much\n" * 400),
    ]
    before = on_disk(desk)
    hunks = propose(desk, *edits, whole=True)
    with small_files():
        await desk.reviews.accept(hunks)
    assert on_disk(desk) == before
    assert hunks[-1].reason == "the file: File too large"
    assert all("three.py could not be changed" in hunk.reason for hunk in hunks[:-1])


async def test_what_is_typed_meanwhile_stays(desk: Desk) -> None:
    """Beside a change, and inside one: that hunk is then in conflict, and the reason says so."""
    one, two, last = (desk.editor.open(name, TEXT) for name in ("one.py", "two.py", "last.py"))
    hunks = propose(desk, *(edit(desk, path) for path in (one, two, last)), whole=True)

    def answer(params: Json) -> Json:
        if "last.py" not in str(params):
            return desk.editor.apply(params)
        if desk.editor.text(one) == NEW:
            desk.editor.type(one, (0, 0, "typed\n"))
            at = desk.editor.text(two).index("THREE") + 5
            desk.editor.type(two, (at, at, " and mine"))
        return {"applied": False}

    desk.editor.connection.answers["workspace/applyEdit"] = answer
    await desk.reviews.accept(hunks)
    assert desk.editor.text(one) == "typed\n" + TEXT
    assert desk.editor.text(two) == TEXT.replace("line 3\n", "THREE and mine\n")
    assert states(hunks) == [("stale", False), ("conflict", True), ("stale", False)]
    assert "last.py could not be changed" in hunks[1].reason
    assert "it is still there, since the person changed these lines" in hunks[1].reason


@pytest.mark.parametrize("chosen", range(3))
async def test_any_of_it_decides_all_of_it(desk: Desk, chosen: int) -> None:
    paths = [desk.editor.open(name, TEXT) for name in ("one.py", "two.py", "last.py")]
    hunks = propose(desk, *(edit(desk, path) for path in paths), whole=True)
    refuses_the_last(desk)
    await desk.reviews.accept([hunks[chosen]])
    assert states(hunks) == [("stale", False)] * 3
    assert [desk.editor.text(path) for path in paths] == [TEXT] * 3
    await desk.reviews.accept([hunks[chosen]])
    assert states(hunks) == [("stale", False)] * 3, "tried again, and still refused"
    desk.editor.connection.answers["workspace/applyEdit"] = desk.editor.apply
    await desk.reviews.accept([hunks[chosen]])
    assert states(hunks) == [("accepted", True)] * 3
    assert [desk.editor.text(path) for path in paths] == [NEW] * 3


@pytest.mark.parametrize("chosen", range(2))
@pytest.mark.parametrize("before", ["proposed", "applied", "refused", "typed over"])
async def test_rejecting_any_of_it_rejects_all_of_it(desk: Desk, chosen: int, before: str) -> None:
    paths = [desk.editor.open(name, TEXT) for name in ("one.py", "last.py")]
    hunks = propose(desk, *(edit(desk, path) for path in paths), whole=True)
    if before == "refused":
        refuses_the_last(desk)
    if before == "typed over":
        changes_the_last(desk)
    if before != "proposed":
        await desk.reviews.accept(hunks, decide=before == "refused")
    await desk.reviews.reject([hunks[chosen]])
    assert states(hunks) == [("rejected", False)] * 2
    assert desk.editor.text(paths[0]) == TEXT
    assert ("typed" in desk.editor.text(paths[1])) == (before == "typed over")


async def test_with_the_lines_of_its_conflict_all_of_it_is_applied(desk: Desk) -> None:
    one, last = desk.editor.open("one.py", TEXT), desk.editor.open("last.py", TEXT)
    hunks = propose(desk, edit(desk, one), edit(desk, last), whole=True)
    changes_the_last(desk)
    await desk.reviews.accept(hunks)
    assert states(hunks) == [("stale", False), ("conflict", False)]
    await desk.reviews.edit(hunks[1].id, "".join(hunks[1].new))
    await desk.reviews.accept([hunks[1]])
    assert states(hunks) == [("accepted", True)] * 2


async def test_of_all_or_nothing_an_answer_may_choose(desk: Desk) -> None:
    """The ticked hunks are then the whole group, and the others are rejected."""
    one, two, other = (desk.editor.open(name, TEXT) for name in ("one.py", "two.py", "other.py"))
    turn_user, permissions = user_of(desk)
    edits = edit(desk, one), edit(desk, two), edit(desk, other)
    reviewing = asyncio.create_task(turn_user.review_edits(request(*edits, whole=True), ask=True))
    await desk.editor.connection.asking("window/showMessageRequest")
    (waiting,) = permissions.waiting()
    ids = [hunk.id for hunk in waiting.hunks if hunk.path != other]
    waiting.answer.set_result(PermissionReply(outcome="allow", hunks=ids))
    await reviewing
    assert states(waiting.hunks) == [("accepted", True), ("accepted", True), ("rejected", False)]


async def test_without_it_the_others_stay(desk: Desk) -> None:
    one, last = desk.editor.open("one.py", TEXT), desk.editor.open("last.py", TEXT)
    hunks = propose(desk, edit(desk, one), edit(desk, last))
    refuses_the_last(desk)
    await desk.reviews.accept(hunks)
    assert states(hunks) == [("accepted", True), ("stale", False)]


# The outcomes for the agent


def user_of(desk: Desk) -> tuple[TurnUser, Permissions]:
    documents, connection, workspace = desk.editor.documents, desk.editor.connection, desk.editor.workspace
    questions = Questions(connection, documents)
    show = TextDisplay(connection, questions)
    permissions = Permissions(documents, workspace, HunksJson(documents, desk.reviews.hunks), show)
    asking = PermissionAsking(
        connection, permissions, questions, Preview(connection, documents, desk.reviews, desk.outside)
    )
    context = ToolContext(workspace, MemoryEditor())
    return TurnUser("turn", "s", context, asking, desk.reviews, review_after=lambda: False, comment=None), permissions


def request(*edits: ProposedEdit, whole: bool = False) -> PermissionRequest:
    return PermissionRequest(("c",), "edit", ToolKind.EDIT, Risk.WRITE, "", "digest", None, edits, atomic=whole)


async def test_outcomes_are_those_of_the_edits_as_they_were_proposed(desk: Desk) -> None:
    path, gone = file(desk, "a.py"), file(desk, "gone.py", b"one\n")
    edits = edit(desk, path, target="b.py"), removal(desk, gone)
    reviewed = await user_of(desk)[0].review_edits(request(*edits), ask=False)
    assert [(outcome.path, outcome.hunk, outcome.state, outcome.operation) for outcome in reviewed.outcomes] == [
        (path, edits[0].hunks[0], HunkState.APPLIED, ""),
        (path, reviewed.outcomes[1].hunk, HunkState.APPLIED, "move"),
        (gone, edits[1].hunks[0], HunkState.APPLIED, "remove"),
    ]
    moved = reviewed.outcomes[1].hunk
    assert (moved.start, moved.old, moved.new) == (0, (), ())


async def test_a_change_typed_over_before_the_answer_fails_them_all(desk: Desk) -> None:
    one, last = desk.editor.open("one.py", TEXT), desk.editor.open("last.py", TEXT)
    turn_user, permissions = user_of(desk)
    edits = edit(desk, one), edit(desk, last)
    reviewing = asyncio.create_task(turn_user.review_edits(request(*edits, whole=True), ask=True))
    await desk.editor.connection.asking("window/showMessageRequest")
    changes_the_last(desk)
    permissions.waiting()[0].answer.set_result(PermissionReply(outcome="allow"))
    reviewed = await reviewing
    assert desk.editor.text(one) == TEXT
    assert [outcome.state for outcome in reviewed.outcomes] == [HunkState.FAILED, HunkState.CONFLICT]
    assert "last.py could not be changed" in reviewed.outcomes[0].reason
