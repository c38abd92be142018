"""JSON-RPC 2.0 both ways over plain dicts: what comes in is read, checked and handled, what goes out is numbered."""

import asyncio
import inspect
import itertools
import json
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from tark_lsp.errors import RequestError, TarkError

if TYPE_CHECKING:
    from pydantic import BaseModel

logger = logging.getLogger(__name__)

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_INITIALIZED = -32002
REQUEST_CANCELLED = -32800
CONNECTION_CLOSED = -32099

RequestHandler: TypeAlias = Callable[[Any], Awaitable[object]]
NotificationHandler: TypeAlias = Callable[[dict[str, Any]], None]
Gate: TypeAlias = Callable[[str], RequestError | None]


class RequestFailed(TarkError):
    """The client answered a request of ours with an error, or the connection ended before it answered."""

    code = "request_failed"

    def __init__(self, rpc_code: int, message: str) -> None:
        super().__init__(message)
        self.rpc_code = rpc_code


class Rpc:
    """`send` takes one message as JSON bytes. `gate` says why a method is not served now, or None: it is."""

    def __init__(self, send: Callable[[bytes], None], gate: Gate) -> None:
        self._send_bytes = send
        self._gate = gate
        self._requests: dict[str, tuple[RequestHandler, type[BaseModel] | None]] = {}
        self._notifications: dict[str, list[NotificationHandler]] = {"$/cancelRequest": [self._cancel]}
        self._running: dict[int | str, asyncio.Task[None]] = {}
        self._pending: dict[int | str, asyncio.Future[Any]] = {}
        self._ids = itertools.count(1)
        self._closed = False

    def on_request(self, method: str, handler: RequestHandler, params: "type[BaseModel] | None") -> None:
        if not inspect.iscoroutinefunction(handler):
            raise TypeError(f"the handler of the request {method} must be an `async def`, which can be cancelled")
        if method in self._requests:
            raise ValueError(f"the request {method} has a handler already")
        self._requests[method] = (handler, params)

    def on_notification(self, method: str, handler: NotificationHandler) -> None:
        if inspect.iscoroutinefunction(handler):
            raise TypeError(f"the handler of the notification {method} must be a plain `def`, which keeps the order")
        self._notifications.setdefault(method, []).append(handler)

    def receive(self, body: bytes | None) -> None:
        """Handle one message; None is one too large to keep. A request is handled in a task, all else at once."""
        try:
            message = _parse(body)
        except (ValueError, RecursionError) as error:
            self._answer(None, error=RequestError(f"not a message: {error}", rpc_code=PARSE_ERROR))
            return
        if not isinstance(message, dict):
            self._answer(None, error=RequestError("a message is one JSON object", rpc_code=INVALID_REQUEST))
            return
        if "method" not in message and "id" in message:
            self._response(message)
            return
        message_id, method, params = message.get("id"), message.get("method"), message.get("params")
        known_id = message_id if _is_id(message_id) else None
        try:
            if message.get("jsonrpc") != "2.0" or not isinstance(method, str) or ("id" in message and known_id is None):
                raise RequestError("not a message of JSON-RPC 2.0", rpc_code=INVALID_REQUEST)
            if known_id is None:
                self._notify_handlers(method, params)
                return
            self._start(known_id, method, params)
        except RequestError as error:
            self._answer(known_id, error=error)

    def notify(self, method: str, params: object = None) -> None:
        message = {"jsonrpc": "2.0", "method": method}
        self._send(message if params is None else message | {"params": params})

    async def request(self, method: str, params: object = None) -> Any:
        if self._closed:
            raise RequestFailed(CONNECTION_CLOSED, "the connection to the editor is closed")
        request_id = next(self._ids)
        answer = asyncio.get_running_loop().create_future()
        self._pending[request_id] = answer
        try:
            message = {"jsonrpc": "2.0", "id": request_id, "method": method}
            self._send(message if params is None else message | {"params": params})
            return await answer
        except asyncio.CancelledError:
            if request_id in self._pending:
                self.notify("$/cancelRequest", {"id": request_id})
            raise
        finally:
            self._pending.pop(request_id, None)

    async def cancel_requests(self, *, but: asyncio.Task[Any] | None, seconds: float) -> None:
        """Cancel what is running for the client and wait until it is answered, `seconds` at most."""
        tasks = [task for task in self._running.values() if task is not but]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)

    def close(self) -> None:
        """No answer will come any more."""
        self._closed = True
        for answer in self._pending.values():
            if not answer.done():
                answer.set_exception(RequestFailed(CONNECTION_CLOSED, "the connection to the editor is closed"))

    def _start(self, request_id: int | str, method: str, params: object) -> None:
        if (error := self._gate(method)) is not None:
            raise error
        if (found := self._requests.get(method)) is None:
            raise RequestError(f"unknown method {method}", rpc_code=METHOD_NOT_FOUND)
        if request_id in self._running:
            raise RequestError(f"the id {request_id!r} is in use", rpc_code=INVALID_REQUEST)
        handler, model = found
        arguments = _object(params)
        checked = arguments if model is None else _validate(model, arguments)
        task = asyncio.ensure_future(self._run(request_id, handler, checked))
        self._running[request_id] = task
        task.add_done_callback(partial(self._finish, request_id, method))

    async def _run(self, request_id: int | str, handler: RequestHandler, params: object) -> None:
        # Answered here and not when the task is done: work the handler began must not be told of before its answer.
        self._answer(request_id, result=await handler(params))

    def _finish(self, request_id: int | str, method: str, task: asyncio.Task[None]) -> None:
        del self._running[request_id]
        if task.cancelled():
            self._answer(request_id, error=RequestError("cancelled", rpc_code=REQUEST_CANCELLED))
            return
        match task.exception():
            case None:
                pass
            case RequestError() as error:
                self._answer(request_id, error=error)
            case TarkError() as error:  # its words are for people
                logger.warning("%s: %s", method, error)
                self._answer(request_id, error=RequestError(str(error), rpc_code=INTERNAL_ERROR))
            case error:
                logger.error("%s failed", method, exc_info=error)
                text = "internal error, see the server's log"
                self._answer(request_id, error=RequestError(text, rpc_code=INTERNAL_ERROR))

    def _notify_handlers(self, method: str, params: object) -> None:
        if self._gate(method) is not None:
            return
        for handler in self._notifications.get(method, ()):
            try:
                handler(_object(params))
            except RequestError as error:
                logger.warning("%s: %s", method, error)
            except Exception:  # logged: a notification has no answer, and must not end the server
                logger.exception("%s failed", method)

    def _cancel(self, params: dict[str, Any]) -> None:
        task = self._running.get(params["id"]) if _is_id(params.get("id")) else None
        if task is not None:
            task.cancel()

    def _response(self, message: dict[str, Any]) -> None:
        answer = self._pending.pop(message["id"], None) if _is_id(message["id"]) else None
        if answer is None or answer.done():
            logger.debug("an answer that nobody waits for")
            return
        if (error := message.get("error")) is None:
            answer.set_result(message.get("result"))
            return
        code, text = (error.get("code"), error.get("message")) if isinstance(error, dict) else (None, error)
        answer.set_exception(RequestFailed(code if isinstance(code, int) else INTERNAL_ERROR, str(text)))

    def _answer(
        self, request_id: int | str | None, *, result: object = None, error: RequestError | None = None
    ) -> None:
        message: dict[str, object] = {"jsonrpc": "2.0", "id": request_id}
        if error is None:
            message["result"] = result
        else:
            message["error"] = {"code": error.rpc_code, "message": str(error)}
        self._send(message)

    def _send(self, message: dict[str, Any]) -> None:
        # ASCII, since a lone surrogate of some editor's text has no UTF-8 but an escape.
        self._send_bytes(json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii"))


def _parse(body: bytes | None) -> Any:
    if body is None:
        raise ValueError("too large")
    return json.loads(body.decode("utf-8"), parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _is_id(value: object) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool)


def _object(params: object) -> dict[str, Any]:
    if params is None:
        return {}
    if not isinstance(params, dict):
        raise RequestError("params must be an object", rpc_code=INVALID_PARAMS)
    return params


def _validate(model: "type[BaseModel]", arguments: dict[str, Any]) -> "BaseModel":
    """Raises RequestError -32602 that names the fields; their values are not repeated, they may be whole files."""
    from pydantic import ValidationError

    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        wrong = [f"{'.'.join(map(str, item['loc'])) or 'params'}: {item['msg']}" for item in error.errors()[:3]]
        raise RequestError("; ".join(wrong), rpc_code=INVALID_PARAMS) from None
