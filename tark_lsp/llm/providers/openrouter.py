"""OpenRouter: many vendors' models on the Chat Completions wire; reasoning arrives as `reasoning_details`."""

from types import MappingProxyType

from tark_lsp.llm.provider import Provider, Route
from tark_lsp.llm.wire.wire import Quirks

_CACHE_MARKED = Quirks(stream_usage=False, effort_field="reasoning", cache_field="cache_control")

PROVIDER = Provider(
    name="openrouter",
    base_url="https://openrouter.ai/api/v1",
    routes=(
        Route("anthropic/*", "openai-chat", _CACHE_MARKED),
        Route("google/gemini*", "openai-chat", _CACHE_MARKED),
        Route("mistralai/*", "openai-chat", Quirks(stream_usage=False, effort_field="reasoning", bridge_results=True)),
        Route("*", "openai-chat", Quirks(stream_usage=False, effort_field="reasoning")),
    ),
    key_env=("OPENROUTER_API_KEY",),
    key_header="authorization",
    headers=MappingProxyType({"x-title": "tark-lsp"}),
    key_check_path="/key",
    preferred=("anthropic/claude-sonnet-*[0-9]", "openai/gpt-[6-9]*-sol", "openai/gpt-5.[0-9]", "*"),
)
