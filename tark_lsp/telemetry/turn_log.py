"""An observer of turns that writes them to the log: each request, each call and each end in one line, no words of it.

Lines are of level info, so that they are kept where the person sets `logLevel` to it; what they are of is in the ids.
"""

import logging
import time
from collections.abc import Mapping
from typing import Any

from tark_lsp.agent.events import AgentEvent, Answered, CallChanged, CallStatus
from tark_lsp.log_ids import belonging
from tark_lsp.telemetry.observed import Observed

log = logging.getLogger(__name__)

BEGUN = (CallStatus.WAITING, CallStatus.IN_PROGRESS)


class TurnLog:
    def __init__(self) -> None:
        self._begun: dict[str, float] = {}

    def accepted(self, record: Observed) -> None:
        with belonging(session_id=record.session.id, turn_id=record.id):
            log.info("turn accepted")

    def event(self, record: Observed, event: AgentEvent) -> None:
        match event:
            case Answered():
                with belonging(session_id=record.session.id, turn_id=record.id):
                    log.info("%s", _answered(event))
            case CallChanged(status=status) if status in BEGUN:
                self._begun.setdefault(event.call_id, time.monotonic())
            case CallChanged(status=status) if status.over:
                now = time.monotonic()
                seconds = now - self._begun.pop(event.call_id, now)
                with belonging(session_id=record.session.id, turn_id=record.id, call_id=event.call_id):
                    log.info("%s %s after %.3f s", event.name or "a call", status, seconds)
            case _:
                pass

    def told(self, record: Observed, seq: int, update: Mapping[str, Any]) -> None:
        """Words are not for the log."""

    def ended(self, record: Observed, end: Mapping[str, Any]) -> None:
        error = end.get("error")
        with belonging(session_id=record.session.id, turn_id=record.id):
            log.info("turn ended: %s", error["code"] if error else end["stopReason"])


def _answered(event: Answered) -> str:
    usage = event.usage
    cost = "price unknown" if usage.cost_usd is None else f"${usage.cost_usd:.6f}"
    return (
        f"request {event.number} ({event.purpose}) to {event.model}: {event.stop} after {event.seconds:.3f} s; "
        f"in {usage.input_tokens} (cached {usage.cached_tokens}, written {usage.cache_write_tokens}), "
        f"out {usage.output_tokens} (reasoning {usage.reasoning_tokens}), {cost}"
    )
