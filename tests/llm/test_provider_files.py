"""The files of `providers/`: valid, documented, with requests as the vendor expects; adding a provider is adding a
file.
"""

import importlib
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tark_lsp.llm import providers
from tark_lsp.llm.client import ProviderOverride
from tark_lsp.llm.events import TextDelta
from tark_lsp.llm.known_models import DEFAULT_ORDER
from tark_lsp.llm.provider import Provider, configure_provider, load_providers
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.scripted.scenario import Reply
from tark_lsp.llm.wire.wire import WIRES, Quirks, load_wire
from tark_lsp.messages import Image, Message, Text, ToolCall, ToolResult
from tests.llm.asking import ask, models_at
from tests.llm.wire.recordings import ROOT
from tests.loopback import Loopback

SHIPPED = load_providers()
ASKED = {name: provider for name, provider in SHIPPED.items() if provider.script is None}
"""All but the one that plays scenarios, which asks nobody."""


def row_of(name: str) -> str:
    page = (ROOT / "docs" / "providers.md").read_text("utf-8")
    (row,) = re.findall(rf"^\| `{name}` \|.*$", page, re.MULTILINE)
    return str(row)


def test_a_file_has_the_name_of_its_provider() -> None:
    folder = Path(providers.__file__ or "").parent
    assert {file.stem for file in folder.glob("[!_]*.py")} == set(SHIPPED)
    for name, provider in SHIPPED.items():
        assert importlib.import_module(f"{providers.__name__}.{name}").PROVIDER is provider
        assert provider.name == name


@pytest.mark.parametrize("name", SHIPPED)
def test_the_documentation_has_its_row(name: str) -> None:
    row = row_of(name)
    for variable in SHIPPED[name].key_env:
        assert f"`{variable}`" in row
    if name in ASKED:
        assert f"`{SHIPPED[name].routes[0].wire}`" in row
    if SHIPPED[name].base_url.startswith("http://"):
        assert f"`{SHIPPED[name].base_url}`" in row


@pytest.mark.parametrize("provider", ASKED.values(), ids=ASKED.keys())
def test_the_facts_are_valid(provider: Provider) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9]*", provider.name)
    url = urlsplit(provider.base_url)
    local = provider.base_url.startswith("http://localhost:")
    assert (url.scheme, provider.name) == ("", "compatible") or url.scheme == ("http" if local else "https")
    assert not provider.base_url.endswith("/")
    assert (url.query, url.fragment, url.username) == ("", "", None)
    assert provider.key_needed is (not local and provider.name != "compatible")
    assert provider.offline_hint or provider.key_needed
    assert provider.preferred or provider.name not in DEFAULT_ORDER
    assert all(re.fullmatch(r"[A-Z][A-Z0-9_]+", variable) for variable in provider.key_env)
    assert provider.key_env or not provider.key_needed
    assert {route.wire for route in provider.routes} <= set(WIRES)
    assert provider.find_route("any-model-at-all")
    for header, value in provider.headers.items():
        assert re.fullmatch(r"[a-z0-9-]+", header)
        assert value.isprintable()


def test_no_two_providers_share_a_key_or_an_address() -> None:
    variables = [variable for provider in SHIPPED.values() for variable in provider.key_env]
    addresses = [provider.base_url for provider in SHIPPED.values() if provider.base_url]
    assert len(variables) == len(set(variables))
    assert len(addresses) == len(set(addresses))


