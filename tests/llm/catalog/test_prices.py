"""Prices: our costs compared with the price library's own, matching of model names, and the lookup process."""

import asyncio
import json
import logging
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal

import genai_prices
import pytest
from genai_prices import data_snapshot, types

from tark_lsp.llm.catalog.facts import NO_FACTS, ModelFacts, Price
from tark_lsp.llm.catalog.price_lookup import look_up_price, price_row
from tark_lsp.llm.catalog.prices import PERIOD, Prices, is_local
from tark_lsp.llm.provider import load_providers
from tark_lsp.messages import Usage
from tests.patience import AT_ONCE, HANGS

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
USAGES = (
    Usage(1000, 0, 0, 100),
    Usage(1000, 400, 100, 100, 50),
    Usage(100_001, 50_000, 0, 9),
    Usage(200_000, 0, 200_000, 1),
    Usage(272_001, 272_001, 0, 0),
    Usage(900_000, 1, 2, 128_000, 128_000),
)


def library() -> Iterator[tuple[str, types.ModelInfo]]:
    for provider in data_snapshot.get_snapshot().providers:
        for model in provider.models:
            yield f"{provider.id}/{model.id}", model


def test_our_costs_equal_the_library_s_for_every_model_it_knows() -> None:
    counted = 0
    for name, model in library():
        prices = model.get_prices(NOW)
        if (found := price_row(prices)) is None:
            continue
        price = _price(found)
        for usage in USAGES:
            theirs = prices.calc_price(
                genai_prices.Usage(
                    input_tokens=usage.input_tokens,
                    cache_read_tokens=usage.cached_tokens,
                    cache_write_tokens=usage.cache_write_tokens,
                    output_tokens=usage.output_tokens,
                )
            )
            assert price.cost_of(usage) == pytest.approx(float(theirs["total_price"])), (name, usage)
            counted += 1
    assert counted > 1000


def _price(found: dict[str, object]) -> Price:
    facts = json.loads(json.dumps(found))
    return Price(
        facts["input"],
        facts["output"],
        facts["cached"],
        facts["cache_write"],
        tuple((tokens, _price(more)) for tokens, more in facts["above"]),
    )


OPENAI, ANTHROPIC = "https://api.openai.com/v1", "https://api.anthropic.com"
MEANT = [
    (OPENAI, "gpt-4o"),
    (OPENAI, "gpt-4o-2024-08-06"),
    (OPENAI, "gpt-6.1-sol"),
    (OPENAI, "gpt-6.1-sol-2026-09-29"),
    (ANTHROPIC, "claude-sonnet-4-5"),
    (ANTHROPIC, "claude-sonnet-4-5-20250929"),
    (ANTHROPIC, "claude-opus-4-1-20250805"),
    (ANTHROPIC, "claude-haiku-5-5-20261001"),
    ("https://generativelanguage.googleapis.com", "gemini-3.8-flash"),
    ("https://generativelanguage.googleapis.com", "gemini-3.1-pro-preview"),
    ("https://api.groq.com/openai/v1", "openai/gpt-oss-120b"),
    ("https://api.mistral.ai/v1", "devstral-2512"),
    ("https://api.x.ai/v1", "grok-4.7"),
    ("https://api.deepseek.com", "deepseek-v4-pro"),
    ("https://api.together.xyz/v1", "openai/gpt-oss-120b"),
    ("https://api.githubcopilot.com", "claude-sonnet-5"),
    ("https://openrouter.ai/api/v1", "anthropic/claude-sonnet-5"),
]


@pytest.mark.parametrize(("base_url", "model"), MEANT)
def test_a_known_model_has_a_price(base_url: str, model: str) -> None:
    found = look_up_price(base_url, model)
    assert found is not None
    assert found["price"]["input"] > 0


NOT_MEANT = [
    (OPENAI, "gpt-4o-foo"),
    (OPENAI, "llama3"),
    (OPENAI, "claude-sonnet-4-5"),
    (OPENAI, "gpt-5-nano-turbo"),
    (ANTHROPIC, "claude-opus-4-1-turbo"),
    (ANTHROPIC, "claude-haiku-4-52"),
    (ANTHROPIC, "claude-unheard-of"),
    ("https://generativelanguage.googleapis.com", "gemini-3.6-flash-image"),
    ("https://api.deepseek.com", "deepseek-r1-distill-llama-70b"),
    ("http://localhost:11434", "llama3"),
    ("https://models.example/v1", "gpt-4o"),
    ("https://api.githubcopilot.com", "gpt-9"),
]


@pytest.mark.parametrize(("base_url", "model"), NOT_MEANT)
def test_a_name_with_only_the_same_start_has_no_price(base_url: str, model: str) -> None:
    assert look_up_price(base_url, model) is None


