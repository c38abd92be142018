"""Automatic context over a real server: a model on loopback is sent the code that a prompt is about, and answers by it.

The model is a script; what it is told is read off the wire.
"""

import asyncio
import json
from itertools import pairwise
from pathlib import Path

import pytest

from tark_lsp.llm.scripted.scenario import Reply, Scenario, ScriptedCall
from tests.editors.connection import Json
from tests.editors.test_guidance import bodies, started
from tests.loopback import Loopback
from tests.patience import AT_ONCE

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

FILES = {
    "prices.py": "def net_price(gross):\n    return gross / 1.19\n",
    "shop.py": "from prices import net_price\n\n\ndef show_price(item):\n    return net_price(item.gross)\n",
}
SCENARIO = Scenario(
    "automatic",
    (
        Reply(tool="read_file", text="It divides by 1.19."),
        Reply(when=r"gross / 1\.19[\s\S]*says:\s+check", calls=(ScriptedCall("read_file", {"path": "shop.py"}),)),
        Reply(when=r"says:\s+check", text="I see no code."),
        Reply(text="Seen."),
    ),
    wire="anthropic-messages",
)


def write_home(home: Path, url: str) -> None:
    folder = home / "config" / "tark"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(
        'model = "own/some-model"\nworkspaceTrusted = true\n[providers.own]\nwire = "anthropic-messages"\n'
        f'apiKeyEnv = "OWN"\nbaseUrl = "{url}"\n',
        encoding="utf-8",
    )


def messages(body: Json) -> list[Json]:
    """Without the marks that say what the provider can cache: they move to the end with each request."""

    def plain(value: Json) -> Json:
        return {key: item for key, item in value.items() if key != "cache_control"}

    return [{**said, "content": [*map(plain, said["content"])]} for said in body["messages"]]


async def test_the_model_has_the_code_in_its_first_request_and_requests_only_grow(tmp_path: Path) -> None:
    folder, home = tmp_path.resolve() / "workspace", tmp_path.resolve() / "home"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    async with Loopback(SCENARIO) as server:
        write_home(home, server.url)
        editor = await started(folder, home)
        uri = editor.open(folder / "shop.py")
        await editor.command("tark.index.rebuild")
        async with asyncio.timeout(AT_ONCE):
            while (await editor.command("tark.index.status"))["state"] != "ready":  # noqa: ASYNC110  # no event says it
                await asyncio.sleep(0.05)

        end, first = await bodies(server, editor, "check what net_price does", uri)
        assert end["text"] == "It divides by 1.19."
        told = json.dumps(first[0]["messages"][0])
        assert "[named in the prompt: net_price]" in told
        session = end["sessionId"]
        end, later = await bodies(server, editor, "and `net_price` with `show_price`?", uri, sessionId=session)
        assert end["text"] == "Seen."
        sent = [*first, *later]
        assert len(sent) == 3
        for before, after in pairwise(sent):
            assert (before["system"], before["tools"]) == (after["system"], after["tools"])
            assert messages(after)[: len(before["messages"])] == messages(before)
        assert json.dumps(sent).count("return gross / 1.19") == 3, "once in each request"
        context = await editor.command("tark.session.context", {"sessionId": session})
        (row,) = [part for part in context["parts"] if part["kind"] == "automatic"]
        assert (row["name"], row["reason"]) == ("prices.py:1-2", "named in your prompt")

        opened = await editor.command("tark.session.open", {"sessionId": session})
        assert "gross / 1.19" not in json.dumps(opened["messages"][0]), "a transcript has only what you typed"
        assert await editor.close() == 0
        await editor.connection.stop()
