"""The tool calls of one answer: look up -> validate -> preview -> decide -> run -> result, in the model's order.

Neighbouring read-only calls run together; what changes something runs alone, in its place. All edits of the answer are
one proposal, settled where the first of them stands, so that an edit comes before the command that tests it. Every
failure becomes a result the model can read; only cancelling passes through.
"""

import asyncio
import json
import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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
        with failures_told(turn, [call], results):
            ready.append(look_up(turn, tools, call, cut))
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


@contextmanager
def failures_told(turn: "Turn", calls: Sequence[ToolCall], results: dict[str, ToolResult]) -> Iterator[None]:
    """Whatever goes wrong inside becomes the result of those of `calls` that have none; only cancelling passes."""
    try:
        yield
    except Exception as error:
        names = ", ".join(call.name for call in calls)
        status = CallStatus.FAILED
        match error:
            case FailureForModel():
                content = failure(error.code, error.message, error.hint, error.details)
                status = CallStatus.REJECTED if error.code == "denied" else CallStatus.FAILED
            case TarkError():
                content = failure(error.code, error.message, error.hint)
            case _:  # a defect is the model's to read about, the log's to keep
                log.exception("%s failed", names)
                content = failure("internal", f"{type(error).__name__} in the tool")
        for call in calls:
            if call.id not in results:
                finish(turn, call, results, content, status)


async def run_one(turn: "Turn", item: Ready, results: dict[str, ToolResult]) -> None:
    """One call that is not an edit, from its preview to its result."""
    with failures_told(turn, [item.call], results):
        preview = await item.tool.preview(item.arguments, turn.context)
        announce(turn, item, preview, CallStatus.PENDING)
        await permit(turn, item, preview)
        turn.emit(CallChanged(item.call_id, CallStatus.IN_PROGRESS))
        turn.emit(Step(preview.title))
        content = await within_time(turn, item, preview)
        finish(turn, item.call, results, content, changed=item.tool.risk is not Risk.READ_ONLY)


async def within_time(turn: "Turn", item: Ready, preview: Preview) -> str:
    """Raises ToolError `timeout`. Waiting for the person is not in here, but for tools that ask: they have no end."""
    run_tool = item.tool.run
    assert run_tool is not None  # edits never come here
    seconds = turn.limits.tool_seconds if item.tool.seconds is None else item.tool.seconds
    if seconds == math.inf:
        async with turn.asking:
            return await run_tool(item.arguments, turn.context, preview)
    try:
        async with asyncio.timeout(seconds) as deadline:
            return await run_tool(item.arguments, turn.context, preview)
    except TimeoutError as error:
        if not deadline.expired():
            raise  # the tool's own
        raise ToolError("timeout", f"not done after {seconds:g} s", hint="ask for less at once") from error


def decide(
    turn: "Turn", item: Ready, preview: Preview, *, outside_selection: bool = False
) -> approval.Allow | approval.Ask:
    """By the mode, rules, grants and level of this moment. Raises ToolError `denied`."""
    if item.tool.risk is not Risk.READ_ONLY and item.tool.name not in turn.offered():
        mode = turn.session.mode
        raise ToolError("denied", f"the mode is {mode} by now, which has no {item.tool.name}", hint="do without it")
    decision = approval.decide(
        item.tool.name, preview, turn.policy(), turn.context.workspace, outside_selection=outside_selection
    )
    match decision:
        case approval.Deny(why):
            raise ToolError("denied", why, hint="do without it")
        case approval.Allow() if turn.repetition.asks_first(item.tool.name, item.call.arguments):
            return approval.Ask("the same call was made again and again", once=True)
        case _:
            return decision


async def permit(turn: "Turn", item: Ready, preview: Preview) -> None:
    """Returns where the call may run; raises ToolError `denied` where it may not."""
    asked = decide(turn, item, preview)
    if isinstance(asked, approval.Allow):
        return
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
