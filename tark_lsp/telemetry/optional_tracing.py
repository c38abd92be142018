"""Creates what exports spans and metrics, and imports it only if the environment asks for them."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from tark_lsp.telemetry.otel_environment import Signal, protocol_of, requested_signals

if TYPE_CHECKING:
    from tark_lsp.telemetry.gateway_metrics import GatewayMetrics, ServedRequest
    from tark_lsp.telemetry.tracing import Tracing

log = logging.getLogger(__name__)


def create_tracing(environ: Mapping[str, str], say: Callable[[str], None]) -> "Tracing | None":
    """None if the environment asks for nothing. `say` is called at most once: why something is not sent."""
    if not requested_signals(environ):
        return None
    from tark_lsp.telemetry.tracing import Tracing

    return Tracing(environ, say)


@asynccontextmanager
async def gateway_listeners(environ: Mapping[str, str]) -> "AsyncIterator[list[Callable[[ServedRequest], None]]]":
    """What must be told of each request of the gateway; nothing if the environment asks for no metrics.

    The library is imported in a thread. At the end, the last metrics are sent for at most `CLOSE_SECONDS`.
    """
    if Signal.METRICS not in requested_signals(environ):
        yield []
        return
    from tark_lsp.telemetry.tracing import CLOSE_SECONDS, EXTRA, SUPPORTED, in_own_thread

    try:
        if (protocol := protocol_of(Signal.METRICS, environ)) not in ("", SUPPORTED):
            raise ValueError(f"the protocol {protocol} is not supported, only {SUPPORTED}")
        metrics, close = await asyncio.to_thread(_connect_gateway)
    except ImportError as error:
        log.warning("no metrics are sent: OpenTelemetry is not installed (%s): %s", error, EXTRA)
        yield []
        return
    except Exception as error:  # noqa: BLE001  the library can raise anything for a wrong variable
        log.warning("no metrics are sent: %s", error)
        yield []
        return
    try:
        yield [metrics.observe]
    finally:
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await in_own_thread(close)
        except TimeoutError:
            log.warning("the last metrics were dropped after %.0f s", CLOSE_SECONDS)


def _connect_gateway() -> "tuple[GatewayMetrics, Callable[[], None]]":
    from tark_lsp.telemetry.gateway_metrics import connect

    return connect()
