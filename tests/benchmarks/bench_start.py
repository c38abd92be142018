"""How soon a server answers, and how much memory it takes, against stock pygls with one handler.

`python -m tests.benchmarks.bench_start [ROUNDS]`. Prints ratios of medians. The servers run in turn, so that a busy
machine slows all of them; then compare CPU, not time. Goals: `initialize` at most 0.15 of stock pygls (0.10 wanted),
the first request at most 1.1, memory after it at most 1.25.
"""

import statistics
import sys
import time
from collections.abc import Sequence

import psutil

from tests.server.raw import RawServer, python

SERVERS = {"stock": python("tests.benchmarks.stock_server"), "tark": python("tark_lsp")}
HOVER = {"textDocument": {"uri": "untitled:x"}, "position": {"line": 0, "character": 0}}
COLUMNS = ("initialize answered, ms", "first request answered, ms", "CPU until then, ms", "memory, MB")
# An installed server has its byte code; without it, compiling takes longer than all the rest.
ENVIRONMENT = {"PYTHONDONTWRITEBYTECODE": ""}


def measure(argv: Sequence[str]) -> tuple[float, ...]:
    """The values of `COLUMNS`, from the spawn of the process."""
    spawned = time.perf_counter()
    with RawServer(argv, env=ENVIRONMENT) as server:
        server.initialize()
        initialized = time.perf_counter()
        server.call("textDocument/hover", HOVER)
        ready = time.perf_counter()
        process = psutil.Process(server.process.pid)
        times, memory = process.cpu_times(), process.memory_info().rss
        server.call("shutdown")
        server.notify("exit")
        server.wait()
    seconds = (initialized - spawned, ready - spawned, times.user + times.system)
    return *(second * 1e3 for second in seconds), memory / 2**20


def main(rounds: int) -> None:
    for argv in SERVERS.values():
        measure(argv)  # byte code is compiled, files are in memory
    rows: dict[str, list[tuple[float, ...]]] = {name: [] for name in SERVERS}
    for _ in range(rounds):
        for name, argv in SERVERS.items():
            rows[name].append(measure(argv))
    medians = {name: [statistics.median(column) for column in zip(*rows[name], strict=True)] for name in SERVERS}
    for index, column in enumerate(COLUMNS):
        stock, tark = medians["stock"][index], medians["tark"][index]
        print(f"{column:28} stock {stock:7.1f}   tark {tark:7.1f}   ratio {tark / stock:.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
