"""A turn in the terminal, and that foreign text cannot control the terminal."""

import io
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

from tark_lsp.cli.changed_words import changed_words
from tark_lsp.cli.diff import draw_hunk
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.visible import one_line, visible


def screen(folder: Path = Path("/ws"), *, colours: bool = False) -> tuple[Screen, io.StringIO]:
    out = io.StringIO()
    colour_system = "standard" if colours else None
    console = Console(file=out, force_terminal=colours, color_system=colour_system, highlight=False, markup=False)  # type: ignore[arg-type]  # one of two literals
    return Screen(console, folder), out


def shown(*updates: dict[str, Any]) -> str:
    drawn, out = screen()
    for update in updates:
        drawn.update(update)
    drawn.print_line("|")
    return out.getvalue().removesuffix("|\n")


def call(status: str, **more: Any) -> dict[str, Any]:
    return {"kind": "toolCall", "toolCallId": "1", "status": status, **more}


FIGURES: list[tuple[dict[str, Any], str]] = [
    ({"exitCode": 0, "seconds": 0.0}, "exit 0 · 0.0 s"),
    ({"exitCode": -9, "seconds": 61.25}, "signal 9 · 61.2 s"),
    ({"exitCode": 1, "seconds": 2.3, "counts": "2 failed, 1 passed"}, "2 failed, 1 passed · exit 1 · 2.3 s"),
    ({"matches": 0, "files": 0}, "no matches"),
    ({"matches": 1, "files": 1}, "1 match in 1 file"),
    ({"matches": 100, "files": 3, "more": True}, "100+ matches in 3+ files"),
    ({"files": 0}, "no files"),
    ({"files": 7}, "7 files"),
]
"""Figures of a call, and how they are told: the same in editors/vscode/test/unit/callRows.test.ts."""

FAILED_AT = [{"uri": "file:///ws/a.py", "range": {"start": {"line": line}}} for line in (7, 8, 8, 8, 9, 10)]
UPDATES: list[tuple[str, tuple[dict[str, Any], ...], str]] = [
    ("text", ({"kind": "text", "delta": "Hel"}, {"kind": "text", "delta": "lo"}), "Hello\n"),
    ("whole lines", ({"kind": "text", "delta": "a\nb\n"},), "a\nb\n"),
    ("markup is text", ({"kind": "text", "delta": "[red]x[/red] :smile:"},), "[red]x[/red] :smile:\n"),
    ("escapes are shown", ({"kind": "text", "delta": "\x1b[2Ja\rb\u202e"},), "\\u{1b}[2Ja\\u{d}b\\u{202e}\n"),
    ("thinking, then text", ({"kind": "thinking", "delta": "hm"}, {"kind": "text", "delta": "a"}), "hm\na\n"),
    (
        "a call is told once",
        (call("pending", title="read_file a.py"), call("in_progress"), call("completed")),
        "● read_file a.py\n",
    ),
    *(
        (
            f"figures: {words}",
            (call("in_progress", title="run"), call("completed", outcome=outcome)),
            f"● run\n  {words}\n",
        )
        for outcome, words in FIGURES
    ),
    (
        "places of failed tests",
        (
            call("in_progress", title="run_tests pytest"),
            call("completed", outcome={"counts": "7 failed"}, locations=[{"uri": "file:///ws/a.py"}, *FAILED_AT]),
        ),
        "● run_tests pytest\n  7 failed\n  a.py\n  a.py:8\n" + "  a.py:9\n" * 3 + "  and 2 more\n",
    ),
    (
        "a call that fails",
        (
            call("in_progress", title="read_file a.py", name="read_file"),
            call("failed", content=[{"type": "text", "text": "no\nsuch file"}]),
        ),
        "● read_file a.py\n  ✗ failed: no⏎such file\n",
    ),
    (
        "a failure as the model reads it",
        (call("failed", name="edit_file", content=[{"type": "text", "text": '{"error": {"message": "not unique"}}'}]),),
        "● edit_file\n  ✗ failed: not unique\n",
    ),
    (
        "text and calls stay apart",
        ({"kind": "text", "delta": "a"}, call("waiting", title="edit a.py")),
        "a\n● edit a.py\n",
    ),
    ("plan", ({"kind": "plan", "entries": [{"content": "x", "status": "completed"}]},), "[x] x\n"),
    ("notice", ({"kind": "notice", "level": "warning", "message": "retrying"},), "retrying\n"),
    ("unknown kinds", ({"kind": "weather", "sun": True}, {"kind": "usage"}), ""),
]


@pytest.mark.parametrize(("updates", "expected"), [row[1:] for row in UPDATES], ids=[row[0] for row in UPDATES])
def test_updates(updates: tuple[dict[str, Any], ...], expected: str) -> None:
    assert shown(*updates) == expected


def test_the_end_is_one_line_and_an_error_names_its_fix() -> None:
    drawn, out = screen()
    drawn.show_end(
        {
            "stopReason": "end_turn",
            "edits": [{"uri": "file:///ws/src/a.py", "state": "applied"}],
            "changedByCommand": ["file:///elsewhere/b"],
            "usage": {"inputTokens": 8000, "outputTokens": 100, "costUsd": 0.0123},
        }
    )
    drawn.show_end({"stopReason": "error", "error": {"code": "missing_key", "message": "no key", "hint": "set A_KEY"}})
    assert out.getvalue() == (
        "end turn · src/a.py applied · /elsewhere/b changed by a command · 8,100 tokens · $0.0123\n"
        "error: no key\nset A_KEY\n"
    )


