"""xAI, on the Chat Completions wire."""

from tark_lsp.llm.provider import Provider, Route

PROVIDER = Provider(
    name="xai",
    base_url="https://api.x.ai/v1",
    routes=(Route("*", "openai-chat"),),
    key_env=("XAI_API_KEY",),
)
