"""How long the event loop stands still while edit tools preview an edit: the gaps between the ticks of a coroutine.

    uv run python -m tests.benchmarks.bench_stalls [SECONDS]

Each kind of edit is previewed again and again for so many seconds, as the server does. A row has the percentiles of
the gaps: the time by the clock, and, since other programs make that longer, the processor time that this process used
in the gap. That is how long the event loop waited for a thread, or for what ran on the loop itself (last columns).
"""

import asyncio
import gc
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from tark_lsp.agent.drafts import compare_edits
from tark_lsp.errors import FailureForModel
from tark_lsp.server.handshake import SWITCH_SECONDS
from tark_lsp.tools import load_tools
from tark_lsp.tools.tool import ToolContext
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.placing.thread import in_thread
from tests.memory import MemoryBuffers, MemoryEditor

PAUSE = 0.001
"""Seconds between two ticks."""
NAME = "a.py"
EQUAL = "x\n" * 100_000
LINES = [f"line {number}\n" if number % 40 else "    return None\n" for number in range(20_000)]
SOURCE = "".join(LINES)
BIG = "".join(f"    value_{number % 9999} = call_{number % 700}({number})\n" for number in range(140_000))
LONG_LINE = "ab" * 2_500_000


def patch_of(*chunks: str) -> str:
    return f"*** Begin Patch\n*** Update File: {NAME}\n" + "".join(f"@@\n{chunk}" for chunk in chunks)


CHUNKS = [
    f" {LINES[at]}-{LINES[at + 1]}+new {at}\n {LINES[at + 2]}"
    for at in range(1, 19_990, 6)
    if all(line.startswith("line") for line in LINES[at : at + 3])
]
EDITS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "a file of 1,000 lines": (
        "".join(LINES[:1000]),
        "edit_file",
        {"old_text": "line 499\n", "new_text": "line 500\n"},
    ),
    "1,000 lines, not exact": (
        "".join(LINES[:1000]),
        "edit_file",
        {"old_text": "line 498\nline 499 b\n", "new_text": "line 500\n"},
    ),
    "500 equal lines of 20,000, a hint": (
        SOURCE,
        "edit_file",
        {"old_text": "    return None\n", "new_text": "    return 1\n", "line_hint": 8041},
    ),
    "500 equal lines of 20,000, all": (
        SOURCE,
        "edit_file",
        {"old_text": "    return None\n", "new_text": "    return 1\n", "replace_all": True},
    ),
    "100,000 equal lines, 2,001 quoted": (EQUAL, "edit_file", {"old_text": "x\n" * 2001, "new_text": "y\n"}),
    "100,000 equal lines, a hint": (
        EQUAL,
        "edit_file",
        {"old_text": "x\n" * 2001, "new_text": "y\n", "line_hint": 5000},
    ),
    "100,000 equal lines, one differs": (EQUAL, "edit_file", {"old_text": "x\n" * 2000 + "z\n", "new_text": "y\n"}),
    "100,000 equal lines, all": (EQUAL, "edit_file", {"old_text": "x\n", "new_text": "y\n", "replace_all": True}),
    "a letter in a line of 5 MB": (LONG_LINE, "edit_file", {"old_text": "a", "new_text": "y"}),
    "a line of 5 MB, not there": (LONG_LINE, "edit_file", {"old_text": "ab" * 2000 + "c", "new_text": "y"}),
    "a line of 5 MB of one letter": ("a" * 5_000_000, "edit_file", {"old_text": "a" * 2000 + "b", "new_text": "y"}),
    "5 MB of lines, not there": (BIG, "edit_file", {"old_text": "    value = call\n" * 3, "new_text": "y\n"}),
    "5 MB of lines, one line": (
        BIG,
        "edit_file",
        {"old_text": "    value_7 = call_0(70000)\n", "new_text": "y\n"},
    ),
    "a patch of 3,000 chunks": (SOURCE, "apply_patch", {"patch": patch_of(*CHUNKS)}),
    "3,000 equal chunks": ("x\n" * 20_000, "apply_patch", {"patch": patch_of(*["-x\n+y\n"] * 3_000)}),
    "write_file of 20,000 new lines": (SOURCE, "write_file", {"content": SOURCE.replace("line", "row")}),
    "write_file of 5 MB, 1,000 lines differ": (BIG, "write_file", {"content": BIG.replace("(1", "(2", 1000)}),
    "write_file of 5 MB, every line differs": (BIG, "write_file", {"content": BIG.replace("value", "v")}),
    "write_file of 5 MB, new file": ("", "write_file", {"content": BIG}),
    "write_file of 5 MB in one line": (LONG_LINE, "write_file", {"content": LONG_LINE.replace("a", "c")}),
}


class Ticks:
    """Gaps between the ticks of a coroutine, in ms: by the clock, in processor time, and in that of the event loop."""

    def __init__(self) -> None:
        self.gaps: list[tuple[float, float, float]] = []

    async def run(self) -> None:
        at, used, own = time.perf_counter(), time.process_time(), time.thread_time()
        while True:
            await asyncio.sleep(PAUSE)
            now, spent, mine = time.perf_counter(), time.process_time(), time.thread_time()
            self.gaps.append(((now - at - PAUSE) * 1e3, (spent - used) * 1e3, (mine - own) * 1e3))
            at, used, own = now, spent, mine


async def preview(text: str, tool_name: str, arguments: dict[str, Any], root: Path) -> None:
    """Previews the edit in an open document and compares it with the drafts, as the agent does."""
    buffers = MemoryBuffers()
    context = ToolContext(Workspace([root], buffers), MemoryEditor(buffers))
    buffers.open(root / NAME, text)
    tool = load_tools()[tool_name]
    given = tool.arguments(**(arguments if tool_name == "apply_patch" else {"path": NAME, **arguments}))
    with suppress(FailureForModel):
        edits = (await tool.preview(given, context)).edits
        await in_thread(compare_edits, edits, {}, None)


async def gaps_of(work: Callable[[], Any], seconds: float) -> list[tuple[float, float, float]]:
    ticks = Ticks()
    ticking = asyncio.ensure_future(ticks.run())
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        await asyncio.sleep(0)
        await work()
    await asyncio.sleep(2 * PAUSE)
    ticking.cancel()
    return ticks.gaps


def row(name: str, gaps: list[tuple[float, float, float]]) -> str:
    cells = []
    for some in zip(*gaps, strict=True):
        cuts = statistics.quantiles(some, n=100) if len(some) > 1 else some * 99
        cells += [f"{cuts[49]:7.1f}{cuts[98]:7.1f}{max(some):7.1f}"]
    return f"{name:40}{len(gaps):7} {'  '.join(cells)}"


async def main(seconds: float, only: str) -> None:
    print(f"{'ms, p50 p99 max':40}{'ticks':>7} {'by the clock':>21}  {'processor':>21}  {'of it the loop':>21}")
    print(row("nothing", await gaps_of(lambda: asyncio.sleep(0.05), seconds)))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for name, (text, tool, arguments) in EDITS.items():
            if only in name:
                (root / NAME).write_text(text)
                print(row(name, await gaps_of(partial(preview, text, tool, arguments, root), seconds)), flush=True)


if __name__ == "__main__":
    load_tools()
    gc.freeze()  # as the server does
    sys.setswitchinterval(SWITCH_SECONDS)
    asyncio.run(main(float(sys.argv[1]) if len(sys.argv) > 1 else 3.0, sys.argv[2] if len(sys.argv) > 2 else ""))
