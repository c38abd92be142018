"""What never stops, says too much or costs nobody knows what is bounded, and said."""

import pytest

from tark_lsp.agent.turn import run_turn
from tark_lsp.context.result_handles import result_id
from tark_lsp.llm.events import Echo, ThinkingDelta, ToolCallComplete, ToolCallStart, UsageUpdate
from tark_lsp.messages import StopReason, Usage
from tark_lsp.settings import Limits
from tests.agent.bench import Bench
from tests.agent.script import Answer, Call, answer, call
from tests.agent.tight import asked, notices

ENDLESS: dict[str, Answer] = {
    "text": ["word " * 10_000] * 100,
    "thinking": [ThinkingDelta("hm " * 10_000)] * 100,
    "arguments of a call": [Call("give", '{"n": ' + "1" * 5_000_000 + "}", cut=True)],
    "nothing": [""] * 400_000,
    "calls": [item for n in range(600) for item in (ToolCallStart(f"c{n}", "give"), ToolCallComplete(f"c{n}", "{}"))],
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
    assert "the model sees its beginning" in notices(tight, "warning")
    assert f"result:{result_id(log[: 1024 * 1024])}" in told


async def test_a_tool_that_does_not_bound_its_result_is_bounded(tight: Bench) -> None:
    tight.model.context_window = 100_000
    tight.context.result_tokens = 500
    await tight.run(*asked(5_000))
    (result,) = tight.results()
    assert len(result) < 2_300
    assert "read on with read_file(" in result


@pytest.mark.parametrize(
    ("limits", "settings"),
    [(Limits(), "limits.turnUsd"), (Limits(session_usd=2.0), "limits.turnUsd and limits.sessionUsd")],
)
async def test_an_unknown_price_is_reported_once(tight: Bench, limits: Limits, settings: str) -> None:
    tight.limits = limits
    free = UsageUpdate(Usage(10, output_tokens=5))
    await tight.run(answer(call("give", n=1), free), answer("Done.", free))
    await tight.run(answer("Again.", free))
    assert notices(tight, "info") == (
        f"the price of scripted/gpt is unknown, so {settings} cannot be applied; limits.turnRequests still is"
    )


async def test_a_model_on_the_users_own_machine_has_no_price_to_report(tight: Bench) -> None:
    tight.model.is_local = True
    await tight.run(answer("Done.", UsageUpdate(Usage(10, output_tokens=5))))
    assert notices(tight, "info") == ""
