"""OpenRouter: many vendors' models on the Chat Completions wire; reasoning comes back as `reasoning_details`."""

from tark_lsp.llm.provider import Provider, Route
from tark_lsp.llm.wire.wire import Quirks

PROVIDER = Provider(
    name="openrouter",
    base_url="https://openrouter.ai/api/v1",
    routes=(Route("*", "openai-chat", Quirks(stream_usage=False, effort_field="reasoning")),),
    key_env=("OPENROUTER_API_KEY",),
    preferred=("anthropic/claude-sonnet-*", "openai/gpt-5*", "*"),
)
