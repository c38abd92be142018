"""How much longer a command takes because undo can take back what it changes: 5,000 files, 20 of them changed.

    python -m tests.benchmarks.bench_command_checkpoints

Prints milliseconds of the processor, and of the wall clock: what a command cost before (stamps of all files), what it
costs now, and what a command that deletes everything costs, with its undo.
"""

import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from tark_lsp.tools.file_stamps import changed_since, take_stamps
from tark_lsp.workspace.checkpoints.commands.running_command import RunningCommand
from tark_lsp.workspace.search.search_program import SearchProgram
from tests.workspace.command_bench import TURN, CommandBench

FILES, CHANGED, RUNS = 5000, 20, 7
AWAY = "find . -mindepth 1 ! -path ./.git ! -path './.git/*' -delete"
T = TypeVar("T")


async def timed(label: str, work: Callable[[], Awaitable[T]], runs: int = RUNS) -> T:
    spent: list[float] = []
    waited: list[float] = []
    for _ in range(runs):
        processor, clock = time.process_time(), time.perf_counter()
        result = await work()
        spent.append(1000 * (time.process_time() - processor))
        waited.append(1000 * (time.perf_counter() - clock))
    middle = statistics.median
    print(f"{label:34} processor {middle(spent):7.0f} (first {spent[0]:.0f})   clock {middle(waited):7.0f} ms")
    return result


async def measure(bench: CommandBench) -> None:
    program = SearchProgram.find_installed(bench.folders)
    stamps = await timed("before: stamps", lambda: take_stamps(program, bench.root, ()))
    await timed("before: what changed", lambda: changed_since(stamps, program, bench.root, ()))
    await timed("can it be undone? (no command yet)", lambda: bench.commands.why_not(bench.folders))
    running: list[RunningCommand] = []

    async def begin() -> None:
        running.append(await bench.commands.begin(TURN, bench.folders))

    await timed("now: begin", begin)
    await timed("now: finish, nothing changed", lambda: bench.commands.finish(running.pop()))
    await begin()
    await bench.shell(AWAY)
    await timed("finish, all deleted", lambda: bench.commands.finish(running.pop()), 1)
    await timed("undo", bench.undo, 1)
    await timed("redo", bench.redo, 1)


def main() -> None:
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as top:
        bench = CommandBench(Path(top).resolve() / "project", Path(top).resolve() / "state")
        for number in range(FILES):
            lines = "".join(f"line {chance.random()}\n" for _ in range(400))
            bench.write(f"folder_{number % 250}/file_{number}.py", lines)
        bench.git("init", "-q")
        bench.git("add", "-A")
        bench.git("commit", "-qm", "all")
        bench.git("gc", "-q")
        for number in range(CHANGED):
            bench.write(f"folder_{number}/file_{number}.py", "changed\n" * 300)
        asyncio.run(measure(bench))


if __name__ == "__main__":
    main()
