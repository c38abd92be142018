"""FILE[:START-END]: what it names, and its errors."""

from pathlib import Path
from typing import Any

import pytest

from tark_lsp.cli.file_target import FileTarget, parse_file_target
from tark_lsp.errors import OutsideWorkspace, RequestError, TarkError


@pytest.mark.parametrize(
    ("text", "name", "start", "end"),
    [
        ("a.py", "a.py", None, None),
        ("a.py:3", "a.py", 3, 3),
        ("a.py:3-12", "a.py", 3, 12),
        ("./sub/../a.py:3-3", "a.py", 3, 3),
        ("notes:3", "notes:3", None, None),
        ("notes:3:4-5", "notes:3", 4, 5),
        ("a.py:x", "a.py:x", None, None),
        ("new.py:1-2", "new.py", 1, 2),
    ],
)
def test_what_is_named(tmp_path: Path, text: str, name: str, start: int | None, end: int | None) -> None:
    for file in ("a.py", "notes:3"):
        (tmp_path / file).touch()
    assert parse_file_target(text, tmp_path) == FileTarget(tmp_path / name, start, end)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a.py:0-3", RequestError),
        ("a.py:5-4", RequestError),
        ("../a.py", OutsideWorkspace),
        ("/etc/passwd:1-2", OutsideWorkspace),
        ("link.py", OutsideWorkspace),
    ],
)
def test_what_is_wrong_says_what_to_do(tmp_path: Path, text: str, error: type[TarkError]) -> None:
    (tmp_path / "link.py").symlink_to("/etc/passwd")
    with pytest.raises(error) as raised:
        parse_file_target(text, tmp_path)
    assert raised.value.hint


@pytest.mark.parametrize(
    ("lines", "start", "end", "expected"),
    [
        (["a\n", "bcd\n"], 1, 1, ((0, 0), (0, 1))),
        (["a\r\n", "bcd\r\n"], 1, 2, ((0, 0), (1, 3))),
        (["a\n", "é\U0001f600"], 2, 2, ((1, 0), (1, 2))),
    ],
)
def test_lines_become_a_range(lines: list[str], start: int, end: int, expected: Any) -> None:
    found = FileTarget(Path("a"), start, end).range_in(lines)
    assert found
    assert tuple((found[at]["line"], found[at]["character"]) for at in ("start", "end")) == expected


@pytest.mark.parametrize(("lines", "hint"), [(["a\n"] * 12, "from 1 to 12"), ([], "do not name lines")])
def test_a_range_past_the_end(lines: list[str], hint: str) -> None:
    with pytest.raises(RequestError, match="past its end") as raised:
        FileTarget(Path("a.py"), 10, 13).range_in(lines)
    assert hint in raised.value.hint


def test_no_lines_no_range() -> None:
    assert FileTarget(Path("a")).range_in(["a\n"]) is None
