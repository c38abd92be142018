"""Stores vectors in Qdrant (`index.qdrant`) with its REST API: for monorepos, and for teams that share vectors.

A point is a key (index/chunk_text.py) with its vector. It contains no path and no text, so the same code in several
clones is one point. Points are never removed: another clone can still have their code.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from tark_lsp.errors import ModelError, ProtocolError
from tark_lsp.http import HttpRequest, Transport
from tark_lsp.llm.exchange import Timeouts, fetch_body
from tark_lsp.llm.wire.json_values import decode_untyped_json, encode_json

TIMES = Timeouts(headers=10.0, idle=10.0)
ANSWER_BYTES = 16 * 1024 * 1024
MOST_KEYS = 500
"""Keys in one request."""


class QdrantVectors:
    """All methods raise ModelError. `key`: the API key, if Qdrant needs one."""

    def __init__(self, url: str, embedder: str, transport: Transport, key: str = "") -> None:
        self._url = url.rstrip("/")
        self._transport = transport
        self._headers = {"content-type": "application/json"} | ({"api-key": key} if key else {})
        self._collection = f"tark-{hashlib.blake2b(embedder.encode(), digest_size=8).hexdigest()}"
        self._exists = False

    @property
    def host(self) -> str:
        return urlsplit(self._url).netloc

    async def known(self, keys: Collection[int]) -> set[int]:
        """The subset of `keys` that have a vector."""
        if not await self._is_there():
            return set()
        found: set[int] = set()
        wanted = list(keys)
        for start in range(0, len(wanted), MOST_KEYS):
            body = {"ids": wanted[start : start + MOST_KEYS], "with_payload": False, "with_vector": False}
            found |= {point["id"] for point in await self._ask("POST", "/points", body)}
        return found

    async def put(self, keys: Sequence[int], vectors: Sequence[Sequence[float]]) -> None:
        if not keys:
            return
        if not await self._is_there():
            await self._ask("PUT", "", {"vectors": {"size": len(vectors[0]), "distance": "Cosine"}})
            self._exists = True
        points = [{"id": key, "vector": list(vector)} for key, vector in zip(keys, vectors, strict=True)]
        await self._ask("PUT", "/points?wait=true", {"points": points})

    async def nearest(self, vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
        """Keys with their cosine similarity, the highest first. Some can be for code that is not in this workspace."""
        if not await self._is_there():
            return []
        body = {"query": list(vector), "limit": limit, "with_payload": False}
        found = await self._ask("POST", "/points/query", body)
        return [(int(point["id"]), float(point["score"])) for point in found["points"]]

    async def _is_there(self) -> bool:
        self._exists = self._exists or bool((await self._ask("GET", "/exists"))["exists"])
        return self._exists

    async def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        url = f"{self._url}/collections/{self._collection}{path}"
        request = HttpRequest(method, url, self._headers, encode_json(body) if body is not None else b"")
        status, answer = await fetch_body(self._transport, request, TIMES, ANSWER_BYTES)
        try:
            decoded = decode_untyped_json(answer)
            if status != 200:
                raise ModelError(f"Qdrant at {self.host} refused (HTTP {status}): {decoded['status']}")
            return decoded["result"]
        except (KeyError, TypeError) as error:
            raise ProtocolError(f"{self.host} does not answer like a Qdrant server (HTTP {status})") from error
