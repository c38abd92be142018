"""Only programs on this machine that know the token may use the gateway, never a web page. `Guard` is pure.

A web page can reach a server on loopback. Its requests have an `Origin` or, after DNS rebinding, a foreign `Host`.
"""

import hmac
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from tark_lsp.gateway.json_response import JsonResponse
from tark_lsp.gateway.problems import INVALID, Problem

LOOPBACK = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?", re.IGNORECASE)
OPEN_PATHS: Sequence[str] = ("/health",)
"""Paths that need no token."""


@dataclass(frozen=True, slots=True)
class Guard:
    """`token`: what clients send as `Authorization: Bearer ...`; "" if none is required."""

    token: str

    def problem_with(self, path: str, headers: Headers) -> Problem | None:
        """None if the request may pass."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or LOOPBACK.fullmatch(hosts[0]) is None:
            return Problem(403, INVALID, "host_refused", "the Host must be localhost, 127.0.0.1 or [::1]")
        if "origin" in headers:
            return Problem(403, INVALID, "origin_refused", "requests of web pages are refused: they have an Origin")
        if path in OPEN_PATHS or not self.token:
            return None
        given = headers.getlist("authorization")
        scheme, _, token = (given[0] if len(given) == 1 else "").partition(" ")
        right = hmac.compare_digest(token.strip().encode("latin-1", "replace"), self.token.encode())
        if scheme.lower() == "bearer" and right:
            return None
        message = "the token is missing or wrong; send the gateway's token as `Authorization: Bearer TOKEN`"
        return Problem(401, INVALID, "invalid_api_key", message)


class GuardedApp:
    """An ASGI app behind a guard. `refused` is called with each refusal."""

    def __init__(self, app: ASGIApp, guard: Guard, refused: Callable[[Problem], None]) -> None:
        self._app = app
        self._guard = guard
        self._refused = refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (problem := self._guard.problem_with(scope["path"], Headers(scope=scope))):
            self._refused(problem)
            await JsonResponse(problem.body, problem.status, problem.headers)(scope, receive, send)
        else:
            await self._app(scope, receive, send)
