"""What is told stays within the window: old results shortened, an overflow met once, what cannot fit refused."""

import pytest

from tark_lsp.agent.events import HistoryCompacted, HistoryShortened, Notice
from tark_lsp.agent.prompt import USER_SAYS
from tark_lsp.agent.shortening import shorten_message
from tark_lsp.agent.turn import run_turn
from tark_lsp.context.result_handles import result_id
from tark_lsp.errors import ContextOverflow
from tark_lsp.llm.events import UsageUpdate
from tark_lsp.messages import Message, StopReason, Text, Usage
from tests.agent.bench import Bench
from tests.agent.script import answer
from tests.agent.tight import SMALL, asked, filled, heard, notices, sent, words


async def test_below_the_threshold_nothing_is_touched(tight: Bench) -> None:
    await tight.run(*asked(1000, 1000, 1000, 1000))
    assert not heard(tight, HistoryShortened)
    assert not heard(tight, HistoryCompacted)
    assert [len(result) for result in tight.results()] == [len(words(1000)) + 9] * 4


async def test_old_results_are_shortened_and_can_be_read_on(tight: Bench) -> None:
    await tight.run(*asked(*[900] * 7))
    (first, *_) = heard(tight, HistoryShortened)
    assert {len(result) for result in tight.results()[-3:]} == {len(words(900)) + 9}
    assert all(len(result) < 1_500 for result in tight.results()[: tight.session.shortened // 2])
    whole = f"number 1\n{words(900)}"
    assert tight.context.results.find_result(result_id(whole)) == whole
    assert f"result:{result_id(whole)}" in tight.results()[0]
    assert first.kept >= 6
    assert "tokens before" in notices(tight, "info")
    assert not heard(tight, HistoryCompacted)


async def test_the_prefix_is_not_broken_at_every_request(tight: Bench) -> None:
    tight.model.context_window = 40_000
    await tight.run(*asked(*[600] * 45))
    assert 0 < len(heard(tight, HistoryShortened)) <= 4


async def test_what_is_shortened_is_a_function_of_the_message(tight: Bench) -> None:
    told: list[Message] = []
    tight.heard = []
    await tight.run(*asked(*[900] * 7))
    told = [event.message for event in tight.heard if hasattr(event, "message") and isinstance(event.message, Message)]
    number = tight.session.shortened
    assert number
    assert [*map(shorten_message, told[:number]), *told[number:]] == tight.session.messages


@pytest.mark.parametrize("window", [None, 100_000])
async def test_an_overflow_is_met_once_by_shortening_and_summing_up(tight: Bench, window: int | None) -> None:
    tight.model.context_window = window
    filled(tight)
    overflow = answer(ContextOverflow("too long", hint="x"), stop=None)
    end = await tight.run(overflow, answer(SMALL), answer("Done."))
    assert (end.text, end.error) == ("Done.", None)
    assert len(heard(tight, HistoryCompacted)) == 1
    assert "[interrupted]" not in [message.text for message in tight.session.messages]
    assert len(tight.model.requests[-1].messages) < 10


async def test_an_overflow_that_shortening_is_enough_for(tight: Bench) -> None:
    tight.model.context_window = None
    await tight.run(*asked(*[900] * 8))
    end = await tight.run(answer(ContextOverflow("too long"), stop=None), answer("Done."))
    assert end.text == "Done."
    assert len(heard(tight, HistoryShortened)) == 1
    assert not heard(tight, HistoryCompacted)


async def test_an_overflow_that_stays_is_the_turns_error(tight: Bench) -> None:
    tight.model.context_window = None
    filled(tight)
    overflow = answer(ContextOverflow("too long", hint="do this"), stop=None)
    end = await tight.run(overflow, answer(SMALL), overflow, answer("never asked"))
    assert end.stop_reason is StopReason.ERROR
    assert isinstance(end.error, ContextOverflow)
    assert end.error.hint == "do this"
    assert len(tight.model.requests) == 3
    assert (await tight.run()).text == "never asked"


async def test_what_overflowed_once_is_remembered(tight: Bench) -> None:
    tight.model.context_window = None
    filled(tight)
    turn = tight.make(answer(ContextOverflow("too long"), stop=None), answer(SMALL), answer("Done."))
    estimates = turn.resources.estimates
    await run_turn(turn)
    assert 8_000 < (estimates.known_window(tight.model.name, None) or 0) < 10_000


async def test_a_prompt_that_cannot_fit_is_refused_before_anything_is_sent(tight: Bench) -> None:
    filled(tight, 2)
    before = list(tight.session.messages)
    turn = tight.make(answer("never asked"))
    turn.request.prompt = Message("user", (Text(USER_SAYS + "paste " * 1_700_000),))
    end = await run_turn(turn)
    assert end.stop_reason is StopReason.ERROR
    assert isinstance(end.error, ContextOverflow)
    assert "about 2" in end.error.message
    assert "scripted/gpt takes only 10k" in end.error.message
    assert "nothing was sent" in end.error.message
    assert "put long text into a file" in end.error.hint
    assert tight.session.messages == before
    assert not tight.model.requests
    assert not [event for event in tight.heard if not isinstance(event, Notice)]
    assert (await tight.run()).text == "never asked"


async def test_a_window_too_small_for_the_tools_is_said_as_such(bench: Bench) -> None:
    bench.model.context_window = 2_000
    end = await bench.run(answer("never asked"))
    assert end.error is not None
    assert "instructions and tools alone" in end.error.message
    assert "larger window" in end.error.hint


async def test_near_the_end_of_the_window_the_answer_is_bounded(tight: Bench) -> None:
    tight.model.max_output_tokens = 6_000
    await tight.run(answer("short"))
    filled(tight, 8)
    await tight.run(answer("short"))
    unbound, bound = (request.max_output_tokens for request in tight.model.requests)
    assert unbound is None
    assert bound is not None
    assert 1_000 < bound < 10_000 - sent(tight)


async def test_estimates_follow_what_is_reported(tight: Bench) -> None:
    turn = tight.make(answer("a", UsageUpdate(Usage(20_000))))
    tight.model.context_window = None
    filled(tight)
    before = turn.resources.estimates.ratio(tight.model.name)
    await run_turn(turn)
    assert turn.resources.estimates.ratio(tight.model.name) > before == 1.0
