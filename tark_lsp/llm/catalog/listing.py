"""What a provider says about its models: its listing, page by page, and the description of one model.

Vendors give the same facts in different places. Each fact has a list of places, and the first that holds it is used,
so that any server can be read without knowing its name. Shapes: the vendors' references of GET /models (OpenAI,
Anthropic, Gemini, OpenRouter, Groq, Mistral, Together, xAI, Copilot), vLLM, llama.cpp, LM Studio, and Ollama's
/api/tags and /api/show.
"""

import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import datetime
from math import inf
from typing import Any, TypeAlias
from urllib.parse import urlencode

from tark_lsp.llm.catalog.facts import NO_FACTS, ModelFacts, ModelInfo, Price
from tark_lsp.llm.wire.json_values import encode_json
from tark_lsp.llm.wire.thinking import EFFORT_SCALE
from tark_lsp.llm.wire.wire import ThinkingStyle

log = logging.getLogger(__name__)

AskProvider: TypeAlias = Callable[[str, bytes | None], Awaitable[Any]]
"""Takes a path below the base URL and an optional body to POST; returns the answer's JSON. Raises ModelError."""

MAX_PAGES = 20
"""A page has up to 1,000 models (Gemini, Anthropic). An endless listing must not block the server."""

DESCRIBE_PATHS = {"ollama-chat": "/api/show"}
"""The path where a server of this wire describes one model."""

WINDOW = (
    "context_length",
    "max_input_tokens",
    "context_window",
    "max_context_length",
    "max_model_len",
    "inputTokenLimit",
    "capabilities.limits.max_context_window_tokens",
    "meta.n_ctx",
    "meta.n_ctx_train",
)
OUTPUT = (
    "top_provider.max_completion_tokens",
    "max_completion_tokens",
    "outputTokenLimit",
    "capabilities.limits.max_output_tokens",
    "max_output_tokens",
    "max_tokens",
)
TOOLS = ("capabilities.supports.tool_calls", "capabilities.function_calling")
IMAGES = ("capabilities.supports.vision", "capabilities.vision", "capabilities.image_input.supported")
ENDPOINTS = {
    "/responses": "openai-responses",
    "/v1/messages": "anthropic-messages",
    "/chat/completions": "openai-chat",
}
"""Copilot's `supported_endpoints` and Tark's wires, the best first."""

NO_CHAT = re.compile(
    r"(^|[^a-z])(embed(ding)?s?|tts|whisper|dall-e|sora|veo|imagen?|imagine|audio|realtime|live|transcribe|moderation"
    r"|rerank(er)?|guard|ocr|davinci|babbage|computer-use|nano-banana|lyria|aqa|robotics)([^a-z]|$)"
)
"""Names of models that do not chat, for listings that do not state a model's purpose (OpenAI lists only names)."""

NO_CHAT_KINDS = {"embedding", "embeddings", "image", "audio", "video", "moderation", "rerank", "transcribe", "tts"}


async def fetch_listing(provider: str, path: str, ask: AskProvider) -> list[ModelInfo]:
    """Fetches all pages. Raises ModelError."""
    body = await ask(path, None)
    models = read_listing(provider, body)
    for _ in range(MAX_PAGES):
        if not (page := _next_page(body)):
            break
        body = await ask(f"{path}{'&' if '?' in path else '?'}{urlencode(page)}", None)
        models += read_listing(provider, body)
    else:
        log.warning("%s lists more than %d pages of models; the rest is left out", provider, MAX_PAGES)
    return sorted(models, key=lambda model: model.created, reverse=True)


async def fetch_description(wire: str, model: str, ask: AskProvider) -> ModelFacts:
    """What a server says about one model; no facts if its wire has no such request. Raises ModelError."""
    if wire not in DESCRIBE_PATHS:
        return NO_FACTS
    return read_description(await ask(DESCRIBE_PATHS[wire], encode_json({"model": model})))


def read_listing(provider: str, body: object) -> list[ModelInfo]:
    """The models, newest first. Malformed entries and models that do not chat are left out."""
    listed = body
    if isinstance(body, Mapping):
        listed = body.get("data") if "data" in body else body.get("models")
    entries = [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, list) else []
    models = [_info(provider, entry, name) for entry in entries if (name := _name(entry)) and _chats(entry, name)]
    return sorted(models, key=lambda model: model.created, reverse=True)


def read_description(body: object) -> ModelFacts:
    """Ollama: `{"capabilities": ["completion", "tools", ...], "model_info": {"<family>.context_length": N, ...}}`."""
    if not isinstance(body, Mapping):
        return NO_FACTS
    details = body.get("model_info")
    lengths = details.items() if isinstance(details, Mapping) else ()
    window = next((_size(value) for key, value in lengths if str(key).endswith(".context_length")), None)
    can = body.get("capabilities")
    if not isinstance(can, list):  # Ollama before 0.6.4
        return ModelFacts(context_window=window)
    thinking: ThinkingStyle = "unknown" if "thinking" in can else "none"
    return ModelFacts(context_window=window, thinking=thinking, tools="tools" in can, images="vision" in can)


def _next_page(body: object) -> dict[str, str]:
    match body:
        case {"nextPageToken": str(token)} if token:
            return {"pageToken": token}
        case {"has_more": True, "last_id": str(last)} if last:
            return {"after_id": last}
    return {}


def _name(entry: Mapping[str, Any]) -> str:
    name = entry.get("id") or entry.get("model") or entry.get("name")
    return name.removeprefix("models/") if isinstance(name, str) else ""


