"""What is sent for each thinking level, to models of every style on every wire, by the shipped tables."""

import json
from typing import Any

import pytest

from tark_lsp.llm.catalog.facts import table_facts
from tark_lsp.llm.provider import load_providers
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.wire.wire import TargetModel, load_wire
from tests.cases import every
from tests.llm.wire.histories import user
from tests.llm.wire.sdk_types import TYPES

pytestmark = pytest.mark.slow  # the vendors' SDKs take seconds to import

LEVELS = ("auto", "off", "low", "medium", "high")
FIELDS = (
    "thinking",
    "output_config",
    "reasoning",
    "reasoning_effort",
    "chat_template_kwargs",
    "generationConfig",
    "think",
)
NOTHING: dict[str, Any] = {}
DISABLED: dict[str, Any] = {"thinking": {"type": "disabled"}}


def adaptive(effort: str = "") -> dict[str, Any]:
    output = {"output_config": {"effort": effort}} if effort else {}
    return {"thinking": {"type": "adaptive", "display": "summarized"}, **output}


def budget(tokens: int) -> dict[str, Any]:
    return {"thinking": {"type": "enabled", "budget_tokens": tokens}}


def reasoning(**options: Any) -> dict[str, Any]:
    return {"reasoning": options}


def summarized(effort: str) -> dict[str, Any]:
    return reasoning(effort=effort, summary="auto")


def effort(word: str) -> dict[str, Any]:
    return {"reasoning_effort": word}


def gemini(show: bool = True, **options: Any) -> dict[str, Any]:
    return {"generationConfig": {"thinkingConfig": {**({"includeThoughts": True} if show else {}), **options}}}


def deepseek(word: str) -> dict[str, Any]:
    return {"thinking": {"type": "enabled"}, "reasoning_effort": word}


