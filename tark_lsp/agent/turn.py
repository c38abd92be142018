"""run_turn(): ask the model, run its tool calls, repeat, until it has nothing left to do."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any

from tark_lsp.agent import events, history, results, tool_calls
from tark_lsp.agent.endless import KEPT, AnswerBound, AnswerTooLong
from tark_lsp.agent.limits import LimitReached
from tark_lsp.agent.prompt import LONGEST_GIVEN
from tark_lsp.agent.room import make_room, make_room_after_overflow, refuse_too_long, told_of
from tark_lsp.agent.spending import count, within_limits
from tark_lsp.agent.state import Turn, TurnEnd
from tark_lsp.agent.told import Told
from tark_lsp.errors import ContextOverflow, StreamCut, TarkError
from tark_lsp.llm.events import (
    WHOLE,
    MessageBuilder,
    Notice,
    Retry,
    Stall,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallStart,
    WireStop,
)
from tark_lsp.llm.request import ChatRequest
from tark_lsp.messages import Message, StopReason, Text, ToolCall, ToolResult, Usage
from tark_lsp.tools.results import capped
from tark_lsp.tools.tool import Tool

STOP_REASONS: Mapping[WireStop, StopReason] = {
    WireStop.MAX_TOKENS: StopReason.MAX_TOKENS,
    WireStop.REFUSAL: StopReason.REFUSAL,
}
"""Every other way a stream ends well is the end of the turn, once no tool calls are left."""


async def run_turn(turn: Turn) -> TurnEnd:
    """Never raises for what a model, tool or person does; the history of the session is sendable at every end."""
    try:
        refuse_too_long(turn)
        turn.say(turn.prompt)
        while True:
            tools = turn.offered()
            answer, stop, cut = await ask_with_room(turn, tools)
            if answer.tool_calls:
                await run_calls(turn, tools, answer.tool_calls, cut)
            elif stop is WireStop.PAUSED:
                continue
            elif not turn.steering:
                return turn.end(STOP_REASONS.get(stop, StopReason.END_TURN))
            for prompt in take(turn.steering):
                turn.say(Message("user", (Text(in_part(turn, prompt)),)))
    except LimitReached as limit:
        turn.emit(events.Notice("warning", limit.message))
        return turn.end(limit.stop_reason)
    except AnswerTooLong as endless:
        turn.emit(events.Notice("warning", str(endless)))
        return turn.end(StopReason.MAX_TOKENS)
    except asyncio.CancelledError:
        return turn.end(StopReason.CANCELLED)
    except TarkError as error:
        return turn.end(StopReason.ERROR, error)


async def ask_with_room(turn: Turn, tools: Mapping[str, Tool[Any]]) -> tuple[Message, WireStop, frozenset[str]]:
    """`ask_model`, with room made before, and once more where the provider says that there was too little."""
    told = told_of(turn, tools)
    await make_room(turn, told)
    try:
        return await ask_model(turn, told)
    except ContextOverflow:
        if not await make_room_after_overflow(turn, told):
            raise
    return await ask_model(turn, told)


async def ask_model(turn: Turn, told: Told) -> tuple[Message, WireStop, frozenset[str]]:
    """One request. Gives the answer (already in the history), how it ended, and the ids of calls that were cut off.

    Where the stream breaks or the turn is cancelled, the words that were shown stay in the history, marked; half a
    call, or thinking without its signature, cannot be sent back and does not.
    """
    await within_limits(turn)
    history.check(turn.session.messages)
    request = ChatRequest(
        turn.system,
        tuple(turn.session.messages),
        tuple(told.tools),
        max_output_tokens=told.load().room_for_answer,
        thinking=turn.session.thinking,
        session_id=turn.session.id,
    )
    sent = told.counted
    builder, bound = MessageBuilder(), AnswerBound(turn.model.max_output_tokens)
    turn.call_ids.clear()
    turn.requests += 1
    number, began = turn.requests, time.monotonic()
    turn.emit(events.Requested(number, turn.model.name))
    try:
        async with aclosing(turn.model.stream(request)) as stream:
            async for event in stream:
                bound.add(event)
                builder.add(event)
                show(turn, event)
        if builder.stop is None:
            raise StreamCut("the answer ended without saying so")
    except BaseException as error:  # raised again: a cancel, too, leaves a history that can be sent
        _count(turn, builder.usage)
        stop = error.code if isinstance(error, TarkError) else StopReason.CANCELLED
        turn.emit(events.Answered(number, turn.model.name, builder.usage, time.monotonic() - began, stop))
        answer = builder.message(turn.model.name)
        if isinstance(error, ContextOverflow) and not answer.parts:
            raise  # nothing was answered, and it may be asked again
        turn.text = answer.text[:KEPT]
        shown = f"{turn.text}\n\n[interrupted]".strip()
        turn.say(Message("assistant", (Text(shown),), turn.model.name))
        for call in turn.call_ids.values():
            turn.emit(events.CallChanged(call, events.CallStatus.CANCELLED))
        raise
    _count(turn, builder.usage)
    turn.estimates.learn(turn.model.name, sent, builder.usage.input_tokens)
    turn.emit(events.Answered(number, turn.model.name, builder.usage, time.monotonic() - began, builder.stop.value))
    answer = builder.message(turn.model.name)
    turn.text = answer.text
    if odd := _odd_end(answer, builder.stop, builder.raw_stop):
        turn.emit(events.Notice("warning", odd))
    if answer.parts:
        turn.say(answer)
    cut = frozenset(builder.incomplete_calls)
    if builder.stop not in WHOLE and answer.tool_calls and answer.tool_calls[-1].arguments.strip() in ("", "{}"):
        cut |= {answer.tool_calls[-1].id}  # no arguments, or none yet: the wire cannot tell
    return answer, builder.stop, cut


async def run_calls(turn: Turn, tools: Mapping[str, Tool[Any]], calls: Sequence[ToolCall], cut: frozenset[str]) -> None:
    """Run the calls of one answer; whatever happens, each has its result in the history afterwards."""
    done: dict[str, ToolResult] = {}
    turn.tools_run += len(calls)
    try:
        await tool_calls.run(turn, tools, calls, cut, done)
    finally:
        for call in calls:
            if call.id not in done:
                turn.emit(events.CallChanged(turn.call_id(call.id), events.CallStatus.CANCELLED))
        turn.say(history.results_message(calls, done, results.CANCELLED))


def show(turn: Turn, event: StreamEvent) -> None:
    """What of the model's stream the listener hears."""
    match event:
        case TextDelta(text):
            turn.emit(events.TextChunk(text))
        case ThinkingDelta(text):
            turn.emit(events.ThinkingChunk(text))
        case ToolCallStart(id=call, name=name):
            turn.emit(events.CallChanged(turn.call_id(call), events.CallStatus.PENDING, name=name))
        case Retry(wait_seconds=seconds, reason=reason):
            message = f"retrying in {seconds:.0f} s ({reason})"
            turn.emit(events.Step(message))
            turn.emit(events.Notice("info", message))
        case Stall(seconds=seconds):
            turn.emit(events.Step(f"no data for {seconds:.0f} s"))
        case Notice(message=message):
            turn.emit(events.Notice("warning", message))
        case _:
            pass


def _odd_end(answer: Message, stop: WireStop, raw: str) -> str:
    """What the person should hear of an answer that ended, but not as answers do; "" for all others."""
    if stop is WireStop.OTHER:
        return f"the model stopped for a reason of its provider's: {raw or 'none given'}"
    if stop in (WireStop.END_TURN, WireStop.TOOL_CALLS) and not (answer.text.strip() or answer.tool_calls):
        return "the model answered nothing"
    return ""


def in_part(turn: Turn, prompt: str) -> str:
    """What is said to a running turn cannot be refused any more: of a long one the model is told the beginning."""
    if len(prompt) > LONGEST_GIVEN:
        turn.emit(events.Notice("warning", "what you said is long: the model is told its beginning, and can read on"))
    return capped(turn.context, prompt.split("\n"), limit=LONGEST_GIVEN)


def take(steering: list[str]) -> list[str]:
    taken = list(steering)
    steering.clear()
    return taken


def _count(turn: Turn, usage: Usage) -> None:
    count(turn, usage, usage.input_tokens + usage.output_tokens)
