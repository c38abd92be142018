"""The calls of one answer build on each other: files moved, deleted and made anew before any of it is applied."""

from typing import Any

import pytest

from tark_lsp.errors import FileMissing
from tark_lsp.tools.tool import Risk, Selection, ToolKind
from tark_lsp.workspace.edits import ProposedEdit
from tests.tools.conftest import Bench
from tests.tools.edit_rows import outcome

TEXT = "one\ntwo\nthree\n"

MOVE = ("move_file", {"source": "a.py", "target": "b.py"})
MOVE_BACK = ("move_file", {"source": "b.py", "target": "a.py"})
MOVE_ON = ("move_file", {"source": "b.py", "target": "c.py"})
DELETE = ("delete_file", {"path": "a.py"})
DELETE_B = ("delete_file", {"path": "b.py"})
EDIT = ("edit_file", {"path": "a.py", "old_text": "two", "new_text": "2"})
EDIT_B = ("edit_file", {"path": "b.py", "old_text": "two", "new_text": "2"})
WRITE = ("write_file", {"path": "a.py", "content": "new\n"})
WRITE_B = ("write_file", {"path": "b.py", "content": "new\n"})
MAKE = ("write_file", {"path": "n.py", "content": "two\n"})
MOVE_NEW = ("move_file", {"source": "n.py", "target": "m.py"})
MOVE_NEW_BACK = ("move_file", {"source": "m.py", "target": "n.py"})
DELETE_NEW = ("delete_file", {"path": "n.py"})
MOVE_NEW_TO_A = ("move_file", {"source": "n.py", "target": "a.py"})
EMPTY_NEW = ("write_file", {"path": "n.py", "content": ""})
EMPTY_B = ("write_file", {"path": "b.py", "content": ""})


def patch(*lines: str) -> tuple[str, dict[str, str]]:
    return "apply_patch", {"patch": "\n".join(["*** Begin Patch", *lines, "*** End Patch"])}


async def call(bench: Bench, name: str, arguments: dict[str, Any]) -> None:
    """As the agent does within one answer."""
    preview = await bench.preview(name, **arguments)
    bench.ctx.drafts.update({edit.path: edit for edit in preview.edits})


def proposed(bench: Bench) -> tuple[ProposedEdit, ...]:
    """What is left to ask about: a draft that changes nothing is none."""
    return tuple(edit for edit in bench.ctx.drafts.values() if edit.hunks or edit.operation)


