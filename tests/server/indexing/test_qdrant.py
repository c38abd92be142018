"""Vectors in a Qdrant, tested against the local mode of its client."""

import json
from collections.abc import AsyncIterator

import pytest

from tark_lsp.errors import ModelError, ProtocolError
from tark_lsp.http import HttpRequest, HttpResponse
from tark_lsp.server.indexing.qdrant import QdrantVectors
from tests.server.indexing.embedding_server import vector_of
from tests.server.indexing.local_qdrant import LocalQdrant

TEXTS = {2**62 + 7: "area width height", 5: "remove person account", 9: "shout upper text"}


def vectors_at(qdrant: LocalQdrant, embedder: str = "m", key: str = "") -> QdrantVectors:
    return QdrantVectors("http://127.0.0.1:6333/", embedder, qdrant, key)


async def test_it_keeps_vectors_by_key_and_finds_the_nearest() -> None:
    qdrant = LocalQdrant()
    vectors = vectors_at(qdrant)
    assert vectors.host == "127.0.0.1:6333"
    assert await vectors.known(TEXTS) == set()
    assert await vectors.nearest(vector_of("area"), 5) == []
    await vectors.put([], [])
    await vectors.put(list(TEXTS), [vector_of(text) for text in TEXTS.values()])
    assert await vectors.known([*TEXTS, 77]) == set(TEXTS)
    found = await vectors.nearest(vector_of("width of an area"), 2)
    assert found[0][0] == 2**62 + 7
    assert found[0][1] > found[1][1]
    await vectors.put([5], [vector_of("area width height")])
    assert await vectors.known(TEXTS) == set(TEXTS)
    await qdrant.aclose()


async def test_clones_share_vectors_and_embedders_do_not() -> None:
    qdrant = LocalQdrant()
    await vectors_at(qdrant).put([5], [vector_of("person")])
    assert await vectors_at(qdrant).known([5]) == {5}
    assert await vectors_at(qdrant, "other").known([5]) == set()
    await qdrant.aclose()


async def test_nothing_but_keys_and_numbers_is_stored() -> None:
    qdrant = LocalQdrant()
    await vectors_at(qdrant, key="secret-key").put([5], [[1.0, 0.0]])
    (points,) = (json.loads(request.body)["points"] for request in qdrant.requests if "/points" in request.url)
    assert points == [{"id": 5, "vector": [1.0, 0.0]}]
    assert {request.headers["api-key"] for request in qdrant.requests} == {"secret-key"}
    await qdrant.aclose()


async def test_many_keys_are_asked_for_in_parts() -> None:
    qdrant = LocalQdrant()
    vectors = vectors_at(qdrant)
    await vectors.put([3], [[1.0, 0.0]])
    asked = len(qdrant.requests)
    assert await vectors.known(range(1, 1202)) == {3}
    assert len(qdrant.requests) == asked + 3
    await qdrant.aclose()


async def test_a_refusal_and_another_server_are_errors() -> None:
    qdrant = LocalQdrant()
    qdrant.status = 403
    with pytest.raises(ModelError, match="Forbidden"):
        await vectors_at(qdrant).known([1])
    await qdrant.aclose()

    class Other:
        async def send(self, _: HttpRequest) -> HttpResponse:
            async def chunks() -> AsyncIterator[bytes]:
                yield b'{"hello": "world"}'

            async def close() -> None:
                pass

            return HttpResponse(200, {}, chunks(), close)

        async def aclose(self) -> None:
            pass

    with pytest.raises(ProtocolError, match="not answer like a Qdrant"):
        await QdrantVectors("http://127.0.0.1:1", "m", Other()).known([1])
