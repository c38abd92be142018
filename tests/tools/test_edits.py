"""edit_file, propose_edit, write_file and replace_selection against what the model read, the buffers and the drafts."""

from pathlib import Path

import pytest

from tark_lsp.tools.tool import Risk, Selection
from tark_lsp.tools.write_file import whole_text
from tests.tools.conftest import Bench

TEXT = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"


@pytest.mark.parametrize("tool", ["edit_file", "propose_edit"])
@pytest.mark.parametrize(
    ("text", "arguments", "after"),
    [
        (TEXT, {"old_text": "    return 2\n", "new_text": "    return 22\n"}, TEXT.replace("2\n", "22\n")),
        (TEXT, {"old_text": "return 1", "new_text": "return 11"}, TEXT.replace("1\n", "11\n")),
        ("x\nx\nx\n", {"old_text": "x", "new_text": "y", "replace_all": True}, "y\ny\ny\n"),
        ("a\r\nb\r\n", {"old_text": "a\nb", "new_text": "a\nc"}, "a\r\nc\r\n"),
        ("x\n</code>\ny\n", {"old_text": "x\n<\\/code>", "new_text": "z\n<\\/code>"}, "z\n</code>\ny\n"),
    ],
)
async def test_an_edit_is_of_the_file_and_touches_only_its_lines(
    bench: Bench, tool: str, text: str, arguments: dict[str, str], after: str
) -> None:
    path = bench.write("a.py", text)
    preview = await bench.preview(tool, path="a.py", **arguments)
    (edit,) = preview.edits
    assert (edit.path, edit.base.text, edit.after) == (path, text, after)
    assert preview.risk is (Risk.WRITE if tool == "edit_file" else Risk.READ_ONLY)
    assert [(location.path, location.start_line) for location in preview.locations] == [
        (path, hunk.start) for hunk in edit.hunks
    ]
    assert path.read_bytes() == text.encode()


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "message"),
    [
        ("edit_file", {"path": "a.py", "old_text": "def one():\n    pass\n", "new_text": ""}, "not_found", "nearest"),
        ("edit_file", {"path": "a.py", "old_text": "return", "new_text": "x"}, "not_unique", "2 places"),
        (
            "edit_file",
            {"path": "a.py", "old_text": "return 1", "new_text": "return 1"},
            "invalid_arguments",
            "already has this text",
        ),
        ("edit_file", {"path": "no.py", "old_text": "a", "new_text": "b"}, "not_found", "no.py"),
        ("edit_file", {"path": "binary", "old_text": "a", "new_text": "b"}, "unsupported", "binary"),
        ("edit_file", {"path": "folder", "old_text": "a", "new_text": "b"}, "unsupported", "folder"),
        ("edit_file", {"path": "../b.py", "old_text": "a", "new_text": "b"}, "outside_workspace", "outside"),
        ("write_file", {"path": "/etc/passwd", "content": ""}, "outside_workspace", "outside"),
        ("write_file", {"path": "folder", "content": ""}, "unsupported", "is a folder"),
        ("write_file", {"path": "a.py/b.py", "content": ""}, "unsupported", "a.py in a.py/b.py is a file"),
        ("write_file", {"path": "binary", "content": "text"}, "unsupported", "binary"),
        ("write_file", {"path": "a.py", "content": TEXT}, "invalid_arguments", "already has this text"),
        ("replace_selection", {"new_text": "x"}, "unsupported", "nothing is selected"),
    ],
)
async def test_bad_edits_are_told(bench: Bench, tool: str, arguments: dict[str, str], code: str, message: str) -> None:
    bench.write("a.py", TEXT)
    bench.write("binary", b"\0\1")
    bench.write("folder/x", "")
    failure = await bench.failure(tool, **arguments)
    assert (failure.code, message in failure.message) == (code, True), failure


async def test_an_edit_is_placed_in_what_the_model_read_and_carried_to_now(bench: Bench) -> None:
    path = bench.write("a.py", TEXT)
    bench.buffers.open(path)
    await bench.call("read_file", path="a.py")
    bench.buffers.type(path, f"# typed\nreturn 2\n{TEXT}")  # now `return 2` stands there twice, and two lines lower
    after = await bench.edit("edit_file", path="a.py", old_text="return 2", new_text="return 3", line_hint=6)
    assert after == f"# typed\nreturn 2\n{TEXT}".replace("    return 2", "    return 3")
    assert bench.ctx.drafts[path].base.version == 2


