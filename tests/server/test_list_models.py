"""`tark.models.list`, `.check`: models of providers and of our table, cached until refreshed; similar names."""

import asyncio
from pathlib import Path

import pytest

from tark_lsp.errors import RequestError
from tark_lsp.llm.provider import load_providers
from tark_lsp.server import model_list
from tests.cases import cases
from tests.loopback import Loopback, Raw
from tests.server.desk import Desk

CONFIG = """
[providers.openai]
baseUrl = "{url}/v1"
[providers.openai.models."gpt-4o"]
contextWindow = 5000
price = {{ input = 1.5, output = 3 }}
[providers.own]
wire = "openai-chat"
baseUrl = "http://127.0.0.1:1/v1"
"""


async def test_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in (variable for provider in load_providers().values() for variable in provider.key_env):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    async with Loopback([Raw()], models=["gpt-5.1", "gpt-4o", "text-embedding-3-small"]) as server:
        desk = Desk(tmp_path, monkeypatch, config=CONFIG.format(url=server.url))
        asked_for = await desk.command("tark.models.list", {"provider": "openai"})
        everything = await desk.command("tark.models.list", {})
        assert len(server.requests) == 1
        await desk.command("tark.models.list", {"provider": "openai", "refresh": True})
        assert len(server.requests) == 2
        await desk.stop()
    unknown, own = asked_for["models"]
    assert own == {
        "id": "openai/gpt-4o",
        "name": "gpt-4o",
        "contextWindow": 5000,
        "maxOutputTokens": 16_384,
        "price": {"input": 1.5, "output": 3.0, "cached": None, "cacheWrite": None, "above": []},
        "tools": True,
        "images": True,
        "thinking": False,
        "efforts": [],
    }
    assert (unknown["id"], unknown["price"], unknown["thinking"]) == ("openai/gpt-5.1", None, True)
    assert unknown["efforts"] == ["none", "low", "medium", "high"]
    assert asked_for["problems"] == []
    listed = [model["id"] for model in everything["models"]]
    assert [name for name in listed if name.startswith("openai/")] == ["openai/gpt-5.1", "openai/gpt-4o"]
    (problem,) = everything["problems"]
    assert problem.startswith("own: ")


NAMES = ["gpt-5.1", "gpt-5.1-mini", "gpt-4o-2024-08-06", "llama3:latest", "org/big"]
# the name; is it listed?; similar names
CHECKED: list[tuple[str, bool | None, list[str]]] = [
    ("openai/gpt-5.1", True, []),
    ("openai/gpt-4o-2024-08-06", True, []),
    ("openai/gpt-4o", True, []),
    ("openai/llama3", True, []),
    ("openai/org/big", True, []),
    ("openai/org/big:free", True, []),
    ("openai/mine", True, []),
    ("openai/gpt-5.1-mino", False, ["openai/gpt-5.1-mini", "openai/gpt-5.1"]),
    ("openai/GPT-5.1", False, ["openai/gpt-5.1", "openai/gpt-5.1-mini"]),
    ("openai/nothing-like-it", False, []),
    ("scripted/anything", True, []),
    ("own/m", None, []),
    ("anthropic/m", None, []),
]
MINE = '[providers.openai.models."mine"]\ncontextWindow = 5000\n'


async def test_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    async with Loopback([Raw()], models=NAMES) as server:
        desk = Desk(tmp_path, monkeypatch, config=CONFIG.format(url=server.url) + MINE)
        with cases() as case:
            for model, listed, near in CHECKED:
                with case(model):
                    answer = await desk.command("tark.models.check", {"model": model})
                    assert (answer["model"], answer["listed"], answer["near"]) == (model, listed, near)
                    assert bool(answer["message"]) == (listed is not True)
        assert len(server.requests) == 1
        with pytest.raises(RequestError, match="nobody"):
            await desk.command("tark.models.check", {"model": "nobody/m"})
        await desk.stop()


async def test_a_provider_that_does_not_answer_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_list, "CHECK_SECONDS", 0.05)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    writers: list[asyncio.StreamWriter] = []
    silent = await asyncio.start_server(lambda _, writer: writers.append(writer), "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    desk = Desk(tmp_path, monkeypatch, config=CONFIG.format(url=f"http://127.0.0.1:{port}"))
    answer = await desk.command("tark.models.check", {"model": "openai/gpt-4"})
    assert answer["listed"] is None
    assert "0.05 s" in answer["message"]
    await desk.stop()
    for writer in writers:
        writer.close()
    silent.close()