ROUTES: tuple[tuple[str, str, str | None, str, dict[str, object]], ...] = (
    # provider, model, wire asked for, wire, some of its quirks
    ("openai", "gpt-5.4", None, "openai-responses", {"encrypted_reasoning": True, "cache_key": True}),
    ("openai", "o4-mini", None, "openai-responses", {"encrypted_reasoning": True}),
    ("openai", "gpt-4.1", None, "openai-responses", {"encrypted_reasoning": False, "cache_key": True}),
    ("openai", "gpt-5-chat-latest", None, "openai-responses", {"encrypted_reasoning": False}),
    ("openai", "gpt-5.4", "openai-chat", "openai-chat", {"system_role": "developer"}),
    ("openai", "gpt-4o", "openai-chat", "openai-chat", {"system_role": "system", "cache_key": True}),
    ("copilot", "claude-sonnet-4.5", None, "anthropic-messages", {"cache_control": True}),
    ("copilot", "claude-sonnet-4.5", "openai-chat", "openai-chat", {"cache_field": "copilot_cache_control"}),
    ("copilot", "gpt-5.3-codex", None, "openai-responses", {"max_tokens_field": "", "encrypted_reasoning": True}),
    ("copilot", "gpt-6", None, "openai-responses", {"max_tokens_field": ""}),
    ("copilot", "gpt-5-mini", None, "openai-chat", {"max_tokens_field": ""}),
    ("copilot", "gpt-5-mini", "openai-responses", "openai-responses", {"encrypted_reasoning": True}),
    ("copilot", "gpt-4.1", None, "openai-chat", {"max_tokens_field": "", "cache_field": ""}),
    ("copilot", "gemini-2.5-pro", None, "openai-chat", {"max_tokens_field": "max_tokens"}),
    ("openrouter", "anthropic/claude-sonnet-4.5", None, "openai-chat", {"cache_field": "cache_control"}),
    ("openrouter", "google/gemini-3-pro-preview", None, "openai-chat", {"cache_field": "cache_control"}),
    ("openrouter", "openai/gpt-5", None, "openai-chat", {"cache_field": "", "effort_field": "reasoning"}),
    ("openrouter", "mistralai/devstral", None, "openai-chat", {"bridge_results": True, "stream_usage": False}),
    ("mistral", "devstral-medium", None, "openai-chat", {"call_id_length": 9, "stream_usage": False}),
    ("deepseek", "deepseek-chat", None, "openai-chat", {"reasoning_field": "reasoning_content", "images": False}),
    ("deepseek", "deepseek-v4-pro", None, "openai-chat", {"effort_field": "thinking", "images": False}),
    ("deepseek", "deepseek-flash", None, "openai-chat", {"reasoning_field": "reasoning_content", "images": True}),
    ("vllm", "Qwen/Qwen3", None, "openai-chat", {"effort_field": "chat_template_kwargs"}),
    ("gemini", "gemini-3-pro-preview", None, "gemini-content", {}),
    ("ollama", "qwen3:8b", None, "ollama-chat", {}),
    ("anthropic", "claude-sonnet-5", None, "anthropic-messages", {"cache_control": True}),
)


@pytest.mark.parametrize(("name", "model", "asked", "wire", "quirks"), ROUTES, ids=lambda value: str(value)[:40])
def test_the_wire_depends_on_the_model(
    name: str, model: str, asked: str | None, wire: str, quirks: dict[str, object]
) -> None:
    route = SHIPPED[name].find_route(model, asked)
    assert route.wire == wire
    assert {field: getattr(route.quirks, field) for field in quirks} == quirks


def test_a_wire_from_the_settings_keeps_the_provider_s_quirks() -> None:
    chat = configure_provider("openai", SHIPPED, ProviderOverride(wire="openai-chat"))
    assert {route.wire for route in chat.routes} == {"openai-chat"}
    assert chat.find_route("gpt-5.4").quirks.system_role == "developer"
    other = configure_provider("openai", SHIPPED, ProviderOverride(wire="ollama-chat"))
    assert [(route.pattern, route.wire, route.quirks) for route in other.routes] == [("*", "ollama-chat", Quirks())]


CASES = [(name, route.wire) for name, provider in ASKED.items() for route in provider.routes]


