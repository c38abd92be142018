"""Tracing: an observer of turns that exports them as OpenTelemetry spans.

OpenTelemetry is imported with the first turn, in a thread; events until then are kept with their times. The event loop
never waits for a receiver, and the end of the server waits at most `CLOSE_SECONDS`.
"""

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tark_lsp.agent.events import AgentEvent, Answered, CallChanged, Requested
from tark_lsp.telemetry.observed_turn import ObservedTurn
from tark_lsp.telemetry.otel_environment import ENDPOINTS

if TYPE_CHECKING:
    from tark_lsp.telemetry.otlp import Receiver

log = logging.getLogger(__name__)

PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
SUPPORTED = "http/protobuf"
EXTRA = "pip install 'tark_lsp[otel]'"
MOST_WAITING = 10_000
"""Events that are kept until the library is imported."""

CLOSE_SECONDS = 1.0
"""How long the end of the server waits for the last spans to be sent."""


class Tracing:
    """`say` is called at most once, to tell the user why no spans are sent."""

    def __init__(self, environ: Mapping[str, str], say: Callable[[str], None]) -> None:
        self._environ = environ
        self._say = say
        self._receiver: Receiver | None = None
        self._loading: asyncio.Task[None] | None = None
        self._waiting: list[Callable[[Receiver], None]] = []
        self._off = False

    def on_turn_accepted(self, record: ObservedTurn) -> None:
        at = time.time_ns()
        self._do(lambda receiver: receiver.spans.accepted(at, record))

    def on_turn_event(self, record: ObservedTurn, event: AgentEvent) -> None:
        if isinstance(event, Requested | Answered | CallChanged):
            at = time.time_ns()
            self._do(lambda receiver: receiver.spans.event(at, record, event))

    def on_update_sent(self, record: ObservedTurn, seq: int, update: Mapping[str, Any]) -> None:
        """Texts are in no span."""

    def on_turn_ended(self, record: ObservedTurn, end: Mapping[str, Any]) -> None:
        at = time.time_ns()
        self._do(lambda receiver: receiver.spans.ended(at, record, end))

    async def stop(self) -> None:
        """Send the last spans, for at most `CLOSE_SECONDS`, including the import."""
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                if self._loading is not None:
                    await asyncio.shield(self._loading)
                if self._receiver is not None:
                    await _in_own_thread(self._receiver.close)
        except TimeoutError:
            log.warning("the last spans were dropped after %.0f s", CLOSE_SECONDS)
        self._off = True

    def _do(self, work: "Callable[[Receiver], None]") -> None:
        if self._off:
            return
        if self._receiver is None:
            if self._loading is None:
                self._loading = asyncio.create_task(self._load())
            if len(self._waiting) < MOST_WAITING:
                self._waiting.append(work)
            return
        try:
            work(self._receiver)
        except Exception:  # a defect here must not end the turn
            log.exception("no more spans are created")
            self._off = True

    async def _load(self) -> None:
        protocol = next((value for name in PROTOCOLS if (value := self._environ.get(name, "").strip())), SUPPORTED)
        try:
            if protocol != SUPPORTED:
                raise ValueError(f"the protocol {protocol} is not supported, only {SUPPORTED}")
            self._receiver = await asyncio.to_thread(_connect)
        except ImportError as error:
            self._give_up(f"{ENDPOINTS[1]} is set, but OpenTelemetry is not installed ({error}): {EXTRA}")
        except Exception as error:  # noqa: BLE001  the library can raise anything for a wrong variable
            self._give_up(f"{error}")
        waiting, self._waiting = self._waiting, []
        for work in waiting:
            self._do(work)

    def _give_up(self, why: str) -> None:
        self._off = True
        log.warning("no spans are sent: %s", why)
        self._say(f"Tark: no spans are sent: {why}")


def _connect() -> "Receiver":
    from tark_lsp.telemetry.otlp import connect

    return connect()


async def _in_own_thread(work: Callable[[], None]) -> None:
    """Not in a thread of asyncio: these are waited for at the end, and this one can hang if the receiver does."""
    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def run() -> None:
        try:
            work()
        finally:
            with contextlib.suppress(RuntimeError):  # nobody waits any longer, and the loop is closed
                loop.call_soon_threadsafe(done.set)

    threading.Thread(target=run, name="last spans", daemon=True).start()
    await done.wait()
