"""TurnLog: an observer that logs each request, call and end of a turn in one line, without any text of it.

The level is info, so the lines are kept if the user sets `logLevel` to it. The ids say which turn they belong to.
"""

import logging
import time
from collections.abc import Mapping
from typing import Any

from tark_lsp.agent.events import AgentEvent, Answered, CallChanged, CallStatus
from tark_lsp.log_ids import log_context
from tark_lsp.telemetry.observed_turn import ObservedTurn

log = logging.getLogger(__name__)

BEGUN = (CallStatus.WAITING, CallStatus.IN_PROGRESS)


class TurnLog:
    def __init__(self) -> None:
        self._begun: dict[str, float] = {}

    def on_turn_accepted(self, record: ObservedTurn) -> None:
        with log_context(session_id=record.session.id, turn_id=record.id):
            log.info("turn accepted")

    def on_turn_event(self, record: ObservedTurn, event: AgentEvent) -> None:
        match event:
            case Answered():
                with log_context(session_id=record.session.id, turn_id=record.id):
                    log.info("%s", _answered(event))
            case CallChanged(status=status) if status in BEGUN:
                self._begun.setdefault(event.call_id, time.monotonic())
            case CallChanged(status=status) if status.over:
                now = time.monotonic()
                seconds = now - self._begun.pop(event.call_id, now)
                with log_context(session_id=record.session.id, turn_id=record.id, call_id=event.call_id):
                    log.info("%s %s after %.3f s", event.name or "a call", status, seconds)
            case _:
                pass

    def on_update_sent(self, record: ObservedTurn, seq: int, update: Mapping[str, Any]) -> None:
        """Texts are not logged."""

    def on_turn_ended(self, record: ObservedTurn, end: Mapping[str, Any]) -> None:
        error = end.get("error")
        with log_context(session_id=record.session.id, turn_id=record.id):
            log.info("turn ended: %s", error["code"] if error else end["stopReason"])


def _answered(event: Answered) -> str:
    usage = event.usage
    cost = "price unknown" if usage.cost_usd is None else f"${usage.cost_usd:.6f}"
    return (
        f"request {event.number} ({event.purpose}) to {event.model}: {event.stop} after {event.seconds:.3f} s; "
        f"in {usage.input_tokens} (cached {usage.cached_tokens}, written {usage.cache_write_tokens}), "
        f"out {usage.output_tokens} (reasoning {usage.reasoning_tokens}), {cost}"
    )
