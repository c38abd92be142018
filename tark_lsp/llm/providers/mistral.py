"""Mistral, on the Chat Completions wire. It is strict about ids, the order of roles, and unknown fields."""

from tark_lsp.llm.provider import Provider, Route
from tark_lsp.llm.wire.wire import Quirks

PROVIDER = Provider(
    name="mistral",
    base_url="https://api.mistral.ai/v1",
    routes=(Route("*", "openai-chat", Quirks(stream_usage=False, call_id_length=9, bridge_results=True)),),
    key_env=("MISTRAL_API_KEY",),
)
