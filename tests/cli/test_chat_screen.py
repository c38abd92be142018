"""What the terminal chat prints, and what it draws while it is unfinished."""

import io
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from tark_lsp.cli.chatting.chat_screen import ChatScreen, StyledLine
from tark_lsp.cli.chatting.chat_session import SessionFacts
from tark_lsp.cli.chatting.replay import MAX_MESSAGES, replay
from tark_lsp.cli.chatting.session_reports import usage_lines
from tark_lsp.cli.chatting.status import status_line
from tests.exhaustive import examples


def screen(width: int = 60) -> tuple[ChatScreen, io.StringIO]:
    out = io.StringIO()
    return ChatScreen(Console(file=out, width=width, highlight=False, markup=False), Path("/ws")), out


def plain(lines: list[StyledLine]) -> list[str]:
    return ["".join(text for _, text in line).rstrip() for line in lines]


def said(out: io.StringIO) -> list[str]:
    return [line.rstrip() for line in out.getvalue().split("\n") if line.strip()]


def call(call_id: str, status: str, **more: Any) -> dict[str, Any]:
    return {"kind": "toolCall", "toolCallId": call_id, "status": status, **more}


def text(delta: str, kind: str = "text") -> dict[str, Any]:
    return {"kind": kind, "delta": delta}


def test_calls_are_shown_while_they_run_and_once_when_they_are_over() -> None:
    shown, out = screen()
    for update in (
        call("1", "pending", title="read_file a.py", name="read_file"),
        call("2", "pending", title="run_command x\x1b[2J"),
        call("1", "in_progress"),
        call("2", "waiting"),
    ):
        shown.update(update)
    assert plain(shown.unfinished_lines(9, 60)) == ["● read_file a.py", "? run_command x\\u{1b}[2J"]
    shown.update(call("2", "rejected", content=[{"type": "text", "text": '{"error": {"message": "denied"}}'}]))
    shown.update(call("1", "completed"))
    assert shown.unfinished_lines(9, 60) == []
    shown.update(call("3", "completed", title="run_command y", outcome={"exitCode": 1, "seconds": 2.5}))
    place = {"uri": "file:///ws/a.py", "range": {"start": {"line": 8}}}
    shown.update(call("4", "completed", title="run_tests z", outcome={"counts": "1 failed"}, locations=[place]))
    assert said(out) == [
        "✗ run_command x\\u{1b}[2J: rejected: denied",
        "✓ read_file a.py",
        "✗ run_command y  exit 1 · 2.5 s",
        "✓ run_tests z  1 failed",
        "  a.py:9",
    ]


def test_lines_are_wrapped_between_words_unless_they_are_exact() -> None:
    shown, out = screen(20)
    shown.print_line("a message of more than one line")
    shown.print_line(f"a  command {'x' * 20}", exact=True)
    assert said(out) == ["a message of more", "than one line", f"a  command {'x' * 20}"]


def test_what_nobody_told_the_end_of_is_said_at_the_end() -> None:
    shown, out = screen()
    shown.update(call("1", "in_progress", title="run_command x"))
    shown.update(
        {"kind": "plan", "entries": [{"content": "a", "status": "completed"}, {"content": "b", "status": "x"}]}
    )
    assert plain(shown.unfinished_lines(9, 60)) == ["● run_command x", "[x] a", "[?] b"]
    assert said(out) == []
    shown.update({"kind": "end"})
    assert said(out) == ["● run_command x: it is not known how this ended", "[x] a", "[?] b"]
    assert shown.unfinished_lines(9, 60) == []


@pytest.mark.parametrize(
    ("deltas", "rows", "columns", "expected"),
    [
        (["a\nb\nc"], 2, 60, ["", "a b c"]),
        (["a\n", "b " * 2_000], 2, 60, ["b" + " b" * 29] * 2),
        (["# A *b"], 9, 60, ["", "A *b"]),
        (["- [x] a\n- `b"], 9, 60, ["", " • ☑ a", " • `b"]),
        (["x" * 25], 9, 10, ["", "xxxxxxxxxx", "xxxxxxxxxx", "xxxxx"]),
        (["x" * 1_000_000], 3, 10, ["x" * 10] * 3),
        (["世界世界"], 9, 5, ["", "世界", "世界"]),
        (["\x1b[2J"], 9, 60, ["", "\\u{1b}[2J"]),
        (["```\n", "a\n\n", "b"], 9, 60, ["", " a", "", " b"]),
        (["done\n\n"], 9, 60, ["", "done"]),
        ([], 9, 60, []),
    ],
)
def test_the_block_being_written(deltas: list[str], rows: int, columns: int, expected: list[str]) -> None:
    shown, _ = screen()
    for delta in deltas:
        shown.update(text(delta))
    assert plain(shown.unfinished_lines(rows, columns)) == expected


