"""`Models`: which models there are, which key they use, and the message if a key is missing."""

import asyncio
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

from tark_lsp.errors import AuthenticationFailed, MissingKey, ModelError, SettingsError
from tark_lsp.llm.catalog.prices import Prices
from tark_lsp.llm.client import Models, ProviderOverride
from tark_lsp.llm.events import TextDelta
from tark_lsp.llm.keys.credentials import find_environment_key, origin_of
from tark_lsp.llm.provider import load_providers
from tark_lsp.llm.scripted.scenario import Reply
from tark_lsp.llm.wire.wire import WIRES, load_wire
from tests.llm.asking import ENVIRON, ask, models_at
from tests.llm.wire.recordings import ROOT
from tests.loopback import Loopback, Raw

OWN = ProviderOverride(base_url="https://own.example/v1/", wire="openai-chat")

REFUSED: dict[str, tuple[str, dict[str, ProviderOverride], dict[str, str], type[SettingsError], str]] = {
    "no key": ("anthropic/claude-x", {}, {}, MissingKey, "set ANTHROPIC_API_KEY"),
    "an empty key": ("openai/gpt-x", {}, {"OPENAI_API_KEY": " "}, MissingKey, "set OPENAI_API_KEY"),
    "another variable": ("openai/x", {"openai": ProviderOverride(api_key_env="MINE")}, ENVIRON, MissingKey, "set MINE"),
    "a key that no header can carry": (
        "openai/x",
        {},
        {"OPENAI_API_KEY": "sk-\u201d"},
        SettingsError,
        "set OPENAI_API_KEY again",
    ),
    "no provider": ("gpt-4o", {}, {}, SettingsError, "provider/model"),
    "no model": ("openai/", {}, {}, SettingsError, "provider/model"),
    "nobody's name": ("nobody/x", {}, {}, SettingsError, "providers.nobody.baseUrl"),
    "half a set-up": (
        "nobody/x",
        {"nobody": ProviderOverride(base_url="http://x")},
        {},
        SettingsError,
        "providers.nobody.wire",
    ),
    "no such wire": (
        "nobody/x",
        {"nobody": ProviderOverride(wire="smoke", base_url="http://x")},
        {},
        SettingsError,
        "openai-chat",
    ),
    "no base URL": ("compatible/x", {}, {}, SettingsError, "providers.compatible.baseUrl"),
    "no scenario": ("scripted/x", {}, {}, SettingsError, "providers.scripted.scenario"),
}


