"""Facts about models: the table, the merging of sources, tokens and cost on every wire, the user's settings."""

import asyncio
import json
import logging
from typing import Any

import pytest

from tark_lsp.http import HttpRequest, HttpResponse
from tark_lsp.llm.catalog.facts import FREE, NO_FACTS, TABLE, ModelFacts, ModelInfo, Price, merge_facts, table_facts
from tark_lsp.llm.catalog.model_catalog import sort_by_preference
from tark_lsp.llm.catalog.price_lookup import look_up_price
from tark_lsp.llm.catalog.prices import Prices
from tark_lsp.llm.client import Models, ProviderOverride
from tark_lsp.llm.events import UsageUpdate
from tark_lsp.llm.model import WireModel
from tark_lsp.llm.provider import load_providers
from tark_lsp.llm.scripted.scenario import Reply
from tark_lsp.llm.wire.thinking import EFFORT_SCALE
from tark_lsp.llm.wire.wire import load_wire
from tark_lsp.messages import Usage
from tests.llm.asking import ENVIRON, ask, built, models_at, parse
from tests.loopback import Loopback, Raw
from tests.patience import AT_ONCE

NEVER = Prices(program=())

ROWS: list[tuple[str, int | None, str, str]] = [
    ("anthropic/claude-fable-5-2", 1_000_000, "adaptive", "low medium high xhigh max"),
    ("anthropic/claude-opus-5-5", 1_000_000, "adaptive", "low medium high xhigh max"),
    ("anthropic/claude-haiku-5-5-20261001", 1_000_000, "adaptive", "low medium high xhigh max"),
    ("claude-opus-4-7", 1_000_000, "adaptive", "low medium high xhigh max"),
    ("claude-opus-4-6", 1_000_000, "adaptive", "low medium high max"),
    ("copilot/claude-sonnet-4.6", 1_000_000, "adaptive", "low medium high max"),
    ("openrouter/anthropic/claude-sonnet-4.5", 200_000, "budget", ""),
    ("claude-haiku-4-5-20251001", 200_000, "budget", ""),
    ("claude-opus-4-1", 200_000, "budget", ""),
    ("claude-3-7-sonnet-latest", 200_000, "budget", ""),
    ("claude-3-5-sonnet-20241022", 200_000, "none", ""),
    ("openai/gpt-6.1-sol", 1_050_000, "effort", "low medium high xhigh max"),
    ("openai/gpt-6-luna", 1_050_000, "effort", "none low medium high xhigh max"),
    ("openai/gpt-5.6-terra", 1_050_000, "effort", "none low medium high xhigh max"),
    ("gpt-5.5", 1_050_000, "effort", "none low medium high xhigh"),
    ("gpt-5.4", 1_050_000, "effort", "none low medium high xhigh"),
    ("gpt-5.4-mini", 400_000, "effort", "none low medium high xhigh"),
    ("gpt-5.4-pro", 1_050_000, "effort", "medium high xhigh"),
    ("gpt-5.3-codex", 400_000, "effort", "low medium high xhigh"),
    ("openai/gpt-5.3", 128_000, "none", ""),
    ("openai/gpt-5.3-chat-latest", 128_000, "none", ""),
    ("gpt-5.2-2025-12-11", 400_000, "effort", "none low medium high xhigh"),
    ("gpt-5.2-pro", 400_000, "effort", "medium high xhigh"),
    ("gpt-5.1", 400_000, "effort", "none low medium high"),
    ("gpt-5.1-codex", 400_000, "effort", "low medium high"),
    ("gpt-5.1-codex-max", 400_000, "effort", "low medium high xhigh"),
    ("gpt-5.1-chat-latest", 128_000, "none", ""),
    ("gpt-5", 400_000, "effort", "minimal low medium high"),
    ("gpt-5-mini-2025-08-07", 400_000, "effort", "minimal low medium high"),
    ("gpt-5-codex", 400_000, "effort", "low medium high"),
    ("gpt-5-pro", 400_000, "effort", "high"),
    ("gpt-4o-mini", 128_000, "none", ""),
    ("o3", 200_000, "effort", "low medium high"),
    ("o4-mini", 200_000, "effort", "low medium high"),
    ("groq/openai/gpt-oss-120b", 131_072, "effort", "low medium high"),
    ("ollama/gpt-oss:20b", 131_072, "effort", "low medium high"),
    ("gemini/gemini-4-argon", 1_048_576, "effort", "low medium high"),
    ("gemini/gemini-3.8-flash", 1_048_576, "effort", "low medium high"),
    ("gemini/gemini-3.5-flash", 1_048_576, "effort", "minimal low medium high"),
    ("gemini/gemini-3-pro-preview", 1_048_576, "effort", "low high"),
    ("gemini/gemini-3.1-pro-preview", 1_048_576, "effort", "low medium high"),
    ("gemini/gemini-2.5-pro", 1_048_576, "budget", ""),
    ("xai/grok-4.7", 500_000, "effort", "low medium high xhigh"),
    ("xai/grok-4.3", 1_000_000, "effort", "none low medium high"),
    ("xai/grok-4-0709", None, "none", ""),
    ("deepseek/deepseek-v4-pro", 1_000_000, "switch", "low high max"),
    ("deepseek/deepseek-flash", 1_000_000, "switch", "low high max"),
    ("ollama/qwen3:8b", None, "switch", ""),
    ("openai/unheard-of", None, "unknown", ""),
]


