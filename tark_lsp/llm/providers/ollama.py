"""Ollama on this machine, on its own wire: its Chat Completions API cannot set the context window."""

from tark_lsp.llm.provider import Provider, Route

PROVIDER = Provider(
    name="ollama",
    base_url="http://localhost:11434",
    routes=(Route("*", "ollama-chat"),),
    key_env=("OLLAMA_API_KEY",),
    key_needed=False,
    free=True,
    preferred=("*",),
    offline_hint="start it with `ollama serve`",
)
