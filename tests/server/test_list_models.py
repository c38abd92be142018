"""`tark.models.list`: models from providers and from our table, cached until refreshed; failed providers are named."""

from pathlib import Path

import pytest

from tark_lsp.llm.provider import load_providers
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
