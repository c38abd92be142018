"""What one typed character costs in a document of 1 MB, against stock pygls.

`python -m tests.benchmarks.bench_did_change [ROUNDS]`. CPU time of the server, ratio of medians of one run, the servers
in turn. Goal: at most 1/5 of stock pygls.
"""

import statistics
import sys
from contextlib import ExitStack

import psutil

from tests.server.raw import RawServer, python

SERVERS = {"stock": python("tests.benchmarks.stock_server"), "tark": python("tark_lsp")}
CHANGES = 500
URI = "untitled:big"
TEXT = "".join(f"    line {n} = some(code, of_this_length)\n" for n in range(24_000))


def type_characters(server: RawServer, version: int) -> float:
    """Milliseconds of CPU the server spends on each of `CHANGES` changes in the middle of the document."""
    process = psutil.Process(server.process.pid)
    before = process.cpu_times()
    for n in range(CHANGES):
        place = {"line": 12_000, "character": 4 + n}
        change = {"range": {"start": place, "end": place}, "text": "x"}
        document = {"uri": URI, "version": version + n}
        server.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
    server.call("textDocument/hover", {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}})
    after = process.cpu_times()
    return (after.user + after.system - before.user - before.system) / CHANGES * 1e3


def main(rounds: int) -> None:
    found: dict[str, list[float]] = {name: [] for name in SERVERS}
    with ExitStack() as stack:
        servers = {name: stack.enter_context(RawServer(argv)) for name, argv in SERVERS.items()}
        for server in servers.values():
            server.initialize()
            opened = {"uri": URI, "languageId": "python", "version": 0, "text": TEXT}
            server.notify("textDocument/didOpen", {"textDocument": opened})
            type_characters(server, 1)
        for n in range(rounds):
            for name, server in servers.items():
                found[name].append(type_characters(server, (n + 1) * CHANGES + 1))
        for server in servers.values():
            server.call("shutdown")
            server.notify("exit")
            server.wait()
    stock, tark = (statistics.median(found[name]) for name in ("stock", "tark"))
    size = len(TEXT) / 1e6
    print(f"a character in {size:.2f} MB, ms of CPU: stock {stock:.2f}   tark {tark:.2f}   ratio {tark / stock:.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
