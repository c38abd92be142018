"""Vectors from endpoints on loopback: requests and answers of each shape, batches, retries, errors."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tark_lsp.errors import AuthenticationFailed, ContextOverflow, ModelError, Overloaded, ProtocolError, SettingsError
from tark_lsp.llm.client import Models, ProviderOverride
from tark_lsp.llm.embeddings import LONGEST_TEXT, MOST_TEXTS, EndpointEmbedder
from tark_lsp.llm.retry import RetryPolicy
from tests.loopback import Loopback, Raw

JSON = {"content-type": "application/json"}
KEYS = {"OPENAI_API_KEY": "sk-openai-key", "GEMINI_API_KEY": "gemini-key"}
TEXTS = ("def area(): ...", "def name(): ...")
VECTORS = [[0.25, -1.0], [0.5, 2.0]]

ANSWERS: dict[str, Any] = {
    "openai/embed-3": {"data": [{"index": 1, "embedding": VECTORS[1]}, {"index": 0, "embedding": VECTORS[0]}]},
    "ollama/nomic": {"model": "nomic", "embeddings": VECTORS},
    "gemini/embed-001": {"embeddings": [{"values": vector} for vector in VECTORS]},
}
"""OpenAI names the place of each vector, and the order can differ."""


def answer(body: object, status: int = 200, **headers: str) -> Raw:
    return Raw(
        [json.dumps(body).encode()], status, {**JSON, **{name.replace("_", "-"): v for name, v in headers.items()}}
    )


def vectors(count: int) -> Raw:
    return answer({"data": [{"embedding": [float(number), 1.0]} for number in range(count)]})


def embedder_at(server: Loopback, ref: str = "openai/embed-3", tries: int = 3) -> EndpointEmbedder:
    name = ref.partition("/")[0]
    base = f"{server.url}/v1" if name == "openai" else server.url
    models = Models({name: ProviderOverride(base_url=base)}, KEYS, policy=RetryPolicy(tries=tries, base=0.001))
    return models.open_embedder(ref)


async def embed(embedder: EndpointEmbedder, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
    try:
        return await embedder.embed(texts, query=query)
    finally:
        await embedder.transport.aclose()


@pytest.mark.parametrize("ref", list(ANSWERS))
async def test_vectors_in_the_order_of_the_texts(ref: str) -> None:
    async with Loopback([answer(ANSWERS[ref])]) as server:
        embedder = embedder_at(server, ref)
        assert embedder.name == ref
        assert f"http://{embedder.host}" == server.url
        assert await embed(embedder, TEXTS) == VECTORS


async def test_the_request_to_openai() -> None:
    async with Loopback([answer(ANSWERS["openai/embed-3"])]) as server:
        await embed(embedder_at(server), TEXTS)
        (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/v1/embeddings")
    assert request.headers["authorization"] == "Bearer sk-openai-key"
    assert request.json == {"model": "embed-3", "input": list(TEXTS), "encoding_format": "float"}


async def test_the_request_to_ollama_needs_no_key() -> None:
    async with Loopback([answer(ANSWERS["ollama/nomic"])]) as server:
        await embed(embedder_at(server, "ollama/nomic"), TEXTS)
        (request,) = server.requests
    assert request.path == "/api/embed"
    assert "authorization" not in request.headers
    assert request.json == {"model": "nomic", "input": list(TEXTS), "truncate": True}


@pytest.mark.parametrize(("query", "task"), [(False, "RETRIEVAL_DOCUMENT"), (True, "CODE_RETRIEVAL_QUERY")])
async def test_the_request_to_gemini(query: bool, task: str) -> None:
    async with Loopback([answer(ANSWERS["gemini/embed-001"])]) as server:
        await embed(embedder_at(server, "gemini/embed-001"), TEXTS, query=query)
        (request,) = server.requests
    assert request.path == "/v1beta/models/embed-001:batchEmbedContents"
    assert request.headers["x-goog-api-key"] == "gemini-key"
    first = request.json["requests"][0]
    assert first == {"model": "models/embed-001", "content": {"parts": [{"text": TEXTS[0]}]}, "taskType": task}


async def test_many_texts_are_sent_in_batches() -> None:
    async with Loopback([vectors(MOST_TEXTS), vectors(MOST_TEXTS), vectors(2)]) as server:
        found = await embed(embedder_at(server), [f"text {number}" for number in range(2 * MOST_TEXTS + 2)])
        sent = [text for request in server.requests for text in request.json["input"]]
    assert sent == [f"text {number}" for number in range(2 * MOST_TEXTS + 2)]
    assert len(found) == len(sent)


async def test_long_and_empty_texts_are_sent_as_servers_take_them() -> None:
    async with Loopback([vectors(2)]) as server:
        await embed(embedder_at(server), ["x" * 50_000, ""])
        assert [len(text) for text in server.requests[0].json["input"]] == [LONGEST_TEXT, 1]


async def test_no_text_is_no_request() -> None:
    async with Loopback([vectors(1)]) as server:
        assert await embed(embedder_at(server), []) == []
        assert server.connections == 0


async def test_a_text_that_is_too_long_for_the_model_is_cut_in_half() -> None:
    refused = answer({"error": {"message": "input length exceeds the maximum context length"}}, 400)
    async with Loopback([refused, refused, vectors(2)]) as server:
        await embed(embedder_at(server), ["x" * 4000, "short"])
        assert [len(request.json["input"][0]) for request in server.requests] == [4000, 2000, 1000]
        assert {request.json["input"][1] for request in server.requests} == {"short"}
    async with Loopback([refused]) as server:
        with pytest.raises(ContextOverflow):
            await embed(embedder_at(server), ["x" * 4000])
        assert len(server.requests[-1].json["input"][0]) == 400


@pytest.mark.parametrize(
    "fault",
    [
        answer({"error": {"message": "busy"}}, 503),
        answer({"error": {"message": "slow down"}}, 429, retry_after_ms="1"),
        Raw(dropped=True),
        Raw([b'{"data": ['], headers=JSON, reset=True),
    ],
    ids=["503", "429", "dropped", "reset"],
)
async def test_faults_are_tried_again(fault: Raw) -> None:
    async with Loopback([fault, fault, vectors(2)]) as server:
        assert len(await embed(embedder_at(server), TEXTS)) == 2
        assert len(server.requests) == 3
        assert len({request.body for request in server.requests}) == 1


async def test_a_fault_that_stays_is_an_error_with_a_hint() -> None:
    async with Loopback([answer({"error": {"message": "busy"}}, 503)]) as server:
        with pytest.raises(Overloaded, match="tried 3 times") as caught:
            await embed(embedder_at(server), TEXTS)
    assert caught.value.hint


async def test_a_wrong_key_is_not_tried_again_and_not_shown() -> None:
    async with Loopback([answer({"error": {"message": "Incorrect API key sk-openai-key"}}, 401)]) as server:
        with pytest.raises(AuthenticationFailed) as caught:
            await embed(embedder_at(server), TEXTS)
        assert len(server.requests) == 1
    assert "sk-openai-key" not in f"{caught.value.message} {caught.value.hint}"
    assert "OPENAI_API_KEY" in caught.value.hint


async def test_a_redirect_is_not_followed() -> None:
    async with Loopback([vectors(2)]) as other, Loopback([Raw(status=307, headers={"location": other.url})]) as server:
        with pytest.raises(ModelError):
            await embed(embedder_at(server), TEXTS)
        assert other.requests == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        "text",
        {"data": None},
        {"data": [{"embedding": [1.0]}]},
        {"data": [{"embedding": [1.0]}, {"embedding": []}]},
        {"data": [{"embedding": [1.0]}, {"embedding": [1.0, 2.0]}]},
        {"data": [{"embedding": [1.0]}, {"embedding": ["x"]}]},
        {"data": [{"embedding": [1.0]}, {"embedding": None}]},
        {"data": [{"embedding": [1.0]}, {"index": 0}]},
        {"data": [{"embedding": [1.0], "index": 0}, {"embedding": [1.0], "index": "a"}]},
    ],
)
async def test_answers_without_usable_vectors_are_errors(body: object) -> None:
    async with Loopback([answer(body)]) as server:
        with pytest.raises(ProtocolError):
            await embed(embedder_at(server, tries=1), TEXTS)


@pytest.mark.parametrize("text", [b'{"data": [{"embedding": [NaN]}, {"embedding": [1e999]}]}', b"<html>", b"\xff\xfe"])
async def test_answers_that_are_not_json_are_errors(text: bytes) -> None:
    async with Loopback([Raw([text], headers=JSON)]) as server:
        with pytest.raises(ProtocolError):
            await embed(embedder_at(server, tries=1), TEXTS)


CANNOT = ["anthropic/claude", "nobody/model", "ollama", "ollama/", "scripted/mine", "copilot/gpt-4o"]


@pytest.mark.parametrize("ref", CANNOT)
def test_what_cannot_embed(ref: str) -> None:
    with pytest.raises(SettingsError):
        Models({}, KEYS).open_embedder(ref)
