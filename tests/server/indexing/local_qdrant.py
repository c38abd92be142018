"""Qdrant's REST API in front of the local mode of its own client, which knows what a real one accepts and finds."""

import asyncio
import json
import re
import warnings
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

from qdrant_client import QdrantClient, models

from tark_lsp.http import HttpRequest, HttpResponse
from tests.loopback import Loopback, Raw, Request, _send


class LocalQdrant:
    """A Transport. The bodies of requests are validated by the client's models of the API."""

    def __init__(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.client = QdrantClient(":memory:")
        self.requests: list[HttpRequest] = []
        self.status = 200

    async def send(self, request: HttpRequest) -> HttpResponse:
        self.requests.append(request)
        path = urlsplit(request.url)
        found = re.fullmatch(r"/collections/([\w-]+)(/.*)?", path.path)
        assert found is not None, request.url
        body = json.loads(request.body) if request.body else None
        result = self._answer(request.method, found[1], found[2] or "", body)
        if self.status == 200:
            answer = {"result": result, "status": "ok", "time": 0.001}
        else:
            answer = {"status": {"error": "Forbidden"}, "time": 0.001}

        async def chunks() -> AsyncIterator[bytes]:
            yield json.dumps(answer).encode()

        async def close() -> None:
            pass

        return HttpResponse(self.status, {"content-type": "application/json"}, chunks(), close)

    async def aclose(self) -> None:
        self.client.close()

    def _answer(self, method: str, collection: str, path: str, body: Any) -> Any:
        match method, path:
            case "GET", "/exists":
                return {"exists": self.client.collection_exists(collection)}
            case "PUT", "":
                made = models.CreateCollection.model_validate(body)
                return self.client.create_collection(collection, vectors_config=made.vectors)
            case "PUT", "/points":
                points = models.PointsList.model_validate(body).points
                self.client.upsert(collection, points)
                return {"operation_id": 1, "status": "completed"}
            case "POST", "/points":
                asked = models.PointRequest.model_validate(body)
                assert (asked.with_payload, asked.with_vector) == (False, False)
                found = self.client.retrieve(collection, asked.ids, with_payload=False)
                return [{"id": point.id} for point in found]
            case "POST", "/points/query":
                query = models.QueryRequest.model_validate(body)
                answer = self.client.query_points(collection, query.query, limit=query.limit or 10)
                return {"points": [{"id": point.id, "score": point.score} for point in answer.points]}
        raise AssertionError(f"{method} {path} is not part of the API that is used")


class QdrantServer(Loopback):
    """The same on loopback."""

    def __init__(self) -> None:
        super().__init__([Raw()])
        self.qdrant = LocalQdrant()

    def keys(self) -> set[int]:
        """Those of all collections."""
        names = [one.name for one in self.qdrant.client.get_collections().collections]
        return {int(point.id) for name in names for point in self.qdrant.client.scroll(name, limit=1000)[0]}

    async def _answer(self, request: Request, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        asked = HttpRequest(request.method, f"{self.url}{request.path}", request.headers, request.body)
        answer = await self.qdrant.send(asked)
        return await _send(Raw([chunk async for chunk in answer.chunks], headers=answer.headers), writer)