def test_a_command_that_changed_many_files() -> None:
    """Of a build, say."""
    drawn, out = screen()
    drawn.show_end({"stopReason": "end_turn", "changedByCommand": [f"file:///ws/{number}.o" for number in range(70)]})
    assert out.getvalue().count("changed by a command") == 5
    assert out.getvalue().endswith(" · 65 more files changed by commands\n")


def hunk(line: int, old: str, new: str) -> dict[str, Any]:
    return {"range": {"start": {"line": line, "character": 0}}, "oldText": old, "newText": new}


LINES = ["1\n", "2\n", "3\n", "4\n", "5\n", "6\n", "7\n", "8\n"]


@pytest.mark.parametrize(
    ("proposed", "lines", "expected"),
    [
        (
            hunk(4, "5\n", "V\n"),
            LINES,
            "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+V\n 6\n 7\n 8\n",
        ),
        (hunk(0, "", "0\n"), LINES[:1], "@@ -1,1 +1,2 @@\n+0\n 1\n"),
        (hunk(7, "8\n", ""), LINES, "@@ -5,4 +5,3 @@\n 5\n 6\n 7\n-8\n"),
        (
            hunk(1, "b", "B"),
            ["a\r\n", "b"],
            "@@ -1,2 +1,2 @@\n a\n-b\n\\ no newline at the end\n+B\n\\ no newline at the end\n",
        ),
        (hunk(9, "x\n", "\x1b\u2028y\n"), [], "@@ -10,1 +10,1 @@\n-x\n+\\u{1b}\\u{2028}y\n"),
    ],
)
def test_a_hunk_is_a_unified_diff(proposed: dict[str, Any], lines: list[str], expected: str) -> None:
    assert draw_hunk(proposed, lines).plain == expected


CHANGED: list[tuple[str, list[str], list[str], list[str], list[str]]] = [
    ("a word", ["x = one"], ["x = two"], ["one"], ["two"]),
    ("the line that is most alike", ["return a / b"], ["if not b:", "return a / float(b)"], [], ["float(", ")"]),
    ("lines without much in common", ["import os"], ["x = 1"], [], []),
    ("in order", ["a = f(1)", "b = f(2)"], ["a = f(3)", "b = f(4)"], ["1", "2"], ["3", "4"]),
    ("only new lines", [], ["x"], [], []),
    ("a long line", ["x" * 500 + " a"], ["x" * 500 + " b"], [], []),
    ("many lines", ["x = 1"] * 30, ["x = 2"] * 30, [], []),
]


@pytest.mark.parametrize(
    ("old", "new", "removed", "added"), [row[1:] for row in CHANGED], ids=[row[0] for row in CHANGED]
)
def test_words_that_changed(old: list[str], new: list[str], removed: list[str], added: list[str]) -> None:
    in_old, in_new = changed_words(old, new)
    for lines, columns, expected in ((old, in_old, removed), (new, in_new, added)):
        found = [line[start:end] for line, row in zip(lines, columns, strict=True) for start, end in row]
        assert found == expected


def styles_at(drawn: Text, words: str) -> set[str]:
    at = drawn.plain.index(words)
    return {str(span.style) for span in drawn.spans if span.start <= at < span.end}


def test_a_diff_has_the_colours_of_its_language_and_marks_changed_words() -> None:
    lines = ["def f():\n", '    """Begins\n', "    ends.\n", '    """\n', "    return 1  # why\n"]
    drawn = draw_hunk(hunk(4, lines[4], "    return 12  # why\n"), lines, "src/a b.py")
    assert any("on color(28)" in style for style in styles_at(drawn, "12"))
    assert any("on color(88)" in style for style in styles_at(drawn, "1  # why\n+"))
    assert not any("color(28)" in style for style in styles_at(drawn, "  # why\n"))
    assert "italic #c9d1d9" in styles_at(drawn, "# why")
    assert "#ff7b72" in styles_at(drawn, "return 12")
    in_string = draw_hunk(hunk(2, lines[2], "    return.\n"), lines, "a.py")
    assert "#a5d6ff" in styles_at(in_string, "return."), "the lines before it begin a string"
    unknown = draw_hunk(hunk(4, lines[4], "    return 12  # why\n"), lines, "a.nothing")
    assert not any(
        style.startswith("#") and style != "#e6edf3 on color(22)" for style in styles_at(unknown, "return 12")
    )


def test_without_colours_changed_words_are_bold() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, color_system="256", no_color=True)
    console.print(draw_hunk(hunk(0, "x = 1\n", "x = 2\n"), [], "a.py"))
    assert "\x1b[1m2\x1b[0m" in out.getvalue()
    assert not re.search(r"\x1b\[[0-9;]*[34][0-9][;m]", out.getvalue())


def test_diffs_are_coloured_and_have_context_from_the_file(tmp_path: Path) -> None:
    (tmp_path / "a b.py").write_bytes(b"1\n2\n")
    drawn, out = screen(tmp_path, colours=True)
    drawn.show_edits([{"uri": (tmp_path / "a b.py").as_uri(), "version": None, "hunks": [hunk(1, "2\n", "II\n")]}])
    assert "\x1b[1;37;41m-" in out.getvalue()
    assert "\x1b[1;37;42m+" in out.getvalue()
    assert "\x1b[2m 1" in out.getvalue()
    assert "a b.py" in out.getvalue()


def test_one_line_is_cut() -> None:
    assert one_line(" a\nb\tc ") == "a⏎b⇥c"
    assert len(one_line("x" * 500)) == 200
    assert visible("née ok ⚠️") == "née ok ⚠️"
    assert visible("\u3164\U000e0041\ud800\x7f") == "\\u{3164}\\u{e0041}\\u{d800}\\u{7f}"
