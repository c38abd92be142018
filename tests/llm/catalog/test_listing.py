"""Listings of all providers, each in its own shape (written after their references), are read into one form."""

import json
from typing import Any

import pytest

from tark_lsp.llm.catalog.facts import NO_FACTS, ModelFacts, ModelInfo, Price
from tark_lsp.llm.catalog.listing import MAX_PAGES, fetch_description, fetch_listing, read_description, read_listing

YES, NO = {"supported": True}, {"supported": False}
CLAUDE = {
    "type": "model",
    "id": "claude-sonnet-9",
    "display_name": "Claude Sonnet 9",
    "created_at": "2026-11-01T00:00:00Z",
    "max_input_tokens": 1_000_000,
    "max_tokens": 128_000,
    "capabilities": {
        "image_input": YES,
        "effort": {"supported": True, "max": YES, "low": YES, "medium": YES, "high": YES, "xhigh": NO},
        "thinking": {"supported": True, "types": {"adaptive": YES, "enabled": NO, "disabled": NO}},
    },
}
COPILOT = {
    "id": "gpt-9",
    "name": "GPT-9",
    "model_picker_enabled": True,
    "capabilities": {
        "type": "chat",
        "limits": {"max_context_window_tokens": 264_000, "max_output_tokens": 64_000, "max_prompt_tokens": 200_000},
        "supports": {"tool_calls": True, "vision": False, "reasoning_effort": ["high", "low", "medium"]},
    },
    "supported_endpoints": ["/chat/completions", "ws:/responses", "/responses"],
}
ENTRIES: dict[str, tuple[Any, ModelInfo]] = {
    "OpenAI": (
        {"data": [{"id": "gpt-9", "object": "model", "created": 12, "owned_by": "openai"}]},
        ModelInfo("p/gpt-9", "gpt-9", created=12),
    ),
    "OpenRouter": (
        {
            "data": [
                {
                    "id": "vendor/new",
                    "name": "Vendor: New",
                    "created": 2,
                    "context_length": 1000,
                    "pricing": {
                        "prompt": "0.000002",
                        "completion": "0.00001",
                        "input_cache_read": "0.0000002",
                        "input_cache_write": "0.0000025",
                    },
                    "supported_parameters": ["tools", "reasoning"],
                    "architecture": {"input_modalities": ["text", "image"], "output_modalities": ["text"]},
                    "top_provider": {"context_length": 900, "max_completion_tokens": 300},
                }
            ]
        },
        ModelInfo(
            "p/vendor/new",
            "Vendor: New",
            ModelFacts(1000, 300, "effort", (), Price(2, 10, 0.2, 2.5), True, True),
            True,
            2,
        ),
    ),
    "OpenRouter, one that can little and whose price depends": (
        {
            "data": [
                {
                    "id": "auto",
                    "pricing": {"prompt": "-1", "completion": "-1"},
                    "supported_parameters": ["max_tokens"],
                    "architecture": {"input_modalities": ["text"], "output_modalities": ["text"]},
                    "top_provider": {"max_completion_tokens": None},
                }
            ]
        },
        ModelInfo("p/auto", "auto", ModelFacts(thinking="none", tools=False, images=False), False),
    ),
    "Anthropic": (
        {"data": [CLAUDE], "has_more": False, "last_id": "claude-sonnet-9"},
        ModelInfo(
            "p/claude-sonnet-9",
            "Claude Sonnet 9",
            ModelFacts(1_000_000, 128_000, "adaptive", ("low", "medium", "high", "max"), images=True),
            True,
            1_793_491_200,
        ),
    ),
    "Anthropic, with a budget": (
        {
            "data": [
                {
                    "id": "c",
                    "capabilities": {"thinking": {"supported": True, "types": {"adaptive": NO, "enabled": YES}}},
                }
            ]
        },
        ModelInfo("p/c", "c", ModelFacts(thinking="budget"), True),
    ),
    "Anthropic, one that does not think": (
        {"data": [{"id": "c", "capabilities": {"image_input": NO, "thinking": {"supported": False}}}]},
        ModelInfo("p/c", "c", ModelFacts(thinking="none", images=False), False),
    ),
    "Gemini": (
        {
            "models": [
                {
                    "name": "models/gemini-9-pro",
                    "displayName": "Gemini 9 Pro",
                    "inputTokenLimit": 1_048_576,
                    "outputTokenLimit": 65_536,
                    "supportedGenerationMethods": ["generateContent", "countTokens"],
                    "thinking": True,
                }
            ]
        },
        ModelInfo("p/gemini-9-pro", "Gemini 9 Pro", ModelFacts(1_048_576, 65_536), True),
    ),
    "Gemini, one that does not think": (
        {"models": [{"name": "models/g", "thinking": False}]},
        ModelInfo("p/g", "models/g", ModelFacts(thinking="none"), False),
    ),
    "Ollama": (
        {"models": [{"name": "qwen3:8b", "model": "qwen3:8b", "modified_at": "1970-01-01T00:01:00Z", "details": {}}]},
        ModelInfo("p/qwen3:8b", "qwen3:8b", created=60),
    ),
    "Ollama, newer": (
        {"models": [{"name": "a:1b", "model": "a:1b", "capabilities": ["completion", "tools"]}]},
        ModelInfo("p/a:1b", "a:1b", ModelFacts(tools=True, images=False)),
    ),
    "Copilot": (
        {"data": [COPILOT]},
        ModelInfo(
            "p/gpt-9",
            "GPT-9",
            ModelFacts(
                264_000, 64_000, "effort", ("low", "medium", "high"), tools=True, images=False, wire="openai-responses"
            ),
            True,
        ),
    ),
    "Copilot, adaptive and by Messages": (
        {
            "data": [
                {
                    "id": "claude-9",
                    "capabilities": {
                        "supports": {"adaptive_thinking": True, "reasoning_effort": ["low", "xhigh"], "vision": True}
                    },
                    "supported_endpoints": ["/chat/completions", "/v1/messages"],
                }
            ]
        },
        ModelInfo(
            "p/claude-9",
            "claude-9",
            ModelFacts(thinking="adaptive", efforts=("low", "xhigh"), images=True, wire="anthropic-messages"),
            True,
        ),
    ),
    "Mistral": (
        {
            "data": [
                {
                    "id": "m",
                    "max_context_length": 262_144,
                    "capabilities": {"completion_chat": True, "function_calling": True, "vision": False},
                }
            ]
        },
        ModelInfo("p/m", "m", ModelFacts(262_144, tools=True, images=False)),
    ),
    "Groq": (
        {"data": [{"id": "o/g", "context_window": 131_072, "max_completion_tokens": 65_536}]},
        ModelInfo("p/o/g", "o/g", ModelFacts(131_072, 65_536)),
    ),
    "Together": (
        [
            {
                "id": "a/b",
                "type": "chat",
                "display_name": "B",
                "context_length": 8192,
                "pricing": {"hourly": 0, "input": 0.2, "output": 1},
            }
        ],
        ModelInfo("p/a/b", "B", ModelFacts(8192, price=Price(0.2, 1.0))),
    ),
    "vLLM": (
        {"data": [{"id": "own", "object": "model", "created": 5, "max_model_len": 32_768}]},
        ModelInfo("p/own", "own", ModelFacts(32_768), created=5),
    ),
    "llama.cpp": (
        {
            "object": "list",
            "models": [{"name": "own.gguf", "capabilities": ["completion"]}],
            "data": [{"id": "own.gguf", "meta": {"n_ctx_train": 131_072, "vocab_type": 2}}],
        },
        ModelInfo("p/own.gguf", "own.gguf", ModelFacts(131_072)),
    ),
    "LM Studio": (
        {"data": [{"id": "own", "type": "vlm", "max_context_length": 4096, "capabilities": ["tool_use"]}]},
        ModelInfo("p/own", "own", ModelFacts(4096, tools=True, images=True)),
    ),
    "wrong types": (
        {
            "data": [
                {
                    "id": "odd",
                    "name": 7,
                    "created": "yesterday",
                    "context_length": "9",
                    "context_window": True,
                    "pricing": {"prompt": "much", "completion": "0.1"},
                    "capabilities": 3,
                    "supported_endpoints": {},
                }
            ]
        },
        ModelInfo("p/odd", "odd"),
    ),
}


