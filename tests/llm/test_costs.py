"""Costs of recorded answers, each computed by hand, compared with our reading of the usage and our price of the model.

Prices are the vendors' own, for a million tokens, as on their pages; written out as sums, so that they can be followed.
Where a vendor or a router says what the answer cost, that is what it cost.
"""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tark_lsp.llm.answer import AnswerDecoder
from tark_lsp.llm.catalog.facts import FREE, Price
from tark_lsp.llm.catalog.prices import Prices
from tark_lsp.llm.events import UsageUpdate
from tark_lsp.llm.provider import load_providers
from tark_lsp.llm.wire.wire import load_wire
from tark_lsp.messages import Usage
from tests.llm.wire.recordings import SHARED, needs_shared, stream_bytes

pytestmark = needs_shared

M = 1e-6
CHAT, RESPONSES, MESSAGES = "openai-chat", "openai-responses", "anthropic-messages"
GEMINI, OLLAMA = "gemini-content", "ollama-chat"


@dataclass(frozen=True)
class Case:
    """`file` is a prefix of a recording's name; `changed`: figures in it that are made others."""

    wire: str
    file: str
    provider: str
    model: str
    dollars: float
    changed: tuple[tuple[str, str], ...] = ()


CASES: dict[str, Case] = {
    # of the 75 tokens out 64 were reasoning
    "chat: reasoning within the output": Case(
        CHAT,
        "openai-chat/fantasy__TestOpenAICommon-openai-gpt-5-simple",
        "openai",
        "gpt-5-2025-08-07",
        19 * 1.25 * M + 75 * 10 * M,
    ),
    "chat: reasoning within the output, o4": Case(
        CHAT,
        "openai-chat/fantasy__TestOpenAICommon-openai-o4-mini-simple",
        "openai",
        "o4-mini-2025-04-16",
        19 * 1.1 * M + 84 * 4.4 * M,
    ),
    # xAI says 739000 ticks of 1e-10 dollars: the 129 tokens of reasoning stand beside the 2 of the completion
    "chat: reasoning beside the output, and a cache": Case(
        CHAT,
        "openai-compat/fantasy__TestOpenAICompatibleCommon-xai-grok-4-fast-simple",
        "xai",
        "grok-4-fast-reasoning",
        (165 - 164) * 0.2 * M + 164 * 0.05 * M + (2 + 129) * 0.5 * M,
    ),
    "chat: the same with tools": Case(
        CHAT,
        "openai-compat/fantasy__TestOpenAICompatibleCommon-xai-grok-4-fast-tool",
        "xai",
        "grok-4-fast-reasoning",
        (361 - 360) * 0.2 * M + 360 * 0.05 * M + (26 + 235) * 0.5 * M,
    ),
    "chat: a cache, Mistral": Case(
        CHAT,
        "openai-compat/ruby_llm__chat_function_calling_mistral_mistral-small-latest_can_use_tools_with_multi-turn"
        "_streaming_conversations__2",
        "mistral",
        "mistral-small-latest",
        (291 - 192) * 0.15 * M + 192 * 0.015 * M + 27 * 0.6 * M,
    ),
    # the router says it: 802 in at 5 dollars, 66 out at 25
    "chat: the router's own word": Case(
        CHAT,
        "openrouter/opencode__openrouter-claude-opus-4-7-drives-a-tool-loop__0",
        "openrouter",
        "anthropic/claude-opus-4.7",
        802 * 5 * M + 66 * 25 * M,
    ),
    # and here 40 in at 2 dollars, 14 out and 43 of reasoning at 12
    "chat: another's, with reasoning beside the output": Case(
        CHAT,
        "openai-compat/fantasy__TestVercelThinking-gemini-3-pro-preview-thinking-streaming__1",
        "openrouter",
        "google/gemini-3-pro-preview",
        40 * 2 * M + (14 + 43) * 12 * M,
    ),
    # with a price for the request beside 45 in at 2 dollars and 390 out at 8
    "chat: Perplexity's own word": Case(
        CHAT,
        "openai-compat/ruby_llm__chat_with_extended_thinking_perplexity_sonar-reasoning-pro",
        "compatible",
        "sonar-reasoning-pro",
        45 * 2 * M + 390 * 8 * M + 0.006,
    ),
    "responses: reasoning": Case(
        RESPONSES,
        "openai-responses/opencode__gpt-5-5-streams-text",
        "openai",
        "gpt-5.5-2026-04-23",
        20 * 5 * M + 18 * 30 * M,
    ),
    "responses: a cache and reasoning": Case(
        RESPONSES,
        "openai-responses/pydantic-ai__test_openai_responses_thinking_with_code_execution_tool_stream",
        "openai",
        "gpt-5-2025-08-07",
        (3727 - 3200) * 1.25 * M + 3200 * 0.125 * M + 347 * 10 * M,
    ),
    "responses: a cache, codex": Case(
        RESPONSES,
        "openai-responses/vercel-ai__openai-openai-phase",
        "openai",
        "gpt-5.3-codex",
        (7112 - 3072) * 1.75 * M + 3072 * 0.175 * M + 463 * 14 * M,
    ),
    # a prompt of more than 272,000 tokens pays the higher price for all of its tokens
    "responses: above 272,000": Case(
        RESPONSES,
        "openai-responses/opencode__gpt-5-5-streams-text",
        "openai",
        "gpt-5.5-2026-04-23",
        (300_020 - 250_000) * 10 * M + 250_000 * 1.0 * M + 18 * 45 * M,
        (('"input_tokens":20', '"input_tokens":300020'), ('"cached_tokens":0', '"cached_tokens":250000')),
    ),
    "messages: a cache is written": Case(
        MESSAGES,
        "anthropic/opencode__writes-then-reads-cache-control-on-identical-second-call__0",
        "anthropic",
        "claude-haiku-4-5-20251001",
        9 * 1 * M + 5752 * 1.25 * M + 5 * 5 * M,
    ),
    "messages: the cache is read": Case(
        MESSAGES,
        "anthropic/opencode__writes-then-reads-cache-control-on-identical-second-call__1",
        "anthropic",
        "claude-haiku-4-5-20251001",
        9 * 1 * M + 5752 * 0.1 * M + 5 * 5 * M,
    ),
    "messages: input that grew while it ran": Case(
        MESSAGES,
        "anthropic/pydantic-ai__test_anthropic_web_fetch_tool_stream",
        "anthropic",
        "claude-sonnet-4-20250514",
        7244 * 3 * M + 153 * 15 * M,
    ),
    # above 200,000: what was written and read counts to the prompt's length, and pays the higher price, too
    "messages: above 200,000": Case(
        MESSAGES,
        "anthropic/opencode__writes-then-reads-cache-control-on-identical-second-call__0",
        "anthropic",
        "claude-sonnet-4-5",
        9 * 6 * M + 120_000 * 7.5 * M + 90_000 * 0.6 * M + 5 * 22.5 * M,
        (
            ('"cache_creation_input_tokens":5752', '"cache_creation_input_tokens":120000'),
            ('"cache_read_input_tokens":0', '"cache_read_input_tokens":90000'),
        ),
    ),
    "messages: just not above": Case(
        MESSAGES,
        "anthropic/opencode__writes-then-reads-cache-control-on-identical-second-call__0",
        "anthropic",
        "claude-sonnet-4-5",
        9 * 3 * M + 199_991 * 3.75 * M + 5 * 15 * M,
        (('"cache_creation_input_tokens":5752', '"cache_creation_input_tokens":199991'),),
    ),
    # 14 tokens of the answer, 64 of thoughts beside them
    "gemini: thoughts": Case(
        GEMINI,
        "gemini/fantasy__TestGoogleThinking-gemini-2.5-pro-thinking",
        "gemini",
        "gemini-2.5-pro",
        54 * 1.25 * M + (14 + 64) * 10 * M,
    ),
    "gemini: thoughts, flash": Case(
        GEMINI, "gemini/opencode__streams-text", "gemini", "gemini-2.5-flash", 11 * 0.3 * M + (2 + 16) * 2.5 * M
    ),
    "gemini: above 200,000, with a cache": Case(
        GEMINI,
        "gemini/fantasy__TestGoogleThinking-gemini-2.5-pro-thinking",
        "gemini",
        "gemini-2.5-pro",
        (200_054 - 150_000) * 2.5 * M + 150_000 * 0.25 * M + (14 + 64) * 15 * M,
        (('"promptTokenCount": 54', '"promptTokenCount": 200054,"cachedContentTokenCount": 150000'),),
    ),
    "ollama: nothing, on the person's own machine": Case(
        OLLAMA, "ollama/openllmetry__test_ollama_streaming_chat_legacy", "ollama", "llama3", 17 * 0 + 50 * 0
    ),
    "ollama: nothing, with tools": Case(
        OLLAMA, "ollama/prism__ollama-stream-with-tools-1", "ollama", "qwen3", 218 * 0 + 306 * 0
    ),
}


