"""Runs interleavings by hand: `python -m tests.editors.property.replay MODEL SEED [COUNT]`.

MODEL is a name in `BEHAVIOURS`, or all. Of what fails, the first is shown with as few steps as it needs.
"""

import asyncio
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.editors.behaviour import BEHAVIOURS, BUSY, Behaviour
from tests.editors.property.interleaving import STEPS_EACH, Interleaving
from tests.virtual_clock import VirtualLoop


@dataclass(frozen=True, slots=True)
class Failure:
    behaviour: Behaviour
    seed: int
    without: frozenset[int]
    error: BaseException
    trace: list[str]

    def __str__(self) -> str:
        what = f"{type(self.error).__name__}: {self.error}"
        return "\n".join([f"{self.behaviour.name} {self.seed}: {what}", *self.trace])


def attempt(
    behaviour: Behaviour,
    seed: int,
    folder: Path,
    without: frozenset[int] = frozenset(),
    counts: dict[str, int] | None = None,
) -> Failure | None:
    interleaving = Interleaving(behaviour, seed, folder, without)
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        try:
            runner.run(interleaving.run())
        except Exception as error:  # noqa: BLE001  # whatever it is, it is what was looked for
            return Failure(behaviour, seed, without, error, interleaving.trace)
    for name, count in interleaving.counts.items():
        if counts is not None:
            counts[name] = counts.get(name, 0) + count
    return None


def smallest(failure: Failure, folder: Path) -> Failure:
    """The same with every step left out that it fails without."""
    for step in range(STEPS_EACH):
        fewer = attempt(failure.behaviour, failure.seed, folder, failure.without | {step})
        failure = fewer or failure
    return failure


def main(name: str, first: str, count: str = "1") -> None:
    behaviour = next(item for item in (*BEHAVIOURS, BUSY) if item.name == name)
    began, failed = time.perf_counter(), []
    counts: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder).resolve()
        for seed in range(int(first), int(first) + int(count)):
            failure = attempt(behaviour, seed, place, counts=counts)
            if failure is not None:
                failed.append(seed)
                if len(failed) == 1:
                    print(smallest(failure, place))
                else:
                    print(seed, type(failure.error).__name__, failure.error)
    print(f"{len(failed)} of {count} failed, {time.perf_counter() - began:.1f} s, {counts}")


if __name__ == "__main__":
    main(*sys.argv[1:])