@pytest.mark.parametrize(("ref", "window", "thinking", "efforts"), ROWS)
def test_table(ref: str, window: int | None, thinking: str, efforts: str) -> None:
    known = table_facts(ref)
    assert (known.context_window, known.thinking, " ".join(known.efforts)) == (window, thinking, efforts)


def test_words_of_the_table_are_known_and_in_order() -> None:
    for pattern, row in TABLE:
        assert list(row.efforts) == sorted(set(row.efforts), key=EFFORT_SCALE.index), pattern
        assert (row.thinking in ("effort", "adaptive")) or not row.efforts or row.thinking == "switch", pattern
        assert row.price is None, pattern  # a price library keeps those


@pytest.mark.parametrize(
    ("ref", "tools"),
    [
        ("ollama/deepseek-r1:8b", False),
        ("ollama/gemma2:9b", False),
        ("ollama/gemma3", False),
        ("ollama/llama3:8b", False),
        ("ollama/phi4", False),
        ("ollama/llama3.1:8b", None),
        ("ollama/qwen3", None),
        ("gpt-6.1-sol", True),
        ("deepseek/deepseek-reasoner", True),
        ("together/deepseek-ai/DeepSeek-R1", None),
    ],
)
def test_native_tool_calls(ref: str, tools: bool | None) -> None:
    assert table_facts(ref).tools is tools


def test_a_higher_source_overrides_a_lower_one() -> None:
    best = ModelFacts(context_window=1, tools=False)
    middle = ModelFacts(context_window=2, thinking="none", price=FREE, images=True)
    least = ModelFacts(
        context_window=3, max_output=4, thinking="effort", efforts=("low",), images=False, wire="openai-chat"
    )
    assert merge_facts(best, middle, least) == ModelFacts(1, 4, "none", ("low",), FREE, False, True, "openai-chat")
    assert merge_facts() == merge_facts(NO_FACTS, NO_FACTS) == NO_FACTS


def test_price_by_hand() -> None:
    price = Price(input=3, output=15, cached=0.3, cache_write=3.75)
    usage = Usage(input_tokens=1_000_000, cached_tokens=500_000, cache_write_tokens=100_000, output_tokens=100_000)
    assert price.cost_of(usage) == pytest.approx(0.4 * 3 + 0.5 * 0.3 + 0.1 * 3.75 + 0.1 * 15)
    assert Price(2, 10).cost_of(Usage(1_000_000, 600_000, 400_000, 0)) == pytest.approx(2)
    assert Price(2, 10).cost_of(Usage(1, 5, 5, 0)) >= 0  # a provider that counts strangely never earns money


