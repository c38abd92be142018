"""Tracing: an observer of turns that exports them as OpenTelemetry spans and metrics.

OpenTelemetry is imported with the first turn, in a thread; events until then are kept with their times. The event loop
never waits for a receiver, and the end of the server waits at most `CLOSE_SECONDS`.
"""

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tark_lsp.agent.events import AgentEvent, Answered, CallChanged, Requested
from tark_lsp.telemetry.observed_turn import ObservedTurn
from tark_lsp.telemetry.otel_environment import ENDPOINT, NAMES, Signal, protocol_of, requested_signals

if TYPE_CHECKING:
    from tark_lsp.telemetry.otlp import Receiver

log = logging.getLogger(__name__)

SUPPORTED = "http/protobuf"
EXTRA = "pip install 'tark_lsp[otel]'"
MOST_WAITING = 10_000
"""Events that are kept until the library is imported."""

CLOSE_SECONDS = 1.0
"""How long the end of the server waits for the last spans and metrics to be sent."""


class Tracing:
    """`say` is called at most once, to tell the user what is not sent, and why."""

    def __init__(self, environ: Mapping[str, str], say: Callable[[str], None]) -> None:
        self._environ = environ
        self._say = say
        self._receiver: Receiver | None = None
        self._loading: asyncio.Task[None] | None = None
        self._waiting: list[Callable[[Receiver], None]] = []
        self._off = False
        self._said = False

    def on_turn_accepted(self, record: ObservedTurn) -> None:
        at = time.time_ns()
        self._do(lambda receiver: receiver.accepted(at, record))

    def on_turn_event(self, record: ObservedTurn, event: AgentEvent) -> None:
        if isinstance(event, Requested | Answered | CallChanged):
            at = time.time_ns()
            self._do(lambda receiver: receiver.event(at, record, event))

    def on_update_sent(self, record: ObservedTurn, seq: int, update: Mapping[str, Any]) -> None:
        """Texts are in no span."""

    def on_turn_ended(self, record: ObservedTurn, end: Mapping[str, Any]) -> None:
        at = time.time_ns()
        self._do(lambda receiver: receiver.ended(at, record, end))

    async def stop(self) -> None:
        """Send the last spans and metrics, for at most `CLOSE_SECONDS`, including the import."""
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                if self._loading is not None:
                    await asyncio.shield(self._loading)
                if self._receiver is not None:
                    await in_own_thread(self._receiver.close)
        except TimeoutError:
            log.warning("the last spans and metrics were dropped after %.0f s", CLOSE_SECONDS)
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
            log.exception("no more spans and metrics are created")
            self._off = True

    async def _load(self) -> None:
        protocols = {signal: protocol_of(signal, self._environ) for signal in requested_signals(self._environ)}
        wrong = [signal for signal, protocol in protocols.items() if protocol not in ("", SUPPORTED)]
        signals = [signal for signal in protocols if signal not in wrong]
        if wrong:
            self._not_sent(wrong, f"the protocol {protocols[wrong[0]]} is not supported, only {SUPPORTED}")
        try:
            self._receiver = await asyncio.to_thread(_connect, signals) if signals else None
        except ImportError as error:
            self._not_sent(signals, f"{ENDPOINT} is set, but OpenTelemetry is not installed ({error}): {EXTRA}")
        except Exception as error:  # noqa: BLE001  the library can raise anything for a wrong variable
            self._not_sent(signals, f"{error}")
        self._off = self._receiver is None
        waiting, self._waiting = self._waiting, []
        for work in waiting:
            self._do(work)

    def _not_sent(self, signals: Sequence[Signal], why: str) -> None:
        text = f"no {' and '.join(NAMES[signal] for signal in signals)} are sent: {why}"
        log.warning("%s", text)
        if not self._said:
            self._said = True
            self._say(f"Tark: {text}")


def _connect(signals: Sequence[Signal]) -> "Receiver":
    from tark_lsp.telemetry.otlp import connect

    return connect(signals)


async def in_own_thread(work: Callable[[], None]) -> None:
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
