"""Dense vectors in the index process: its own model's and those that the server gives, next to the words."""

import asyncio
import hashlib
import re
from pathlib import Path

import pytest

from tark_lsp.errors import ToolError
from tark_lsp.index.chunk_text import chunk_key, chunk_text
from tark_lsp.index.client import IndexClient
from tark_lsp.index.disk_index import DiskIndex
from tark_lsp.index.model import ChunkPlace
from tark_lsp.index.packed_vectors import pack_vectors, unpack_vectors
from tark_lsp.index.questions import KeepVectors, Search, Unembedded
from tests.index.building import indexed, until

FILES = {
    "shapes.py": "def area(width, height):\n    return width * height\n",
    "users.py": "def remove_account(person):\n    person.delete()\n",
    "words.py": "def shout(text):\n    return text.upper()\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    for name, text in FILES.items():
        (work / name).write_text(text, encoding="utf-8")
    return work


def letters(text: str) -> list[float]:
    """A vector of an embedder that only knows which words a text has."""
    vector = [0.0] * 64
    for word in re.findall("[a-z]+", text.lower()):
        vector[hashlib.sha256(word.encode()).digest()[0] % 64] += 1
    return vector


def text_at(place: ChunkPlace) -> str:
    lines = place.path.read_text(encoding="utf-8").split("\n")
    return chunk_text(str(place.path), place.symbol, "\n".join(lines[place.start_line - 1 : place.end_line]))


async def embed_all(client: IndexClient, embedder: str, limit: int = 2) -> int:
    """As the server does. Returns the number of vectors."""
    count = 0
    while places := (await client.ask(Unembedded(limit))).items:
        texts = [text_at(place) for place in places]
        assert [chunk_key(text) for text in texts] == [place.key for place in places]
        packed = pack_vectors([letters(text) for text in texts])
        await client.ask(KeepVectors(embedder, tuple(place.key for place in places), packed))
        count += len(places)
    return count


async def first(client: IndexClient, query: str, **more: object) -> str:
    found = await client.ask(Search(query, 3, **more))  # type: ignore[arg-type]  # fields of the question
    return found.items[0].path.name if found.items else ""


async def test_without_vectors_the_search_is_lexical(folder: Path, tmp_path: Path) -> None:
    async with indexed(folder, tmp_path / "cache") as client:
        assert await first(client, "area") == "shapes.py"
        assert (await client.status()).vectors == ""
        assert (await client.ask(Unembedded(10))).items == ()


async def test_the_server_gives_vectors(folder: Path, tmp_path: Path) -> None:
    async with indexed(folder, tmp_path / "cache") as client:
        client.use_vectors("letters")
        assert await embed_all(client, "letters") == 3
        assert await first(client, "zzz") == ""
        assert await first(client, "zzz", vector=pack_vectors([letters("person delete")])) == "users.py"
        await until(client, lambda status: status.vectors == "letters: 3 vectors")
        with pytest.raises(ToolError, match="other"):
            await client.ask(KeepVectors("other", (1,), pack_vectors([[1.0] * 64])))
        with pytest.raises(ToolError, match="numbers"):
            await client.ask(KeepVectors("letters", (1,), pack_vectors([[1.0] * 63])))


async def test_vectors_survive_and_follow_the_files(folder: Path, tmp_path: Path) -> None:
    async with indexed(folder, tmp_path / "cache") as client:
        client.use_vectors("letters")
        await embed_all(client, "letters")
    (folder / "words.py").write_text("def whisper(text):\n    return text.lower()\n", encoding="utf-8")
    (folder / "users.py").rename(folder / "people.py")
    async with indexed(folder, tmp_path / "cache") as client:
        client.use_vectors("letters")
        left = await client.ask(Unembedded(10))
        assert {place.path.name for place in left.items} == {"words.py", "people.py"}
        await embed_all(client, "letters")
        assert await first(client, "zzz", vector=pack_vectors([letters("person delete")])) == "people.py"
        assert await first(client, "zzz", vector=pack_vectors([letters("whisper lower")])) == "words.py"
        await client.settle(20)
        assert (await client.status()).vectors == "letters: 3 vectors"
        client.use_vectors("others")
        assert len((await client.ask(Unembedded(10))).items) == 3
        client.use_vectors("")
        assert await first(client, "zzz", vector=pack_vectors([letters("person delete")])) == ""


async def test_keys_that_are_found_elsewhere(folder: Path, tmp_path: Path) -> None:
    async with indexed(folder, tmp_path / "cache") as client:
        client.use_vectors("elsewhere")
        places = {place.path.name: place.key for place in (await client.ask(Unembedded(10))).items}
        assert await first(client, "zzz", nearest=((12345, 0.9), (places["words.py"], 0.8))) == "words.py"


async def test_the_static_model_embeds_by_itself(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("static_model")
    async with indexed(folder, tmp_path / "cache") as client:
        client.use_vectors("static")
        status = await until(client, lambda status: status.vectors.endswith(": 3 vectors"))
        assert status.vectors.startswith("tokenlearn-static-model")
        assert await first(client, "area of a rectangle") == "shapes.py"
        (folder / "new.py").write_text("def subtract(one, other):\n    return one - other\n", encoding="utf-8")
        client.files_changed([folder / "new.py"])
        await until(client, lambda status: status.vectors.endswith(": 4 vectors"))


async def test_a_second_process_reads_the_vectors_of_the_first(folder: Path, tmp_path: Path) -> None:
    async with indexed(folder, tmp_path / "cache") as writer:
        writer.use_vectors("letters")
        await embed_all(writer, "letters")
        reader = IndexClient([folder], tmp_path / "cache", lambda paths: [True] * len(paths))
        await reader.start()
        try:
            reader.use_vectors("letters")
            assert await first(reader, "zzz", vector=pack_vectors([letters("person delete")])) == "users.py"
        finally:
            await asyncio.shield(reader.close())


def test_packed_vectors() -> None:
    vectors = [[0.5, -1.25], [3.0, 4.0]]
    assert [list(vector) for vector in unpack_vectors(pack_vectors(vectors), 2)] == vectors
    assert unpack_vectors(pack_vectors([]), 0) == []
    for packed, count in ((pack_vectors(vectors), 3), (pack_vectors(vectors), 0), ("", 1), ("!", 1), ("AAA=", 1)):
        with pytest.raises(ValueError):  # noqa: PT011  # of three functions
            unpack_vectors(packed, count)


async def test_the_words_of_a_changed_file_are_removed(folder: Path, tmp_path: Path) -> None:
    """tantivy's removal by a term finds no unsigned number."""
    async with indexed(folder, tmp_path / "cache"):
        pass
    (folder / "words.py").write_text("def whisper(text):\n    return text.lower()\n", encoding="utf-8")
    (folder / "users.py").unlink()
    async with indexed(folder, tmp_path / "cache"):
        pass
    (cache,) = (tmp_path / "cache").iterdir()
    assert DiskIndex(cache, writable=True).text.documents == 2
