"""How long it takes to read a command and compare it with the table.

    python -m tests.benchmarks.bench_commands [ROUNDS]

Goal: 99 of 100 decisions in less than 1 ms. The peer is `shlex.split`, which knows no grammar.
"""

import shlex
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tark_lsp.commands.reading import programs, why_not_reading
from tark_lsp.commands.shell_text import LONGEST, read_command

FOLDER = Path("/project")
COMMANDS = (
    *("ls", "git status", "git log --oneline -5", "grep -rn 'foo bar' src | head -20", "find . -name '*.py' -type f"),
    *("pytest -q", "cargo build --release && cargo test", "echo $HOME", "rm -rf build", "cd src && ls && cat a b c"),
    *("npm run build 2>&1 | tail -5", "python3 - <<E\nprint(1)\nE", "git -c core.pager=x log", "sed -n '10,20p' a"),
    " && ".join(["grep -rn foo src"] * 50),
)
LONG = ("a " * LONGEST)[:LONGEST]


def measure(decide: Callable[[str], object], commands: tuple[str, ...], rounds: int) -> list[float]:
    times = []
    for _ in range(rounds):
        for command in commands:
            started = time.perf_counter()
            decide(command)
            times.append((time.perf_counter() - started) * 1e3)
    return sorted(times)


def decide(text: str) -> str:
    return why_not_reading(read_command(text), FOLDER, [FOLDER], lambda _: False)


def split(text: str) -> object:
    try:
        return shlex.split(text)
    except ValueError:
        return None


def main(rounds: int) -> None:
    started = time.perf_counter()
    read_command("ls")
    programs()
    print(f"first use {(time.perf_counter() - started) * 1e3:.1f} ms")
    for name, function in (("decision", decide), ("shlex.split", split)):
        times = measure(function, COMMANDS, rounds)
        at = times[int(len(times) * 0.99)]
        print(f"{name:12} median {statistics.median(times):.3f} ms   99 of 100 below {at:.3f} ms", end="   ")
        print(f"most {times[-1]:.3f} ms")
    longest = measure(decide, (LONG,), 5)[-1]
    print(f"{LONGEST:,} characters: {longest:.1f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
