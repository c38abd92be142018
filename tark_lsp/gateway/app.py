"""The HTTP interface: `/v1/responses`, `/v1/models`, `/health`."""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from tark_lsp import __version__
from tark_lsp.errors import TarkError
from tark_lsp.gateway.answer import BROKEN, Answer
from tark_lsp.gateway.body import read_body
from tark_lsp.gateway.encoder import ResponseEncoder
from tark_lsp.gateway.guard import Guard, GuardedApp
from tark_lsp.gateway.names import ModelNames
from tark_lsp.gateway.problems import INVALID, Problem, problem_of
from tark_lsp.gateway.request import read_request
from tark_lsp.gateway.response import new_response
from tark_lsp.llm.client import Models

CODES = {404: "not_found", 405: "method_not_allowed"}
"""Of the errors that routing makes."""

STATELESS = "nothing is stored here, so nothing can be done with a response later"


def new_id(prefix: str) -> str:
    """Unique, in the alphabet and length that every provider accepts."""
    return f"{prefix}_{secrets.token_hex(12)}"


class Gateway:
    """`stopping`: set it to end all answers now."""

    def __init__(self, models: Models, names: ModelNames, stopping: asyncio.Event) -> None:
        self._models = models
        self._names = names
        self._stopping = stopping

    async def respond(self, request: Request) -> Response:
        body = await read_body(request)
        asked = read_request(body, self._names.find)
        model = await self._models.open_model(asked.model)
        response = new_response(new_id("resp"), int(time.time()), asked.model, asked.repeated)
        encoder = ResponseEncoder(response, asked.model, asked.tools, new_id)
        return Answer(self._models, model, asked, encoder, self._stopping)

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
        return JSONResponse({"object": "list", "data": data})

    async def health(self, _: Request) -> Response:
        return JSONResponse({"status": "stopping" if self._stopping.is_set() else "ok", "version": __version__})

    async def refuse(self, _: Request) -> Response:
        raise Problem(404, INVALID, "not_stored", STATELESS)


def new_app(gateway: Gateway, guard: Guard) -> ASGIApp:
    app = Starlette(
        routes=[
            Route("/v1/responses", gateway.respond, methods=["POST"]),
            Route("/v1/responses/{rest:path}", gateway.refuse, methods=["GET", "POST", "DELETE"]),
            Route("/v1/models", gateway.list_models),
            Route("/health", gateway.health),
        ],
        exception_handlers={
            Problem: _shaped(lambda error: error),
            TarkError: _shaped(problem_of),
            HTTPException: _shaped(
                lambda error: Problem(error.status_code, INVALID, CODES[error.status_code], error.detail)
            ),
            Exception: _shaped(lambda _: BROKEN),
            ClientDisconnect: _shaped(lambda _: Problem(400, INVALID, "client_left", "the client has left")),
        },
    )
    return GuardedApp(app, guard)


def _shaped(problem_with: Callable[..., Problem]) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Every error has OpenAI's shape."""

    async def handle(_: Request, error: Exception) -> Response:
        problem = problem_with(error)
        return JSONResponse(problem.body, problem.status, problem.headers)

    return handle
