"""The tool calls of one answer: look up -> validate -> preview -> decide -> run -> result, in the model's order.

Neighbouring read-only calls run together; what changes something runs alone, in its place. All edits of the answer are
one proposal, settled where the first of them stands, so that an edit comes before the command that tests it. Every
failure becomes a result the model can read; only cancelling passes through.
"""

import asyncio
import json
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from tark_lsp.agent import approval, proposal
from tark_lsp.agent.arguments import parse_arguments
from tark_lsp.agent.events import CallChanged, CallStatus, Step
from tark_lsp.agent.person import PermissionRequest, Permitted, Rejected, digest_of
from tark_lsp.errors import FailureForModel, TarkError, ToolError
from tark_lsp.messages import ToolCall, ToolResult
from tark_lsp.tools.tool import Arguments, Preview, Risk, Tool

if TYPE_CHECKING:
    from tark_lsp.agent.turn import Turn

log = logging.getLogger(__name__)

REPEATED_HINT = "you made this very call before, with this very result; try something else or answer the person"


def failure(code: str, message: str, hint: str = "", details: Mapping[str, Any] | None = None) -> str:
    """The one line of JSON of tools.md ("Failures")."""
    return json.dumps(
        {"ok": False, "error": {"code": code, "message": message, "retry_hint": hint, **(details or {})}},
        ensure_ascii=False,
        default=str,
    )


CANCELLED = failure("cancelled", "the person cancelled the turn before this call was done")


@dataclass(frozen=True, slots=True)
class Ready:
    """A call whose tool is known and whose arguments are valid."""

    call: ToolCall
    call_id: str
    tool: Tool[Any]
    arguments: Arguments


async def run(
    turn: "Turn",
    tools: Mapping[str, Tool[Any]],
    calls: Sequence[ToolCall],
    cut: frozenset[str],
    results: dict[str, ToolResult],
) -> None:
    """Fills `results`, by the provider's call id, as the calls get done: what is missing after a cancel was not run."""
    ready = []
    for call in calls:
        try:
            ready.append(look_up(turn, tools, call, cut))
        except FailureForModel as error:
            finish(turn, call, results, failure(error.code, error.message, error.hint, error.details), failed=True)
    edits = [item for item in ready if item.tool.run is None]
    for read_only, group in groupby(
        ready, key=lambda item: item.tool.run is not None and item.tool.risk is Risk.READ_ONLY
    ):
        if read_only:
            await run_together(turn, list(group), results)
            continue
        for item in group:
            if item.tool.run is not None:
                await run_one(turn, item, results)
            elif edits:
                await proposal.settle(turn, edits, results)
                edits = []


def look_up(turn: "Turn", tools: Mapping[str, Tool[Any]], call: ToolCall, cut: frozenset[str]) -> Ready:
    """Raises ToolError where the call cannot be run at all."""
    tool = tools.get(call.name)
    if tool is None:
        known = ", ".join(tools) or "none"
        raise ToolError("unknown_tool", f"there is no tool {call.name!r} here", hint=f"the tools are: {known}")
    if call.id in cut:
        raise ToolError(
            "truncated",
            "the answer was cut off before the arguments of this call were complete, so it was not run",
            hint="make the call again, with shorter arguments",
        )
    return Ready(call, turn.call_id(call.id), tool, parse_arguments(tool, call.arguments))


async def run_together(turn: "Turn", group: Sequence[Ready], results: dict[str, ToolResult]) -> None:
    if len(group) > 1:
        names = ", ".join(item.tool.name for item in group)
        turn.emit(Step(f"{len(group)} tools running: {names}"))
    async with asyncio.TaskGroup() as tasks:
        for item in group:
            tasks.create_task(run_one(turn, item, results))


