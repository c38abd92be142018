"""Placing ends soon for every text: linear search, a limit of processor time, and a thread."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from random import Random
from typing import Any

import pytest

from tark_lsp.errors import ToolError
from tark_lsp.tools.patch_format import parse_patch
from tark_lsp.tools.patch_placing import patched
from tark_lsp.workspace.placing.deadline import SECONDS, Budget, _budget, check_time, limited_time, one_budget
from tark_lsp.workspace.placing.placing import place_edit
from tests.cases import every
from tests.tools.conftest import Bench, bench

__all__ = ["bench"]
pytestmark = pytest.mark.slow  # much text in each test

EQUAL = "x\n" * 100_000
"""200 kB of equal lines."""
LONG_LINE = "ab" * 2_500_000
"""One line of 5 MB."""
LINES = [f"line {number}\n" if number % 40 else "    return None\n" for number in range(20_000)]
SOURCE = "".join(LINES)


def update(*chunks: str) -> str:
    return "*** Begin Patch\n*** Update File: a\n" + "".join(f"@@{chunk}" for chunk in chunks)


def chunks_of_source(header: str = "") -> list[str]:
    return [
        f"{header and f' {LINES[at].strip()}'}\n {LINES[at]}-{LINES[at + 1]}+new {at}\n {LINES[at + 2]}"
        for at in range(1, 19_990, 6)
        if all(line.startswith("line") for line in LINES[at : at + 3])
    ]


def patch(source: str, *chunks: str) -> Callable[[], str]:
    return lambda: patched(source, parse_patch(update(*chunks))[0].chunks)


def place(source: str, old: str, new: str = "y\n", **more: Any) -> Callable[[], str]:
    return lambda: place_edit(source, old, new, **more)


def random_lines(seed: int, letters: str) -> str:
    random = Random(seed)
    return "".join(f"{random.choice(letters)}\n" for _ in range(3_000))


WORK = {
    "equal lines": place(EQUAL, "x\n" * 2001),
    "equal lines, a hint": place(EQUAL, "x\n" * 2001, line_hint=5000),
    "equal lines, no newline at the end": place(EQUAL, ("x\n" * 2001)[:-1]),
    "equal lines, all": place(EQUAL, "x\n" * 2001, replace_all=True),
    "equal lines, the last one differs": place(EQUAL, "x\n" * 2000 + "z\n"),
    "equal lines, the first one differs": place(EQUAL, "z\n" + "x\n" * 2000),
    "equal lines, re-indented": place("  x\n" * 50_000, "x\n" * 2001),
    "equal lines, CRLF": place(EQUAL.replace("\n", "\r\n"), "x\n" * 2001),
    "equal lines, tabs for spaces": place("\tif x:\n\t\tx\n" * 20_000, "    if x:\n        x\n" * 900),
    "equal lines, numbers": place(EQUAL, "".join(f"{n}: x\n" for n in range(1, 2002))),
    "equal lines, look-alike": place("x“\n" * 50_000, 'x"\n' * 2001),
    "equal lines, blank lines": place("x\n\n" * 50_000, "x\n\n\n" * 901),
    "equal lines, elided": place(EQUAL, "x\n...\n" * 1000),
    "equal lines, new lines left out": place(EQUAL, "x\n" * 2001, "x\n" * 1000 + "...\n" + "x\n" * 1000),
    "one line, all": place(EQUAL, "x\n", replace_all=True),
    "a short text in a long line": place(LONG_LINE, "a"),
    "a short text in a long line, all": place(LONG_LINE, "a", replace_all=True),
    "a short text in a long line, a hint": place(LONG_LINE, "a", line_hint=1),
    "a long text in a long line": place("a" * 5_000_000, "a" * 2_000),
    "a long text in a long line, not there": place("a" * 5_000_000, "a" * 2_000 + "b"),
    "a long line of blanks": place(" " * 5_000_000 + "x", " " * 3_000 + "y"),
    "many short lines of blanks": place("   \n" * 100_000 + "x\n", "   \n" * 500 + "x\n"),
    "an old text as long as the file": place(SOURCE, SOURCE.replace("line 19999", "line")),
    "500 equal lines": place(SOURCE, "    return None\n"),
    "lines in another order": place(random_lines(1, "ab"), random_lines(1, "ab"), random_lines(2, "ab")),
    "lines in another order, eight kinds": place(
        random_lines(1, "abcdefgh"), random_lines(1, "abcdefgh"), random_lines(2, "abcdefgh")
    ),
    "many chunks": patch(SOURCE, *chunks_of_source()),
    "many chunks with headers": patch(SOURCE, *chunks_of_source("@")),
    "many equal chunks": patch(SOURCE, *["\n-    return None\n+    return 1\n"] * 500),
    "many equal chunks of equal lines": patch("x\n" * 20_000, *["\n-x\n+y\n"] * 3_000),
    "many unlike chunks of equal lines": patch("x\n" * 20_000, *[f"\n-x\n+{n}\n" for n in range(3_000)]),
    "a long chunk of equal lines": patch(EQUAL, "\n" + "-x\n" * 2001 + "+y\n"),
    "many chunks that are not there": patch(SOURCE, *[f"\n-line {n}\n-line {n + 2}\n+z\n" for n in range(1, 3000)]),
    "many headers that begin lines": patch(SOURCE, *[f" line\n-line {n}\n+z\n" for n in range(41, 3000, 40)]),
    "a header of blanks": patch("a\n", " a" + " " * 200_000 + "b\n-a\n+b\n"),
    "a path of blanks": lambda: str(parse_patch("*** Begin Patch\n*** Update File: a" + " " * 200_000 + "b\n-a\n")),
    "new lines of blanks": place("a\nb\n", "a\n", "# ..." + " " * 200_000 + "x\n"),
    "new lines of dots": place("a\nb\n", "a\n", "# " + "." * 200_000 + "x\n"),
    "new lines of words": place("a\nb\n", "a\n", "# rest " * 50_000 + "\n"),
    "new lines of digits": place("a\nb\n", "a\n", "1" * 200_000 + "\n" + "2" * 200_000 + "\n"),
}
LONGEST = 5 * SECONDS
"""Of processor time: with the time for reading the patch and for the message of a refusal."""


@contextmanager
def quarter_of_the_limit() -> Iterator[None]:
    """What would go on for long is stopped sooner, so that such a case takes no whole second."""
    token = _budget.set(Budget(SECONDS / 4))
    try:
        yield
    finally:
        _budget.reset(token)


@every("name", WORK)
def test_no_text_takes_long(name: str) -> None:
    began = time.thread_time()
    with suppress(ToolError), quarter_of_the_limit():
        WORK[name]()
    assert time.thread_time() - began < LONGEST


APPLIED = ("many chunks", "many chunks with headers", "many equal chunks", "equal lines, all", "equal lines, a hint")


@pytest.mark.parametrize("name", APPLIED[:1] + APPLIED[2:3])
def test_large_edits_are_applied(name: str) -> None:
    assert "new" in WORK[name]() or "return 1" in WORK[name]()


@pytest.mark.parametrize("hint", [None, 8041, 8042])
def test_many_equal_lines_in_a_large_file_take_no_time(hint: int | None) -> None:
    began = time.thread_time()
    if hint is None:
        with pytest.raises(ToolError, match="500 places"):
            place_edit(SOURCE, "    return None\n", "    return 1\n")
    else:
        after = place_edit(SOURCE, "    return None\n", "    return 1\n", line_hint=hint)
        assert after == "".join([*LINES[:8040], "    return 1\n", *LINES[8041:]])
    assert time.thread_time() - began < LONGEST


def test_the_limit_is_one_for_all_that_a_call_does() -> None:
    with one_budget():
        with limited_time():
            _use_processor(SECONDS / 2)
            with limited_time():  # inside another block, its limit holds
                check_time()
        with limited_time():
            _use_processor(SECONDS * 0.6)
            with pytest.raises(ToolError) as caught:
                check_time()
    assert caught.value.code == "too_large"
    assert "fewer lines" in caught.value.hint
    check_time()  # without a limit
    with limited_time():
        check_time()


def _use_processor(seconds: float) -> None:
    ends = time.thread_time() + seconds
    while time.thread_time() < ends:
        pass


CALLS: dict[str, dict[str, Any]] = {
    "edit_file": {"path": "a.py", "old_text": "x\n" * 2001, "new_text": "y\n"},
    "propose_edit": {"path": "a.py", "old_text": "x\n" * 2001, "new_text": "y\n"},
    "apply_patch": {"patch": update("\n" + "-x\n" * 2001 + "+y\n").replace("File: a", "File: a.py")},
    "write_file": {"path": "a.py", "content": "y\nx\n" * 50_000},
}


@pytest.mark.parametrize("tool", CALLS)
async def test_the_event_loop_goes_on_while_a_place_is_sought(bench: Bench, tool: str) -> None:
    bench.write("a.py", EQUAL)
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.ensure_future(count())
    with suppress(ToolError):
        await bench.preview(tool, **CALLS[tool])
    counting.cancel()
    assert turns > 5
