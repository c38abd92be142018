"""How soon a server answers, and how much memory it takes, against stock pygls with one handler.

`python -m tests.benchmarks.bench_start [ROUNDS]`. Ratios of medians of one run, the servers in turn.
Goals: `initialize` at most 0.15 of stock pygls (0.10 wanted), the first request at most 1.1.
"""

import statistics
import sys
import time
from collections.abc import Sequence

import psutil

from tests.server.raw import RawServer, python

SERVERS = {"stock": python("tests.benchmarks.stock_server"), "tark": python("tark_lsp")}
HOVER = {"textDocument": {"uri": "untitled:x"}, "position": {"line": 0, "character": 0}}


def measure(argv: Sequence[str]) -> tuple[float, float, float]:
    """Milliseconds from the spawn to the answer of `initialize` and of the first request; then megabytes resident."""
    begun = time.perf_counter()
    with RawServer(argv) as server:
        server.initialize()
        initialized = time.perf_counter()
        server.call("textDocument/hover", HOVER)
        ready = time.perf_counter()
        memory = psutil.Process(server.process.pid).memory_info().rss
        server.call("shutdown")
        server.notify("exit")
        server.wait()
    return (initialized - begun) * 1e3, (ready - begun) * 1e3, memory / 2**20


def main(rounds: int) -> None:
    for argv in SERVERS.values():
        measure(argv)  # byte code is compiled, files are in memory
    found = {name: [measure(argv) for argv in [SERVERS[name]]] for name in SERVERS}
    for _ in range(rounds - 1):
        for name, argv in SERVERS.items():
            found[name].append(measure(argv))
    medians = {name: [statistics.median(column) for column in zip(*rows, strict=True)] for name, rows in found.items()}
    for index, what in enumerate(["initialize answered, ms", "first request answered, ms", "memory, MB"]):
        stock, tark = medians["stock"][index], medians["tark"][index]
        print(f"{what:28} stock {stock:7.1f}   tark {tark:7.1f}   ratio {tark / stock:.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
