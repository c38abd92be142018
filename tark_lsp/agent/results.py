"""Writes and reports the results of calls for the model. A failed call also has a result."""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tark_lsp.agent.events import CallChanged, CallStatus
from tark_lsp.agent.state import Turn
from tark_lsp.errors import FailureForModel, TarkError, ToolError
from tark_lsp.log_ids import log_context
from tark_lsp.messages import ToolCall, ToolResult
from tark_lsp.tools.results import failure_line
from tark_lsp.tools.tool import NO_FACTS, Arguments, Counted, Preview, Tool

log = logging.getLogger(__name__)

REPEATED_HINT = "you made the same call before and got the same result; try something else or answer the person"


def failure_text(code: str, message: str, hint: str = "", details: Mapping[str, Any] | None = None) -> str:
    return failure_line(ToolError(code, message, hint=hint, details=details))


LONGEST_PATH = 300
"""Characters. The path comes from the model, so it can be long."""
CANCELLED = failure_text("cancelled", "the person cancelled the turn before this call was done")


@dataclass(frozen=True, slots=True)
class ReadyCall:
    """A call whose tool is known and whose arguments are valid. `asked_by`: why a hook wants the user to be asked."""

    call: ToolCall
    call_id: str
    tool: Tool[Any]
    arguments: Arguments
    asked_by: str = ""


@contextmanager
def failures_as_results(turn: Turn, calls: Sequence[ToolCall], results: dict[str, ToolResult]) -> Iterator[None]:
    """An exception inside the block becomes the result of all `calls` that have none. Only a cancellation passes.

    If there is one call, log records from inside the block carry its id.
    """
    with log_context(call_id=turn.call_id(calls[0].id) if len(calls) == 1 else ""), _told(turn, calls, results):
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
                details = turn.context.masks.mask_json(dict(error.details))  # before JSON escapes the quotes in it
                content = failure_text(error.code, error.message, error.hint, details)
                status = CallStatus.REJECTED if error.code == "denied" else CallStatus.FAILED
            case TarkError():
                content = failure_text(error.code, error.message, error.hint)
            case _:  # a bug: the model reads its kind, the log has the traceback
                if all(call.id in results for call in calls):
                    raise  # the calls are done, but their results could not be reported
                log.exception("%s failed", names)
                content = failure_text("internal", f"{type(error).__name__} in the tool")
        for call in calls:
            if call.id not in results:
                finish_call(turn, call, results, content, status)


def announce_call(turn: Turn, item: ReadyCall, preview: Preview, status: CallStatus) -> None:
    turn.announced.add(item.call_id)
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


def finish_call(
    turn: Turn,
    call: ToolCall,
    results: dict[str, ToolResult],
    content: str,
    status: CallStatus = CallStatus.COMPLETED,
    *,
    changed: bool = False,
    counted: Counted | None = None,
) -> None:
    """Sets the result of the call, with secrets masked.

    `changed`: the call changed something. Then the result says so even if the call is reported as a loop.
    """
    tool = turn.resources.tools.get(call.name)
    if tool is None or tool.facts.untrusted_output:  # otherwise, the text is Tark's or the user's
        content = turn.context.masks.mask_text(content)
    content = with_notes(content, turn.hook_notes.pop(call.id, ()))
    if turn.loops.record_call(call.name, call.arguments, content, changed=changed):
        done = {"result": content} if changed else None
        content = failure_text("repeated", "the same call is repeated with the same result", REPEATED_HINT, done)
        status = CallStatus.FAILED if status is CallStatus.COMPLETED else status
    results[call.id] = ToolResult(
        call.id,
        content,
        is_error=status is not CallStatus.COMPLETED,
        images=counted.images if counted is not None else (),
        found=counted.found if counted is not None else (),
    )
    call_id = turn.call_id(call.id)
    title = None if call_id in turn.announced else _unprepared_title(call)
    turn.emit(
        CallChanged(
            call_id,
            status,
            name=call.name,
            title=title,
            locations=(counted.locations or None) if counted is not None else None,
            text=content,
            facts=None if counted is None or counted.facts == NO_FACTS else counted.facts,
        )
    )


def with_notes(content: str, notes: Sequence[str]) -> str:
    """The result with the notes of hooks. A failure stays one line of JSON."""
    if not notes:
        return content
    if not content.startswith('{"ok"'):
        return "\n\n".join([content, *notes])
    return json.dumps({**json.loads(content), "hooks": list(notes)}, ensure_ascii=False)


def _unprepared_title(call: ToolCall) -> str | None:
    """The title of a call that failed before its preview: its tool and file. None if the arguments name no file."""
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        return None
    path = arguments.get("path") if isinstance(arguments, dict) else None
    return f"{call.name} {path[:LONGEST_PATH]}" if isinstance(path, str) and path else None
