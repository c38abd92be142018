"""GitHub Copilot: the wire depends on the model; a bearer token; headers that decide billing and routing."""

import uuid
from types import MappingProxyType

from tark_lsp import __version__
from tark_lsp.llm.keys.device_login import DeviceLogin
from tark_lsp.llm.provider import Provider, Route
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.wire.wire import Quirks
from tark_lsp.messages import Image, ToolResult

_CHAT = Quirks(finish_reason=False)
_GPT_CHAT = Quirks(max_tokens_field="", finish_reason=False)
_RESPONSES = Quirks(max_tokens_field="", encrypted_reasoning=True)


def _headers(request: ChatRequest) -> dict[str, str]:
    """A request that continues after tool calls counts as the agent's, so it is not billed as the user's."""
    asked_by_user = bool(request.messages) and request.messages[-1].role == "user"
    headers = {"x-initiator": "user" if asked_by_user else "agent", "x-request-id": str(uuid.uuid4())}
    if request.session_id:
        headers["x-interaction-id"] = str(uuid.uuid5(uuid.NAMESPACE_OID, request.session_id))
    parts = [part for message in request.messages for part in message.parts]
    if any(isinstance(part, Image) or (isinstance(part, ToolResult) and part.images) for part in parts):
        headers["copilot-vision-request"] = "true"
    return headers


PROVIDER = Provider(
    name="copilot",
    base_url="https://api.githubcopilot.com",
    routes=(
        Route("gpt-5-mini*", "openai-chat", _GPT_CHAT),
        Route("gpt-[5-9]*", "openai-responses", _RESPONSES),
        Route("*codex*", "openai-responses", _RESPONSES),
        Route("claude*", "anthropic-messages"),
        Route("claude*", "openai-chat", Quirks(cache_field="copilot_cache_control", finish_reason=False)),
        Route("gpt*", "openai-chat", _GPT_CHAT),
        Route("*", "openai-chat", _CHAT),
        Route("*", "anthropic-messages"),
        Route("*", "openai-responses", _RESPONSES),
    ),
    key_env=("COPILOT_GITHUB_TOKEN",),
    key_header="authorization",
    headers=MappingProxyType(
        {
            "copilot-integration-id": "vscode-chat",
            "editor-version": f"tark-lsp/{__version__}",
            "editor-plugin-version": f"tark-lsp/{__version__}",
            "openai-intent": "conversation-agent",
            "x-interaction-type": "conversation-agent",
            "x-github-api-version": "2026-06-01",
        }
    ),
    request_headers=_headers,
    lists_first=True,
    login=DeviceLogin(
        url="https://github.com",
        scope="read:user",
        device_path="/login/device/code",
        token_path="/login/oauth/access_token",
        exchange_path="/copilot_internal/v2/token",
        models_subdomain="copilot-api",
        api_hosts=("githubcopilot.com",),
    ),
    preferred=("claude-sonnet-*", "gpt-[6-9]*-sol", "gpt-5.[0-9]", "*"),
)
