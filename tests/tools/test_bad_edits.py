"""What models get wrong in edits, row by row: placed right, or refused with words that help, never misplaced."""

from pathlib import Path
from typing import Any

import pytest

from tests.tools.conftest import Bench
from tests.tools.edit_rows import CODE, STOPPED, A, Row, check


def edit(old: str, new: str, **more: Any) -> dict[str, Any]:
    return {"path": "a.py", "old_text": old, "new_text": new, **more}


LINKED: dict[str, str | bytes | Path] = {
    "sub/a.py": "a",
    "sub/deep/b.py": "b",
    "sub/l.py": Path("a.py"),
    "d": Path("sub/deep"),
}

ROWS: dict[str, Row] = {
    # --- edit_file ---
    "dropped indentation": Row(
        "edit_file", edit("def stop(self):\n    return 1\n", "def stop(self):\n    return 2\n"), {"a.py": STOPPED}, A
    ),
    "indentation of two spaces for four": Row(
        "edit_file",
        edit("  def stop(self):\n    return 1\n", "  def stop(self):\n    return 2\n"),
        {"a.py": STOPPED},
        A,
    ),
    "uneven indentation": Row(
        "edit_file",
        edit("  def stop(self):\n       return 1\n", "  def stop(self):\n       return 2\n"),
        ("not_found", "only white space differs", '"line": 5'),
        A,
    ),
    "trailing blanks in the file": Row(
        "edit_file",
        edit("x = 1\ny = 2\n", "x = 1\ny = 3\n"),
        {"a.py": "x = 1  \ny = 3\n"},
        {"a.py": "x = 1  \ny = 2\t\n"},
    ),
    "trailing blanks in what the model sends": Row(
        "edit_file", edit("x = 1  \ny = 2\n", "x = 1\ny = 3\n"), {"a.py": "x = 1\ny = 3\n"}, {"a.py": "x = 1\ny = 2\n"}
    ),
    "LF for CRLF": Row("edit_file", edit("a\nb\n", "a\nc\n"), {"a.py": "a\r\nc\r\n"}, {"a.py": "a\r\nb\r\n"}),
    "CRLF for LF": Row("edit_file", edit("a\r\nb\r\n", "a\r\nc\r\n"), {"a.py": "a\nc\n"}, {"a.py": "a\nb\n"}),
    "a wrong line number where the text is there once": Row(
        "edit_file",
        edit("    def stop(self):\n        return 1\n", "    def stop(self):\n        return 2\n", line_hint=400),
        {"a.py": STOPPED},
        A,
    ),
    "a wrong line number where the text is there three times": Row(
        "edit_file",
        edit("        return 1\n", "        return 2\n", line_hint=400),
        ("not_unique", "lines 3, 6, 11"),
        A,
    ),
    "elided old text": Row(
        "edit_file", edit("class A:\n    ...\n    def stop(self):\n", "x"), ("not_found", "write out what", "..."), A
    ),
    "elided new text": Row(
        "edit_file",
        edit("    def stop(self):\n        return 1\n", "    def stop(self):\n        # ... existing code ...\n"),
        ("unsupported", "leaves lines out"),
        A,
    ),
    "ambiguous": Row("edit_file", edit("return 1", "return 2"), ("not_unique", "3 places", "line_hint"), A),
    "lines that are nowhere": Row(
        "edit_file", edit("def halt(self):\n", "x"), ("not_found", "nearest", "as it is now"), A
    ),
    "nothing changes": Row(
        "edit_file", edit("return 1", "return 1", line_hint=3), ("invalid_arguments", "already has this text"), A
    ),
    "empty old text": Row("edit_file", edit("", "x"), ("invalid_arguments", "write_file"), A),
    "a stale read, changed elsewhere": Row(
        "edit_file",
        edit("two\n", "2\n"),
        {"a.py": "zero\none\n2\n"},
        {"a.py": "one\ntwo\n"},
        ("a.py",),
        {"a.py": "zero\none\ntwo\n"},
    ),
    "a stale read, changed in these lines": Row(
        "edit_file",
        edit("two\n", "2\n"),
        ("conflict", "the person changed", "two and a half"),
        {"a.py": "one\ntwo\n"},
        ("a.py",),
        {"a.py": "one\ntwo and a half\n"},
    ),
    "a stale read, the lines gone and the same elsewhere": Row(
        "edit_file",
        edit("two\n", "2\n", line_hint=2),
        ("conflict", "the person changed"),
        {"a.py": "one\ntwo\nthree\n"},
        ("a.py",),
        {"a.py": "one\nthree\nfour\nfive\ntwo\n"},
    ),
    "deleted meanwhile": Row(
        "edit_file",
        edit("two", "2"),
        ("not_found", "it existed when you read it"),
        {"a.py": "two\n"},
        ("a.py",),
        {"a.py": None},
    ),
    "no such file": Row("edit_file", edit("two", "2"), ("not_found", "write_file creates a new file")),
    "a binary file": Row("edit_file", edit("a", "b"), ("unsupported", "NUL"), {"a.py": b"a\0"}),
    "an encoding that would not come back": Row(
        "edit_file", edit("a", "b"), ("unsupported", "UTF-8"), {"a.py": b"a\xff"}
    ),
    "a link inside": Row(
        "edit_file", edit("b\n", "c\n"), {"real.py": "c\n"}, {"real.py": "b\n", "a.py": Path("real.py")}
    ),
    "a link outside": Row(
        "edit_file", edit("root", "x"), ("outside_workspace", "outside"), {"a.py": Path("/etc/passwd")}
    ),
    "a link to nowhere": Row("edit_file", edit("b", "c"), ("not_found", "nowhere.py"), {"a.py": Path("nowhere.py")}),
    "a link to itself": Row("edit_file", edit("b", "c"), ("outside_workspace", "link"), {"a.py": Path("a.py")}),
    # --- write_file ---
    "a whole text in LF over CRLF": Row(
        "write_file", {"path": "a.py", "content": "a\nc\nd\n"}, {"a.py": "a\r\nc\r\nd\r\n"}, {"a.py": "a\r\nb\r\n"}
    ),
    "a whole text over one with a mark": Row(
        "write_file", {"path": "a.py", "content": "a\nc\n"}, {"a.py": "a\nc\n"}, {"a.py": b"\xef\xbb\xbfa\nb\n"}
    ),
    "a whole text over one without a last line ending": Row(
        "write_file", {"path": "a.py", "content": "a\nc\n"}, {"a.py": "a\nc"}, {"a.py": "a\nb"}
    ),
    "a whole text that leaves lines out": Row(
        "write_file",
        {"path": "a.py", "content": "class A:\n    # ... rest unchanged ...\n    x = 1\n"},
        ("unsupported", "leaves lines out"),
        A,
    ),
    "a whole text from a stale read": Row(
        "write_file",
        {"path": "a.py", "content": "one\n2\n"},
        {"a.py": "one\n2\nthree\n"},
        {"a.py": "one\ntwo\n"},
        ("a.py",),
        {"a.py": "one\ntwo\nthree\n"},
    ),
    "a whole text over lines the person changed": Row(
        "write_file",
        {"path": "a.py", "content": "one\n2\n"},
        ("conflict", "the person changed"),
        {"a.py": "one\ntwo\n"},
        ("a.py",),
        {"a.py": "one\ntwo!\n"},
    ),
    "a new file through a link to nowhere": Row(
        "write_file", {"path": "a.py", "content": "x\n"}, {"real.py": "x\n"}, {"a.py": Path("real.py")}
    ),
    "a new file below a link outside": Row(
        "write_file", {"path": "out/a.py", "content": "x\n"}, ("outside_workspace", "outside"), {"out": Path("/tmp")}
    ),
    "a new file below a file": Row(
        "write_file", {"path": "a.py/b.py", "content": "x\n"}, ("unsupported", "is a file, not a folder"), A
    ),
    # --- replace_selection ---
    "a selection that was changed": Row(
        "replace_selection",
        {"new_text": "2"},
        ("conflict", "the person changed"),
        {"a.py": "one\ntwo\n"},
        typed={"a.py": "one\ntwo!\n"},
        select=("a.py", "wo\n"),
    ),
    "an elided selection": Row(
        "replace_selection",
        {"new_text": "class A:\n    # ... existing code ...\n"},
        ("unsupported", "leaves lines out"),
        A,
        select=("a.py", CODE),
    ),
    "a selection whose file is gone": Row(
        "replace_selection",
        {"new_text": "2"},
        ("conflict",),
        {"a.py": "one\n"},
        typed={"a.py": None},
        select=("a.py", "one"),
    ),
    # --- move_file ---
    "moved onto a file": Row(
        "move_file",
        {"source": "a.py", "target": "b.py"},
        ("invalid_arguments", "b.py already exists"),
        {**A, "b.py": "b"},
    ),
    "moved onto a binary file": Row(
        "move_file", {"source": "a.py", "target": "b"}, ("invalid_arguments", "already exists"), {**A, "b": b"\0"}
    ),
    "moved onto itself": Row(
        "move_file", {"source": "a.py", "target": "./a.py"}, ("invalid_arguments", "the same file"), A
    ),
    "moved into a folder": Row(
        "move_file", {"source": "a.py", "target": "sub"}, ("invalid_arguments", "sub/a.py"), {**A, "sub/b.py": "b"}
    ),
    "moved below a file": Row(
        "move_file", {"source": "a.py", "target": "b/a.py"}, ("unsupported", "is a file, not a folder"), {**A, "b": "b"}
    ),
    "moved outside": Row("move_file", {"source": "a.py", "target": "../a.py"}, ("outside_workspace", "outside"), A),
    "moved from outside": Row(
        "move_file", {"source": "/etc/passwd", "target": "a"}, ("outside_workspace", "outside"), A
    ),
    "a move of nothing": Row("move_file", {"source": "no.py", "target": "b.py"}, ("not_found", "find_files"), A),
    "a move of a folder": Row(
        "move_file", {"source": "sub", "target": "other"}, ("unsupported", "directory"), {"sub/b.py": "b"}
    ),
    "a move of a binary file": Row("move_file", {"source": "b", "target": "c"}, ("unsupported", "NUL"), {"b": b"\0"}),
    "a move of a link": Row(
        "move_file",
        {"source": "l.py", "target": "b.py"},
        ("unsupported", "l.py is a link to a.py"),
        {**A, "l.py": Path("a.py")},
    ),
    "a move onto a link to nowhere": Row(
        "move_file", {"source": "a.py", "target": "l.py"}, ("unsupported", "is a link"), {**A, "l.py": Path("no.py")}
    ),
    "a move into a new folder": Row(
        "move_file", {"source": "a.py", "target": "new/deep/b.py"}, {"a.py": None, "new/deep/b.py": CODE}, A
    ),
    "a move of a file that is being typed into": Row(
        "move_file",
        {"source": "a.py", "target": "b.py"},
        {"a.py": None, "b.py": "typed\n"},
        A,
        ("a.py",),
        {"a.py": "typed\n"},
    ),
    # --- delete_file ---
    "a file that was read": Row("delete_file", {"path": "a.py"}, {"a.py": None}, A, ("a.py",)),
    "an empty file": Row("delete_file", {"path": "a.py"}, {"a.py": None}, {"a.py": ""}),
    "a deletion after a stale read": Row(
        "delete_file", {"path": "a.py"}, ("stale", "read it again"), A, ("a.py",), {"a.py": "typed\n"}
    ),
    "a deletion of nothing": Row("delete_file", {"path": "no.py"}, ("not_found", "no.py")),
    "a deletion of what is gone": Row(
        "delete_file", {"path": "a.py"}, ("not_found", "it existed when you read it"), A, ("a.py",), {"a.py": None}
    ),
    "a deletion of a folder": Row("delete_file", {"path": "sub"}, ("unsupported", "directory"), {"sub/b.py": "b"}),
    "a deletion of a binary file": Row("delete_file", {"path": "b"}, ("unsupported", "NUL"), {"b": b"\0"}),
    "a deletion of a link": Row(
        "delete_file", {"path": "l.py"}, ("unsupported", "l.py is a link to a.py"), {**A, "l.py": Path("a.py")}
    ),
    **{
        f"a deletion of a link, written {path}": Row(
            "delete_file", {"path": path}, ("unsupported", "is a link to sub/a.py"), LINKED
        )
        for path in ("zz/../sub/l.py", "./sub//l.py/.", "sub/l.py/zz/..", "d/../l.py", "d/../zz/../l.py")
    },
    "a deletion past a folder that is not there": Row(
        "delete_file", {"path": "zz/../sub/a.py"}, {"sub/a.py": None}, LINKED
    ),
    "a deletion through a linked folder": Row(
        "delete_file", {"path": "l/b.py"}, {"sub/b.py": None}, {"sub/b.py": "b", "l": Path("sub")}
    ),
    "a deletion outside": Row("delete_file", {"path": "/etc/passwd"}, ("outside_workspace", "outside")),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
async def test_what_models_get_wrong(bench: Bench, row: Row) -> None:
    await check(bench, row)
