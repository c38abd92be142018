"""Replaces parts of pygls's `LanguageServerProtocol`. docs/pygls.md says why, point by point.

These parts of pygls stay: the registry (`fm`), which is the only one, the names of the methods, and the way built-in
handlers call registered handlers. Messages are plain dicts, and lsprotocol's types are not used to structure them.
"""

import inspect
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.feature_manager import FeatureManager
from pygls.protocol import LanguageServerProtocol

from tark_lsp.errors import RequestError
from tark_lsp.server.connection.client_requests import ClientRequests
from tark_lsp.server.connection.editors import ClientInfo
from tark_lsp.server.connection.frames import encode_frame
from tark_lsp.server.connection.lifecycle import Lifecycle
from tark_lsp.server.connection.messages import (
    METHOD_NOT_FOUND,
    Message,
    MessageId,
    check_envelope,
    checked_params,
    decode_message,
    encode_message,
    is_id,
    is_response,
    validate_params,
)
from tark_lsp.server.connection.running_requests import RunningRequests
from tark_lsp.server.protocol.capabilities import initialize_result
from tark_lsp.visible import visible

if TYPE_CHECKING:
    from cattrs import Converter
    from pygls.lsp.server import LanguageServer

    from tark_lsp.server.connection.streams import PipeWriter

logger = logging.getLogger(__name__)

Handler = Callable[..., Any]


class TarkProtocol(LanguageServerProtocol):
    """A request is handled by an `async def`, a notification by a plain `def`; both are registered with `feature`.

    `client` is known after `initialize`. Before that, it is a default.
    """

    writer: "PipeWriter | None"

    def __init__(self, server: "LanguageServer", converter: "Converter") -> None:
        self.running = RunningRequests(self._send_response)
        self.lifecycle = Lifecycle(self.running, lambda: self.fm.features.get(types.SHUTDOWN))
        self.to_client = ClientRequests(self._send_data)
        self.client = ClientInfo()
        super().__init__(server, converter)

    def _register_builtin_features(self) -> None:
        """Leaves out pygls's documents, folders and progress tokens, because `workspace/` and `turns/` replace them."""
        self.fm.add_builtin_feature(types.INITIALIZE, self.lsp_initialize)
        self.fm.add_builtin_feature(types.SHUTDOWN, self.lsp_shutdown)
        self.fm.add_builtin_feature(types.WORKSPACE_EXECUTE_COMMAND, self.lsp_workspace__execute_command)
        self.fm.add_builtin_feature(types.EXIT, self.lifecycle.exit)
        self.fm.add_builtin_feature(types.CANCEL_REQUEST, lambda params: self.running.cancel(params.get("id")))

    # What comes from the client

    def receive(self, body: bytes | None) -> None:
        """Handle one body. None: the body was too large to keep."""
        try:
            self.handle_message(decode_message(body))
        except RequestError as error:
            self._send_response(None, error=error)

    def handle_message(self, message: Any) -> None:
        """Start a task for a request. Handle everything else before returning, to keep the order."""
        if is_response(message):
            self.to_client.resolve(message)
            return
        try:
            check_envelope(message)
            if "id" in message:
                self._handle_request(message["id"], message["method"], message.get("params"))
            else:
                self._handle_notification(message["method"], message.get("params"))
        except RequestError as error:
            request_id = message.get("id")
            self._send_response(request_id if is_id(request_id) else None, error=error)

    def _handle_request(self, msg_id: MessageId, method_name: str, params: Any) -> None:
        if (refusal := self.lifecycle.refusal(method_name)) is not None:
            raise refusal
        handler = find_handler(self.fm, method_name, is_request=True)
        if handler is None:
            raise RequestError(f"unknown method {method_name}", rpc_code=METHOD_NOT_FOUND)
        arguments = checked_params(handler, params)
        self.running.start(msg_id, method_name, lambda: handler(arguments))

    def _handle_notification(self, method_name: str, params: Any) -> None:
        """Errors of a handler are logged, because a notification has no answer."""
        handler = find_handler(self.fm, method_name, is_request=False)
        if handler is None or self.lifecycle.refusal(method_name) is not None:
            return
        try:
            handler(checked_params(handler, params))
        except RequestError as error:
            logger.warning("%s: %s", method_name, error)
        except Exception:  # logged, because one bad notification must not end the server
            logger.exception("%s failed", method_name)

    # Built-in handlers

    def start(self, params: object) -> None:
        """Read what the client is, and call the registered handler of `initialize`. Errors in it are logged."""
        self.lifecycle.initialized = True
        self.client = ClientInfo.from_params(params)
        handler = self.fm.features.get(types.INITIALIZE)
        if handler is not None:
            try:
                handler(params)
            except Exception:  # logged, because the editor still gets its answer
                logger.exception("the handler of initialize failed")

    async def lsp_initialize(self, params: dict[str, Any]) -> dict[str, Any]:  # type: ignore[override]  # plain JSON
        self.start(params)
        return initialize_result(params)

    async def lsp_shutdown(self, _params: dict[str, Any]) -> None:  # type: ignore[override]  # likewise
        self.lifecycle.shut_down = True
        await self.lifecycle.stop()

    async def lsp_workspace__execute_command(self, params: dict[str, Any]) -> Any:  # type: ignore[override]  # likewise
        """The handler of a command gets the whole `ExecuteCommand`."""
        from tark_lsp.server.protocol.lsp_params import ExecuteCommand  # imported here: it is slow

        command = validate_params(ExecuteCommand, params)
        return await find_command(self.fm, command.command)(command)

    # What goes to the client

    @property
    def backlogged(self) -> bool:
        """The client does not read what it was sent, so join updates instead of sending more of them."""
        return self.writer is not None and self.writer.backlogged

    def notify(self, method: str, params: object = None) -> None:
        message = {"jsonrpc": "2.0", "method": method}
        self._send_data(message if params is None else message | {"params": params})

    async def request(self, method: str, params: object = None) -> Any:
        """Return the client's answer. Raises RequestFailed.

        Cancelling the task that awaits it (for example by a timeout) sends `$/cancelRequest`. A late answer is dropped.
        """
        return await self.to_client.request(method, params)

    def _send_response(self, msg_id: MessageId | None, result: object = None, error: Any = None) -> None:
        """`error` is a RequestError; None if there is a result."""
        outcome = (
            {"result": result} if error is None else {"error": {"code": error.rpc_code, "message": visible(str(error))}}
        )
        self._send_data({"jsonrpc": "2.0", "id": msg_id, **outcome})

    def _send_data(self, data: Message) -> None:
        """Raises TypeError or ValueError if `data` is not plain JSON."""
        frame = encode_frame(encode_message(data))
        if self.writer is None:
            raise RuntimeError("the connection does not serve yet")
        self.writer.write(frame)


def find_handler(manager: FeatureManager, method: str, *, is_request: bool) -> Handler | None:
    """The handler of this method if it has the right kind. As in pygls, built-in handlers come first."""
    handler: Handler | None = manager.builtin_features.get(method) or manager.features.get(method)
    return handler if handler is not None and inspect.iscoroutinefunction(handler) is is_request else None


def find_command(manager: FeatureManager, command: str) -> Handler:
    """Raises RequestError if it is not registered."""
    handler: Handler | None = manager.commands.get(command)
    if handler is None:
        raise RequestError(f"unknown command {command!r}")
    return handler