def test_a_long_prompt_pays_more_for_all_of_it() -> None:
    price = Price(1, 10, 0.1, above=((200, Price(2, 20, 0.2)), (400, Price(3, 30))))
    assert price.cost_of(Usage(200, 0, 0, 1)) * 1e6 == pytest.approx(200 + 10)
    assert price.cost_of(Usage(201, 100, 0, 1)) * 1e6 == pytest.approx(101 * 2 + 100 * 0.2 + 20)
    assert price.cost_of(Usage(401, 1, 0, 1)) * 1e6 == pytest.approx(401 * 3 + 30)


def _sse(*events: object) -> bytes:
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()


STREAMS: dict[str, tuple[bytes, Usage, float]] = {
    # Each cost is worked out by hand for a price of 10, 20, cached 1, written 12.5 dollars a million.
    "openai-chat": (
        _sse(
            {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]},
            {
                "choices": [],
                "usage": {
                    "prompt_tokens": 1000,
                    "completion_tokens": 200,
                    "prompt_tokens_details": {"cached_tokens": 400, "cache_write_tokens": 100},
                    "completion_tokens_details": {"reasoning_tokens": 50},
                },
            },
        )
        + b"data: [DONE]\n\n",
        Usage(1000, 400, 100, 200, 50),
        500 * 10 + 400 * 1 + 100 * 12.5 + 200 * 20,
    ),
    "openai-responses": (
        _sse(
            {
                "type": "response.completed",
                "response": {
                    "status": "completed",
                    "output": [],
                    "usage": {
                        "input_tokens": 1000,
                        "input_tokens_details": {"cached_tokens": 400, "cache_write_tokens": 100},
                        "output_tokens": 200,
                        "output_tokens_details": {"reasoning_tokens": 50},
                    },
                },
            },
        ),
        Usage(1000, 400, 100, 200, 50),
        500 * 10 + 400 * 1 + 100 * 12.5 + 200 * 20,
    ),
    "anthropic-messages": (  # input_tokens are those neither read from the cache nor written to it
        _sse(
            {
                "type": "message_start",
                "message": {
                    "usage": {
                        "input_tokens": 500,
                        "cache_read_input_tokens": 400,
                        "cache_creation_input_tokens": 100,
                        "output_tokens": 1,
                    }
                },
            },
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 200}},
            {"type": "message_stop"},
        ),
        Usage(1000, 400, 100, 200, 0),
        500 * 10 + 400 * 1 + 100 * 12.5 + 200 * 20,
    ),
    "gemini-content": (  # candidatesTokenCount leaves the thoughts out
        _sse(
            {
                "candidates": [{"content": {"role": "model", "parts": [{"text": "Hi"}]}, "finishReason": "STOP"}],
                "usageMetadata": {
                    "promptTokenCount": 1000,
                    "cachedContentTokenCount": 400,
                    "candidatesTokenCount": 150,
                    "thoughtsTokenCount": 50,
                    "totalTokenCount": 1200,
                },
            }
        ),
        Usage(1000, 400, 0, 200, 50),
        600 * 10 + 400 * 1 + 200 * 20,
    ),
    "ollama-chat": (
        json.dumps(
            {
                "message": {"role": "assistant", "content": "Hi"},
                "done": True,
                "done_reason": "stop",
                "prompt_eval_count": 1000,
                "eval_count": 200,
            }
        ).encode()
        + b"\n",
        Usage(1000, 0, 0, 200, 0),
        1000 * 10 + 200 * 20,
    ),
}


@pytest.mark.parametrize("wire", STREAMS)
def test_tokens_and_cost_on_each_wire(wire: str) -> None:
    body, usage, millionths = STREAMS[wire]
    events, error = parse(load_wire(wire), [body])
    assert error is None
    last = [event.usage for event in events if isinstance(event, UsageUpdate)][-1]
    assert last == usage
    assert Price(10, 20, 1, 12.5).cost_of(last) * 1e6 == pytest.approx(millionths)


SAID = ModelFacts(
    context_window=123,
    max_output=45,
    thinking="effort",
    efforts=("low", "high"),
    price=Price(1000, 2000),
    tools=False,
    images=False,
)


