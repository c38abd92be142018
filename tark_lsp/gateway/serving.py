"""Runs the gateway on loopback with uvicorn until it gets a signal to stop."""

import asyncio
import contextlib
import gc
import signal
import socket
from collections.abc import Callable, Iterator, Sequence

import uvicorn
from starlette.types import ASGIApp

from tark_lsp.errors import SettingsError, TarkError
from tark_lsp.gateway.app import Gateway, new_app
from tark_lsp.gateway.connections import Connection
from tark_lsp.gateway.guard import Guard
from tark_lsp.gateway.metrics import Outcome
from tark_lsp.gateway.names import ModelNames
from tark_lsp.llm.client import Models
from tark_lsp.llm.retry import RetryPolicy

HOST = "127.0.0.1"
BACKLOG = 1024
"""Connections that can wait to be accepted."""

GRACE_SECONDS = 10.0
"""How long running answers may continue after a signal to stop."""

RETRIES = RetryPolicy(tries=3, total=10.0)
"""Clients retry by themselves. So the gateway retries only after short faults; else it reports how long to wait."""

END_SECONDS = 5.0
"""Time for answers to end after `stopping` is set."""


def listen(port: int) -> socket.socket:
    """A listening socket on loopback. Port 0 selects a free port. Raises SettingsError."""
    # asyncio disables Nagle's algorithm only if the protocol is given. The algorithm can delay an event by 40 ms.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen(BACKLOG)  # now, so that a client can connect as soon as the address is printed
    except OSError as error:
        listening.close()
        raise SettingsError(
            f"port {port} cannot be used: {error.strerror}", hint="choose another one with --port"
        ) from error
    return listening


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are handled by `serve`."""
        yield


def new_server(app: ASGIApp, grace: float) -> uvicorn.Server:
    config = uvicorn.Config(
        app,
        http=Connection,
        lifespan="off",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=int(grace + END_SECONDS),
    )
    return _Server(config)


async def serve(
    models: Models,
    names: ModelNames,
    guard: Guard,
    listening: socket.socket,
    listeners: Sequence[Callable[[Outcome], None]] = (),
    grace: float = GRACE_SECONDS,
) -> None:
    """Serve until SIGINT or SIGTERM. Then accept no new requests, and give running ones `grace` seconds to end.

    A second signal ends them at once. `listeners` are called with the outcome of each request.
    """
    stopping = asyncio.Event()
    gateway = Gateway(models, names, stopping)
    gateway.metrics.listeners.extend(listeners)
    server = new_server(new_app(gateway, guard), grace)
    loop = asyncio.get_running_loop()

    def stop() -> None:
        if server.should_exit:
            stopping.set()
        server.should_exit = True
        loop.call_later(grace, stopping.set)

    with _signals(lambda: loop.call_soon_threadsafe(stop)):
        opening = asyncio.create_task(open_models(models, names))
        try:
            await server.serve(sockets=[listening])
        finally:
            opening.cancel()
            await asyncio.wait([opening])
            await models.aclose()


async def open_models(models: Models, names: ModelNames) -> None:
    """Open the configured models, so that no request waits for their keys and modules. Requests report errors."""
    for ref in sorted(set(names.known.values())):
        with contextlib.suppress(TarkError):
            await models.open_model(ref)
    gc.freeze()  # objects from the start do not slow down each full collection


@contextlib.contextmanager
def _signals(handle: Callable[[], object]) -> Iterator[None]:
    before = {number: signal.signal(number, lambda *_: handle()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
