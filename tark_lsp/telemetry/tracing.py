"""An observer of turns that has them exported as OpenTelemetry spans, where the person's environment asks for it.

Nothing of OpenTelemetry is imported before the first turn, and then in a thread; what happens until it is there waits
with its time. Neither the event loop nor the end of the server ever waits for a receiver for longer than is said here.
"""

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tark_lsp.agent.events import AgentEvent, Answered, CallChanged, Requested
from tark_lsp.telemetry.observed import Observed
from tark_lsp.telemetry.wanted import ENDPOINTS

if TYPE_CHECKING:
    from tark_lsp.telemetry.otlp import Receiver

log = logging.getLogger(__name__)

PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
SPOKEN = "http/protobuf"
EXTRA = "pip install 'tark_lsp[otel]'"
MOST_WAITING = 10_000
"""Events of turns that wait for the library."""

CLOSE_SECONDS = 1.0
"""What the end of the server gives the last spans."""


class Tracing:
    """`say` tells the person why there are no spans, once."""

    def __init__(self, environ: Mapping[str, str], say: Callable[[str], None]) -> None:
        self._environ = environ
        self._say = say
        self._receiver: Receiver | None = None
        self._loading: asyncio.Task[None] | None = None
        self._waiting: list[Callable[[Receiver], None]] = []
        self._off = False

    def accepted(self, record: Observed) -> None:
        at = time.time_ns()
        self._do(lambda receiver: receiver.spans.accepted(at, record))

    def event(self, record: Observed, event: AgentEvent) -> None:
        if isinstance(event, Requested | Answered | CallChanged):
            at = time.time_ns()
            self._do(lambda receiver: receiver.spans.event(at, record, event))

    def told(self, record: Observed, seq: int, update: Mapping[str, Any]) -> None:
        """What was said goes into no span."""

    def ended(self, record: Observed, end: Mapping[str, Any]) -> None:
        at = time.time_ns()
        self._do(lambda receiver: receiver.spans.ended(at, record, end))

    async def stop(self) -> None:
        """The last spans get `CLOSE_SECONDS`, loading included."""
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                if self._loading is not None:
                    await asyncio.shield(self._loading)
                if self._receiver is not None:
                    await _in_thread_of_its_own(self._receiver.close)
        except TimeoutError:
            log.warning("the last spans were given up after %.0f s", CLOSE_SECONDS)
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
        except Exception:  # a defect here must not end the person's turn
            log.exception("no more spans are made")
            self._off = True

    async def _load(self) -> None:
        protocol = next((value for name in PROTOCOLS if (value := self._environ.get(name, "").strip())), SPOKEN)
        try:
            if protocol != SPOKEN:
                raise ValueError(f"the protocol {protocol} is not spoken here, only {SPOKEN}")
            self._receiver = await asyncio.to_thread(_connect)
        except ImportError as error:
            self._give_up(f"{ENDPOINTS[1]} is set, but OpenTelemetry is not installed ({error}): {EXTRA}")
        except Exception as error:  # noqa: BLE001  whatever the library makes of the person's variables
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


async def _in_thread_of_its_own(work: Callable[[], None]) -> None:
    """Not one of asyncio's threads: those are waited for at the end, and this one may hang as a receiver does."""
    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def run() -> None:
        try:
            work()
        finally:
            with contextlib.suppress(RuntimeError):  # nobody waits any more, and the loop is closed
                loop.call_soon_threadsafe(done.set)

    threading.Thread(target=run, name="last spans", daemon=True).start()
    await done.wait()
