"""300 turns stay within the window, with one compaction at a time, and the goal of the first is still told."""

from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tark_lsp.agent import history
from tark_lsp.agent.events import HistoryCompacted
from tark_lsp.agent.turn import run_turn
from tark_lsp.messages import Message, Text
from tark_lsp.settings import Limits
from tark_lsp.tools.tool import Risk
from tests.agent.bench import Bench
from tests.agent.long_session import COMPACTION, GOAL, run_long_session
from tests.agent.probe import add, probe
from tests.agent.script import Answer, answer, call
from tests.exhaustive import examples


@pytest.mark.slow  # it takes seconds
@pytest.mark.parametrize(("turns", "ratio"), [(300, 1.0), (80, 0.8), (80, 1.4)])
async def test_hundreds_of_turns(bench: Bench, turns: int, ratio: float) -> None:
    window = 64_000
    session = await run_long_session(bench, turns, window, ratio)
    model = session.model
    assert session.stop_reasons == {"end_turn"}
    assert max(model.counts) <= window
    assert max(session.compactions) == 1
    assert turns // 100 <= sum(session.compactions) <= turns // 25
    assert session.shortened >= sum(session.compactions)
    assert GOAL in model.requests[-1].messages[0].text
    turns_requests = [request for request in model.requests if not request.system.startswith(COMPACTION)]
    assert len(turns_requests) == 2 * turns
    kept = sum(  # how often the prefix of one request is that of the one before, which providers cache
        later.messages[: len(earlier.messages)] == earlier.messages for earlier, later in pairwise(turns_requests)
    )
    assert kept >= 2 * turns - 1 - sum(session.compactions) - session.shortened
    assert kept / (2 * turns) > 0.85


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.lists(st.integers(0, 12_000), max_size=3), max_size=4), max_size=12), st.integers(4, 40))
async def test_whatever_is_shortened_and_summed_up_can_be_sent(
    bench: Bench, turns: list[list[list[int]]], window: int
) -> None:
    """Each turn is a list of answers, each answer the sizes of the results it calls for, in characters."""
    bench = Bench(bench.root)
    bench.tools = {}
    bench.model.context_window = window * 1_000
    bench.limits = Limits(turn_usd=1e9)

    async def give(n: int) -> str:
        return "word " * (n // 5)

    add(bench.tools, probe("give", Risk.READ_ONLY, give))
    for number, answers in enumerate(turns):
        script: list[Answer] = [answer("I look. ", *(call("give", n=size) for size in sizes)) for sizes in answers]
        bench.model.answers = [*script, answer("A summary, or an answer."), answer("Done."), answer("Done.")]
        turn = bench.make()
        turn.request.prompt = Message("user", (Text(f"prompt {number}"),))
        bench.heard.clear()
        await run_turn(turn)
        history.check_history(bench.session.messages)
        assert sum(isinstance(event, HistoryCompacted) for event in bench.heard) <= 1
        told = "".join(message.text for message in bench.session.messages)
        assert f"prompt {number}" in told
    for request in bench.model.requests:
        history.check_history(request.messages)
    if turns:
        assert "prompt 0" in "".join(message.text for message in bench.session.messages)
