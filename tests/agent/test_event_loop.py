"""The event loop goes on while a turn edits a long file, and while it is undone: what takes time is done beside it."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.benchmarks.bench_stalls import gaps_of
from tests.benchmarks.bench_stalls_turns import TURNS, BenchedDesk

LONGEST = 80.0
"""Milliseconds of processor time of the loop's own thread. It takes 25 on a busy machine, and took 400 before."""


@pytest.fixture
def no_old_garbage() -> Iterator[None]:
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.slow
@pytest.mark.usefixtures("no_old_garbage")
async def test_no_step_of_the_loop_is_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    benched = BenchedDesk(tmp_path, monkeypatch, *TURNS["50,000 lines, five calls"])
    await benched.turn()  # imports modules and opens databases
    gc.collect()
    gaps = await gaps_of(benched.turn, 0.001)
    await benched.desk.stop()
    assert max(own for _, _, own in gaps) < LONGEST
