"""One compaction: what it keeps, when it is given up, and that it can be cancelled, limited and talked over."""

import asyncio

import pytest

from tark_lsp.agent import history
from tark_lsp.agent.events import Answered, HistoryCompacted, Requested
from tark_lsp.agent.prompt import USER_SAYS
from tark_lsp.agent.summary import OPENING, USER_SAID, is_summary
from tark_lsp.agent.turn import run_turn
from tark_lsp.errors import RateLimited
from tark_lsp.llm.events import UsageUpdate, WireStop
from tark_lsp.messages import Message, StopReason, Text, Usage
from tark_lsp.settings import Limits
from tests.agent.bench import Bench
from tests.agent.script import Answer, answer, call
from tests.agent.tight import SMALL, Summarising, filled, heard, notices, sent, words

pytestmark = pytest.mark.virtual_clock


async def test_one_compaction_keeps_goals_the_last_messages_and_the_prompt(tight: Bench) -> None:
    for n in range(13):
        tight.model.answers = [answer(words(500) + f"answer {n}")]
        prompt = "Goal: MARKER-7, in blue" if not n else f"and number {n}"
        turn = tight.make()
        turn.request.prompt = Message("user", (Text("instructions\n\n"), Text(f"{USER_SAYS}{prompt}")))
        await run_turn(turn)
    assert not heard(tight, HistoryCompacted)
    turn = tight.make(answer(SMALL), answer("Go on."))
    turn.request.prompt = Message("user", (Text(f"instructions {words(900)}\n\n"), Text(f"{USER_SAYS}the last")))
    before = list(tight.session.messages)
    end = await run_turn(turn)
    assert (end.stop_reason, end.text) == (StopReason.END_TURN, "Go on.")
    (compacted,) = heard(tight, HistoryCompacted)
    messages = tight.session.messages
    history.check_history(messages)
    assert messages[0] == compacted.summary
    assert is_summary(messages[0])
    assert OPENING + SMALL in messages[0].text
    assert f"{USER_SAID}Goal: MARKER-7, in blue" in messages[0].text
    assert f"{USER_SAID}and number 5" in messages[0].text
    assert turn.request.prompt in messages
    kept = compacted.kept - 1  # without the prompt
    assert 0 < kept < len(before)
    assert messages[1 : 1 + kept] == before[-kept:]
    summing, last = tight.model.requests[-2:]
    assert not summing.tools
    assert (summing.starts_turn, last.starts_turn) == (True, False)
    assert "MARKER-7" in summing.messages[0].text
    assert sent(tight) < 0.5 * 10_000
    assert list(last.messages) == messages[:-1]
    purposes = [event.purpose for event in heard(tight, Requested)[-2:]]
    assert purposes == [event.purpose for event in heard(tight, Answered)[-2:]] == ["compaction", "turn"]
    assert "replaced by a summary from here on: about 7" in notices(tight, "info")


async def test_a_long_turn_is_compacted_with_its_prompt_told_whole(tight: Bench) -> None:
    summing = [word for _ in range(40) for word in (answer(words(250) + "x", call("give", n=250)),)]
    turn = tight.make()
    tight.model = turn.resources.model = Summarising(summing, name=tight.model.name, context_window=10_000)
    turn.request.prompt = Message("user", (Text("instructions\n\n"), Text(f"{USER_SAYS}Goal: MARKER-8")))
    await run_turn(turn)
    history.check_history(tight.session.messages)
    (compacted,) = heard(tight, HistoryCompacted)
    assert compacted.summary is tight.session.messages[0]
    assert compacted.summary.parts[-2:] == turn.request.prompt.parts
    assert SMALL in compacted.summary.text


GIVEN_UP: dict[str, tuple[Answer, str]] = {
    "it fails": (answer(RateLimited("429 slow down")), "429 slow down"),
    "it says nothing": (answer(), "wrote no summary"),
    "it is cut": (answer("half", stop=None), "connection closed before"),
    "it is refused": (answer("No.", stop=WireStop.REFUSAL), "wrote no summary"),
    "it is as long as what it sums up": (answer(words(8_000)), "free too little"),
    "it never ends": (answer(*[words(3_000)] * 40), "did not end"),
}


@pytest.mark.parametrize("name", GIVEN_UP)
async def test_a_compaction_that_is_not_worth_it_is_given_up_and_said(tight: Bench, name: str) -> None:
    script, why = GIVEN_UP[name]
    tight.model.max_output_tokens = 12_000
    filled(tight)
    before = list(tight.session.messages)
    end = await tight.run(script, answer(call("give", n=10)), answer("Done."))
    assert end.text == "Done."
    assert not heard(tight, HistoryCompacted)
    assert tight.session.messages[: len(before)] == before
    assert why in notices(tight, "warning")
    assert [request.system for request in tight.model.requests].count("system") == 2  # it is not tried again


async def test_nothing_is_asked_where_nothing_can_be_gained(tight: Bench) -> None:
    filled(tight, 1)
    turn = tight.make(answer("Done."))
    turn.request.prompt = Message("user", (Text(words(8_000)),))
    await run_turn(turn)
    assert len(tight.model.requests) == 1
    assert "would free too little" in notices(tight, "warning")


async def test_cancel_during_a_compaction_leaves_the_history_as_it_was(tight: Bench) -> None:
    filled(tight)
    before = list(tight.session.messages)
    turn = tight.make(answer("half a summ", 60.0, "ary"))
    task = asyncio.create_task(run_turn(turn))
    await asyncio.sleep(0.05)
    task.cancel()
    end = await task
    assert end.stop_reason is StopReason.CANCELLED
    assert tight.session.messages == [*before, turn.request.prompt]
    assert tight.model.closed == 1
    assert [event.stop for event in heard(tight, Answered)] == ["cancelled"]


async def test_a_steer_during_a_compaction_is_kept(tight: Bench) -> None:
    filled(tight)
    turn = tight.make(answer(SMALL, 0.1), answer("One."), answer("Two."))
    task = asyncio.create_task(run_turn(turn))
    await asyncio.sleep(0.03)
    assert len(tight.model.requests) == 1
    turn.steering.append("and this")
    assert (await task).text == "Two."
    assert tight.model.requests[-1].messages[-1].text == "and this"


async def test_a_limit_asks_before_a_compaction_too(tight: Bench) -> None:
    filled(tight)
    tight.limits = Limits(turn_usd=0.0)
    tight.editor.answers = ["stop"]
    end = await tight.run(answer(SMALL))
    assert end.stop_reason is StopReason.BUDGET
    assert not tight.model.requests
    assert len(tight.editor.asked) == 1


async def test_a_compaction_counts_as_a_request_and_costs(tight: Bench) -> None:
    filled(tight)
    tight.limits = Limits(turn_requests=1)
    tight.editor.answers = ["stop"]
    end = await tight.run(answer(SMALL, UsageUpdate(Usage(100, cost_usd=0.5))))
    assert end.stop_reason is StopReason.MAX_TURN_REQUESTS
    assert end.usage.cost_usd == tight.session.usage.cost_usd == 0.5
    assert len(heard(tight, HistoryCompacted)) == 1