async def run_one(turn: "Turn", item: Ready, results: dict[str, ToolResult]) -> None:
    """One call that is not an edit, from its preview to its result."""
    try:
        preview = await item.tool.preview(item.arguments, turn.context)
        announce(turn, item, preview, CallStatus.PENDING)
        await permit(turn, item, preview)
        turn.emit(CallChanged(item.call_id, CallStatus.IN_PROGRESS))
        turn.emit(Step(preview.title))
        content = await within_time(turn, item, preview)
    except FailureForModel as error:
        status = CallStatus.REJECTED if error.code == "denied" else CallStatus.FAILED
        finish(turn, item.call, results, failure(error.code, error.message, error.hint, error.details), status=status)
    except TarkError as error:
        finish(turn, item.call, results, failure(error.code, error.message, error.hint), failed=True)
    except Exception as error:  # a defect in a tool is the model's to read about, the log's to keep
        log.exception("tool %s failed", item.tool.name)
        finish(turn, item.call, results, failure("internal", f"{type(error).__name__} in the tool"), failed=True)
    else:
        if turn.repetition.record(item.tool.name, item.call.arguments, content):
            finish(
                turn, item.call, results, failure("repeated", "this goes round in circles", REPEATED_HINT), failed=True
            )
        else:
            finish(turn, item.call, results, content)


async def within_time(turn: "Turn", item: Ready, preview: Preview) -> str:
    """Raises ToolError `timeout`. Waiting for the person is not in here, but for tools that only ask."""
    run_tool = item.tool.run
    assert run_tool is not None  # edits never come here
    seconds = turn.limits.tool_seconds if item.tool.seconds is None else item.tool.seconds
    started = time.monotonic()
    try:
        async with asyncio.timeout(None if seconds == float("inf") else seconds):
            return await run_tool(item.arguments, turn.context, preview)
    except TimeoutError as error:
        raise ToolError(
            "timeout", f"not done after {time.monotonic() - started:.0f} s", hint="ask for less at once"
        ) from error


async def permit(turn: "Turn", item: Ready, preview: Preview) -> None:
    """Returns where the call may run; raises ToolError `denied` where it may not."""
    looping = turn.repetition.asks_first(item.tool.name, item.call.arguments)
    decision = approval.decide(item.tool.name, preview, turn.policy(), turn.context.workspace)
    match decision:
        case approval.Deny(why):
            raise ToolError("denied", why, hint="do without it")
        case approval.Allow() if not looping:
            return
        case approval.Allow():
            asked = approval.Ask("the same call was made again and again", once=True)
        case approval.Ask():
            asked = decision
    digest = digest_of(preview)
    if digest in turn.rejected:
        raise ToolError("denied", "the person rejected this already in this turn", hint="do without it")
    ids = (f"turn-{digest[:12]}", f"session-{digest[:12]}")
    grants = () if asked.once else approval.grants_for(preview, turn.context.workspace, ids)
    request = PermissionRequest(
        (item.call_id,), preview.title, preview.kind, preview.risk, asked.why, digest, preview.command, (), grants
    )
    await ask(turn, request)
    if digest_of(await item.tool.preview(item.arguments, turn.context)) != digest:
        raise ToolError("stale", "what the call would do changed while the person decided", hint="make the call again")
    turn.repetition.forgive(item.tool.name, item.call.arguments)


async def ask(turn: "Turn", request: PermissionRequest) -> None:
    """One question at a time. Raises ToolError `denied` on a no, and keeps the grant of a yes."""
    for call_id in request.call_ids:
        turn.emit(CallChanged(call_id, CallStatus.WAITING))
    async with turn.asking:
        turn.emit(Step(f"waiting for you: {request.title}"))
        answer = await turn.person.permit(request)
    match answer:
        case Permitted(grant):
            if grant is not None:
                turn.keep(grant)
        case Rejected(reason):
            turn.rejected.add(request.digest)
            raise ToolError("denied", f"the person said no{': ' + reason if reason else ''}", hint="do without it")


def announce(turn: "Turn", item: Ready, preview: Preview, status: CallStatus) -> None:
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
    turn: "Turn",
    call: ToolCall,
    results: dict[str, ToolResult],
    content: str,
    *,
    failed: bool = False,
    status: CallStatus | None = None,
) -> None:
    status = status or (CallStatus.FAILED if failed else CallStatus.COMPLETED)
    results[call.id] = ToolResult(call.id, content, is_error=status is not CallStatus.COMPLETED)
    turn.emit(CallChanged(turn.call_id(call.id), status, name=call.name, text=content))


def finish_all(
    turn: "Turn", items: Iterable[Ready], results: dict[str, ToolResult], content: str, status: CallStatus
) -> None:
    for item in items:
        finish(turn, item.call, results, content, status=status)
