"""Random interleavings of a person, turns, decisions and undo, before five models of editors: nothing typed is lost.

`TARK_INTERLEAVINGS` is how many there are in all; the quick run has 200, the one with the slow tests 2,000.
"""

import os
from pathlib import Path

import pytest

from tests.editors.behaviour import BEHAVIOURS, Behaviour
from tests.editors.property.replay import attempt, smallest

QUICK = 40
EACH = int(os.environ.get("TARK_INTERLEAVINGS", "2000")) // len(BEHAVIOURS)
SHARE = 200


@pytest.mark.parametrize(
    "seeds",
    [
        range(QUICK),
        *(
            pytest.param(range(first, min(first + SHARE, EACH)), marks=pytest.mark.slow)
            for first in range(QUICK, EACH, SHARE)
        ),
    ],
    ids=lambda seeds: f"{seeds[0]}-{seeds[-1]}",
)
@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda behaviour: behaviour.name)
def test_nothing_typed_is_lost(behaviour: Behaviour, seeds: range, tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    failure = next((found for seed in seeds if (found := attempt(behaviour, seed, folder)) is not None), None)
    assert failure is None, smallest(failure, folder)
