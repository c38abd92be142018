"""DeepSeek, on the Chat Completions wire. It requires its reasoning to be sent back with its tool calls."""

from tark_lsp.llm.provider import Provider, Route
from tark_lsp.llm.wire.wire import Quirks

PROVIDER = Provider(
    name="deepseek",
    base_url="https://api.deepseek.com",
    routes=(
        Route("*", "openai-chat", Quirks(effort_field="thinking", reasoning_field="reasoning_content", images=False)),
    ),
    key_env=("DEEPSEEK_API_KEY",),
)
