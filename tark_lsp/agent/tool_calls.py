"""The tool calls of one answer: look up -> validate -> preview -> decide -> run -> result, in the model's order.

Neighbouring read-only calls run together; what changes something runs alone, in its place. All edits of the answer are
one proposal, settled where the first of them stands, so that an edit comes before the command that tests it. Every
failure becomes a result the model can read; only cancelling passes through.
"""

import asyncio
import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from tark_lsp.agent import proposal
from tark_lsp.agent.arguments import parse_arguments
from tark_lsp.agent.consent import permit
from tark_lsp.agent.events import CallChanged, CallStatus, Step
from tark_lsp.agent.results import Ready, announce, failures_told, finish
from tark_lsp.agent.state import Turn
from tark_lsp.errors import ToolError
from tark_lsp.messages import ToolCall, ToolResult
from tark_lsp.tools.results import capped, character_limit
from tark_lsp.tools.tool import Preview, Risk, Tool

MOST_TOGETHER = 8
"""Read-only calls at a time: each may be a process, and a model may ask for a hundred."""


async def run(
    turn: Turn,
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


def look_up(turn: Turn, tools: Mapping[str, Tool[Any]], call: ToolCall, cut: frozenset[str]) -> Ready:
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


async def run_together(turn: Turn, group: Sequence[Ready], results: dict[str, ToolResult]) -> None:
    if len(group) > 1:
        names = ", ".join(item.tool.name for item in group)
        turn.emit(Step(f"{len(group)} tools running: {names}"))
    room = asyncio.Semaphore(MOST_TOGETHER)

    async def run_with_room(item: Ready) -> None:
        async with room:
            await run_one(turn, item, results)

    async with asyncio.TaskGroup() as tasks:
        for item in group:
            tasks.create_task(run_with_room(item))


async def run_one(turn: Turn, item: Ready, results: dict[str, ToolResult]) -> None:
    """One call that is not an edit, from its preview to its result."""
    with failures_told(turn, [item.call], results):
        preview = await item.tool.preview(item.arguments, turn.context)
        announce(turn, item, preview, CallStatus.PENDING)
        await permit(turn, item, preview)
        turn.emit(CallChanged(item.call_id, CallStatus.IN_PROGRESS))
        turn.emit(Step(preview.title))
        content = await within_time(turn, item, preview)
        if len(content) > 2 * character_limit(turn.context.result_tokens):  # a tool that does not bound its result
            content = capped(turn.context, content.split("\n"))
        finish(turn, item.call, results, content, changed=item.tool.risk is not Risk.READ_ONLY)


async def within_time(turn: Turn, item: Ready, preview: Preview) -> str:
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