async def test_what_the_person_typed_can_be_edited_too(bench: Bench) -> None:
    path = bench.write("a.py", TEXT)
    bench.buffers.open(path)
    await bench.call("read_file", path="a.py")
    bench.buffers.type(path, TEXT + "# TODO three\n")
    assert (await bench.edit("edit_file", path="a.py", old_text="# TODO three", new_text="pass")).endswith("\npass\n")


async def test_typing_inside_the_edited_lines_is_a_conflict_with_the_lines_of_now(bench: Bench) -> None:
    path = bench.write("a.py", TEXT)
    bench.buffers.open(path)
    await bench.call("read_file", path="a.py")
    bench.buffers.type(path, "# above\n" + TEXT.replace("return 2", "return 2 + typed"))
    failure = await bench.failure("edit_file", path="a.py", old_text="return 2", new_text="return 3")
    assert failure.code == "conflict"
    assert failure.details == {"start_line": 5, "end_line": 7, "current": "\ndef two():\n    return 2 + typed\n"}


async def test_edits_of_one_answer_build_on_each_other(bench: Bench) -> None:
    path = bench.write("a.py", TEXT)
    await bench.call("read_file", path="a.py")
    await bench.edit("edit_file", path="a.py", old_text="return 1", new_text="return one_and_only")
    after = await bench.edit("edit_file", path="a.py", old_text="return one_and_only", new_text="return 7")
    assert after == TEXT.replace("return 1", "return 7")
    assert bench.ctx.drafts[path].base.text == TEXT
    await bench.edit("write_file", path="new/b.py", content="b = 1\n")
    assert await bench.edit("edit_file", path="new/b.py", old_text="b = 1", new_text="b = 2") == "b = 2\n"
    assert bench.ctx.drafts[bench.root / "new/b.py"].base.exists is False


async def test_typing_between_two_edits_of_one_answer(bench: Bench) -> None:
    path = bench.write("a.py", TEXT)
    bench.buffers.open(path)
    await bench.edit("edit_file", path="a.py", old_text="return 1", new_text="return 11")
    bench.buffers.type(path, "# above\n" + TEXT)
    after = await bench.edit("edit_file", path="a.py", old_text="return 2", new_text="return 22")
    assert after == "# above\n" + TEXT.replace("1\n", "11\n").replace("2\n", "22\n")
    bench.buffers.type(path, TEXT.replace("return 1", "return 1  # mine"))
    assert (await bench.failure("edit_file", path="a.py", old_text="return 2", new_text="x")).code == "conflict"


@pytest.mark.parametrize(
    ("old", "content", "after"),
    [
        ("a\nb\n", "a\nc\n", "a\nc\n"),
        ("a\r\nb\r\n", "a\nc\nd\n", "a\r\nc\r\nd\r\n"),
        ("a\r\nb\nc\r\n", "a\nb\nc\nd\n", "a\r\nb\nc\r\nd\r\n"),
        ("a\r\nb\nc\r\nd\r\n", "a\nb\nX\nd\n", "a\r\nb\nX\r\nd\r\n"),
        ("a\rb\r", "a\nc\n", "a\rc\r"),
        ("a\nb\n", "a\nc", "a\nc\n"),
        ("a\nb", "a\nc\n", "a\nc"),
        ("a\nb", "a\nb\n", "a\nb\n"),
        ("a\nb\n", "a\nb", "a\nb"),
        ("a\r\nb\r\n", "a\nb\n", "a\r\nb\r\n"),
        ("a\r\nb\r\n", "a\nb", "a\r\nb"),
        ("a\nb\n", "", ""),
        ("", "a\nb", "a\nb"),
        ("</code>\n", "<\\/code>\nx\n", "</code>\nx\n"),
        ("one line", "other\nlines", "other\nlines"),
    ],
)
def test_a_whole_text_keeps_endings_and_the_end(old: str, content: str, after: str) -> None:
    assert whole_text(old, content) == after


