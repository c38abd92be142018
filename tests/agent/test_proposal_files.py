"""Calls that move and delete files, and patches of several: asked about, told and remembered like other edits."""

import pytest

from tark_lsp.agent.user_interface import Rejected
from tark_lsp.errors import FileMissing
from tark_lsp.messages import ApprovalLevel
from tark_lsp.tools.tool import Risk, ToolKind
from tests.agent.bench import Bench, error_of
from tests.agent.script import Call, answer, call
from tests.agent.scripted_user import Some

LINES = "".join(f"line {number}\n" for number in range(1, 41))


def edit(old: str, new: str, path: str = "a.py") -> Call:
    return call("edit_file", path=path, old_text=old, new_text=new)


def delete(path: str) -> Call:
    return call("delete_file", path=path)


def move(source: str, target: str) -> Call:
    return call("move_file", source=source, target=target)


PATCH = """\
*** Begin Patch
*** Update File: a.py
@@
-line 2
+two
*** Delete File: b.py
*** End Patch
"""


@pytest.fixture
def files(bench: Bench) -> Bench:
    bench.level = ApprovalLevel.BALANCED
    for name in ("a.py", "b.py", "c.py"):
        bench.write(name, LINES)
    return bench


def missing(bench: Bench, name: str) -> bool:
    try:
        bench.text(name)
    except FileMissing:
        return True
    return False


async def test_a_deletion_holds_up_nothing_else(files: Bench) -> None:
    await files.run(
        answer(edit("line 2\n", "two\n"), delete("b.py"), edit("line 3\n", "three\n", "c.py")),
        decisions=[Rejected("keep it")],
    )
    (request,) = files.user.asked
    assert (request.title, request.kind, request.risk) == ("delete b.py", ToolKind.DELETE, Risk.DANGEROUS)
    assert (request.grants, len(request.call_ids)) == ((), 1)
    assert [request.title for request in files.user.unasked] == ["edit 2 files: a.py, c.py"]
    assert files.results()[0] == "Applied to a.py."
    assert files.results()[2] == "Applied to c.py."
    assert "keep it" in error_of(files.results()[1])["message"]
    assert files.text("b.py") == LINES


async def test_what_was_done_to_files_is_told_and_remembered(files: Bench) -> None:
    root = files.root
    end = await files.run(
        answer(call("read_file", path="a.py"), call("read_file", path="b.py")),
        answer(delete("b.py"), move("a.py", "sub/d.py")),
        answer(edit("line 2\n", "two\n", "sub/d.py")),
    )
    assert files.results()[2:] == ["Deleted b.py.", "Moved a.py to sub/d.py.", "Applied to sub/d.py."]
    assert missing(files, "a.py")
    assert missing(files, "b.py")
    assert files.text("sub/d.py") == LINES.replace("line 2\n", "two\n")
    assert root / "a.py" not in files.session.seen
    assert root / "b.py" not in files.session.seen
    assert files.session.seen[root / "sub/d.py"].text == files.text("sub/d.py")
    assert end.edits == {root / "b.py": "applied", root / "a.py": "applied", root / "sub/d.py": "applied"}


async def test_a_file_is_edited_moved_and_edited_again_in_one_answer(files: Bench) -> None:
    files.level = ApprovalLevel.CAREFUL
    await files.run(
        answer(edit("line 2\n", "two\n"), move("a.py", "d.py"), edit("line 30\n", "thirty\n", "d.py")),
    )
    (request,) = files.user.asked
    assert request.title == "move a.py to d.py"
    assert files.results() == ["Applied to a.py.", "Moved a.py to d.py.", "Applied to d.py."]
    assert files.text("d.py") == LINES.replace("line 2\n", "two\n").replace("line 30\n", "thirty\n")


async def test_the_text_may_be_accepted_and_the_move_not(files: Bench) -> None:
    files.level = ApprovalLevel.CAREFUL
    await files.run(
        answer(edit("line 2\n", "two\n"), move("a.py", "d.py")),
        answer(move("a.py", "d.py")),
        decisions=[Some(lambda hunk: bool(hunk.old), "it stays")],
    )
    assert files.results()[0] == "Applied to a.py."
    assert "it stays" in error_of(files.results()[1])["message"]
    assert "already" in error_of(files.results()[2])["message"]
    assert missing(files, "d.py")
    assert files.session.seen[files.root / "a.py"].text == files.text("a.py")


async def test_a_patch_is_one_question_all_or_nothing(files: Bench) -> None:
    await files.run(
        answer(call("apply_patch", patch=PATCH), edit("line 5\n", "five\n", "c.py")), decisions=[Rejected("no")]
    )
    (request,) = files.user.asked
    assert request.atomic
    assert (request.title, request.kind) == ("edit 1 file, delete 1: a.py, b.py", ToolKind.EDIT)
    assert error_of(files.results()[0])["code"] == "denied"
    (unasked,) = files.user.unasked
    assert not unasked.atomic
    assert files.results()[1] == "Applied to c.py."
    assert files.text("a.py") == LINES


async def test_a_patch_that_is_accepted(files: Bench) -> None:
    await files.run(answer(call("apply_patch", patch=PATCH)))
    assert files.results() == ["Applied to a.py. Deleted b.py."]
    assert missing(files, "b.py")


async def test_in_a_turn_with_a_selection_a_patch_that_reaches_out_is_asked_as_a_whole(files: Bench) -> None:
    files.select(files.root / "a.py", 0, len("line 1\nline 2\n"))
    await files.run(answer(call("apply_patch", patch=PATCH), edit("line 1\n", "one\n")), answer(delete("c.py")))
    first, second = files.user.asked
    assert "outside the selection" in first.why
    assert [edit.path.name for edit in first.edits] == ["a.py", "b.py"]
    assert "outside the selection" in second.why
    assert files.user.unasked == [], "the other edit is of the same file, so it is bound to the patch"


@pytest.mark.parametrize("one", [delete("a.py"), move("a.py", "d.py"), call("apply_patch", patch=PATCH)])
async def test_under_a_fence_files_are_neither_moved_nor_deleted(files: Bench, one: Call) -> None:
    files.kind = "edit"
    files.select(files.root / "a.py", 0, len(LINES))
    await files.run(answer(one))
    assert files.errors()[0] in ("denied", "unknown_tool")
    assert files.text("a.py") == LINES


async def test_the_selection_goes_where_its_file_goes(files: Bench) -> None:
    files.select(files.root / "a.py", 0, len("line 1\n"))
    await files.run(answer(move("a.py", "d.py")), answer(call("replace_selection", new_text="one\n")))
    assert len(files.user.asked) == 1, "the move, and not what is inside the selection"
    assert files.text("d.py") == LINES.replace("line 1\n", "one\n")


async def test_calls_that_undo_each_other_ask_nothing(files: Bench) -> None:
    await files.run(
        answer(call("write_file", path="new.py", content="x\n"), delete("new.py")),
        answer(move("a.py", "d.py"), move("d.py", "a.py")),
    )
    assert files.user.asked == files.user.unasked == []
    assert all("Nothing is left" in result for result in files.results())
    assert missing(files, "new.py")


async def test_a_file_that_cannot_be_moved_is_told(files: Bench) -> None:
    path = files.root / "d.py"
    files.level = ApprovalLevel.CAREFUL
    files.user.meanwhile = lambda: path.write_text("the person was faster\n")
    end = await files.run(answer(move("a.py", "d.py")))
    assert error_of(files.results()[0])["code"] == "stale"
    assert end.edits == {files.root / "a.py": "failed"}
    assert files.text("a.py") == LINES
    assert path.read_text() == "the person was faster\n"
