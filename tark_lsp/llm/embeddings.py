"""Dense vectors of texts from an endpoint: OpenAI-compatible servers, Ollama and Gemini.

Shapes: the vendors' references of POST /v1/embeddings, /api/embed and models/*:batchEmbedContents. Requests use the
provider's base URL, key and headers, and are repeated by the rules of `retry.py`.
"""

import asyncio
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import quote, urlsplit

from tark_lsp.errors import (
    AuthenticationFailed,
    ContextOverflow,
    ModelError,
    ModelTimeout,
    ProtocolError,
    SettingsError,
)
from tark_lsp.http import HttpRequest, Transport
from tark_lsp.llm.exchange import Exchange, ResponseHead, Timeouts
from tark_lsp.llm.hints import add_hint
from tark_lsp.llm.keys.access import Access, AccessSource
from tark_lsp.llm.model import request_headers
from tark_lsp.llm.provider import Provider
from tark_lsp.llm.provider_connections import ProviderConnections
from tark_lsp.llm.refusals import read_refusal
from tark_lsp.llm.retry import RetryPolicy
from tark_lsp.llm.wire.json_values import decode_untyped_json, encode_json
from tark_lsp.llm.wire.wire import Wire, load_wire

Vector: TypeAlias = list[float]

MOST_TEXTS = 64
"""Texts in one request. Gemini accepts 100, OpenAI 2,048; a local server computes them one by one."""
MOST_CHARACTERS = 100_000
"""Characters in one request."""
LONGEST_TEXT = 8_000
"""Characters. Longer texts are cut: models accept 2,000 to 8,000 tokens, and servers refuse or cut longer texts."""
SHORTEST_TEXT = 400
"""A text that is refused as too long is cut in half down to this length."""
ANSWER_BYTES = 32 * 1024 * 1024
ANSWER_SECONDS = 120.0
TIMES = Timeouts(headers=60.0, idle=30.0)


@dataclass(frozen=True, slots=True)
class EmbeddingWire:
    """`path` follows the base URL; `{model}` is replaced. `encode` gets the model, the texts, and whether they are
    questions. `decode` returns the list of vectors as it is in the answer; anything can be in it.
    """

    path: str
    encode: Callable[[str, Sequence[str], bool], Any]
    decode: Callable[[Any], Any]


def _encode_openai(model: str, texts: Sequence[str], _query: bool) -> Any:
    return {"model": model, "input": list(texts), "encoding_format": "float"}


def _decode_openai(body: Any) -> Any:
    """Each item names its place, but some servers leave it out."""
    items = body["data"]
    if all("index" in item for item in items):
        items = sorted(items, key=lambda item: item["index"])
    return [item["embedding"] for item in items]


def _encode_ollama(model: str, texts: Sequence[str], _query: bool) -> Any:
    return {"model": model, "input": list(texts), "truncate": True}


def _encode_gemini(model: str, texts: Sequence[str], query: bool) -> Any:
    task = "CODE_RETRIEVAL_QUERY" if query else "RETRIEVAL_DOCUMENT"
    name = f"models/{model}"
    return {"requests": [{"model": name, "content": {"parts": [{"text": text}]}, "taskType": task} for text in texts]}


_OPENAI = EmbeddingWire("/embeddings", _encode_openai, _decode_openai)
EMBEDDING_WIRES: Mapping[str, EmbeddingWire] = {
    "openai-chat": _OPENAI,
    "openai-responses": _OPENAI,
    "ollama-chat": EmbeddingWire("/api/embed", _encode_ollama, lambda body: body["embeddings"]),
    "gemini-content": EmbeddingWire(
        "/v1beta/models/{model}:batchEmbedContents",
        _encode_gemini,
        lambda body: [item["values"] for item in body["embeddings"]],
    ),
}
"""By the wire on which the provider's models chat: its base URL is the same."""


