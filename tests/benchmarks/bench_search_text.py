"""`search_text` beside ripgrep itself: the time of a call, as a ratio, in one run.

    uv run python -m tests.benchmarks.bench_search_text FOLDER [ROUNDS]

ripgrep has its usual threads, searches the same files for the same pattern, and its output is read. It shows all
matching lines, `search_text` ends after 100: `many` shows what that saves. Goal: at most 1.2.
"""

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from tark_lsp.tools.search_text import TOOL
from tark_lsp.tools.tool import ToolContext
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.search.search_program import ALWAYS, SearchProgram
from tests.memory import MemoryBuffers, MemoryEditor

PATTERNS = {
    "none": "no_line_has_this_at_all",
    "few": "should_strip_auth",
    "dozens": r"def \w*redirect\w*\(",
    "many": r"\bself\b",
}


def by_ripgrep(folder: Path, pattern: str) -> None:
    program = SearchProgram.find_installed([folder])
    options = ["--line-number", "--with-filename", "--no-heading", "--ignore-case", f"--regexp={pattern}"]
    subprocess.run([*program.argv, *ALWAYS, *options, "--", folder], capture_output=True, check=False)


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    start = time.perf_counter()
    await work()
    return time.perf_counter() - start


async def run(folder: Path, rounds: int) -> None:
    buffers = MemoryBuffers()
    ctx = ToolContext(Workspace([folder], buffers), MemoryEditor(buffers))

    async def by_tool(pattern: str) -> None:
        arguments = TOOL.arguments(pattern=pattern)
        assert TOOL.run is not None
        await TOOL.run(arguments, ctx, await TOOL.preview(arguments, ctx))

    print("| matching lines | ripgrep ms | search_text ms | ratio |\n|---|---|---|---|")
    for name, pattern in PATTERNS.items():
        one: list[float] = []
        other: list[float] = []
        for _ in range(rounds):
            one.append(await timed(lambda: asyncio.to_thread(by_ripgrep, folder, pattern)))  # noqa: B023  # awaited
            other.append(await timed(lambda: by_tool(pattern)))  # noqa: B023  # awaited
        ripgrep, tool = 1000 * statistics.median(one), 1000 * statistics.median(other)
        print(f"| {name} | {ripgrep:.0f} | {tool:.0f} | {tool / ripgrep:.2f} |")


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]).resolve(), int((*sys.argv[1:], "15")[1])))
