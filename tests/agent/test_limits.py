"""At each limit the user is asked. Continue raises the limit by its own amount; any other answer stops the turn."""

from typing import Any

import pytest

from tark_lsp.agent.limits import Granted, LimitReached, require_within_limits
from tark_lsp.messages import StopReason, Usage
from tark_lsp.settings import Limits
from tests.memory import MemoryEditor

FREE = Usage(100, output_tokens=100)


def dollars(cost: float) -> Usage:
    return Usage(cost_usd=cost)


# name: limits, requests so far, the turn's usage, the session's, why it stops (None: it goes on unasked)
TABLE: dict[str, tuple[Limits, int, Usage, Usage, StopReason | None]] = {
    "nothing used": (Limits(), 0, Usage(), Usage(), None),
    "below all": (Limits(turn_requests=10, turn_usd=1.0, session_usd=2.0), 9, dollars(0.99), dollars(1.99), None),
    "requests": (Limits(turn_requests=10), 10, Usage(), Usage(), StopReason.MAX_TURN_REQUESTS),
    "cost of the turn": (Limits(turn_usd=1.0), 1, dollars(1.0), dollars(1.0), StopReason.BUDGET),
    "cost of the session": (Limits(session_usd=2.0), 1, dollars(0.1), dollars(2.5), StopReason.BUDGET),
    "no limit on the session": (Limits(turn_usd=101), 1, dollars(100), dollars(1000), None),
    "no price known": (Limits(turn_usd=1.0, session_usd=1.0), 1, FREE, FREE, None),
    "nothing may be spent, and no price is known": (Limits(turn_usd=0.0), 0, FREE, FREE, StopReason.BUDGET),
}


@pytest.mark.parametrize("answer", [["stop"], "stop", None, []])
@pytest.mark.parametrize("name", TABLE)
async def test_limits(name: str, answer: Any) -> None:
    limits, requests, turn, session, stop = TABLE[name]
    editor = MemoryEditor(answers=[answer] if answer != [] else [])
    if stop is None:
        await require_within_limits(Granted(limits), requests, turn, session, editor)
        assert not editor.asked
        return
    with pytest.raises(LimitReached) as caught:
        await require_within_limits(Granted(limits), requests, turn, session, editor)
    assert caught.value.stop_reason is stop
    ((question, options),) = editor.asked
    assert "Continue?" in question
    assert [option.id for option in options] == ["stop", "go-on"]


@pytest.mark.parametrize("answer", ["go-on", ["go-on"]])
async def test_a_limit_that_is_let_pass_is_raised_by_as_much_again(answer: Any) -> None:
    granted = Granted(Limits(turn_requests=2, turn_usd=1.0, session_usd=3.0))
    editor = MemoryEditor(answers=[answer, answer, answer])
    for requests, turn, session, questions in [
        (2, 0.5, 0.5, 1),
        (3, 0.9, 0.9, 1),
        (3, 1.5, 1.5, 2),
        (3, 1.9, 3.0, 3),
        (3, 1.9, 5.9, 3),
    ]:
        await require_within_limits(granted, requests, dollars(turn), dollars(session), editor)
        assert len(editor.asked) == questions
    for requests, turn, session in [(4, 0.0, 0.0), (0, 2.0, 0.0), (0, 0.0, 6.0)]:
        with pytest.raises(LimitReached):
            await require_within_limits(granted, requests, dollars(turn), dollars(session), editor)
