"""Ollama on this machine, by its OpenAI-compatible door, which has the tools."""

from tark_lsp.llm.provider import Provider, Route

PROVIDER = Provider(
    name="ollama",
    base_url="http://localhost:11434/v1",
    routes=(Route("*", "openai-chat"),),
    key_env=("OLLAMA_API_KEY",),
    key_needed=False,
    preferred=("*",),
    offline_hint="start it with `ollama serve`",
)