@pytest.mark.parametrize(("name", "wire"), dict.fromkeys(CASES))
async def test_each_provider_uses_its_own_path_and_key_header(name: str, wire: str) -> None:
    provider = SHIPPED[name]
    path = urlsplit(provider.base_url).path
    environ = {variable: f"key-of-{variable}" for variable in provider.key_env[:1]}
    async with Loopback([Reply(text="Hello from here.")]) as server:
        own = ProviderOverride(base_url=f"{server.url}{path}", wire=wire)
        models = models_at(server, environ=environ, more={name: own})
        events, error = await ask(await models.open_model(f"{name}/some-model"))
        await models.aclose()
    assert error is None
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "Hello from here."
    (request,) = (request for request in server.requests if request.method == "POST")
    spoken = load_wire(wire)
    assert request.path == path + spoken.path.replace("{model}", "some-model")
    header = provider.key_header or spoken.key_header
    for key in environ.values():
        assert [name for name, value in request.headers.items() if key in value] == [header]
        assert request.headers[header] == (f"Bearer {key}" if header == "authorization" else key)
        assert key not in request.path + request.body.decode()
    for name_, value in {**spoken.headers, **provider.headers}.items():
        assert request.headers[name_] == value


USER = Message("user", (Text("Do it."),))
CALLED = Message("assistant", (ToolCall("call_1", "read_file", "{}"),), "copilot/m")
ANSWERED = Message("tool", (ToolResult("call_1", "ok"),))
PICTURE = Image("image/png", "QUJD")


@pytest.mark.parametrize(
    ("messages", "initiator", "vision"),
    [
        ((USER,), "user", False),
        ((USER, CALLED, ANSWERED), "agent", False),
        ((USER, CALLED, ANSWERED, USER), "user", False),
        ((USER, CALLED), "agent", False),
        ((Message("user", (Text("Look."), PICTURE)),), "user", True),
        ((USER, CALLED, Message("tool", (ToolResult("call_1", "ok", images=(PICTURE,)),))), "agent", True),
    ],
)
def test_copilot_gets_headers_for_initiator_and_images(
    messages: tuple[Message, ...], initiator: str, vision: bool
) -> None:
    headers_of = SHIPPED["copilot"].request_headers
    assert headers_of is not None
    headers = headers_of(ChatRequest("", messages, session_id="s1"))
    assert headers["x-initiator"] == initiator
    assert headers.get("copilot-vision-request") == ("true" if vision else None)
    again = headers_of(ChatRequest("", messages, session_id="s1"))
    assert headers["x-interaction-id"] == again["x-interaction-id"]
    assert headers["x-request-id"] != again["x-request-id"]
    assert "s1" not in str(headers)
    assert "x-interaction-id" not in headers_of(ChatRequest("", messages))


NEW = '''\
"""Nimbus, on the Chat Completions wire."""

from tark_lsp.llm.provider import Provider, Route
from tark_lsp.llm.wire.wire import Quirks

PROVIDER = Provider(
    name="nimbus",
    base_url="{url}/v2",
    routes=(
        Route("deep-*", "openai-chat", Quirks(reasoning_field="reasoning_content")),
        Route("*", "anthropic-messages"),
    ),
    key_env=("NIMBUS_API_KEY",),
)
'''


@pytest.fixture
def added_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that counts as part of `providers/`."""
    monkeypatch.setattr(providers, "__path__", [*providers.__path__, str(tmp_path)])
    yield tmp_path
    sys.modules.pop(f"{providers.__name__}.nimbus", None)


async def test_adding_a_provider_is_adding_a_file(added_folder: Path) -> None:
    async with Loopback([Reply(text="New here.")]) as server:
        (added_folder / "nimbus.py").write_text(NEW.format(url=server.url), encoding="utf-8")
        models = models_at(server, environ={"NIMBUS_API_KEY": "nimbus-key"})
        for model in ("deep-1", "other"):
            events, error = await ask(await models.open_model(f"nimbus/{model}"))
            assert error is None
            assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "New here."
        await models.aclose()
    chat, messages = server.requests
    assert (chat.path, chat.headers["authorization"]) == ("/v2/chat/completions", "Bearer nimbus-key")
    assert (messages.path, messages.headers["x-api-key"]) == ("/v2/v1/messages", "nimbus-key")
    assert set(load_providers()) == {*SHIPPED, "nimbus"}


def test_a_provider_is_a_value() -> None:
    """The user's settings change a copy."""
    before = replace(SHIPPED["openai"])
    configure_provider("openai", SHIPPED, ProviderOverride(base_url="http://localhost:1/v1", headers={"x": "y"}))
    assert SHIPPED["openai"] == before