async def test_the_user_s_settings_override_all() -> None:
    body = STREAMS["openai-chat"][0]
    async with Loopback([Raw([body])], models=["gpt-4o"]) as server:
        models = Models(
            {"openai": ProviderOverride(f"{server.url}/v1", wire="openai-chat", models={"gpt-4o": SAID})}, ENVIRON
        )
        model = await models.open_model("openai/gpt-4o")
        assert isinstance(model, WireModel)
        assert model.facts == SAID
        target = model.target
        assert (target.thinking, target.efforts, target.context_window) == ("effort", ("low", "high"), 123)
        assert (target.max_output_tokens, target.text_calls, model.context_window) == (45, True, 123)
        events, error = await ask(model)
        (listed,) = (await models.list_models("openai")).models
        await models.aclose()
    assert error is None
    assert built(events)[1].usage.cost_usd == pytest.approx((1000 * 1000 + 200 * 2000) / 1e6)
    assert listed.facts == SAID


async def test_the_provider_s_own_cost_overrides_ours() -> None:
    chunk = {
        "choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 200, "cost": 0.125},
    }
    async with Loopback([Raw([_sse(chunk) + b"data: [DONE]\n\n"])]) as server:
        own = ProviderOverride(
            f"{server.url}/v1", wire="openai-chat", models={"m": ModelFacts(price=Price(1000, 2000))}
        )
        models = Models({"openrouter": own}, {"OPENROUTER_API_KEY": "k"})
        events, _ = await ask(await models.open_model("openrouter/m"))
        await models.aclose()
    assert built(events)[1].usage.cost_usd == 0.125


