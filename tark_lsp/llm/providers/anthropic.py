"""Anthropic, on the Messages wire."""

from tark_lsp.llm.provider import Provider, Route
from tark_lsp.llm.wire.wire import Quirks

PROVIDER = Provider(
    name="anthropic",
    base_url="https://api.anthropic.com",
    routes=(Route("*", "anthropic-messages", Quirks(tool_search=True)),),
    key_env=("ANTHROPIC_API_KEY",),
    preferred=("claude-sonnet-*", "claude-opus-*", "claude-*"),
)