@pytest.fixture(scope="module")
def prices() -> Prices:
    """Looked up as the server does, all at once."""
    prices = Prices()
    asyncio.run(prices.look_up_prices([(base_url(case), case.model) for case in CASES.values()]))
    return prices


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_the_cost_equals_the_one_computed_by_hand(case: Case, prices: Prices) -> None:
    usage = used(case)
    assert usage.input_tokens + usage.output_tokens > 0
    cost = usage.cost_usd if usage.cost_usd is not None else price(case, prices).cost_of(usage)
    assert cost == pytest.approx(case.dollars, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("wire", [CHAT, RESPONSES, MESSAGES, GEMINI, OLLAMA])
def test_each_wire_has_two_recordings_or_more(wire: str) -> None:
    assert len({case.file for case in CASES.values() if case.wire == wire}) >= 2


def test_a_sum_of_answers_costs_the_sum_of_their_costs(prices: Prices) -> None:
    """An answer with an unknown price does not change the sum."""
    cases = [case for case in CASES.values() if case.wire == MESSAGES]
    total = Usage()
    for case in cases:
        usage = used(case)
        total += replace(usage, cost_usd=price(case, prices).cost_of(usage))
    total += Usage(1000, 0, 0, 1000)
    assert total.cost_usd == pytest.approx(sum(case.dollars for case in cases))


def used(case: Case) -> Usage:
    """The cost in the last usage event of the stream."""
    wire = load_wire(case.wire)
    answer = AnswerDecoder(wire.parser(), wire.framing)
    body = stream_bytes(recording(case.file)).decode()
    for old, new in case.changed:
        assert old in body, f"{old} is not in {case.file}"
        body = body.replace(old, new)
    events = [*answer.feed_bytes(body.encode()), *([] if answer.failure else answer.close())]
    return [event.usage for event in events if isinstance(event, UsageUpdate)][-1]


def recording(prefix: str) -> Path:
    (found,) = [
        path
        for path in (SHARED / "streams").glob(f"{prefix}*")
        if path.name.endswith((".sse", ".chunks.txt", ".ndjson"))
    ]
    return found


def base_url(case: Case) -> str:
    return load_providers()[case.provider].base_url


def price(case: Case, prices: Prices) -> Price:
    if load_providers()[case.provider].free:
        return FREE
    known = prices.stored_facts(base_url(case), case.model)
    assert known is not None
    assert known.price is not None, f"no price of {case.model}"
    return known.price