@pytest.mark.parametrize(
    ("calls", "left"),
    [
        ([MOVE], {"a.py": None, "b.py": TEXT}),
        ([EDIT, MOVE], {"a.py": None, "b.py": "one\n2\nthree\n"}),
        ([MOVE, EDIT_B], {"a.py": None, "b.py": "one\n2\nthree\n"}),
        ([MOVE, EDIT_B, MOVE_ON], {"a.py": None, "c.py": "one\n2\nthree\n"}),
        ([MOVE, WRITE_B], {"a.py": None, "b.py": "new\n"}),
        ([MOVE, EMPTY_B], {"a.py": None, "b.py": ""}),
        ([MOVE, MOVE_BACK], {}),
        ([MOVE, EDIT_B, MOVE_BACK], {"a.py": "one\n2\nthree\n"}),
        ([MOVE, DELETE_B], {"a.py": None}),
        ([MOVE, DELETE_B, WRITE_B], {"a.py": None, "b.py": "new\n"}),
        ([EDIT, DELETE], {"a.py": None}),
        ([DELETE, WRITE], {"a.py": "new\n"}),
        ([DELETE, ("write_file", {"path": "a.py", "content": TEXT})], {}),
        ([DELETE, WRITE, DELETE], {"a.py": None}),
        ([DELETE, WRITE, MOVE], {"a.py": None, "b.py": "new\n"}),
        ([MAKE, MOVE_NEW], {"m.py": "two\n"}),
        ([MAKE, MOVE_NEW, MOVE_NEW_BACK], {"n.py": "two\n"}),
        ([MAKE, MOVE_NEW, MAKE], {"m.py": "two\n", "n.py": "two\n"}),
        ([MAKE, DELETE_NEW], {}),
        ([MAKE, DELETE_NEW, MAKE], {"n.py": "two\n"}),
        ([MAKE, DELETE_NEW, EMPTY_NEW], {"n.py": ""}),
        ([MAKE, EMPTY_NEW], {"n.py": ""}),
        ([MAKE, EMPTY_NEW, MOVE_NEW], {"m.py": ""}),
        ([EDIT, patch("*** Update File: a.py", "-2", "+zwei", "*** Move to: b.py")], None),
        (
            [EDIT, patch("*** Update File: a.py", "*** Move to: b.py", "-2", "+zwei")],
            {"a.py": None, "b.py": "one\nzwei\nthree\n"},
        ),
        ([MOVE, patch("*** Update File: b.py", "-two", "+2")], {"a.py": None, "b.py": "one\n2\nthree\n"}),
        ([patch("*** Delete File: a.py", "*** Add File: a.py", "+new")], {"a.py": "new\n"}),
        ([patch("*** Add File: n.py", "+two"), MOVE_NEW], {"m.py": "two\n"}),
    ],
)
async def test_calls_of_one_answer(
    bench: Bench, calls: list[tuple[str, dict[str, Any]]], left: dict[str, str | None] | None
) -> None:
    path = bench.write("a.py", TEXT)
    for name, arguments in calls[:-1]:
        await call(bench, name, arguments)
    name, arguments = calls[-1]
    if left is None:
        assert (await bench.failure(name, **arguments)).code == "invalid_arguments"
        return
    await call(bench, name, arguments)
    assert outcome(bench, proposed(bench)) == left
    assert set(bench.ctx.drafts) <= {path, *(bench.root / other for other in ("b.py", "m.py", "n.py"))}


@pytest.mark.parametrize(
    ("calls", "code", "words", "hint"),
    [
        ([MOVE, EDIT], "not_found", "a.py is moved to b.py by this answer", "use the path b.py"),
        ([MOVE, MOVE], "not_found", "a.py is moved to b.py", "use the path b.py"),
        ([MOVE, DELETE], "not_found", "a.py is moved to b.py", "use the path b.py"),
        ([MOVE, WRITE], "conflict", "a.py is moved to b.py", "next answer"),
        ([DELETE, EDIT], "not_found", "no longer exists", "continue without it"),
        ([DELETE, DELETE], "not_found", "no longer exists", "continue without it"),
        ([DELETE, MOVE], "not_found", "no longer exists", "continue without it"),
        ([MAKE, DELETE_NEW, DELETE_NEW], "not_found", "no longer exists", "continue without it"),
        (
            [DELETE, MAKE, MOVE_NEW_TO_A],
            "invalid_arguments",
            "until",
            "next answer",
        ),
        (
            [MOVE, MAKE, MOVE_NEW_TO_A],
            "invalid_arguments",
            "until",
            "next answer",
        ),
        ([MOVE, MAKE, ("move_file", {"source": "n.py", "target": "b.py"})], "invalid_arguments", "already", "another"),
        ([MAKE, ("move_file", {"source": "a.py", "target": "n.py"})], "invalid_arguments", "already", "another"),
        ([MOVE, patch("*** Add File: b.py", "+x")], "invalid_arguments", "b.py already exists", "Update File"),
        ([MOVE, patch("*** Add File: a.py", "+x")], "conflict", "a.py is moved to b.py", "next answer"),
    ],
)
async def test_calls_of_one_answer_that_do_not_go_together(
    bench: Bench, calls: list[tuple[str, dict[str, Any]]], code: str, words: str, hint: str
) -> None:
    bench.write("a.py", TEXT)
    for name, arguments in calls[:-1]:
        await call(bench, name, arguments)
    before = dict(bench.ctx.drafts)
    failure = await bench.failure(calls[-1][0], **calls[-1][1])
    assert (failure.code, words in failure.message, hint in failure.hint) == (code, True, True), failure
    assert bench.ctx.drafts == before


