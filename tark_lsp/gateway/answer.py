"""One answer: asks the model and sends its answer as events or as one response. Ends if the client disconnects."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import aclosing

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tark_lsp.errors import ModelNotFound, TarkError
from tark_lsp.gateway.encoder import ResponseEncoder
from tark_lsp.gateway.items import Event
from tark_lsp.gateway.json_response import JsonResponse
from tark_lsp.gateway.metrics import Outcome, tokens_of
from tark_lsp.gateway.names import near_models, not_found
from tark_lsp.gateway.problems import SERVER, Problem, problem_of
from tark_lsp.gateway.request import ParsedRequest
from tark_lsp.llm.client import Model, Models
from tark_lsp.llm.events import Dropped, Notice, Retry, Stall
from tark_lsp.llm.wire.json_values import encode_json

log = logging.getLogger(__name__)

MAX_WARNINGS = 2000
"""Characters in the header."""

STREAM_HEADERS: Mapping[str, str] = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
STOPPING = Problem(503, SERVER, "gateway_stopping", "the gateway is stopping; try again", retryable=True)
BROKEN = Problem(500, SERVER, "gateway_error", "the gateway failed; its log says why")


class Answer(Response):
    """An ASGI response. A stream begins with the model's first event, so that an earlier error can set the HTTP status.
    It also begins if the model is silent for long.

    `stopping` is set when the gateway no longer waits for answers. `ended` is called with the outcome.
    """

    def __init__(
        self,
        models: Models,
        model: Model,
        request: ParsedRequest,
        encoder: ResponseEncoder,
        stopping: asyncio.Event,
        ended: Callable[[Outcome], None],
    ) -> None:
        self._models = models
        self._model = model
        self._request = request
        self._encoder = encoder
        self._stopping = stopping
        self._ended = ended
        self._began = time.monotonic()
        self._first: float | None = None
        self._problem: Problem | None = None
        self._warnings = list(request.warnings)
        self._streaming = False
        self.background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Ends when the answer is complete, the client has left, or the gateway stops. This cancels the other tasks.

        Closing the model's stream closes the connection to the provider.
        """
        self._scope, self._receive, self._send = scope, receive, send
        work = asyncio.create_task(self._answer())
        left = asyncio.create_task(_client_left(receive))
        stopped = asyncio.create_task(self._stopping.wait())
        tasks = (work, left, stopped)
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            cut = not work.done() and not left.done()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        if cut:
            await self._fail(STOPPING)
        if not work.cancelled() and (error := work.exception()) is not None:  # the error could not be sent either
            log.warning("%s: %r", self._short_id, error)
        self._report(client_left=work.cancelled() and not cut)

    def _report(self, *, client_left: bool) -> None:
        """Report tokens and times, but no content of the request or answer."""
        usage, seconds = self._encoder.usage, time.monotonic() - self._began
        end = "left" if client_left else self._encoder.response["status"]
        if self._problem is not None and not self._streaming:
            end = "refused"
        code = self._problem.code if self._problem else ""
        self._ended(Outcome(self._request.model, end, code, seconds, self._first, usage))
        if log.isEnabledFor(logging.INFO):
            tokens = ", ".join(f"{count} {kind}" for kind, count in tokens_of(usage)) if usage else "no"
            first = "" if self._first is None else f" ({self._first * 1000:.0f} ms to the first event)"
            said = " ".join(filter(None, [end, code]))
            log.info(
                "%s %s: %s, %.0f ms%s, tokens: %s",
                *(self._short_id, self._request.model, said, seconds * 1000, first, tokens),
            )

    @property
    def _short_id(self) -> str:
        """The end of the response's id. The log would redact the whole id as a secret."""
        return f"response {self._encoder.response['id'][-8:]}"

    async def _answer(self) -> None:
        try:
            await self._ask()
        except ModelNotFound as error:
            near = await near_models(self._models, self._request.model)
            await self._fail(not_found(error.message, near) if near else problem_of(error))
        except TarkError as error:
            await self._fail(problem_of(error))
        except Problem as problem:
            await self._fail(problem)
        except OSError:
            pass  # the client has left
        except Exception:  # the client always gets an error in OpenAI's format
            log.exception("%s failed", self._short_id)
            await self._fail(BROKEN)

    async def _ask(self) -> None:
        encoder = self._encoder
        async with aclosing(self._model.stream(self._request.chat)) as events:
            async for event in events:
                match event:
                    case Dropped(option, reason):
                        await self._warn(f"{option} left out: {reason}")
                    case Notice(message):
                        await self._warn(message)
                    case Retry():
                        pass
                    case Stall():
                        await self._begin()
                        await self._write_comment(b"still waiting for the model")
                    case _:
                        if self._first is None:
                            self._first = time.monotonic() - self._began
                        await self._begin()
                        await self._write_events(encoder.feed(event))
        if self._request.stream:
            await self._end()
        else:
            await JsonResponse(encoder.response, headers=self._head)(self._scope, self._receive, self._send)

    async def _fail(self, problem: Problem) -> None:
        self._problem = problem
        events = self._encoder.fail(problem)
        if self._streaming:
            await self._write_events(events)
            await self._end()
        else:
            response = JsonResponse(problem.body, problem.status, {**self._head, **problem.headers})
            await response(self._scope, self._receive, self._send)

    async def _begin(self) -> None:
        if self._streaming or not self._request.stream:
            return
        self._streaming = True
        headers = [(name.encode(), value.encode("latin-1")) for name, value in {**STREAM_HEADERS, **self._head}.items()]
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._write_events(self._encoder.begin())

    async def _write_events(self, events: list[Event]) -> None:
        if events and self._streaming:
            await self._write(
                b"".join(b"event: %b\ndata: %b\n\n" % (event["type"].encode(), encode_json(event)) for event in events)
            )

    async def _write(self, data: bytes) -> None:
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def _warn(self, text: str) -> None:
        """Put a warning into the header or, if the header was already sent, into a comment of the stream."""
        self._warnings.append(text)
        await self._write_comment(f"warning: {_one_line(text)}".encode())

    async def _write_comment(self, text: bytes) -> None:
        if self._streaming:
            await self._write(b": %b\n\n" % text)

    async def _end(self) -> None:
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    @property
    def _head(self) -> Mapping[str, str]:
        said = _one_line("; ".join(dict.fromkeys(self._warnings)))
        return {"x-request-id": self._encoder.response["id"], **({"x-tark-warnings": said} if said else {})}


def _one_line(text: str) -> str:
    """The text for a header or a comment: printable ASCII, truncated."""
    plain = text.encode("ascii", "backslashreplace").decode()
    return "".join(letter if letter.isprintable() else " " for letter in plain)[:MAX_WARNINGS]


async def _client_left(receive: Receive) -> None:
    """Returns when the connection is closed. The body must have been read before."""
    while (await receive())["type"] != "http.disconnect":
        pass
