"""How a call becomes a result: what the model is told, and the listener with it. Every failure is one, too."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tark_lsp.agent.events import CallChanged, CallStatus
from tark_lsp.agent.state import Turn
from tark_lsp.errors import FailureForModel, TarkError, ToolError
from tark_lsp.log_ids import belonging
from tark_lsp.messages import ToolCall, ToolResult
from tark_lsp.tools.results import failure_line
from tark_lsp.tools.tool import Arguments, Preview, Tool

log = logging.getLogger(__name__)

REPEATED_HINT = "you made this very call before, with this very result; try something else or answer the person"


def failure(code: str, message: str, hint: str = "", details: Mapping[str, Any] | None = None) -> str:
    return failure_line(ToolError(code, message, hint=hint, details=details))


CANCELLED = failure("cancelled", "the person cancelled the turn before this call was done")


@dataclass(frozen=True, slots=True)
class Ready:
    """A call whose tool is known and whose arguments are valid."""

    call: ToolCall
    call_id: str
    tool: Tool[Any]
    arguments: Arguments


@contextmanager
def failures_told(turn: Turn, calls: Sequence[ToolCall], results: dict[str, ToolResult]) -> Iterator[None]:
    """Whatever goes wrong inside becomes the result of those of `calls` that have none; only cancelling passes.

    What is logged inside is of the call, where it is one.
    """
    with belonging(call_id=turn.call_id(calls[0].id) if len(calls) == 1 else ""), _told(turn, calls, results):
        yield


@contextmanager
def _told(turn: Turn, calls: Sequence[ToolCall], results: dict[str, ToolResult]) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        names = ", ".join(call.name for call in calls)
        status = CallStatus.FAILED
        match error:
            case FailureForModel():
                content = failure_line(error)
                status = CallStatus.REJECTED if error.code == "denied" else CallStatus.FAILED
            case TarkError():
                content = failure(error.code, error.message, error.hint)
            case _:  # a defect is the model's to read about, the log's to keep
                log.exception("%s failed", names)
                content = failure("internal", f"{type(error).__name__} in the tool")
        for call in calls:
            if call.id not in results:
                finish(turn, call, results, content, status)


def announce(turn: Turn, item: Ready, preview: Preview, status: CallStatus) -> None:
    turn.emit(
        CallChanged(
            item.call_id,
            status,
            item.tool.name,
            preview.title,
            preview.kind,
            item.call.arguments,
            preview.locations,
            preview.edits or None,
        )
    )


def finish(
    turn: Turn,
    call: ToolCall,
    results: dict[str, ToolResult],
    content: str,
    status: CallStatus = CallStatus.COMPLETED,
    *,
    changed: bool = False,
) -> None:
    """The call's one result. `changed`: the call changed something, which is told even where it goes in circles."""
    if turn.repetition.record(call.name, call.arguments, content, changed=changed):
        done = {"result": content} if changed else None
        content = failure("repeated", "this goes round in circles", REPEATED_HINT, done)
        status = CallStatus.FAILED if status is CallStatus.COMPLETED else status
    results[call.id] = ToolResult(call.id, content, is_error=status is not CallStatus.COMPLETED)
    turn.emit(CallChanged(turn.call_id(call.id), status, name=call.name, text=content))