@pytest.mark.parametrize(("body", "expected"), ENTRIES.values(), ids=ENTRIES.keys())
def test_shapes(body: Any, expected: ModelInfo) -> None:
    (found,) = read_listing("p", json.loads(json.dumps(body)))
    assert found == expected


@pytest.mark.parametrize(
    "entry",
    [
        {"id": "text-embedding-3-large"},
        {"id": "gpt-4o-mini-tts"},
        {"id": "gpt-4o-realtime-preview"},
        {"id": "gpt-audio"},
        {"id": "whisper-1"},
        {"id": "gpt-image-1"},
        {"id": "omni-moderation-latest"},
        {"id": "gemini-3.8-live-preview"},
        {"id": "nomic-embed-text:latest"},
        {"id": "imagen-4"},
        {"name": "models/x", "supportedGenerationMethods": ["embedContent"]},
        {"id": "x", "type": "image"},
        {"id": "x", "capabilities": {"type": "embeddings"}},
        {"id": "x", "capabilities": {"completion_chat": False}},
        {"id": "x", "capabilities": ["embedding"]},
        {"id": "x", "architecture": {"output_modalities": ["image"]}},
        {"id": 1},
        {},
        "odd",
        None,
    ],
)
def test_models_that_do_not_chat_are_left_out(entry: Any) -> None:
    assert read_listing("p", {"data": [entry]}) == []


