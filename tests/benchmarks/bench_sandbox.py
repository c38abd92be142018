"""How much longer a command takes in the sandbox than without.

`python -m tests.benchmarks.bench_sandbox [ROUNDS] [FOLDERS]`. FOLDERS: how many the workspace has, with 10 files each.
Prints the lowest, which a busy machine changes least, and the median. Goal: the spawn takes at most 60 ms more; *all*
includes the search before and after.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tark_lsp.sandbox.planning import Places
from tark_lsp.sandbox.sandbox import Sandbox

COMMAND = ("/bin/sh", "-c", ":")
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


async def spawn(argv: tuple[str, ...]) -> float:
    started = time.perf_counter()
    process = await asyncio.create_subprocess_exec(*argv, env=ENVIRONMENT)
    await process.wait()
    return (time.perf_counter() - started) * 1e3


def make_workspace(root: Path, folders: int) -> Path:
    for number in range(folders):
        folder = root / "workspace" / str(number // 50) / str(number)
        folder.mkdir(parents=True)
        for name in range(10):
            (folder / f"{name}.py").touch()
    (root / "workspace" / ".git").mkdir(parents=True)
    (root / "home").mkdir()
    return root / "workspace"


async def main(rounds: int, folders: int) -> None:
    rows: dict[str, list[float]] = {"plain": [], "sandboxed spawn": [], "all": []}
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        workspace = make_workspace(root, folders)
        sandbox = Sandbox(Places(root / "home", root / "caches", root / "state"), [workspace])
        if not await sandbox.check():
            sys.exit(sandbox.why_not)
        print(*sandbox.layers, sep="\n")
        for number in range(rounds + 2):
            plain = await spawn(COMMAND)
            started = time.perf_counter()
            async with sandbox.run(COMMAND, workspace, ENVIRONMENT) as run:
                inside = await spawn(run.argv)
            whole = (time.perf_counter() - started) * 1e3
            if number >= 2:  # the first fill the caches
                for row, value in zip(rows.values(), (plain, inside, whole), strict=True):
                    row.append(value)
    for row_name, values in rows.items():
        print(f"{row_name:16} lowest {min(values):6.1f} ms   median {statistics.median(values):6.1f} ms")
    for what, figure in (("lowest", min), ("median", statistics.median)):
        plain, inside, whole = (figure(values) for values in rows.values())
        print(f"over plain, {what}: spawn {inside - plain:.1f} ms, all {whole - plain:.1f} ms")


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    asyncio.run(main(*(numbers + [100, 1000][len(numbers) :])))