def _chats(entry: Mapping[str, Any], name: str) -> bool:
    methods = entry.get("supportedGenerationMethods")
    writes = _at(entry, "architecture.output_modalities")
    can = entry.get("capabilities")
    return not (
        (isinstance(methods, list) and "generateContent" not in methods)
        or (isinstance(writes, list) and "text" not in writes)
        or (isinstance(can, list) and "embedding" in can)
        or _at(entry, "capabilities.completion_chat") is False
        or _at(entry, "capabilities.type") in NO_CHAT_KINDS
        or entry.get("type") in NO_CHAT_KINDS
        or NO_CHAT.search(name.lower())
    )


def _info(provider: str, entry: Mapping[str, Any], name: str) -> ModelInfo:
    shown = entry.get("display_name") or entry.get("displayName") or entry.get("name")
    style, efforts = _thinking(entry)
    thinks = entry.get("thinking")
    return ModelInfo(
        id=f"{provider}/{name}",
        name=shown if isinstance(shown, str) else name,
        facts=ModelFacts(
            context_window=_first_size(entry, WINDOW),
            max_output=_first_size(entry, OUTPUT),
            thinking=style,
            efforts=efforts,
            price=_price(entry.get("pricing")),
            tools=_has_capability(entry, TOOLS, ("tools", "tool_use")),
            images=_accepts_images(entry),
            wire=_wire(entry.get("supported_endpoints")),
        ),
        thinking=thinks if isinstance(thinks, bool) else None if style == "unknown" else style != "none",
        created=_created(entry),
    )


def _thinking(entry: Mapping[str, Any]) -> tuple[ThinkingStyle, tuple[str, ...]]:
    parameters = entry.get("supported_parameters")
    if isinstance(parameters, list):  # OpenRouter, which accepts an effort for every model
        return ("effort", ()) if "reasoning" in parameters else ("none", ())
    if entry.get("thinking") is False:  # Gemini
        return "none", ()
    match entry.get("capabilities"):
        case {"supports": {**supports}}:  # Copilot
            said = supports.get("reasoning_effort")
            efforts = _in_order(said) if isinstance(said, list) else ()
            if supports.get("adaptive_thinking") is True:
                return "adaptive", efforts
            return ("effort" if efforts else "unknown"), efforts
        case {"thinking": {"supported": False}}:  # Anthropic
            return "none", ()
        case {"thinking": {"types": {**types}}, **rest}:
            levels = rest.get("effort")
            words = [word for word in levels if _at(levels, f"{word}.supported")] if isinstance(levels, Mapping) else []
            if _at(types, "adaptive.supported"):
                return "adaptive", _in_order(words)
            return ("budget" if _at(types, "enabled.supported") else "unknown"), ()
    return "unknown", ()


def _in_order(words: list[Any]) -> tuple[str, ...]:
    return tuple(word for word in EFFORT_SCALE if word in words)


def _accepts_images(entry: Mapping[str, Any]) -> bool | None:
    modalities = _at(entry, "architecture.input_modalities")
    if isinstance(modalities, list):
        return "image" in modalities
    if entry.get("type") in ("llm", "vlm"):  # LM Studio
        return bool(entry["type"] == "vlm")
    return _has_capability(entry, IMAGES, ("vision", "multimodal"))


def _has_capability(entry: Mapping[str, Any], places: tuple[str, ...], words: tuple[str, ...]) -> bool | None:
    """Stated as true or false in one of `places`, or by one of `words` in a list of capabilities."""
    stated = next((value for place in places if isinstance(value := _at(entry, place), bool)), None)
    if stated is not None:
        return stated
    for listed in (entry.get("capabilities"), entry.get("supported_parameters")):
        if isinstance(listed, list):
            return any(word in listed for word in words)
    return None


def _wire(endpoints: object) -> str | None:
    offered = endpoints if isinstance(endpoints, list) else ()
    return next((wire for path, wire in ENDPOINTS.items() if path in offered), None)


def _price(pricing: Any) -> Price | None:
    """OpenRouter: dollars for one token, as text. Together: for a million, as numbers. Other shapes give no price."""
    match pricing:
        case {"prompt": str(), "completion": str()}:
            names, unit = ("prompt", "completion", "input_cache_read", "input_cache_write"), 1e6
        case {"input": int() | float(), "output": int() | float()}:
            names, unit = ("input", "output", "cached_input", "cached_write"), 1.0
        case _:
            return None
    given, taken, cached, written = (_dollars(pricing.get(name), unit) for name in names)
    return None if given is None or taken is None else Price(given, taken, cached, written)


def _dollars(value: object, unit: float) -> float | None:
    """None also for OpenRouter's -1, which means that the price depends on the request."""
    try:
        dollars = float(value) * unit if isinstance(value, str | int | float) else -1.0
    except ValueError:
        return None
    return round(dollars, 9) if 0 <= dollars < inf else None


def _created(entry: Mapping[str, Any]) -> float:
    for name in ("created", "created_at", "modified_at"):
        match entry.get(name):
            case int(seconds) | float(seconds):
                return float(seconds)
            case str(moment):
                try:
                    return datetime.fromisoformat(moment).timestamp()
                except (ValueError, OverflowError):
                    continue
    return 0


def _first_size(entry: Mapping[str, Any], places: tuple[str, ...]) -> int | None:
    return next(_sizes(entry, places), None)


def _sizes(entry: Mapping[str, Any], places: tuple[str, ...]) -> Iterator[int]:
    for place in places:
        if size := _size(_at(entry, place)):
            yield size


def _size(value: object) -> int | None:
    return value if type(value) is int and value > 0 else None


def _at(value: Any, place: str) -> Any:
    for name in place.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