async def test_what_is_read_is_what_the_drafts_leave(bench: Bench) -> None:
    path = bench.write("a.py", TEXT)
    await call(bench, *EDIT)
    await call(bench, *MOVE)
    moved = bench.ctx.read_draft(bench.root / "b.py")
    assert (moved.text, moved.path) == ("one\n2\nthree\n", bench.root / "b.py")
    with pytest.raises(FileMissing, match=r"moved to b\.py"):
        bench.ctx.read_draft(path)
    assert await bench.call("search_text", pattern="^2$|^two$") == "b.py:2: 2"
    await call(bench, *DELETE_B)
    with pytest.raises(FileMissing):
        bench.ctx.read_draft(bench.root / "b.py")
    assert (await bench.call("search_text", pattern="^2$|^two$")).startswith("No line matches")


async def test_typing_between_a_move_and_an_edit(bench: Bench) -> None:
    path = bench.write("a.py", TEXT)
    bench.buffers.open(path)
    await bench.call("read_file", path="a.py")
    await call(bench, *MOVE)
    bench.buffers.type(path, "typed\n" + TEXT)
    await call(bench, *EDIT_B)
    (edit,) = proposed(bench)
    assert (edit.base.version, edit.target, edit.after) == (2, bench.root / "b.py", "typed\none\n2\nthree\n")
    bench.buffers.type(path, TEXT.replace("two", "typed"))
    assert (await bench.failure("edit_file", path="b.py", old_text="three", new_text="3")).code == "conflict"


async def test_typing_after_a_drafted_removal(bench: Bench) -> None:
    path = bench.write("a.py", TEXT)
    bench.buffers.open(path)
    await call(bench, *DELETE)
    bench.buffers.type(path, TEXT + "typed\n")
    await call(bench, *WRITE)
    (edit,) = proposed(bench)
    assert (edit.base.version, edit.removes, edit.after) == (2, False, "new\n")


async def test_the_selection_in_a_file_that_is_moved_or_deleted(bench: Bench) -> None:
    path = bench.write("a.py", TEXT)
    bench.ctx.selection = Selection(bench.ctx.workspace.read(path), 4, 7)
    await call(bench, *MOVE)
    await call(bench, "replace_selection", {"new_text": "2"})
    assert outcome(bench, proposed(bench)) == {"a.py": None, "b.py": "one\n2\nthree\n"}
    await call(bench, *DELETE_B)
    assert (
        await bench.failure("replace_selection", new_text="2")
    ).message == "this answer deletes the file with the selection"


@pytest.mark.parametrize(
    ("name", "arguments", "title", "kind", "risk", "whole"),
    [
        (*MOVE, "move_file a.py to b.py", ToolKind.MOVE, Risk.WRITE, False),
        (*DELETE, "delete_file a.py", ToolKind.DELETE, Risk.DANGEROUS, False),
        (*patch("*** Update File: a.py", "-two", "+2"), "apply_patch a.py", ToolKind.EDIT, Risk.WRITE, True),
        (*patch("*** Delete File: a.py"), "apply_patch a.py (deleted)", ToolKind.EDIT, Risk.DANGEROUS, True),
        (
            *patch("*** Update File: a.py", "*** Move to: b.py", "*** Add File: c.py", "+x"),
            "apply_patch a.py to b.py, c.py (new)",
            ToolKind.EDIT,
            Risk.WRITE,
            True,
        ),
        (
            *patch(*(f"*** Add File: {number}.py" for number in range(8))),
            "apply_patch 0.py (new), 1.py (new), 2.py (new), 3.py (new), 4.py (new), 3 others",
            ToolKind.EDIT,
            Risk.WRITE,
            True,
        ),
    ],
)
async def test_what_the_person_is_shown(
    bench: Bench, name: str, arguments: dict[str, Any], title: str, kind: ToolKind, risk: Risk, whole: bool
) -> None:
    bench.write("a.py", TEXT)
    preview = await bench.preview(name, **arguments)
    assert (preview.title, preview.kind, preview.risk, preview.atomic) == (title, kind, risk, whole)
    assert {place.path for place in preview.locations} >= {edit.path for edit in preview.edits}
    assert preview.command is None
