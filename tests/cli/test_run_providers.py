"""`tark-lsp run --model` with the shipped providers, against a server on loopback that speaks the provider's wire."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tark_lsp.llm.provider import Provider, load_providers
from tark_lsp.llm.scripted.scenario import Reply, ScriptedCall
from tark_lsp.llm.wire.wire import load_wire
from tests.cli.terminal import configure, environment, without_terminal
from tests.loopback import Loopback, Request

pytestmark = pytest.mark.slow  # each test starts a program

PROVIDERS = {name: provider for name, provider in load_providers().items() if provider.script is None}
MODELS = {"copilot": "claude-sonnet-5", "openrouter": "anthropic/claude-sonnet-5", "ollama": "qwen3:8b"}
KEY = "test-key-1234"
EDIT = ScriptedCall("edit_file", {"path": "a.txt", "old_text": "one\n", "new_text": "two\n"})


def each() -> Iterator[Any]:
    """Those that differ from an earlier one only by address and names run in an exhaustive run."""
    seen: list[object] = []
    for name, provider in PROVIDERS.items():
        kind = (provider.routes, provider.key_header, provider.key_needed, bool(provider.key_env))
        yield pytest.param(name, marks=pytest.mark.exhaustive) if kind in seen else name
        seen.append(kind)


@pytest.mark.parametrize("name", list(each()))
def test_a_tool_call_and_back(tmp_path: Path, name: str) -> None:
    provider = PROVIDERS[name]
    variable = provider.key_env[0] if provider.key_env else "OWN_KEY"
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n", encoding="utf-8")
    replies = (Reply(text="I will. ", thinking="Hm.", calls=(EDIT,)), Reply(text="All done."))
    with Loopback(replies).in_thread() as server:
        base_url = f"{server.url}{urlsplit(provider.base_url).path}"
        own = f'baseUrl = "{base_url}"\n' + ("" if provider.key_env else f'apiKeyEnv = "{variable}"\n')
        configure(tmp_path, f"[providers.{name}]\n{own}")
        model = f"{name}/{MODELS.get(name, 'some-model')}"
        arguments = ["run", "--yes", "--model", model, "a.txt", "make it two"]
        ended = without_terminal(arguments, folder, environment(tmp_path, **{variable: KEY}))
        asked = [request for request in server.requests if request.method == "POST"]
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "I will." in ended.stderr
    assert "All done." in ended.stdout
    assert (folder / "a.txt").read_text(encoding="utf-8") == "two\n"
    assert KEY not in ended.stdout + ended.stderr
    first, second = asked
    check_first(first, provider, model.partition("/")[2])
    check_second(second)
    for request in server.requests:
        check_key(request, provider)


def check_first(request: Request, provider: Provider, model: str) -> None:
    wire = load_wire(provider.find_route(model).wire)
    base = urlsplit(provider.base_url).path
    assert request.path == base + wire.path.replace("{model}", model)
    assert request.wire == wire.name
    body = request.body.decode()
    assert "make it two" in body
    assert '"edit_file"' in body
    assert model in body or model in request.path


def check_second(request: Request) -> None:
    """The call and its result are in the history, each once, in the shape of the wire."""
    body = request.json
    match request.wire:
        case "openai-chat":
            calls = [call for message in body["messages"] for call in message.get("tool_calls", ())]
            results = [message for message in body["messages"] if message["role"] == "tool"]
            called, answered = calls[0]["id"], results[0]["tool_call_id"]
        case "openai-responses":
            calls = [item for item in body["input"] if item.get("type") == "function_call"]
            results = [item for item in body["input"] if item.get("type") == "function_call_output"]
            called, answered = calls[0]["call_id"], results[0]["call_id"]
        case "anthropic-messages":
            blocks = [block for message in body["messages"] for block in message["content"]]
            calls = [block for block in blocks if block["type"] == "tool_use"]
            results = [block for block in blocks if block["type"] == "tool_result"]
            called, answered = calls[0]["id"], results[0]["tool_use_id"]
        case "gemini-content":
            parts = [part for content in body["contents"] for part in content["parts"]]
            calls = [part["functionCall"] for part in parts if "functionCall" in part]
            results = [part["functionResponse"] for part in parts if "functionResponse" in part]
            called, answered = calls[0]["name"], results[0]["name"]
        case _:
            calls = [call for message in body["messages"] for call in message.get("tool_calls", ())]
            results = [message for message in body["messages"] if message["role"] == "tool"]
            called, answered = calls[0]["function"]["name"], results[0]["tool_name"]
    assert (len(calls), len(results)) == (1, 1)
    assert called == answered
    assert "two" in json.dumps(calls)


def check_key(request: Request, provider: Provider) -> None:
    wire = load_wire(provider.routes[-1].wire if request.method == "GET" else request.wire)
    header = provider.key_header or wire.key_header
    assert [name for name, value in request.headers.items() if KEY in value] == [header]
    assert request.headers[header] == (f"Bearer {KEY}" if header == "authorization" else KEY)
    assert KEY not in request.path
    assert KEY.encode() not in request.body
