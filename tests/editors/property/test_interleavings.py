"""Random interleavings of a person, turns, decisions and undo, before six models of editors: nothing typed is lost.

A push plays the same 90, an exhaustive run 900 new ones; both play `FOUND` too. With odd seeds the client reviews in
place, so that no save decides anything, and the editor says when a save begins.
"""

from pathlib import Path

import pytest

from tests.editors.behaviour import BEHAVIOURS, BUSY, Behaviour
from tests.editors.property.replay import attempt, smallest
from tests.exhaustive import seeds

FOUND = (
    *(1040, 1150, 1162, 1223, 1233, 1274, 700053, 700164, 700350, 700445, 700459, 700637, 700643),
    *(701237, 701278, 701325, 701360, 701421, 701460, 701840, 701899, 810031, 810212, 810481, 810495, 810503),
    *(810677, 810898, 810934, 810942, 811007, 811047, 821034, 821763, 821937, 823306, 823547, 823849, 825424),
    *(826439, 826661, 830055, 830616, 830644, 831528, 840177, 840453, 841712, 841887, 850081, 851472, 922568),
    *(930164, 930531, 930756, 933335, 933359, 933539, 933639, 934152, 940761, 941002, 941358, 941404, 941422),
    *(943114, 945643, 945846, 947927, 949733, 2012778, 2013417, 2110209, 2121968, 2123407, 2126253, 3011283),
    *(1531402225, 3016165, 3016439, 3018444),
)
"""Seeds of exhaustive runs that failed once."""


@pytest.mark.slow  # each takes seconds
@pytest.mark.property
@pytest.mark.parametrize("behaviour", [*BEHAVIOURS, BUSY], ids=lambda behaviour: behaviour.name)
def test_nothing_typed_is_lost(behaviour: Behaviour, tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    failure = next(
        (found for seed in (*FOUND, *seeds(15)) if (found := attempt(behaviour, seed, folder)) is not None), None
    )
    if failure is not None:
        pytest.fail(str(smallest(failure, folder)))
