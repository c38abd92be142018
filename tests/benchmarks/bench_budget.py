"""300 turns in a window that holds a tenth of them: what was told, shortened and summed up, in a table.

    python -m tests.benchmarks.bench_budget [turns]

The model is a script that reads one file of 150 lines in each turn and counts tokens 1.3 times as we do.
"""

import asyncio
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

from tests.agent.bench import Bench
from tests.agent.long_session import COMPACTION, GOAL, run_long_session

WINDOW, RATIO = 128_000, 1.3


def main(turns: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        session = asyncio.run(run_long_session(Bench(Path(folder).resolve()), turns, WINDOW, RATIO))
    model = session.model
    asked = [request for request in model.requests if not request.system.startswith(COMPACTION)]
    cached = sum(b.messages[: len(a.messages)] == a.messages for a, b in pairwise(asked))
    print(f"{turns} turns, {len(model.requests)} requests, window {WINDOW:,}")
    print(f"largest request {max(model.counts):,} tokens by the model's count, all of them {sum(model.counts):,}")
    print(f"shortened {session.shortened} times, summed up {sum(session.compactions)} times, at most")
    print(f"{max(session.compactions)} in a turn; prefix kept from request to request {cached / (len(asked) - 1):.1%}")
    print(f"goal of the first prompt in the last request: {GOAL in model.requests[-1].messages[0].text}\n")
    print(*session.notices, sep="\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
