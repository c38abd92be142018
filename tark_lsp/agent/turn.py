"""run_turn() asks the model, runs its tool calls, and repeats until it makes no more calls."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any

from tark_lsp.agent import events, history, hooking, results, tool_calls
from tark_lsp.agent.answer_limit import KEPT_CHARACTERS, AnswerLimit, AnswerTooLong
from tark_lsp.agent.context_window import make_room, make_room_after_overflow, measure_prompt, refuse_too_long_prompt
from tark_lsp.agent.limits import LimitReached
from tark_lsp.agent.prompt import LONGEST_ATTACHMENT
from tark_lsp.agent.prompt_budget import PromptBudget
from tark_lsp.agent.spending import count_usage, require_turn_within_limits
from tark_lsp.agent.state import Turn, TurnEnd, take_steering
from tark_lsp.errors import ContextOverflow, StreamCut, TarkError
from tark_lsp.llm.events import (
    COMPLETE_STOPS,
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
from tark_lsp.messages import Message, StopReason, Text, ToolCall, ToolResult
from tark_lsp.tools.results import cap_result
from tark_lsp.tools.tool import Tool

STOP_REASONS: Mapping[WireStop, StopReason] = {
    WireStop.MAX_TOKENS: StopReason.MAX_TOKENS,
    WireStop.REFUSAL: StopReason.REFUSAL,
}
"""The stop reasons of a turn. Every other regular end of a stream is END_TURN, unless there are tool calls."""


async def run_turn(turn: Turn) -> TurnEnd:
    """Never raises because of a model, a tool or the user. At every end, the history of the session is valid."""
    end = await _run_to_end(turn)
    await hooking.end_turn(turn, end)
    return end


async def _run_to_end(turn: Turn) -> TurnEnd:
    try:
        await hooking.begin_turn(turn)
        if turn.request.calls:
            await run_given_calls(turn)
            return turn.build_end(StopReason.END_TURN)
        refuse_too_long_prompt(turn)
        turn.add_message(turn.request.prompt)
        while True:
            tools = turn.offered_tools()
            answer, stop, cut = await ask_with_room(turn, tools)
            if answer.tool_calls:
                await run_calls(turn, tools, answer.tool_calls, cut)
            elif stop is WireStop.PAUSED:
                continue
            elif not turn.steering:
                return turn.build_end(STOP_REASONS.get(stop, StopReason.END_TURN))
            for prompt in take_steering(turn.steering):
                turn.context.user_message = prompt
                turn.add_message(Message("user", (Text(shorten_steering(turn, prompt)),)))
    except LimitReached as limit:
        turn.emit(events.Notice("warning", limit.message))
        return turn.build_end(limit.stop_reason)
    except AnswerTooLong as endless:
        turn.emit(events.Notice("warning", str(endless)))
        return turn.build_end(StopReason.MAX_TOKENS)
    except asyncio.CancelledError:
        return turn.build_end(StopReason.CANCELLED)
    except TarkError as error:
        return turn.build_end(StopReason.ERROR, error)


async def run_given_calls(turn: Turn) -> None:
    """Run the calls that the user made, without asking a model. The history shows them to the model of later turns."""
    calls = turn.request.calls
    turn.add_message(turn.request.prompt)
    turn.add_message(Message("assistant", calls))
    await run_calls(turn, turn.offered_tools(), calls, frozenset())


async def ask_with_room(turn: Turn, tools: Mapping[str, Tool[Any]]) -> tuple[Message, WireStop, frozenset[str]]:
    """`ask_model`, after making room in the window. If the provider refuses the request as too long, make more room and
    try again once."""
    budget = measure_prompt(turn, tools)
    await make_room(turn, budget)
    try:
        return await ask_model(turn, budget)
    except ContextOverflow:
        if not await make_room_after_overflow(turn, budget):
            raise
    return await ask_model(turn, budget)


async def ask_model(turn: Turn, budget: PromptBudget) -> tuple[Message, WireStop, frozenset[str]]:
    """Send one request. Returns the answer (already in the history), how it ended, and the ids of calls that were cut
    off.

    If the stream breaks or the turn is cancelled, the shown text stays in the history, with a mark. Incomplete calls,
    and thinking without its signature, are dropped, because they cannot be sent back.
    """
    await require_turn_within_limits(turn)
    history.check_history(turn.session.messages)
    request = ChatRequest(
        turn.request.system,
        tuple(turn.session.messages),
        tuple(budget.tools),
        max_output_tokens=budget.load().room_for_answer,
        thinking=turn.session.thinking,
        session_id=turn.session.id,
        starts_turn=turn.requests == 0,
    )
    sent, builder = budget.counted, MessageBuilder()
    turn.call_ids.clear()
    turn.requests += 1
    stop = await _stream_answer(turn, request, builder)
    turn.resources.estimates.learn_ratio(turn.resources.model.name, sent, builder.usage.input_tokens)
    answer = builder.build_message(turn.resources.model.name)
    turn.answer_text = answer.text
    if odd := _odd_end(answer, stop, builder.raw_stop):
        turn.emit(events.Notice("warning", odd))
    if answer.parts:
        turn.add_message(answer)
    return answer, stop, _calls_cut_off(builder, answer, stop)


async def _stream_answer(turn: Turn, request: ChatRequest, builder: MessageBuilder) -> WireStop:
    """Read the answer into `builder` and report it. At every end of the request, its usage is counted and reported."""
    model, began = turn.resources.model, time.monotonic()
    limit = AnswerLimit(model.max_output_tokens)
    turn.emit(events.Requested(turn.requests, model.name))
    try:
        async with aclosing(model.stream(request)) as stream:
            async for event in stream:
                limit.count_event(event)
                builder.add_event(event)
                emit_stream_event(turn, event)
        if builder.stop is None:
            raise StreamCut("the connection closed before the answer was complete")
    except BaseException as error:  # raised again; the history must also be valid after a cancellation
        _report_end(turn, builder, began, error.code if isinstance(error, TarkError) else StopReason.CANCELLED)
        answer = builder.build_message(model.name)
        if answer.parts or not isinstance(error, ContextOverflow):  # else the caller can ask again
            _keep_interrupted(turn, answer)
        raise
    _report_end(turn, builder, began, builder.stop.value)
    return builder.stop


def _report_end(turn: Turn, builder: MessageBuilder, began: float, end: str) -> None:
    count_usage(turn, builder.usage, builder.usage.input_tokens + builder.usage.output_tokens)
    seconds = time.monotonic() - began
    turn.emit(events.Answered(turn.requests, turn.resources.model.name, builder.usage, seconds, end))


def _keep_interrupted(turn: Turn, answer: Message) -> None:
    """Keep the shown text of an interrupted answer."""
    turn.answer_text = answer.text[:KEPT_CHARACTERS]
    shown = f"{turn.answer_text}\n\n[interrupted]".strip()
    turn.add_message(Message("assistant", (Text(shown),), turn.resources.model.name))
    for call in turn.call_ids.values():
        turn.emit(events.CallChanged(call, events.CallStatus.CANCELLED))


def _calls_cut_off(builder: MessageBuilder, answer: Message, stop: WireStop) -> frozenset[str]:
    cut = frozenset(builder.incomplete_calls)
    # If the provider gave no reason for the end, only calls with complete arguments were completed.
    in_doubt = stop not in COMPLETE_STOPS and not (stop is WireStop.OTHER and not builder.raw_stop)
    last = answer.tool_calls[-1] if answer.tool_calls and in_doubt else None
    if last is not None and last.arguments.strip() in ("", "{}"):
        cut |= {last.id}  # whether there are no arguments, or none yet, is unknown
    return cut


async def run_calls(turn: Turn, tools: Mapping[str, Tool[Any]], calls: Sequence[ToolCall], cut: frozenset[str]) -> None:
    """Run the calls of one answer. Afterwards every call has its result in the history, even after a cancellation."""
    done: dict[str, ToolResult] = {}
    turn.tools_run += len(calls)
    try:
        await tool_calls.run_tool_calls(turn, tools, calls, cut, done)
    finally:
        for call in calls:
            if call.id not in done:
                turn.emit(events.CallChanged(turn.call_id(call.id), events.CallStatus.CANCELLED))
        turn.add_message(history.results_message(calls, done, results.CANCELLED))


def emit_stream_event(turn: Turn, event: StreamEvent) -> None:
    """Report an event of the model's stream to the listener."""
    match event:
        case TextDelta(text):
            turn.emit(events.TextChunk(text))
        case ThinkingDelta(text):
            turn.emit(events.ThinkingChunk(text))
        case ToolCallStart(id=call, name=name):
            turn.emit(events.CallChanged(turn.call_id(call), events.CallStatus.PENDING, name=name))
        case Retry(wait_seconds=seconds, reason=reason):
            message = f"retrying in {seconds:.0f} s ({reason})"  # the chat of VS Code reads it (retryOf)
            turn.emit(events.Step(message))
            turn.emit(events.Notice("info", message))
        case Stall(seconds=seconds):
            turn.emit(events.Step(f"no data for {seconds:.0f} s"))
        case Notice(message=message):
            turn.emit(events.Notice("warning", message))
        case _:
            pass


def _odd_end(answer: Message, stop: WireStop, raw: str) -> str:
    """The warning about an answer that ended in an unusual way; "" for all others."""
    text = answer.text.strip()
    if stop is WireStop.OTHER and raw:
        return f"the model stopped for an unknown reason: {raw}"
    if stop is WireStop.OTHER and text:
        return "the provider did not say why the answer ended, so it may be cut off"
    if stop in (WireStop.END_TURN, WireStop.TOOL_CALLS, WireStop.OTHER) and not (text or answer.tool_calls):
        return "the model gave an empty answer"
    return ""


def shorten_steering(turn: Turn, prompt: str) -> str:
    """The user's prompt to a running turn. It cannot be refused any more, so only the start of a long text is sent."""
    if len(prompt) <= LONGEST_ATTACHMENT:
        return prompt
    turn.emit(events.Notice("warning", "your message is long: the model sees its beginning and can read the rest"))
    return cap_result(turn.context, prompt.split("\n"), limit=LONGEST_ATTACHMENT)
