"""DeepSeek, on the Chat Completions wire. It requires its reasoning to be sent back with its tool calls."""

from dataclasses import replace

from tark_lsp.llm.provider import Provider, Route
from tark_lsp.llm.wire.wire import Quirks

_CHAT = Quirks(effort_field="thinking", reasoning_field="reasoning_content")

PROVIDER = Provider(
    name="deepseek",
    base_url="https://api.deepseek.com",
    routes=(Route("deepseek-flash", "openai-chat", _CHAT), Route("*", "openai-chat", replace(_CHAT, images=False))),
    key_env=("DEEPSEEK_API_KEY",),
)