@dataclass(frozen=True, slots=True)
class EndpointEmbedder:
    """Turns texts into dense vectors behind an endpoint. Safe to use for several calls at a time."""

    provider: Provider
    model: str
    wire: Wire
    shape: EmbeddingWire
    transport: Transport
    access: AccessSource
    policy: RetryPolicy

    @property
    def name(self) -> str:
        return f"{self.provider.name}/{self.model}"

    @property
    def host(self) -> str:
        """The host to which texts are sent, with the port if the URL has one."""
        return urlsplit(self.provider.base_url).netloc

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        """One vector for each text, all of the same length. `query`: the texts are questions, not pieces of code.

        Raises ModelError: then no vector of these texts is known.
        """
        vectors: list[Vector] = []
        for batch in _batches(texts):
            vectors += await self._embed_shortened(batch, query)
        if len({len(vector) for vector in vectors}) > 1:
            raise self._wrong_answer("vectors of different lengths")
        return vectors

    async def _embed_shortened(self, texts: Sequence[str], query: bool) -> list[Vector]:
        """Cuts the longest texts in half while the server says that they are too long."""
        limit = max(map(len, texts))
        while True:
            try:
                return await self._embed_batch([text[:limit] for text in texts], query)
            except ContextOverflow:
                if limit <= SHORTEST_TEXT:
                    raise
                limit = max(limit // 2, SHORTEST_TEXT)

    async def _embed_batch(self, texts: Sequence[str], query: bool) -> list[Vector]:
        began, tried, renewed = time.monotonic(), 0, False
        while True:
            tried += 1
            access: Access | None = None
            try:
                access = await self.access.get_access()
                return self._read(await self._ask(texts, query, access), len(texts))
            except ModelError as error:
                if isinstance(error, AuthenticationFailed) and access is not None and not renewed:
                    renewed = True
                    if await self.access.renew_access(access):
                        continue
                wait = self.policy.retry_delay(error, tried, time.monotonic() - began)
                if wait is None:
                    add_hint(error, self.provider, access.key if access else None, tried)
                    raise
            await asyncio.sleep(wait)

    async def _ask(self, texts: Sequence[str], query: bool, access: Access) -> Any:
        url = access.base_url + self.shape.path.replace("{model}", quote(self.model, safe=""))
        headers = request_headers(self.provider, self.wire, access.key, url)
        headers |= {"content-type": "application/json", "accept": "application/json"}
        request = HttpRequest("POST", url, headers, encode_json(self.shape.encode(self.model, texts, query)))
        try:
            async with asyncio.timeout(ANSWER_SECONDS), Exchange(self.transport, request, TIMES) as exchange:
                while not isinstance(head := await exchange.next_item(), ResponseHead):
                    pass  # a stall; the head comes before everything else
                if head.status != 200:
                    raise await read_refusal(exchange, head, TIMES.refusal)
                body = await exchange.read_rest(ANSWER_BYTES, ANSWER_SECONDS)
        except TimeoutError as error:
            raise ModelTimeout(f"the vectors did not arrive within {ANSWER_SECONDS:.0f} s") from error
        if len(body) >= ANSWER_BYTES:
            raise self._wrong_answer("an answer that is too long")
        return decode_untyped_json(body)

    def _read(self, body: Any, count: int) -> list[Vector]:
        """Raises ProtocolError unless the answer has this many vectors of finite numbers."""
        try:
            vectors = [[float(number) for number in vector] for vector in self.shape.decode(body)]
        except (KeyError, TypeError, ValueError) as error:
            raise self._wrong_answer("no vectors") from error
        if len(vectors) != count:
            raise self._wrong_answer(f"{len(vectors)} vectors for {count} texts")
        if not all(vector and all(map(math.isfinite, vector)) for vector in vectors):
            raise self._wrong_answer("a vector that is empty or not finite")
        return vectors

    def _wrong_answer(self, what: str) -> ProtocolError:
        return ProtocolError(f"{self.name} answered with {what}", hint=f"check that {self.model} embeds texts")


def open_embedder(connections: ProviderConnections, ref: str, policy: RetryPolicy) -> EndpointEmbedder:
    """`ref` is `<provider>/<model>`. Nothing is sent yet. Raises SettingsError, also if the provider has no vectors."""
    name, _, model = ref.partition("/")
    provider = connections.find_provider(name)
    wire = load_wire(provider.find_route(model).wire)
    shape = EMBEDDING_WIRES.get(wire.name)
    changes_host = provider.login is not None  # the token names the host, so the user could not be asked before
    if shape is None or provider.script is not None or changes_host or not model:
        raise SettingsError(
            f"{ref} cannot embed texts: {name} has no endpoint for that",
            hint="name a model of Ollama, of Gemini or of a server with OpenAI's API, like ollama/nomic-embed-text",
        )
    transport, _ = connections.transport_for(provider, wire.name)
    return EndpointEmbedder(provider, model, wire, shape, transport, connections.access_for(provider), policy)


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts, cut to `LONGEST_TEXT`, in their order. An empty text, which servers refuse, becomes a space."""
    batch: list[str] = []
    used = 0
    for text in texts:
        cut = text[:LONGEST_TEXT] or " "
        if batch and (len(batch) == MOST_TEXTS or used + len(cut) > MOST_CHARACTERS):
            yield batch
            batch, used = [], 0
        batch.append(cut)
        used += len(cut)
    if batch:
        yield batch