@pytest.mark.parametrize(
    "name",
    [
        "gpt-6.1-sol",
        "olive-7b",
        "claude-haiku-5-5",
        "mistral-large-4",
        "retts",
        "devstral-2512",
        "qwen3-vl:8b",
        "safeguards",
    ],
)
def test_models_that_chat_are_kept(name: str) -> None:
    assert [model.id for model in read_listing("p", {"data": [{"id": name}]})] == [f"p/{name}"]


@pytest.mark.parametrize("body", [None, {}, {"data": None}, {"models": 3}, [], "text", {"data": [[]]}])
def test_a_malformed_listing_has_no_models(body: object) -> None:
    assert read_listing("p", body) == []


def test_the_newest_comes_first() -> None:
    entries = [{"id": "a", "created": 1}, {"id": "b"}, {"id": "c", "created_at": "2026-01-01T00:00:00Z"}]
    assert [model.id for model in read_listing("p", {"data": entries})] == ["p/c", "p/a", "p/b"]


class Pages:
    """A provider that answers from a table and records the requests."""

    def __init__(self, pages: dict[str, Any]) -> None:
        self.pages = pages
        self.asked: list[tuple[str, bytes | None]] = []

    async def __call__(self, path: str, body: bytes | None) -> Any:
        self.asked.append((path, body))
        return self.pages.get(path, self.pages.get("*"))


async def test_all_pages_of_gemini() -> None:
    pages = Pages(
        {
            "/v1beta/models?pageSize=1000": {"models": [{"name": "models/a"}], "nextPageToken": "t/1"},
            "/v1beta/models?pageSize=1000&pageToken=t%2F1": {"models": [{"name": "models/b"}]},
        }
    )
    found = await fetch_listing("g", "/v1beta/models?pageSize=1000", pages)
    assert [model.id for model in found] == ["g/a", "g/b"]


async def test_all_pages_of_anthropic() -> None:
    old, new = {"id": "old", "created_at": "2025-01-01T00:00:00Z"}, CLAUDE
    pages = Pages(
        {
            "/v1/models": {"data": [old], "has_more": True, "last_id": "old"},
            "/v1/models?after_id=old": {"data": [new], "has_more": False, "last_id": "x"},
        }
    )
    found = await fetch_listing("a", "/v1/models", pages)
    assert [model.id for model in found] == ["a/claude-sonnet-9", "a/old"]


async def test_an_endless_listing_is_cut_off(caplog: pytest.LogCaptureFixture) -> None:
    pages = Pages({"*": {"models": [{"name": "models/a"}], "nextPageToken": "again"}})
    await fetch_listing("g", "/m", pages)
    assert len(pages.asked) == MAX_PAGES + 1
    assert "g lists more than" in caplog.text


SHOWN: list[tuple[object, ModelFacts]] = [
    (
        {
            "capabilities": ["completion", "tools", "thinking", "vision"],
            "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40_960},
        },
        ModelFacts(40_960, tools=True, images=True),
    ),
    (
        {"capabilities": ["completion"], "model_info": {"gemma2.context_length": 8192}},
        ModelFacts(8192, thinking="none", tools=False, images=False),
    ),
    ({"model_info": {"llama.context_length": 2048}}, ModelFacts(2048)),
    ({"model_info": None, "capabilities": "all"}, NO_FACTS),
    ({}, NO_FACTS),
    ("odd", NO_FACTS),
]


@pytest.mark.parametrize(("body", "expected"), SHOWN)
def test_description_of_an_ollama_model(body: object, expected: ModelFacts) -> None:
    assert read_description(body) == expected


async def test_only_a_server_with_a_description_request_is_asked() -> None:
    pages = Pages({"/api/show": SHOWN[0][0]})
    assert await fetch_description("ollama-chat", "qwen3", pages) == SHOWN[0][1]
    assert await fetch_description("openai-chat", "qwen3", pages) == NO_FACTS
    assert pages.asked == [("/api/show", b'{"model":"qwen3"}')]
