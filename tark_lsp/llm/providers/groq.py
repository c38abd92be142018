"""Groq, on the Chat Completions wire."""

from tark_lsp.llm.provider import Provider, Route

PROVIDER = Provider(
    name="groq",
    base_url="https://api.groq.com/openai/v1",
    routes=(Route("*", "openai-chat"),),
    key_env=("GROQ_API_KEY",),
)
