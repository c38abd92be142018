"""Runs the gateway on loopback until it is told to stop, with uvicorn."""

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
"""Clients that connect at the same time."""

GRACE_SECONDS = 10.0
"""How long running answers may go on after the gateway was told to stop."""

RETRIES = RetryPolicy(tries=3, total=10.0)
"""Clients try again themselves, so the gateway does it only for short faults, and says how long to wait else."""

END_SECONDS = 5.0
"""For answers that were told to end."""


def listen(port: int) -> socket.socket:
    """A socket on loopback; port 0 takes a free one. Raises SettingsError."""
    # asyncio turns Nagle's algorithm off only if the protocol is named. With it, an event can wait 40 ms.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen(BACKLOG)  # at once, so that who reads the address can connect
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
    """Returns after SIGINT or SIGTERM: no new requests, `grace` seconds for the running ones; a second one ends them
    at once. `listeners` are told of each request that has ended.
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
    """Opens the configured models, so that no request waits for their keys and modules. Requests report the errors."""
    for ref in sorted(set(names.known.values())):
        with contextlib.suppress(TarkError):
            await models.open_model(ref)
    gc.freeze()  # what is there from the start does not make each full collection longer


@contextlib.contextmanager
def _signals(handle: Callable[[], object]) -> Iterator[None]:
    before = {number: signal.signal(number, lambda *_: handle()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