class Played:
    """A network on which every request gets the same answer."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def send(self, _: HttpRequest) -> HttpResponse:
        async def chunks() -> Any:
            yield self._body

        async def aclose() -> None:
            pass

        return HttpResponse(200, {"content-type": "text/event-stream"}, chunks(), aclose)

    async def aclose(self) -> None:
        pass


@pytest.mark.parametrize(("model", "known"), [("gpt-4.1", True), ("gpt-4.1-unheard-of", False)])
async def test_the_first_answer_waits_for_the_price_of_the_library(
    monkeypatch: pytest.MonkeyPatch, model: str, known: bool
) -> None:
    monkeypatch.setattr("tark_lsp.llm.model.PRICE_SECONDS", AT_ONCE)  # a busy machine takes longer to start a program
    body = STREAMS["openai-chat"][0]
    models = Models({"openai": ProviderOverride(wire="openai-chat")}, ENVIRON, network=Played(body))
    opened = await models.open_model(f"openai/{model}")
    costs = []
    for _ in range(2):
        events, error = await ask(opened)
        assert error is None
        assert isinstance(events[-2], UsageUpdate)
        costs.append(events[-2].usage.cost_usd)
    await models.aclose()
    found = look_up_price("https://api.openai.com/v1", model)
    assert (found is not None) is known
    if found is None:
        assert costs == [None, None]
    else:
        price = found["price"]
        dollars = (600 * price["input"] + 400 * price["cached"] + 200 * price["output"]) / 1e6
        assert costs == [pytest.approx(dollars)] * 2


async def test_a_running_lookup_ends_with_its_models() -> None:
    models = Models({}, ENVIRON, prices=Prices(("sleep", "60")), network=Played(b""))
    await models.open_model("openai/gpt-4.1")
    assert len(asyncio.all_tasks()) > 1
    await models.aclose()
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize(
    ("provider", "base_url", "model", "cost"),
    [
        ("ollama", "http://127.0.0.1:1", "llama3", 0.0),
        ("vllm", "http://192.168.1.7:8000/v1", "own", 0.0),
        ("llamacpp", "http://gpu-box:8080/v1", "own", 0.0),
        ("ollama", "http://127.0.0.1:1", "gpt-oss:120b-cloud", None),
        ("ollama", "https://ollama.com", "gpt-oss:120b", None),
        ("compatible", "http://127.0.0.1:1/v1", "gpt-4o", None),
        ("openai", "http://127.0.0.1:1/v1", "gpt-4o", None),
    ],
)
async def test_costs_of_local_servers(provider: str, base_url: str, model: str, cost: float | None) -> None:
    models = Models({provider: ProviderOverride(base_url)}, ENVIRON, prices=NEVER, network=Played(b"{}"))
    opened = await models.open_model(f"{provider}/{model}")
    await models.aclose()
    assert isinstance(opened, WireModel)
    price = opened.facts.price
    assert (None if price is None else price.cost_of(Usage(1_000_000, output_tokens=1_000_000))) == cost


JSON = {"content-type": "application/json"}


def _as_json(body: object, status: int = 200) -> Raw:
    return Raw([json.dumps(body).encode()], status, JSON)


async def test_ollama_is_asked_about_a_model_when_it_is_opened() -> None:
    shown = {"capabilities": ["completion", "vision"], "model_info": {"gemma3.context_length": 131_072}}
    async with Loopback([Reply(text="Hi")], shown=_as_json(shown)) as server:
        models = models_at(server, more={"ollama": ProviderOverride(server.url)})
        opened = await models.open_model("ollama/gemma3")
        await models.aclose()
    assert isinstance(opened, WireModel)
    assert opened.facts == ModelFacts(131_072, thinking="none", price=FREE, tools=False, images=True)
    assert opened.target.text_calls


@pytest.mark.parametrize("answer", [_as_json({"error": "not found"}, 404), Raw(silent=True), Raw([b"<html>"])])
async def test_an_ollama_that_does_not_answer_leaves_facts_unknown(
    answer: Raw, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "tark_lsp.llm"):
        async with Loopback([Reply(text="Hi")], shown=answer) as server:
            models = models_at(server, more={"ollama": ProviderOverride(server.url)})
            opened = await models.open_model("ollama/qwen3")
            await models.aclose()
    assert isinstance(opened, WireModel)
    assert opened.facts == ModelFacts(thinking="switch", price=FREE)
    assert "does not describe ollama/qwen3" in caplog.text


def _copilot(endpoints: list[str]) -> Raw:
    capabilities = {
        "type": "chat",
        "limits": {"max_context_window_tokens": 264_000},
        "supports": {"tool_calls": True, "reasoning_effort": ["low", "high"]},
    }
    return _as_json({"data": [{"id": "new-1", "capabilities": capabilities, "supported_endpoints": endpoints}]})


@pytest.mark.parametrize(
    ("endpoints", "path"),
    [(["/chat/completions", "/responses"], "/responses"), (["/chat/completions"], "/chat/completions")],
)
async def test_a_listing_read_first_gives_wire_and_window(endpoints: list[str], path: str) -> None:
    async with Loopback([Reply(text="Hi")], listing=_copilot(endpoints)) as server:
        models = Models({"copilot": ProviderOverride(server.url)}, {"COPILOT_GITHUB_TOKEN": "k"})
        opened = await models.open_model("copilot/new-1")
        _, error = await ask(opened)
        await models.aclose()
    assert error is None
    assert opened.context_window == 264_000
    assert [request.path for request in server.requests] == ["/models", path]


async def test_listings_are_kept_until_refresh() -> None:
    async with Loopback([Reply()], models=["gpt-4o"]) as server:
        models = models_at(server)
        for refresh, asked in ((False, 1), (False, 1), (True, 2), (False, 2)):
            assert len((await models.list_models("openai", refresh=refresh)).models) == 1
            assert len(server.requests) == asked
        await models.aclose()


async def test_a_provider_that_does_not_answer_is_a_problem() -> None:
    refusal = _as_json({"error": {"message": "bad key"}}, 401)
    async with Loopback([Reply()], listing=refusal) as bad, Loopback([Reply()], models=["claude-sonnet-5"]) as good:
        models = models_at(bad, more={"anthropic": ProviderOverride(good.url)})
        found = await models.list_models()
        await models.aclose()
    assert "anthropic/claude-sonnet-5" in [model.id for model in found.models]
    (problem,) = found.problems
    assert problem.startswith("openai: ")
    assert "OPENAI_API_KEY" in problem


async def test_a_configured_server_that_does_not_run_is_a_problem() -> None:
    async with Loopback([Reply()]) as server:
        url = server.url
    models = Models({"vllm": ProviderOverride(f"{url}/v1")}, {})
    found = await models.list_models()
    await models.aclose()
    assert [problem.partition(":")[0] for problem in found.problems] == ["vllm"]


def _named(*names: str) -> list[ModelInfo]:
    return [ModelInfo(f"p/{name}", name) for name in names]


PREFERENCES: list[tuple[str, list[ModelInfo], str]] = [
    (
        "gemini",
        _named("gemini-2.5-pro", "gemini-3.8-flash", "gemini-3.1-pro-preview", "gemini-4-argon"),
        "gemini-4-argon",
    ),
    ("gemini", _named("gemini-2.5-pro", "gemini-3.5-flash", "gemini-3.8-flash"), "gemini-3.8-flash"),
    ("openai", _named("gpt-4.1", "gpt-5.4", "gpt-5.5", "gpt-5.4-mini"), "gpt-5.5"),
    ("openai", _named("gpt-6-sol", "gpt-6.1-sol", "gpt-6-astra", "gpt-5.5"), "gpt-6.1-sol"),
    (
        "anthropic",
        [ModelInfo("p/claude-sonnet-4-6", "", created=1), ModelInfo("p/claude-sonnet-5-5", "", created=2)],
        "claude-sonnet-5-5",
    ),
    ("anthropic", _named("claude-haiku-4-5", "claude-opus-5"), "claude-opus-5"),
    ("copilot", _named("gpt-5.5", "claude-sonnet-5.5", "claude-sonnet-5", "gpt-6.1-sol"), "claude-sonnet-5.5"),
    (
        "copilot",
        _named("gpt-5-mini", "gpt-5.5", "gpt-6-sol", "gpt-6.1-sol", "gpt-6.1-terra", "grok-4.7"),
        "gpt-6.1-sol",
    ),
    ("copilot", _named("gpt-5-mini", "gpt-5.4", "gpt-5.5", "gemini-4-argon"), "gpt-5.5"),
    ("copilot", _named("grok-4.7"), "grok-4.7"),
    (
        "openrouter",
        _named("openai/gpt-6.1-sol", "anthropic/claude-sonnet-5.5", "anthropic/claude-sonnet-5.5:batch"),
        "anthropic/claude-sonnet-5.5",
    ),
    (
        "openrouter",
        _named("anthropic/claude-sonnet-5.5:batch", "anthropic/claude-sonnet-5.5"),
        "anthropic/claude-sonnet-5.5",
    ),
    ("openrouter", _named("openai/gpt-5.5", "openai/gpt-6.1-sol:batch", "openai/gpt-6.1-sol"), "openai/gpt-6.1-sol"),
    ("openrouter", _named("openai/gpt-5.4", "openai/gpt-5.5-pro", "openai/gpt-5.5"), "openai/gpt-5.5"),
    ("openrouter", _named("x-ai/grok-4.7"), "x-ai/grok-4.7"),
]


@pytest.mark.parametrize(("provider", "models", "best"), PREFERENCES)
def test_the_best_of_a_provider(provider: str, models: list[ModelInfo], best: str) -> None:
    shipped = load_providers()[provider]
    own = [ModelInfo(f"{provider}/{model.id[2:]}", model.name, created=model.created) for model in models]
    assert sort_by_preference(shipped, own)[0].id == f"{provider}/{best}"


async def test_the_default_of_ollama_can_call_tools() -> None:
    tags = {
        "models": [
            {"name": "gemma3", "model": "gemma3", "modified_at": "2026-11-02T00:00:00Z"},
            {"name": "nomic-embed-text", "model": "nomic-embed-text", "modified_at": "2026-11-03T00:00:00Z"},
            {"name": "qwen3", "model": "qwen3", "modified_at": "2026-11-01T00:00:00Z"},
        ]
    }
    async with Loopback([Reply()], listing=_as_json(tags)) as server:
        models = Models({"ollama": ProviderOverride(server.url)}, {})
        assert await models.find_default_model() == "ollama/qwen3"
        await models.aclose()
