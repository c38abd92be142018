"""OpenAI: the Responses wire, or Chat Completions if the setting `wire` says so."""

from tark_lsp.llm.provider import Provider, Route
from tark_lsp.llm.wire.wire import Quirks

_RESPONSES = Quirks(cache_key=True)
_CHAT = Quirks(max_tokens_field="max_completion_tokens", cache_key=True)
_NOT_REASONING = ("gpt-[34]*", "chatgpt-*", "*-chat-latest")

PROVIDER = Provider(
    name="openai",
    base_url="https://api.openai.com/v1",
    routes=(
        *(Route(pattern, "openai-responses", _RESPONSES) for pattern in _NOT_REASONING),
        Route("*", "openai-responses", Quirks(cache_key=True, encrypted_reasoning=True, tool_search=True)),
        *(Route(pattern, "openai-chat", _CHAT) for pattern in _NOT_REASONING),
        Route("*", "openai-chat", Quirks("developer", max_tokens_field="max_completion_tokens", cache_key=True)),
    ),
    key_env=("OPENAI_API_KEY",),
    preferred=("gpt-[6-9].[0-9]-sol", "gpt-[6-9]-sol", "gpt-5.[0-9]", "gpt-5.[0-9]-*", "gpt-5", "gpt-4.1"),
)
