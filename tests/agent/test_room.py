"""What is told stays within the window: old results shortened, then one compaction, and an overflow is met once."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest

from tark_lsp.agent import history
from tark_lsp.agent.events import Answered, HistoryCompacted, HistoryShortened, Notice, Requested
from tark_lsp.agent.limits import Limits
from tark_lsp.agent.prompt import SAYS
from tark_lsp.agent.shortening import shortened
from tark_lsp.agent.summary import OPENING, SAID, is_summary
from tark_lsp.agent.turn import run_turn
from tark_lsp.context.result_handles import result_id
from tark_lsp.context.tokens import text_tokens
from tark_lsp.errors import ContextOverflow, RateLimited
from tark_lsp.llm.events import Echo, StreamEvent, ThinkingDelta, ToolCallComplete, ToolCallStart, UsageUpdate, WireStop
from tark_lsp.llm.request import ChatRequest
from tark_lsp.messages import Message, StopReason, Text, ToolResult, Usage
from tark_lsp.tools.tool import Risk
from tests.agent.bench import Bench
from tests.agent.probe import add, probe
from tests.agent.script import Answer, Call, ScriptedModel, answer, call

WORDS = "The quick brown fox jumps over the lazy dog near the river bank today. "


def words(tokens: int) -> str:
    """Lines of about so many tokens."""
    return f"{WORDS}\n" * round(tokens / text_tokens(f"{WORDS}\n"))


@dataclass(slots=True)
class Summarising(ScriptedModel):
    """Writes a summary where it is asked to, whenever that is."""

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        if request.system.startswith("You write the summary"):
            self.answers.insert(0, answer(SMALL))
        async with aclosing(ScriptedModel.stream(self, request)) as stream:
            async for event in stream:
                yield event


SMALL = "the summary: goals, files, open ends"


@pytest.fixture
def tight(bench: Bench) -> Bench:
    """Little besides the history, in a window of 10,000 tokens, and a tool that gives 1,000."""
    bench.tools = {}
    bench.model.context_window = 10_000
    bench.model.name = "scripted/gpt"  # of which our count is taken as it is

    given = count(1)

    async def give(n: int) -> str:
        return f"number {next(given)}\n{words(n)}"  # else it is taken for going round in circles

    add(bench.tools, probe("give", Risk.READ_ONLY, give))
    return bench


def asked(*tokens: int) -> list[Answer]:
    """Answers that call for so many tokens each, and a last one."""
    return [*(answer(call("give", n=each)) for each in tokens), answer("Done.")]


def heard(bench: Bench, kind: type[Any]) -> list[Any]:
    return [event for event in bench.heard if isinstance(event, kind)]


def notices(bench: Bench, level: str) -> str:
    return "\n".join(event.message for event in heard(bench, Notice) if event.level == level)


def sent(bench: Bench, request: int = -1) -> float:
    """Tokens of the messages of a request."""
    return sum(
        text_tokens(part.content if isinstance(part, ToolResult) else getattr(part, "text", ""))
        for message in bench.model.requests[request].messages
        for part in message.parts
    )


async def test_below_the_threshold_nothing_is_touched(tight: Bench) -> None:
    await tight.run(*asked(1000, 1000, 1000, 1000))
    assert not heard(tight, HistoryShortened)
    assert not heard(tight, HistoryCompacted)
    assert [len(each) for each in tight.results()] == [len(words(1000)) + 9] * 4


async def test_old_results_are_shortened_and_can_be_read_on(tight: Bench) -> None:
    await tight.run(*asked(*[900] * 7))
    (first, *_) = heard(tight, HistoryShortened)
    assert {len(each) for each in tight.results()[-3:]} == {len(words(900)) + 9}
    assert all(len(each) < 1_500 for each in tight.results()[: tight.session.shortened // 2])
    whole = f"number 1\n{words(900)}"
    assert tight.context.results.find(result_id(whole)) == whole
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
    assert [*map(shortened, told[:number]), *told[number:]] == tight.session.messages


async def test_one_compaction_keeps_goals_the_last_messages_and_the_prompt(tight: Bench) -> None:
    for n in range(13):
        tight.model.answers = [answer(words(500) + f"answer {n}")]
        prompt = "Goal: MARKER-7, in blue" if not n else f"and number {n}"
        turn = tight.make()
        turn.prompt = Message("user", (Text(f"instructions\n\n{SAYS}{prompt}"),))
        await run_turn(turn)
    assert not heard(tight, HistoryCompacted)
    turn = tight.make(answer(SMALL), answer("Go on."))
    turn.prompt = Message("user", (Text(f"instructions {words(900)}\n\n{SAYS}the last"),))
    before = list(tight.session.messages)
    end = await run_turn(turn)
    assert (end.stop_reason, end.text) == (StopReason.END_TURN, "Go on.")
    (compacted,) = heard(tight, HistoryCompacted)
    messages = tight.session.messages
    history.check(messages)
    assert messages[0] == compacted.summary
    assert is_summary(messages[0])
    assert OPENING + SMALL in messages[0].text
    assert f"{SAID}Goal: MARKER-7, in blue" in messages[0].text
    assert f"{SAID}and number 5" in messages[0].text
    assert turn.prompt in messages
    kept = compacted.kept - 1  # without the prompt
    assert 0 < kept < len(before)
    assert messages[1 : 1 + kept] == before[-kept:]
    summing, last = tight.model.requests[-2:]
    assert not summing.tools
    assert "MARKER-7" in summing.messages[0].text
    assert sent(tight) < 0.5 * 10_000
    assert list(last.messages) == messages[:-1]
    purposes = [event.purpose for event in heard(tight, Requested)[-2:]]
    assert purposes == [event.purpose for event in heard(tight, Answered)[-2:]] == ["compaction", "turn"]
    assert "is told as a summary from here on: about 7" in notices(tight, "info")


async def test_a_long_turn_is_compacted_with_its_prompt_told_whole(tight: Bench) -> None:
    summing = [each for _ in range(40) for each in (answer(words(250) + "x", call("give", n=250)),)]
    turn = tight.make()
    tight.model = turn.model = Summarising(summing, name=tight.model.name, context_window=10_000)
    turn.prompt = Message("user", (Text(f"instructions\n\n{SAYS}Goal: MARKER-8"),))
    await run_turn(turn)
    history.check(tight.session.messages)
    (compacted,) = heard(tight, HistoryCompacted)
    assert compacted.summary is tight.session.messages[0]
    assert compacted.summary.parts[-1] == turn.prompt.parts[0]
    assert SMALL in compacted.summary.text


def filled(bench: Bench, turns: int = 14) -> None:
    for n in range(turns):
        bench.session.messages += [
            Message("user", (Text(f"question {n}"),)),
            Message("assistant", (Text(words(600)),), bench.model.name),
        ]


GIVEN_UP: dict[str, tuple[Answer, str]] = {
    "it fails": (answer(RateLimited("429 slow down")), "429 slow down"),
    "it says nothing": (answer(), "wrote no summary"),
    "it is cut": (answer("half", stop=None), "ended without saying so"),
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
    turn.prompt = Message("user", (Text(words(8_000)),))
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
    assert tight.session.messages == [*before, turn.prompt]
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
    estimates = turn.estimates
    await run_turn(turn)
    assert 8_000 < (estimates.window(tight.model.name, None) or 0) < 10_000


async def test_a_prompt_that_cannot_fit_is_refused_before_anything_is_sent(tight: Bench) -> None:
    filled(tight, 2)
    before = list(tight.session.messages)
    turn = tight.make(answer("never asked"))
    turn.prompt = Message("user", (Text(SAYS + "paste " * 1_700_000),))
    end = await run_turn(turn)
    assert end.stop_reason is StopReason.ERROR
    assert isinstance(end.error, ContextOverflow)
    assert "about 2" in end.error.message
    assert "scripted/gpt takes 10k" in end.error.message
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
    before = turn.estimates.ratio(tight.model.name)
    await run_turn(turn)
    assert turn.estimates.ratio(tight.model.name) > before == 1.0


ENDLESS: dict[str, Answer] = {
    "text": ["word " * 10_000] * 100,
    "thinking": [ThinkingDelta("hm " * 10_000)] * 100,
    "arguments of a call": [Call("give", '{"n": ' + "1" * 5_000_000 + "}", cut=True)],
    "nothing": [""] * 400_000,
    "calls": [each for n in range(600) for each in (ToolCallStart(f"c{n}", "give"), ToolCallComplete(f"c{n}", "{}"))],
    "one call after another with long arguments": [
        Call("give", f'{{"n": {"1" * 50_000}}}', id=f"l{n}") for n in range(20)
    ],
    "echoes": [Echo("text", {"data": "x" * 1_000})] * 1_000,
}


@pytest.mark.parametrize("name", ENDLESS)
async def test_an_answer_without_end_is_ended(tight: Bench, name: str) -> None:
    tight.model.max_output_tokens = 10_000
    end = await tight.run(answer(*ENDLESS[name]), answer("never asked"))
    assert (end.stop_reason, end.error) == (StopReason.MAX_TOKENS, None)
    assert "did not end" in notices(tight, "warning")
    last = tight.session.messages[-1]
    assert last.role == "assistant"
    assert not last.tool_calls
    assert len(last.text) < 40_000
    assert last.text.endswith("[interrupted]")
    assert tight.model.closed == len(tight.model.requests) == 1
    assert set(tight.statuses().values()) <= {"cancelled"}


async def test_the_longest_answer_a_model_can_give_is_not_ended(tight: Bench) -> None:
    tight.model.max_output_tokens = 10_000
    end = await tight.run(answer(*["word "] * 10_000))
    assert (end.stop_reason, len(end.text)) == (StopReason.END_TURN, 50_000)


async def test_what_is_said_meanwhile_may_be_long_and_is_told_in_part(tight: Bench) -> None:
    tight.model.context_window = 100_000
    turn = tight.make(answer("One."), answer("Two."))
    log = "\n".join(f"pasted line {n}" for n in range(500_000))
    turn.steering.append(log)
    assert (await run_turn(turn)).text == "Two."
    told = tight.model.requests[-1].messages[-1].text
    assert len(told) < 33_000
    assert told.startswith("pasted line 0\n")
    assert "the model is told its beginning" in notices(tight, "warning")
    assert f"result:{result_id(log[: 1024 * 1024])}" in told


async def test_a_tool_that_does_not_bound_its_result_is_bounded(tight: Bench) -> None:
    tight.model.context_window = 100_000
    tight.context.result_tokens = 500
    await tight.run(*asked(5_000))
    (result,) = tight.results()
    assert len(result) < 2_300
    assert "read on with read_file(" in result


async def test_costs_that_are_unknown_are_said_once(tight: Bench) -> None:
    free = UsageUpdate(Usage(10, output_tokens=5))
    await tight.run(answer(call("give", n=1), free), answer("Done.", free))
    await tight.run(answer("Again.", free))
    assert notices(tight, "info") == (
        "what scripted/gpt costs is unknown, so limits.turnUsd cannot be kept; limits.turnRequests still is"
    )


async def test_without_a_limit_in_dollars_nothing_is_said_of_costs(tight: Bench) -> None:
    tight.limits = Limits(turn_usd=None)
    await tight.run(answer("Done.", UsageUpdate(Usage(10))))
    assert notices(tight, "info") == ""