async def test_write_file_makes_few_hunks_and_keeps_what_was_typed_elsewhere(bench: Bench) -> None:
    path = bench.write("a.py", TEXT)
    bench.buffers.open(path)
    await bench.call("read_file", path="a.py")
    bench.buffers.type(path, "# typed\n" + TEXT)
    preview = await bench.preview("write_file", path="a.py", content=TEXT.replace("return 2", "return 3"))
    (edit,) = preview.edits
    assert edit.after == "# typed\n" + TEXT.replace("return 2", "return 3")
    assert len(edit.hunks) == 1
    assert preview.title == "write_file a.py"


@pytest.mark.parametrize("content", ["", "a\n"])
async def test_write_file_makes_a_new_file(bench: Bench, content: str) -> None:
    preview = await bench.preview("write_file", path="deep/new.py", content=content)
    (edit,) = preview.edits
    assert (edit.base.exists, edit.after, preview.title) == (False, content, "write_file deep/new.py (new)")


def select(bench: Bench, path: Path, text: str) -> None:
    snapshot = bench.ctx.workspace.read(path)
    start = snapshot.text.index(text)
    bench.ctx.selection = Selection(snapshot, start, start + len(text))


@pytest.mark.parametrize(
    ("text", "selected", "new_text", "after"),
    [
        (TEXT, "return 1", "yield", TEXT.replace("return 1", "yield")),
        (TEXT, "1", "(\n        1\n    )", TEXT.replace("1", "(\n        1\n    )")),
        (TEXT, "    return 1\n", "    return 3", TEXT.replace("return 1", "return 3")),
        (TEXT, "    return 1", "    return 3\n", TEXT.replace("return 1", "return 3")),
        ("a\r\nb\r\nc\r\n", "b\r\n", "x\ny\n", "a\r\nx\r\ny\r\nc\r\n"),
        ("a\nbc\n", "b", "</code>", "a\n</code>c\n"),
        ("</code>\nb\n", "b", "<\\/code>", "</code>\n</code>\n"),
        ("ab\n", "", "x", "xab\n"),
        ("ab\n", "ab\n", "", ""),
    ],
)
async def test_exactly_the_selection_is_replaced(
    bench: Bench, text: str, selected: str, new_text: str, after: str
) -> None:
    path = bench.write("a.py", text)
    select(bench, path, selected)
    assert await bench.edit("replace_selection", new_text=new_text) == after


async def test_the_selection_is_followed_through_typing_and_drafts(bench: Bench) -> None:
    path = bench.write("a.py", TEXT)
    bench.buffers.open(path)
    select(bench, path, "return 1")
    bench.buffers.type(path, "# above\n" + TEXT + "# below\n")
    await bench.edit("edit_file", path="a.py", old_text="def two", new_text="def second")
    after = await bench.edit("replace_selection", new_text="return 9")
    assert after == "# above\n" + TEXT.replace("return 1", "return 9").replace("def two", "def second") + "# below\n"


async def test_a_second_replacement_in_one_answer_takes_the_place_of_the_first(bench: Bench) -> None:
    select(bench, bench.write("a.py", TEXT), "return 1")
    await bench.edit("replace_selection", new_text="first()")
    assert await bench.edit("replace_selection", new_text="second()") == TEXT.replace("return 1", "second()")


async def test_typing_inside_the_selection_is_a_conflict(bench: Bench) -> None:
    path = bench.write("a.py", TEXT)
    bench.buffers.open(path)
    select(bench, path, "return 1")
    bench.buffers.type(path, TEXT.replace("return 1", "return typed"))
    failure = await bench.failure("replace_selection", new_text="return 9")
    assert failure.code == "conflict"
    assert "return typed" in failure.details["current"]


async def test_a_draft_across_the_end_of_the_selection_is_a_conflict(bench: Bench) -> None:
    select(bench, bench.write("a.py", TEXT), "one():\n    return 1")
    await bench.edit("edit_file", path="a.py", old_text="def one():", new_text="async def first():")
    assert (await bench.failure("replace_selection", new_text="x")).code == "conflict"


async def test_a_selection_that_stays_as_it_is(bench: Bench) -> None:
    select(bench, bench.write("a.py", TEXT), "return 1")
    assert (await bench.failure("replace_selection", new_text="return 1")).code == "invalid_arguments"