@pytest.mark.parametrize(("ref", "overrides", "environ", "kind", "hint"), REFUSED.values(), ids=REFUSED.keys())
async def test_models_that_cannot_be_opened(
    ref: str, overrides: dict[str, ProviderOverride], environ: dict[str, str], kind: type[SettingsError], hint: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        await Models(overrides, environ).open_model(ref)
    assert type(caught.value) is kind
    assert hint in caught.value.hint


async def test_models_are_opened_once() -> None:
    models = Models({"own": OWN}, {}, prices=Prices(program=()))
    opened = await models.open_model("own/x")
    assert opened is await models.open_model("own/x")
    assert opened.name == "own/x"


@pytest.mark.parametrize("wire", sorted(WIRES))
async def test_any_server_with_a_known_wire(wire: str) -> None:
    async with Loopback([Reply(text="Hi", chunk=9)]) as server:
        own = ProviderOverride(f"{server.url}/v1/", "OWN_KEY", {"x-team": "blue"}, wire)
        models = models_at(server, more={"own": own}, environ={"OWN_KEY": "k"})
        events, error = await ask(await models.open_model("own/vendor/model"))
        await models.aclose()
    assert error is None
    assert TextDelta("Hi") in events
    (request,) = server.requests
    assert "vendor/model" in unquote(request.path) or request.json["model"] == "vendor/model"
    assert request.headers["x-team"] == "blue"
    header = load_wire(wire).key_header
    assert request.headers[header] == ("Bearer k" if header == "authorization" else "k")


def test_every_provider_is_in_the_documentation_and_its_wires_exist() -> None:
    providers = load_providers()
    assert {"openai", "anthropic", "compatible", "ollama", "openrouter", "scripted"} <= set(providers)
    page = (ROOT / "docs" / "providers.md").read_text("utf-8")
    for name, provider in providers.items():
        assert f"| `{name}` |" in page
        assert all(variable in page for variable in provider.key_env)
        assert {route.wire for route in provider.routes} <= set(WIRES)


def test_a_key_is_sent_only_to_its_origin() -> None:
    key = find_environment_key(["A", "B"], {"B": " secret "}, "https://Api.Example:8443/v1")
    assert key is not None
    assert (key.value, key.source, key.origin) == ("secret", "B", "https://api.example:8443")
    assert "secret" not in repr(key)
    assert key.header("x-api-key", "https://api.example:8443/other") == {"x-api-key": "secret"}
    for url in ("http://api.example:8443/v1", "https://api.example/v1", "https://api.example:8443@evil.example/"):
        with pytest.raises(SettingsError, match="was not sent"):
            key.header("x-api-key", url)


@pytest.mark.parametrize(
    ("url", "origin"), [("https://u:p@h.example/x", "https://h.example"), ("http://[::1]:80/", "http://[::1]:80")]
)
def test_origin(url: str, origin: str) -> None:
    assert origin_of(url) == origin


async def test_a_listing_adds_facts() -> None:
    async with Loopback([Reply()], models=["gpt-4o", "gpt-5.4"]) as server:
        models = models_at(
            server, environ={"OPENAI_API_KEY": "k"}, more={"ollama": ProviderOverride(base_url=server.url)}
        )
        assert [model.id for model in (await models.list_models("openai")).models] == [
            "openai/gpt-4o",
            "openai/gpt-5.4",
        ]
        everything = [model.id for model in (await models.list_models()).models]
        assert set(everything) >= {"ollama/gpt-4o", "ollama/gpt-5.4", "openai/gpt-4o", "openai/gpt-5.4"}
        with pytest.raises(MissingKey):
            await models.list_models("anthropic")
        assert (await models.list_models("scripted")).models == ()
        await models.aclose()


DEFAULTS: list[tuple[dict[str, str], str | None]] = [
    (ENVIRON, "anthropic/claude-sonnet-5"),
    ({"OPENAI_API_KEY": "k"}, "openai/gpt-5.4"),
    ({}, "ollama/gpt-5.4"),
]


@pytest.mark.parametrize(("environ", "expected"), DEFAULTS)
async def test_find_default(environ: dict[str, str], expected: str | None) -> None:
    async with Loopback([Reply()], models=["gpt-4o", "claude-sonnet-5", "gpt-5.4"]) as server:
        models = models_at(server, environ=environ, more={"ollama": ProviderOverride(base_url=server.url)})
        assert await models.find_default_model() == expected
        await models.aclose()


async def test_no_default_if_no_provider_answers() -> None:
    async with Loopback([Reply()]) as server:
        url = server.url
    models = models_at(server, environ={}, more={"ollama": ProviderOverride(base_url=url)})
    assert await models.find_default_model() is None
    models = models_at(server)
    with pytest.raises(ModelError):
        await models.find_default_model()
    await models.aclose()


async def test_a_bad_key_is_reported_when_listing() -> None:
    refusal = Raw([b'{"error":{"message":"no"}}'], 401, {"content-type": "application/json"})
    async with Loopback([Reply()], listing=refusal) as server:
        models = models_at(server)
        with pytest.raises(AuthenticationFailed) as caught:
            await models.list_models("openai")
        await models.aclose()
    assert "OPENAI_API_KEY" in caught.value.hint


SCENARIO = """
[[reply]]
text = "Hi"
"""


def test_scripts_play_without_httpx(tmp_path: Path) -> None:
    scenario = tmp_path / "demo.toml"
    scenario.write_text(SCENARIO, "utf-8")
    program = f"""
import asyncio, pathlib, sys
from tark_lsp.llm.client import Models
from tark_lsp.llm.request import ChatRequest
async def main():
    models = Models(scenario=pathlib.Path({str(scenario)!r}))
    model = await models.open_model("scripted/demo")
    print([event async for event in model.stream(ChatRequest("", ()))][0].text)
    await models.aclose()
asyncio.run(main())
print("httpx" in sys.modules, "pydantic" in sys.modules)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.split() == ["Hi", "False", "False"]


def test_a_server_in_a_thread_serves_another_loop() -> None:
    with Loopback([Reply(text="Hi", chunk=9)]).in_thread() as server:

        async def talk() -> object:
            models = models_at(server)
            events, error = await ask(await models.open_model("openai/gpt-4o"))
            await models.aclose()
            return error or events[0]

        assert asyncio.run(talk()) == TextDelta("Hi")
