"""An MCP server on loopback that wants a login, and its authorization server; friendly, or with one fault.

Both are one HTTP server. `browse` is the user's browser: it agrees at once.
"""

import asyncio
import base64
import contextlib
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from tark_lsp.http import HttpRequest, HttpTransport
from tests.loopback import Raw, Request, _read_request, _send, end_server

JSON = {"content-type": "application/json"}
NEVER = Raw(stall=True)
"""Headers, and then silence."""


def as_json(value: Any, status: int = 200, **headers: str) -> Raw:
    return Raw([json.dumps(value).encode()], status, {**JSON, **headers})


def error(code: str, status: int = 400) -> Raw:
    return as_json({"error": code, "error_description": "secret-of-the-server"}, status)


async def browse(url: str) -> int:
    """Opens the page, follows it back to tark-lsp, and returns the last status."""
    http = HttpTransport()
    try:
        while True:
            response = await http.send(HttpRequest("GET", url))
            await response.aclose()
            if not (url := response.headers.get("location", "")):
                return response.status
    finally:
        await http.aclose()


@dataclass
class Faults:
    """What is different from a friendly server. `answers`: for a path, in place of its own."""

    resource: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    answers: dict[str, Raw | Callable[[Request], Raw]] = field(default_factory=dict)
    redirect: Mapping[str, str] = field(default_factory=dict)
    lifetime: int = 3600
    scope: str = "read"


class OAuthServer:
    """`url`: of the MCP server. `valid`: the access tokens that it takes. `asked`: (method, path) of all requests."""

    def __init__(self, faults: Faults | None = None) -> None:
        self.faults = faults or Faults()
        self.valid: dict[str, str] = {}
        self.refreshable: dict[str, str] = {}
        self.codes: dict[str, Mapping[str, str]] = {}
        self.asked: list[Request] = []
        self.issued = 0
        self.needed_for_calls = ""
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> "OAuthServer":
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.origin = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        self.url = f"{self.origin}/mcp"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        await end_server(self._server, self._tasks)

    def paths(self, path: str) -> list[Request]:
        return [request for request in self.asked if urlsplit(request.path).path == path]

    def expire(self) -> None:
        """All access tokens."""
        self.valid.clear()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while (request := await _read_request(reader)) is not None:
                self.asked.append(request)
                if not await _send(self._answer(request), writer):
                    await reader.read()  # until the client gives up
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client went away, or the test is over
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()
            self._tasks.discard(task)

    def _answer(self, request: Request) -> Raw:
        path = urlsplit(request.path).path
        if (other := self.faults.answers.get(path)) is not None:
            return other if isinstance(other, Raw) else other(request)
        routes: dict[str, Callable[[Request], Raw]] = {
            "/mcp": self._mcp,
            "/.well-known/oauth-protected-resource/mcp": self._resource,
            "/.well-known/oauth-authorization-server": self._metadata,
            "/register": self._register,
            "/authorize": self._authorize,
            "/token": self._token,
        }
        return routes[path](request) if path in routes else as_json({}, 404)

    def _mcp(self, request: Request) -> Raw:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        metadata = f'resource_metadata="{self.origin}/.well-known/oauth-protected-resource/mcp"'
        if token not in self.valid:
            return as_json({}, 401, **{"www-authenticate": f'Bearer {metadata}, scope="{self.faults.scope}"'})
        if request.method != "POST":
            return as_json({}, 405)
        asked = request.json
        if asked["method"] == "tools/call" and self.needed_for_calls not in ("", *self.valid[token].split()):
            challenge = f'Bearer error="insufficient_scope", scope="{self.needed_for_calls}", {metadata}'
            return as_json({}, 403, **{"www-authenticate": challenge})
        results: dict[str, Any] = {
            "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}},
            "tools/list": {"tools": [{"name": "add", "inputSchema": {"type": "object"}}]},
            "tools/call": {"content": [{"type": "text", "text": "3"}]},
        }
        return as_json({"jsonrpc": "2.0", "id": asked["id"], "result": results[asked["method"]]})

    def _resource(self, _: Request) -> Raw:
        return as_json({"resource": self.url, "authorization_servers": [self.origin], **self.faults.resource})

    def _metadata(self, _: Request) -> Raw:
        metadata = {
            "issuer": self.origin,
            "authorization_endpoint": f"{self.origin}/authorize",
            "token_endpoint": f"{self.origin}/token",
            "registration_endpoint": f"{self.origin}/register",
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
        }
        return as_json({**metadata, **self.faults.metadata})

    def _register(self, request: Request) -> Raw:
        return as_json({**request.json, "client_id": f"client-{len(self.paths('/register'))}"}, 201)

    def _authorize(self, request: Request) -> Raw:
        asked = {name: values[0] for name, values in parse_qs(urlsplit(request.path).query).items()}
        code = f"c0de-{len(self.codes) + 1}-very-secret"
        self.codes[code] = asked
        answer = {"code": code, "state": asked["state"], "iss": self.origin, **self.faults.redirect}
        return Raw([b""], 302, {"location": f"{asked['redirect_uri']}?{urlencode(answer)}"}, length=0)

    def _token(self, request: Request) -> Raw:
        asked = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
        if asked.get("resource") != self.url:
            return error("invalid_target")
        if asked["grant_type"] == "refresh_token":
            scope = self.refreshable.pop(asked["refresh_token"], None)
            return error("invalid_grant") if scope is None else self._tokens(scope)
        page = self.codes.pop(asked["code"], None)
        digest = hashlib.sha256(asked["code_verifier"].encode()).digest()
        right = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if page is None or page["code_challenge"] != right or page["redirect_uri"] != asked["redirect_uri"]:
            return error("invalid_grant")
        return self._tokens(page.get("scope", ""))

    def _tokens(self, scope: str) -> Raw:
        self.issued += 1
        access, refresh = f"acce55-{self.issued}-very-secret", f"refre5h-{self.issued}-very-secret"
        self.valid[access], self.refreshable[refresh] = scope, scope
        tokens = {"access_token": access, "refresh_token": refresh, "scope": scope, "token_type": "bearer"}
        return as_json({**tokens, "expires_in": self.faults.lifetime})
