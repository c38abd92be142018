"""OpenAI, on the Chat Completions wire."""

from tark_lsp.llm.provider import Provider, Route
from tark_lsp.llm.wire.wire import Quirks

_PLAIN = Quirks(max_tokens_field="max_completion_tokens", cache_key=True)
_REASONING = Quirks(system_role="developer", max_tokens_field="max_completion_tokens", cache_key=True)

PROVIDER = Provider(
    name="openai",
    base_url="https://api.openai.com/v1",
    routes=(
        Route("gpt-5*chat*", "openai-chat", _PLAIN),
        Route("gpt-5*", "openai-chat", _REASONING),
        Route("o1-mini*", "openai-chat", _PLAIN),
        Route("o[0-9]*", "openai-chat", _REASONING),
        Route("*", "openai-chat", _PLAIN),
    ),
    key_env=("OPENAI_API_KEY",),
    preferred=("gpt-5.[0-9]", "gpt-5.[0-9]-*", "gpt-5", "gpt-4.1"),
)