SENT: dict[str, tuple[dict[str, Any], ...]] = {
    # model: auto, off, low, medium, high
    "anthropic/claude-opus-4-6": (adaptive(), NOTHING, adaptive("low"), adaptive("medium"), adaptive("high")),
    # Those that think unless they are told not to.
    "anthropic/claude-sonnet-5": (adaptive(), DISABLED, adaptive("low"), adaptive("medium"), adaptive("high")),
    "anthropic/claude-sonnet-5-20260630": (adaptive(), DISABLED, adaptive("low"), adaptive("medium"), adaptive("high")),
    "anthropic/claude-opus-5": (adaptive(), DISABLED, adaptive("low"), adaptive("medium"), adaptive("high")),
    "anthropic/claude-haiku-5-5": (adaptive(), DISABLED, adaptive("low"), adaptive("medium"), adaptive("high")),
    "anthropic/claude-opus-7": (adaptive(), DISABLED, adaptive("low"), adaptive("medium"), adaptive("high")),
    "copilot/claude-sonnet-5": (adaptive(), DISABLED, adaptive("low"), adaptive("medium"), adaptive("high")),
    "copilot/claude-opus-5": (adaptive(), DISABLED, adaptive("low"), adaptive("medium"), adaptive("high")),
    # One that can stop only before its answer, and some that cannot stop at all: `off` is then as `auto`.
    "anthropic/claude-sonnet-5-5": (
        adaptive(),
        {"thinking": {"type": "between_tools"}},
        adaptive("low"),
        adaptive("medium"),
        adaptive("high"),
    ),
    "anthropic/claude-opus-5-5": (adaptive(), adaptive(), adaptive("low"), adaptive("medium"), adaptive("high")),
    "anthropic/claude-fable-5": (adaptive(), adaptive(), adaptive("low"), adaptive("medium"), adaptive("high")),
    "anthropic/claude-mythos-5-2": (adaptive(), adaptive(), adaptive("low"), adaptive("medium"), adaptive("high")),
    # Those that think only if they are told to.
    "anthropic/claude-opus-4-7": (adaptive(), NOTHING, adaptive("low"), adaptive("medium"), adaptive("high")),
    "anthropic/claude-opus-4-8": (adaptive(), NOTHING, adaptive("low"), adaptive("medium"), adaptive("high")),
    "anthropic/claude-sonnet-4-6": (adaptive(), NOTHING, adaptive("low"), adaptive("medium"), adaptive("high")),
    "anthropic/claude-haiku-4-5": (NOTHING, NOTHING, budget(4096), budget(10240), budget(24576)),
    "anthropic/nobody-knows": (NOTHING, NOTHING, budget(4096), budget(7168), budget(7168)),
    "anthropic/claude-sonnet-4-5": (NOTHING, NOTHING, budget(4096), budget(10240), budget(24576)),
    "anthropic/claude-3-5-haiku-latest": (NOTHING,) * 5,
    "copilot/claude-opus-4.6": (adaptive(), NOTHING, adaptive("low"), adaptive("medium"), adaptive("high")),
    "openai/gpt-5": (
        reasoning(summary="auto"),
        reasoning(effort="minimal"),
        summarized("low"),
        summarized("medium"),
        summarized("high"),
    ),
    "openai/gpt-5.1": (
        reasoning(summary="auto"),
        reasoning(effort="none"),
        summarized("low"),
        summarized("medium"),
        summarized("high"),
    ),
    # A model with one effort only, and one that cannot stop thinking.
    "openai/gpt-5-pro": (
        reasoning(summary="auto"),
        reasoning(effort="high"),
        summarized("high"),
        summarized("high"),
        summarized("high"),
    ),
    "openai/o3": (
        reasoning(summary="auto"),
        reasoning(effort="low"),
        summarized("low"),
        summarized("medium"),
        summarized("high"),
    ),
    "openai/gpt-4o": (NOTHING,) * 5,
    "openai/nobody-knows": (NOTHING, NOTHING, summarized("low"), summarized("medium"), summarized("high")),
    "openai/gpt-5 (chat)": (NOTHING, effort("minimal"), effort("low"), effort("medium"), effort("high")),
    "openai/gpt-5.1 (chat)": (NOTHING, effort("none"), effort("low"), effort("medium"), effort("high")),
    "gemini/gemini-2.5-flash": (
        gemini(),
        gemini(show=False, thinkingBudget=0),
        gemini(thinkingBudget=2048),
        gemini(thinkingBudget=8192),
        gemini(thinkingBudget=24576),
    ),
    "gemini/gemini-2.5-pro": (
        gemini(),
        gemini(show=False, thinkingBudget=128),  # its least
        gemini(thinkingBudget=2048),
        gemini(thinkingBudget=8192),
        gemini(thinkingBudget=24576),
    ),
    "gemini/gemini-3-pro-preview": (
        gemini(),
        gemini(show=False, thinkingLevel="LOW"),
        gemini(thinkingLevel="LOW"),
        gemini(thinkingLevel="LOW"),  # it has no medium, and of two that are as near the lesser counts
        gemini(thinkingLevel="HIGH"),
    ),
    "gemini/gemini-3-flash": (
        gemini(),
        gemini(show=False, thinkingLevel="MINIMAL"),
        gemini(thinkingLevel="LOW"),
        gemini(thinkingLevel="MEDIUM"),
        gemini(thinkingLevel="HIGH"),
    ),
    "gemini/gemini-2.0-flash": (NOTHING,) * 5,
    "openrouter/anthropic/claude-sonnet-4.5": (
        NOTHING,
        reasoning(enabled=False),
        reasoning(effort="low"),
        reasoning(effort="medium"),
        reasoning(effort="high"),
    ),
    "openrouter/anthropic/claude-opus-4.6": (
        NOTHING,
        reasoning(enabled=False),  # its least effort is not its least thinking
        reasoning(effort="low"),
        reasoning(effort="medium"),
        reasoning(effort="high"),
    ),
    "openrouter/anthropic/claude-opus-5": (
        NOTHING,
        reasoning(enabled=False),
        reasoning(effort="low"),
        reasoning(effort="medium"),
        reasoning(effort="high"),
    ),
    "openrouter/anthropic/claude-opus-5.5": (
        NOTHING,
        NOTHING,
        reasoning(effort="low"),
        reasoning(effort="medium"),
        reasoning(effort="high"),
    ),
    "openrouter/openai/gpt-5": (
        NOTHING,
        reasoning(effort="minimal"),
        reasoning(effort="low"),
        reasoning(effort="medium"),
        reasoning(effort="high"),
    ),
    "deepseek/deepseek-v4": (
        NOTHING,
        {"thinking": {"type": "disabled"}},
        deepseek("low"),
        deepseek("low"),
        deepseek("high"),
    ),
    "deepseek/deepseek-chat": (NOTHING,) * 5,
    "ollama/qwen3": (NOTHING, {"think": False}, {"think": True}, {"think": True}, {"think": True}),
    "ollama/gpt-oss:20b": (NOTHING, {"think": "low"}, {"think": "low"}, {"think": "medium"}, {"think": "high"}),
    "ollama/llama3": (NOTHING,) * 5,
    "groq/openai/gpt-oss-120b": (NOTHING, effort("low"), effort("low"), effort("medium"), effort("high")),
    "xai/grok-3-mini": (NOTHING, effort("low"), effort("low"), effort("low"), effort("high")),
    "xai/grok-4.3": (NOTHING, effort("none"), effort("low"), effort("medium"), effort("high")),
    "xai/grok-4": (NOTHING,) * 5,
    "vllm/whatever": (
        NOTHING,
        {"chat_template_kwargs": {"enable_thinking": False}},
        effort("low"),
        effort("medium"),
        effort("high"),
    ),
    "compatible/whatever": (NOTHING, NOTHING, effort("low"), effort("medium"), effort("high")),
}

CASES = [(ref, level, sent) for ref, row in SENT.items() for level, sent in zip(LEVELS, row, strict=True)]
PROVIDERS = load_providers()


@every("case", CASES, lambda case: f"{case[0]}-{case[1]}")
def test_level(case: tuple[str, str, dict[str, Any]]) -> None:
    row, level, sent = case
    ref, _, by_chat = row.partition(" ")
    provider, _, model = ref.partition("/")
    route = PROVIDERS[provider].find_route(model, "openai-chat" if by_chat else None)
    known = table_facts(ref)
    target = TargetModel(
        ref,
        model,
        route.quirks,
        thinking=known.thinking,
        efforts=known.efforts,
        max_output_tokens=known.max_output,
        off=known.off,
    )
    level = "auto" if level == "off" and known.off == "never" else level  # as the client does
    body = json.loads(load_wire(route.wire).encode(ChatRequest("", (user("Hi"),), thinking=level), target))
    assert {name: body[name] for name in FIELDS if name in body} == sent
    if provider in ("anthropic", "openai", "gemini", "ollama"):  # the others' fields are no SDK's
        assert TYPES[route.wire](body) == []


def test_a_budget_leaves_room_for_the_answer() -> None:
    wire = load_wire("anthropic-messages")
    for tokens in (500, 1024, 2047, 2048, 5000, 30_000):
        target = TargetModel("anthropic/x", "x", thinking="budget", max_output_tokens=tokens)
        body = json.loads(wire.encode(ChatRequest("", (user("Hi"),), thinking="high"), target))
        given = body.get("thinking", {}).get("budget_tokens")
        assert given is None if tokens < 2048 else 1024 <= given <= tokens - 1024
