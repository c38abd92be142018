"""Chutes: open models on the Chat Completions wire, served by vLLM and similar servers."""

from tark_lsp.llm.provider import Provider, Route
from tark_lsp.llm.wire.wire import Quirks

PROVIDER = Provider(
    name="chutes",
    base_url="https://llm.chutes.ai/v1",
    routes=(Route("*", "openai-chat", Quirks(effort_field="chat_template_kwargs")),),
    key_env=("CHUTES_API_KEY", "CHUTES_API_TOKEN"),
)