TEXT = """# Head

Some *words*
and more.

1. a

2. b

```py
x

y
```
End [a](http://b) | c

| a |
|---|
| b |
"""


def streamed(pieces: list[str]) -> str:
    shown, out = screen()
    for piece in pieces:
        shown.update(text(piece))
    shown.finish_turn()
    return out.getvalue()


@settings(max_examples=examples(40))
@given(st.lists(st.integers(0, len(TEXT)), max_size=20))
def test_any_cut_of_the_stream_ends_in_the_same_screen(cuts: list[int]) -> None:
    assert streamed([TEXT[start:end] for start, end in pairwise(sorted({0, len(TEXT), *cuts}))]) == streamed([TEXT])


def test_thinking_is_no_markdown_and_is_told_apart() -> None:
    shown, out = screen()
    shown.update(text("*hm*\n\nso ", "thinking"))
    assert shown.unfinished_lines(9, 60) == [[("class:thinking", item)] for item in ("*hm*", "", "so ")]
    shown.update(text("*yes*"))
    shown.finish_turn()
    assert said(out) == ["*hm*", "so", "yes"]


def test_a_long_session_is_shown_from_its_end() -> None:
    shown, out = screen(100)
    messages: list[dict[str, Any]] = [{"role": "user", "text": f"prompt {n}"} for n in range(MAX_MESSAGES + 5)]
    messages[-1] = {"role": "assistant", "text": "**bold**", "toolCalls": [call("1", "cancelled", name="x")]}
    turns = [{"turnId": "t", "error": {"message": "it was cut off"}}]
    replay({"sessionId": "s", "title": "T\x1b", "messages": messages, "turns": turns}, shown)
    lines = said(out)
    assert lines[:3] == [
        "session: T\\u{1b}",
        "5 earlier messages are not shown; /export writes all messages to a file",
        "❯ prompt 5",
    ]
    assert lines[-3:] == ["bold", "✗ x: cancelled", "the last turn: it was cut off"]


FULL = SessionFacts("a/b", "ask", "manual", "high", 12_345, 200_000, 0.5, 0.0123)
STATUS: list[tuple[SessionFacts, str, int, str]] = [
    (SessionFacts(), "", 120, "no model yet"),
    (SessionFacts("a/b", "build", "careful", "auto"), "", 120, "a/b · build · careful"),
    (
        FULL,
        "working 3 s",
        120,
        "working 3 s · a/b · ask · manual · thinking high · context 12.3k of 200k (6 %) · $0.5123",
    ),
    (FULL, "working 3 s", 87, "working 3 s · a/b · ask · manual · thinking high · context 12.3k of 200k (6 %)"),
    (FULL, "working 3 s", 60, "working 3 s · a/b · ask · manual · thinking high"),
    (FULL, "working 3 s", 5, "working 3 s"),
    (SessionFacts("a/世界", "ask"), "", 12, "a/世界 · ask"),
    (SessionFacts("a/世界", "ask"), "", 11, "a/世界"),
    (
        SessionFacts("a/b", "ask", "manual", "auto", 1_000, None, None, None),
        "",
        120,
        "a/b · ask · manual · context 1.0k",
    ),
]


@pytest.mark.parametrize(("facts", "doing", "columns", "expected"), STATUS)
def test_the_status_line(facts: SessionFacts, doing: str, columns: int, expected: str) -> None:
    assert status_line(facts, doing, columns) == expected


def test_usage_is_a_line_for_each_model_and_one_for_all() -> None:
    rows = [
        {"model": "a/b", "inputTokens": 1000, "cachedTokens": 10, "outputTokens": 5, "costUsd": 0.25},
        {"model": "scripted/long", "unpricedRequests": 2},
    ]
    total = {"inputTokens": 1000, "cachedTokens": 10, "outputTokens": 5, "costUsd": 0.25, "unpricedRequests": 2}
    assert usage_lines({"models": rows, "total": total}) == [
        "a/b            1,000 in (10 cached), 5 out, cost $0.2500",
        "scripted/long  0 in (0 cached), 0 out, cost unknown",
        "all            1,000 in (10 cached), 5 out, cost $0.2500 + 2 unknown",
    ]
    assert usage_lines({"models": rows[:1], "total": total}) == [
        "a/b  1,000 in (10 cached), 5 out, cost $0.2500",
    ]
    assert usage_lines({}) == ["no usage yet"]
