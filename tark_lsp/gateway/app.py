"""The HTTP interface: `/v1/responses`, `/v1/models`, `/health`, `/metrics`."""

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from tark_lsp import __version__
from tark_lsp.errors import TarkError
from tark_lsp.gateway.answer import BROKEN, Answer
from tark_lsp.gateway.body import MAX_BYTES, check_head, decode_body, read_body
from tark_lsp.gateway.encoder import ResponseEncoder
from tark_lsp.gateway.guard import Guard, GuardedApp
from tark_lsp.gateway.json_response import JsonResponse
from tark_lsp.gateway.load import Load
from tark_lsp.gateway.metrics import CONTENT_TYPE, Metrics, Outcome
from tark_lsp.gateway.names import ModelNames
from tark_lsp.gateway.problems import INVALID, Problem, problem_of
from tark_lsp.gateway.request import ParsedRequest, read_request
from tark_lsp.gateway.response import new_response
from tark_lsp.llm.client import Models

log = logging.getLogger(__name__)

LARGE = 64 * 1024
"""Bytes. Larger bodies are parsed in a thread, so that they do not block running answers."""

CODES = {404: "not_found", 405: "method_not_allowed"}
"""The codes of routing errors."""

PLACES = "use POST /v1/responses or GET /v1/models (so a client's base URL ends with /v1), /health or /metrics"

STATELESS = "nothing is stored here, so nothing can be done with a response later"


def new_id(prefix: str) -> str:
    """A unique id with characters and a length that every provider accepts."""
    return f"{prefix}_{secrets.token_hex(12)}"


class Gateway:
    """`stopping`: set it to end all answers now."""

    def __init__(self, models: Models, names: ModelNames, stopping: asyncio.Event) -> None:
        self._models = models
        self._names = names
        self._stopping = stopping
        self._load = Load()
        self.metrics = Metrics(lambda: self._load.running)

    async def respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        """An ASGI app. Raises Problem, TarkError and ClientDisconnect, but only before an answer has begun."""
        request = Request(scope, receive)
        check_head(request.headers)
        with self._load.slot(int(request.headers.get("content-length", MAX_BYTES))) as slot:
            body = await read_body(request)
            slot.bytes = len(body)
            answer = await self._new_answer(body)
            del body
            await answer(scope, receive, send)

    async def _new_answer(self, body: bytes) -> Answer:
        if len(body) > LARGE:
            parsed = await asyncio.to_thread(self._read, body)
        else:
            parsed = self._read(body)
        model = await self._models.open_model(parsed.model)
        response = new_response(new_id("resp"), int(time.time()), parsed.model, parsed.repeated)
        encoder = ResponseEncoder(response, parsed.model, parsed.tools, new_id, time.time)
        return Answer(self._models, model, parsed, encoder, self._stopping, self.metrics.observe)

    def _read(self, body: bytes) -> ParsedRequest:
        return read_request(decode_body(body), self._names.find)

    async def show_metrics(self, _: Request) -> Response:
        return Response(self.metrics.as_text(), media_type=CONTENT_TYPE)

    def count_refused(self, problem: Problem) -> None:
        """Count a request that was refused before a model was called."""
        self.metrics.observe(Outcome("", "refused", problem.code))
        log.info("refused: %d %s %s", problem.status, problem.code, problem.param)

    async def list_models(self, _: Request) -> Response:
        """The configured models, then those that providers with a key list."""
        created = dict.fromkeys(sorted(self._names.known), 0.0)
        listing = await self._models.list_models()
        created |= {model.id: model.created for model in listing.models}
        data = [
            {
                "id": name,
                "object": "model",
                "created": int(since),
                "owned_by": self._names.known.get(name, name).partition("/")[0],
            }
            for name, since in created.items()
        ]
        return JsonResponse({"object": "list", "data": data})

    async def health(self, _: Request) -> Response:
        return JsonResponse({"status": "stopping" if self._stopping.is_set() else "ok", "version": __version__})

    async def refuse(self, request: Request) -> Response:
        if not request.path_params["rest"]:  # only a slash too much
            raise HTTPException(404)
        raise Problem(404, INVALID, "not_stored", STATELESS)


class _Endpoint:
    """An ASGI app as an object: Starlette would treat a function or method as a request handler."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


def new_app(gateway: Gateway, guard: Guard) -> ASGIApp:
    app = Starlette(
        routes=[
            Route("/v1/responses", _Endpoint(gateway.respond), methods=["POST"]),
            Route("/v1/responses/{rest:path}", gateway.refuse, methods=["GET", "POST", "DELETE"]),
            Route("/v1/models", gateway.list_models),
            Route("/health", gateway.health),
            Route("/metrics", gateway.show_metrics),
        ],
        exception_handlers={
            kind: _shaped(problem_with, gateway.count_refused) for kind, problem_with in PROBLEMS.items()
        },
    )
    app.router.redirect_slashes = False
    return GuardedApp(app, guard, gateway.count_refused)


PROBLEMS: Mapping[type[Exception], Callable[..., Problem]] = {
    Problem: lambda error: error,
    TarkError: problem_of,
    HTTPException: lambda error: Problem(
        error.status_code, INVALID, CODES[error.status_code], f"{error.detail}: {PLACES}"
    ),
    ClientDisconnect: lambda _: Problem(400, INVALID, "client_left", "the client has left"),
    Exception: lambda _: BROKEN,
}


def _shaped(
    problem_with: Callable[..., Problem], count: Callable[[Problem], None]
) -> Callable[[Request, Exception], Awaitable[Response]]:
    """A handler that returns each error in OpenAI's format."""

    async def handle(_: Request, error: Exception) -> Response:
        problem = problem_with(error)
        count(problem)
        allowed = (error.headers or {}) if isinstance(error, HTTPException) else {}
        return JsonResponse(problem.body, problem.status, {**problem.headers, **allowed})

    return handle
