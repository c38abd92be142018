"""Anthropic, on the Messages wire."""

from tark_lsp.llm.provider import Provider, Route

PROVIDER = Provider(
    name="anthropic",
    base_url="https://api.anthropic.com",
    routes=(Route("*", "anthropic-messages"),),
    key_env=("ANTHROPIC_API_KEY",),
    preferred=("claude-sonnet-*", "claude-opus-*", "claude-*"),
)
