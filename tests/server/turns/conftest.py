"""`hand` makes somebody who works on a new file, with `comments.runOnSave`."""

import pytest

from tests.server.desk import MakeDesk
from tests.server.turns.comment_hand import ON, Accepted, Hand, MakeHand


@pytest.fixture
async def hand(make: MakeDesk) -> MakeHand:
    desk = make(tark=["updates", "permission"], config=ON)
    accepted = Accepted(desk)
    return lambda *given, **more: Hand(desk, accepted, *given, **more)
