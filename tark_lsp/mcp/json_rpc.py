"""JSON-RPC 2.0 as MCP uses it. Received messages become frozen values; sent messages become bytes. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from tark_lsp.errors import McpError

RequestId: TypeAlias = int | str

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
HEADER_MISMATCH, CAPABILITY_MISSING, UNKNOWN_VERSION = -32020, -32021, -32022
URL_NEEDED = -32042
"""The server asks you to open a URL first (2025-11-25)."""
MODERN_ERRORS = frozenset({HEADER_MISMATCH, CAPABILITY_MISSING, UNKNOWN_VERSION})
"""Only servers of 2026-07-28 and later use these codes."""
LONGEST_ERROR = 2_000
"""The most characters of a server's error message."""


@dataclass(frozen=True, slots=True)
class Reply:
    id: RequestId
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Failure:
    """`id` is None if the server could not read the request."""

    id: RequestId | None
    code: int
    message: str
    data: Any = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A request from the server."""

    id: RequestId
    method: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Told:
    """A notification from the server."""

    method: str
    params: Mapping[str, Any]


Incoming: TypeAlias = Reply | Failure | Asked | Told


class RpcError(McpError):
    """The server answered with an error."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message[:LONGEST_ERROR])
        self.failure = failure


def parse_messages(data: bytes) -> list[Incoming]:
    """The messages of one line or body: one object, or a batch (2025-03-26). Raises ValueError if it is neither."""
    try:
        value = json.loads(data, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return [_message(item) for item in (value if isinstance(value, list) else [value])]


def _message(value: Any) -> Incoming:
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        raise ValueError("it is not JSON-RPC 2.0")
    message_id, method, params = value.get("id"), value.get("method"), value.get("params") or {}
    if not isinstance(message_id, int | str) or isinstance(message_id, bool):
        message_id = None
    if isinstance(method, str) and isinstance(params, dict):
        return Told(method, params) if message_id is None else Asked(message_id, method, params)
    if isinstance(error := value.get("error"), dict):
        code = error.get("code")
        return Failure(
            message_id, code if isinstance(code, int) else 0, str(error.get("message", "")), error.get("data")
        )
    if message_id is not None and isinstance(value.get("result"), dict):
        return Reply(message_id, value["result"])
    if message_id is not None and method is None:  # the request gets no other answer
        return Failure(message_id, 0, "its answer has no result or error that is an object")
    raise ValueError("it is neither a request nor an answer")


def id_in(params: Mapping[str, Any], key: str) -> RequestId:
    """The id in a server's message; empty, which no request has, if it is missing or has another type."""
    found = params.get(key)
    return found if isinstance(found, int | str) else ""


def request(message_id: RequestId, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": message_id, "method": method, "params": dict(params)}


def notification(method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, **({"params": dict(params)} if params else {})}


def answer(message_id: RequestId, result: Mapping[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": message_id, "result": dict(result)}


def refusal(message_id: RequestId, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": message_id, "error": {"code": code, "message": message}}


def encode(message: Mapping[str, Any]) -> bytes:
    """One line, without the newline."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
