"""Bugs of Tark while a turn runs: the turn ends with the first one, and everybody else is still notified."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace

from tark_lsp.agent.state import TurnEnd
from tark_lsp.errors import TarkError
from tark_lsp.messages import StopReason
from tark_lsp.server.turns.turn_record import Observer, TurnRecord

log = logging.getLogger(__name__)


def note_fault(record: TurnRecord, error: Exception) -> None:
    """Remember the first bug of Tark in the turn, with which the turn ends, and log it. The others follow from it."""
    if record.fault is None:
        log.error("turn %s failed", record.id, exc_info=error)
        text = f"{type(error).__name__}: {error}"
        record.fault = TarkError(text, hint="this is a bug in tark-lsp: its log has details")


def with_fault(record: TurnRecord, end: TurnEnd) -> TurnEnd:
    """The end of the turn: an error after a fault, unless it ends with another error."""
    if record.fault is None or end.error is not None:
        return end
    return replace(end, stop_reason=StopReason.ERROR, error=record.fault)


def notify(observers: Iterable[Observer], record: TurnRecord, call: Callable[[Observer], None]) -> None:
    """Call `call` with each observer. An exception is a fault of the turn."""
    for observer in observers:
        try:
            call(observer)
        except Exception as error:  # noqa: BLE001  note_fault logs it, and the client must still be notified
            note_fault(record, error)
