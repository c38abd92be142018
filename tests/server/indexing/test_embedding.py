"""Vectors from an endpoint: asked about once, refused means that no byte is sent, and what is sent shows no secret."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from tark_lsp.index.questions import Search
from tests.patience import AT_ONCE
from tests.server.indexing.conftest import TRUSTED, IndexDesk, MakeIndexed
from tests.server.indexing.embedding_server import EmbeddingServer
from tests.server.indexing.local_qdrant import QdrantServer

pytestmark = pytest.mark.slow  # each test starts an index process

KEY = "sk-ant-api03-" + "Ab3" * 31 + "AA"
FILES = {
    "shapes.py": "def area(width, height):\n    return width * height\n",
    "users.py": "def remove_account(person):\n    person.delete()\n",
    "keys.py": f"def connect():\n    return client('{KEY}')\n",
    "denied/plan.py": "def takeover():\n    return 'world domination'\n",
    ".env": "PASSWORD=hunter2hunter2\n",
}
DENY = '[permissions]\ndeny = ["read_file(denied/**)"]\n'


def config_at(url: str, name: str = "compatible/letters") -> str:
    return f'{TRUSTED}\n[index]\nembeddings = "{name}"\n{DENY}[providers.compatible]\nbaseUrl = "{url}"\n'


@pytest.fixture
async def server() -> AsyncIterator[EmbeddingServer]:
    server = EmbeddingServer()
    async with server:
        yield server


def answering(desk: IndexDesk, title: str | None) -> list[str]:
    """The editor answers the question about uploads. Returns the list of questions, which grows."""
    asked: list[str] = []

    def answer(params: dict[str, Any]) -> dict[str, str] | None:
        asked.append(params["message"])
        assert [action["title"] for action in params["actions"]] == ["Not Now", "Send"]
        return {"title": title} if title is not None else None

    desk.connection.answers["window/showMessageRequest"] = answer
    return asked


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(AT_ONCE):
        while not is_so():  # noqa: ASYNC110  # no single event says all that is waited for
            await asyncio.sleep(0.02)


async def found(desk: IndexDesk, query: str) -> list[str]:
    return [hit.path.name for hit in (await desk.index.ask(Search(query, 5))).items]


async def test_after_a_yes_the_search_has_vectors(make_indexed: MakeIndexed, server: EmbeddingServer) -> None:
    desk = await make_indexed(FILES, config=config_at(server.url))
    asked = answering(desk, "Send")
    desk.index.need()
    await until(lambda: desk.index.process.last_status.vectors.endswith(": 3 vectors"))
    (question,) = asked
    host = server.url.removeprefix("http://")
    assert f"send the code of 3 files in {desk.folder} to {host}?" in question
    assert (await found(desk, "accounts of a person"))[0] == "users.py"
    sent = "\n".join(server.texts)
    assert "return width * height" in sent
    assert server.texts[-1] == "accounts of a person"
    for hidden in (KEY, "takeover", "domination", "hunter2"):
        assert hidden not in sent
    await desk.end(await desk.start("which function multiplies width with height in shapes.py?"))
    assert server.texts[-1] == "accounts of a person", "automatic context sends no prompt to an endpoint"
    (desk.folder / "new.py").write_text("def subtract(one, other):\n    return one - other\n")
    await desk.command("tark.index.rebuild")
    await until(lambda: desk.index.process.last_status.vectors.endswith(": 4 vectors"))
    assert len(asked) == 1


@pytest.mark.parametrize("answer", ["Not Now", None])
async def test_without_a_yes_no_byte_is_sent(
    make_indexed: MakeIndexed, server: EmbeddingServer, answer: str | None
) -> None:
    desk = await make_indexed(FILES, config=config_at(server.url))
    asked = answering(desk, answer)
    desk.index.need()
    await until(lambda: bool(asked))
    assert await found(desk, "area") == ["shapes.py"]
    (desk.folder / "new.py").write_text("def area_of_circle():\n    return 3\n")
    await desk.command("tark.index.rebuild")
    await desk.finds_words("circle", "new.py")
    await desk.settled()
    assert len(asked) == 1
    assert server.connections == 0


async def test_a_yes_holds_for_this_host_and_folder(make_indexed: MakeIndexed, server: EmbeddingServer) -> None:
    desk = await make_indexed(FILES, config=config_at(server.url))
    asked = answering(desk, "Send")
    desk.index.need()
    await until(lambda: desk.index.process.last_status.vectors.endswith(": 3 vectors"))
    await desk.stop()
    again = desk.another()
    assert isinstance(again, IndexDesk)
    more = answering(again, "Not Now")
    again.index.need()
    await until(lambda: again.index.process.last_status.vectors.endswith(": 3 vectors"))
    assert await found(again, "person")
    await again.stop()
    assert (len(asked), len(more)) == (1, 0)
    async with EmbeddingServer() as other:
        third = desk.another()
        assert isinstance(third, IndexDesk)
        desk.config.write_text(desk.config.read_text().replace(server.url, other.url))
        third.app.parts.configuration.load()
        refused = answering(third, "Not Now")
        third.index.need()
        await until(lambda: bool(refused))
        await third.stop()
        assert other.connections == 0


async def test_vectors_in_a_qdrant(make_indexed: MakeIndexed, server: EmbeddingServer) -> None:
    qdrant = QdrantServer()
    async with qdrant:
        config = config_at(server.url).replace("[index]\n", f'[index]\nqdrant = "{qdrant.url}"\n')
        desk = await make_indexed(FILES, config=config)
        asked = answering(desk, "Send")
        desk.index.need()
        await until(lambda: len(qdrant.keys()) == 3)
        assert f"{server.url.removeprefix('http://')} and {qdrant.url.removeprefix('http://')}?" in asked[0]
        assert (await found(desk, "persons zzz"))[0] == "users.py"
        assert (await found(desk, "zzz person"))[0] == "users.py"
        await desk.stop()


async def test_a_repository_cannot_name_an_endpoint(make_indexed: MakeIndexed, server: EmbeddingServer) -> None:
    files = FILES | {".tark/config.toml": f'[index]\nembeddings = "ollama/x"\nqdrant = "{server.url}"\n'}
    desk = await make_indexed(files)
    desk.app.parts.configuration.load()
    asked = answering(desk, "Send")
    assert await found(desk, "area") == ["shapes.py"]
    assert desk.app.parts.configuration.settings.index.embeddings is None
    assert desk.app.parts.configuration.settings.index.qdrant is None
    assert any("index.embeddings" in problem for problem in desk.app.parts.configuration.problems)
    assert (asked, server.connections) == ([], 0)


async def test_a_failing_endpoint_is_told_once_and_words_go_on(
    make_indexed: MakeIndexed, server: EmbeddingServer
) -> None:
    server.broken = True
    desk = await make_indexed(FILES, config=config_at(server.url))
    answering(desk, "Send")
    desk.index.need()
    await until(lambda: bool(server.requests))
    answer = await desk.index.ask(Search("area", 5))
    assert [hit.path.name for hit in answer.items] == ["shapes.py"]
    assert any("only words were searched for" in note for note in answer.notes)
    await desk.settled()
    told = [note for note in desk.connection.notes() if "gives no vectors" in note]
    assert len(told) <= 1


async def test_a_model_that_cannot_embed_is_told(make_indexed: MakeIndexed) -> None:
    desk = await make_indexed(FILES, config=config_at("http://127.0.0.1:9", "anthropic/claude"))
    asked = answering(desk, "Send")
    assert await found(desk, "area") == ["shapes.py"]
    assert "anthropic/claude cannot embed texts" in await desk.connection.noting()
    assert asked == []
