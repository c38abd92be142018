"""The two eras of the protocol: how a connection opens, and the metadata of each request. Pure.

legacy  2024-11-05 to 2025-11-25: `initialize`, then a session
modern  2026-07-28: no opening; each request has the version and capabilities in `_meta`
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tark_lsp import __version__
from tark_lsp.errors import McpError
from tark_lsp.mcp.json_rpc import UNKNOWN_VERSION, Failure
from tark_lsp.mcp.schema_headers import header_value

LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
MODERN = ("2026-07-28",)
"""Newest first."""
FIRST_WITH_HEADER = "2025-06-18"
"""From this version on, HTTP requests have the header `MCP-Protocol-Version`."""

CLIENT = {"name": "tark-lsp", "version": __version__}
CAPABILITIES: Mapping[str, Any] = {"elicitation": {"form": {}, "url": {}}}
META = "io.modelcontextprotocol/"

NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The parameter that the header `Mcp-Name` repeats."""

LONGEST_INSTRUCTIONS = 2_048


class Era(StrEnum):
    LEGACY = "legacy"
    MODERN = "modern"


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What a server says about itself. `instructions` are untrusted text: never part of a system prompt."""

    era: Era
    version: str
    name: str = ""
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    instructions: str = ""

    def can(self, name: str, detail: str = "") -> bool:
        """Whether the server announced `tools`, or `tools.listChanged`."""
        found = self.capabilities.get(name)
        return isinstance(found, dict) and (not detail or found.get(detail) is True)


def initialize_params() -> dict[str, Any]:
    return {"protocolVersion": LEGACY[0], "capabilities": dict(CAPABILITIES), "clientInfo": CLIENT}


def facts_of_initialize(result: Mapping[str, Any]) -> ServerFacts:
    """Raises McpError if Tark does not support the version that the server wants."""
    version = result.get("protocolVersion")
    if version not in LEGACY:
        raise McpError(f"it speaks version {version!r} of the protocol, which tark-lsp does not know")
    return ServerFacts(Era.LEGACY, str(version), *_about(result, result.get("serverInfo")))


def facts_of_discover(result: Mapping[str, Any]) -> ServerFacts | None:
    """None if the result names no modern version that Tark supports: then the server counts as legacy."""
    supported = result.get("supportedVersions")
    version = next((one for one in MODERN if isinstance(supported, list) and one in supported), None)
    if version is None:
        return None
    meta = result.get("_meta")
    info = meta.get(f"{META}serverInfo") if isinstance(meta, dict) else None
    return ServerFacts(Era.MODERN, version, *_about(result, info or result.get("serverInfo")))


def _about(result: Mapping[str, Any], info: Any) -> tuple[str, Mapping[str, Any], str]:
    name = info.get("name") if isinstance(info, dict) else ""
    capabilities = result.get("capabilities")
    instructions = result.get("instructions")
    return (
        name[:200] if isinstance(name, str) else "",
        capabilities if isinstance(capabilities, dict) else {},
        instructions[:LONGEST_INSTRUCTIONS] if isinstance(instructions, str) else "",
    )


def version_after(failure: Failure) -> str | None:
    """The modern version to use after this answer to `server/discover`; None if the server is not modern.

    Raises McpError if it is modern and supports none of Tark's versions, legacy ones included.
    """
    if failure.code != UNKNOWN_VERSION:
        return None
    data = failure.data if isinstance(failure.data, dict) else {}
    supported = data.get("supported")
    if not isinstance(supported, list):
        return MODERN[0]
    if (shared := next((one for one in MODERN if one in supported), None)) is not None:
        return shared
    if any(one in supported for one in LEGACY):
        return None
    raise McpError(f"it speaks only {', '.join(map(str, supported[:5]))}, which tark-lsp does not know")


def with_meta(params: Mapping[str, Any], era: Era, version: str, token: object = None) -> dict[str, Any]:
    """The parameters with the metadata of the era. `token`: an id, if the server shall report progress."""
    meta = dict(params.get("_meta") or {})
    if token is not None:
        meta["progressToken"] = token
    if era is Era.MODERN:
        meta |= {
            f"{META}protocolVersion": version,
            f"{META}clientCapabilities": dict(CAPABILITIES),
            f"{META}clientInfo": CLIENT,
        }
    return {**params, "_meta": meta} if meta else dict(params)


def http_headers(message: Mapping[str, Any], era: Era | None, version: str) -> dict[str, str]:
    """The headers of a POST with this message, in addition to those for its content and session."""
    if era is Era.MODERN:
        method, params = str(message.get("method", "")), message.get("params") or {}
        headers = {"mcp-protocol-version": version, "mcp-method": method}
        if isinstance(name := params.get(NAMED_BY.get(method, "")), str):
            headers["mcp-name"] = header_value(name)
        return headers
    if message.get("method") == "initialize":  # a modern server that answers late gets it too
        return {"mcp-method": "initialize"}
    return {"mcp-protocol-version": version} if version >= FIRST_WITH_HEADER else {}
