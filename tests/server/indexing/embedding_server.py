"""A server on loopback that embeds texts: a vector says which words a text has."""

import hashlib
import json
import re

from tests.loopback import Loopback, Raw, Request

LENGTH = 64


def vector_of(text: str) -> list[float]:
    vector = [0.0] * LENGTH
    for word in re.findall("[a-z]+", text.lower()):
        vector[hashlib.sha256(word.encode()).digest()[0] % LENGTH] += 1
    return vector


class EmbeddingServer(Loopback):
    def __init__(self) -> None:
        super().__init__([Raw()])
        self.broken = False

    @property
    def texts(self) -> list[str]:
        """All texts that it was sent."""
        return [text for request in self.requests for text in request.json["input"]]

    def _next(self, request: Request) -> Raw:
        json_header = {"content-type": "application/json"}
        if self.broken:
            return Raw([b'{"error": {"message": "no such model"}}'], 404, json_header)
        data = [{"index": at, "embedding": vector_of(text)} for at, text in enumerate(request.json["input"])]
        return Raw([json.dumps({"data": data}).encode()], headers=json_header)