@pytest.mark.parametrize(
    "prices",
    [
        types.ModelPrice(),
        types.ModelPrice(input_mtok=Decimal(1)),
        types.ModelPrice(
            input_mtok=Decimal(1),
            output_mtok=Decimal(2),
            requests_kcount=Decimal(5),
        ),
    ],
)
def test_a_price_that_is_not_by_tokens_alone_is_not_used(prices: types.ModelPrice) -> None:
    assert price_row(prices) is None


def test_the_vendors_we_ship_have_prices() -> None:
    """Uses the base URL of our provider's file, as in requests to the library."""
    known = {"openai", "anthropic", "gemini", "copilot", "openrouter", "groq", "deepseek", "mistral", "xai", "together"}
    providers = load_providers()
    for name in known:
        assert data_snapshot.get_snapshot().find_provider(None, None, providers[name].base_url).models


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:11434", True),
        ("http://127.0.0.1:1/v1", True),
        ("http://[::1]:8080", True),
        ("http://192.168.1.20:8000/v1", True),
        ("http://gpu-box:8000/v1", True),
        ("http://gpu-box.local/v1", True),
        ("scripted:", True),
        ("https://api.openai.com/v1", False),
        ("https://8.8.8.8/v1", False),
        ("https://localhost.example/v1", False),
    ],
)
def test_which_urls_are_local(url: str, local: bool) -> None:
    assert is_local(url) is local


async def test_the_program_is_asked_once_for_each_half_hour() -> None:
    now = [PERIOD * 1.5]
    prices = Prices(clock=lambda: now[0])
    wanted = [(OPENAI, "gpt-4o"), (OPENAI, "nonesuch"), ("http://localhost:1", "gpt-4o")]
    assert [prices.stored_facts(*item) for item in wanted] == [None, None, NO_FACTS]
    await asyncio.gather(prices.look_up_prices(wanted), prices.look_up_prices(wanted[:1]))
    known = prices.stored_facts(OPENAI, "gpt-4o")
    assert known is not None
    assert known == _facts(look_up_price(OPENAI, "gpt-4o"))
    assert prices.stored_facts(OPENAI, "nonesuch") == NO_FACTS
    now[0] += PERIOD * 0.4
    assert prices.stored_facts(OPENAI, "gpt-4o") is known
    now[0] += PERIOD * 0.2
    assert prices.stored_facts(OPENAI, "gpt-4o") is None


def _facts(found: dict[str, object] | None) -> ModelFacts:
    assert found is not None
    window, price = found["context_window"], found["price"]
    assert isinstance(window, int)
    assert isinstance(price, dict)
    return ModelFacts(context_window=window, price=_price(price))


def program(code: str) -> Prices:
    return Prices((sys.executable, "-c", code))


FAILING = {
    "ends badly": ("raise SystemExit('no library')", "no library"),
    "says something unexpected": ("print('[]')", "something unexpected"),
    "says no JSON": ("print('hello')", "Expecting value"),
}


@pytest.mark.parametrize(("code", "said"), FAILING.values(), ids=FAILING.keys())
async def test_a_failed_lookup_is_logged_and_leaves_prices_unknown(
    code: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    prices = program(code)
    with caplog.at_level(logging.WARNING):
        await prices.look_up_prices([(OPENAI, "gpt-4o")])
    assert prices.stored_facts(OPENAI, "gpt-4o") == NO_FACTS
    assert said in caplog.text


async def test_a_program_that_is_not_there(caplog: pytest.LogCaptureFixture) -> None:
    prices = Prices(("tark-no-such-program",))
    await prices.look_up_prices([(OPENAI, "gpt-4o")])
    assert prices.stored_facts(OPENAI, "gpt-4o") == NO_FACTS
    assert "prices are not known" in caplog.text


async def test_without_a_program_nothing_is_looked_up() -> None:
    prices = Prices(program=())
    await prices.look_up_prices([(OPENAI, "gpt-4o")])
    assert prices.stored_facts(OPENAI, "gpt-4o") == NO_FACTS


async def test_a_cancelled_lookup_ends_its_program() -> None:
    looking = asyncio.create_task(program(f"import time; time.sleep({HANGS})").look_up_prices([(OPENAI, "gpt-4o")]))
    await asyncio.sleep(0.2)
    looking.cancel()
    async with asyncio.timeout(AT_ONCE):
        await asyncio.gather(looking, return_exceptions=True)
        await asyncio.get_running_loop().shutdown_default_executor()  # the thread that waits for it


async def test_no_key_reaches_the_program(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("PYTHONPATH", "some-folder")
    await program("import os, sys; sys.exit(str(dict(os.environ)))").look_up_prices([(OPENAI, "gpt-4o")])
    assert "some-folder" in caplog.text
    assert "sk-secret" not in caplog.text
