"""Runs the tool calls of one answer: look up -> validate -> preview -> decide -> run -> result, in the model's order.

Consecutive read-only calls run together. A call that changes something runs alone, in its place. All edits of the
answer are one proposal, which is settled in the place of the first edit, so that an edit comes before the command that
tests it. Every failure becomes a result for the model. Only a cancellation passes through.
"""

import asyncio
import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from tark_lsp.agent import hooking, proposal
from tark_lsp.agent.arguments import parse_arguments
from tark_lsp.agent.consent import require_permission
from tark_lsp.agent.deferring import no_such_tool, real_call
from tark_lsp.agent.events import CallChanged, CallStatus, Step
from tark_lsp.agent.results import ReadyCall, announce_call, failures_as_results, finish_call
from tark_lsp.agent.state import Turn
from tark_lsp.agent.taint import note_source
from tark_lsp.agent.user_interface import preview_digest
from tark_lsp.errors import ToolError
from tark_lsp.messages import ToolCall, ToolResult
from tark_lsp.tools.results import cap_result, character_limit
from tark_lsp.tools.tool import Counted, Preview, Risk, Tool

MOST_TOGETHER = 8
"""The most read-only calls that run at the same time. A model can make a hundred calls, and each can be a process."""


async def run_tool_calls(
    turn: Turn,
    tools: Mapping[str, Tool[Any]],
    calls: Sequence[ToolCall],
    cut: frozenset[str],
    results: dict[str, ToolResult],
) -> None:
    """Fill `results`, by the provider's call id, as calls finish. After a cancellation, unfinished calls have none."""
    ready = []
    for call in calls:
        with failures_as_results(turn, [call], results):
            ready.append(look_up_call(turn, tools, call, cut))
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
                await proposal.settle_proposal(turn, edits, results)
                edits = []


def look_up_call(turn: Turn, tools: Mapping[str, Tool[Any]], call: ToolCall, cut: frozenset[str]) -> ReadyCall:
    """Find the tool of a call, and validate the arguments. Raises ToolError if the call cannot run."""
    deferred = turn.session.deferred
    if call.name not in tools:
        raise no_such_tool(call.name, tools, deferred)
    if call.id in cut:
        raise ToolError(
            "truncated",
            "the answer was cut off before the arguments of this call were complete, so it was not run",
            hint="make the call again, with shorter arguments",
        )
    real = real_call(call, tools, deferred)
    tool = tools[real.name]
    return ReadyCall(real, turn.call_id(call.id), tool, parse_arguments(tool, real.arguments))


async def run_together(turn: Turn, group: Sequence[ReadyCall], results: dict[str, ToolResult]) -> None:
    if len(group) > 1:
        names = ", ".join(item.tool.name for item in group)
        turn.emit(Step(f"{len(group)} tools running: {names}"))
    room = asyncio.Semaphore(MOST_TOGETHER)

    async def run_with_room(item: ReadyCall) -> None:
        async with room:
            await run_one(turn, item, results)

    async with asyncio.TaskGroup() as tasks:
        for item in group:
            tasks.create_task(run_with_room(item))


async def run_one(turn: Turn, item: ReadyCall, results: dict[str, ToolResult]) -> None:
    """Run one call that is not an edit, from its preview to its result."""
    with failures_as_results(turn, [item.call], results):
        item = await hooking.before_tool(turn, item)
        preview = await item.tool.preview(item.arguments, turn.context)
        announce_call(turn, item, preview, CallStatus.PENDING)
        await require_permission(turn, item, preview)
        turn.receipts.about_to_run(item.call_id, preview_digest(preview))
        turn.emit(CallChanged(item.call_id, CallStatus.IN_PROGRESS))
        turn.emit(Step(preview.title))
        try:
            result = await within_time(turn, item, preview)
        except ToolError as error:
            if preview.command is not None or preview.mcp is not None:  # the error can show its output
                note_source(turn.context, item.tool, preview, "")
            await hooking.after_tool(turn, item, error.message, failed=True)
            raise
        counted, content = (None, result) if isinstance(result, str) else (result, result.text)
        note_source(turn.context, item.tool, preview, content)
        if len(content) > 2 * character_limit(turn.context.result_tokens):  # the tool did not cut its result itself
            content = cap_result(turn.context, content.split("\n"))
        await hooking.after_tool(turn, item, content)
        changed = item.tool.risk is not Risk.READ_ONLY
        finish_call(turn, item.call, results, content, changed=changed, counted=counted)


async def within_time(turn: Turn, item: ReadyCall, preview: Preview) -> str | Counted:
    """Run the tool. Raises ToolError `timeout`. Tools that ask the user have no timeout."""
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
            raise  # the tool's own timeout
        raise ToolError("timeout", f"not finished after {seconds:g} s", hint="ask for less in one call") from error
