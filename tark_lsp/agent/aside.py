"""ask_aside(): one request beside what a turn says, of which the person sees no word: for a summary, for a title."""

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass

from tark_lsp.agent import events
from tark_lsp.agent.endless import AnswerBound
from tark_lsp.agent.state import Model
from tark_lsp.errors import ModelError, ModelTimeout, StreamCut, TarkError
from tark_lsp.llm.events import MessageBuilder, Retry, Stall, WireStop
from tark_lsp.llm.request import ChatRequest
from tark_lsp.messages import StopReason, Usage


@dataclass(frozen=True, slots=True)
class Aside:
    """`made` is what the answer is called, `step` what the progress says meanwhile, empty for nothing.

    `longest`: tokens of an answer that is waited for, None for as many as the model writes. `seconds`: None: no limit.
    """

    purpose: events.Purpose
    made: str
    step: str = ""
    longest: int | None = None
    seconds: float | None = None


async def ask_aside(
    aside: Aside,
    model: Model,
    request: ChatRequest,
    number: int,
    emit: events.Listener,
    count: Callable[[Usage], None],
) -> str:
    """The answer's text, which is never empty, nor a refusal. `number` is that of the request in its turn.

    `count` is told its usage, also where it breaks off. Raises ModelError and AnswerTooLong.
    """
    builder, bound = MessageBuilder(), AnswerBound(aside.longest or model.max_output_tokens)
    began, stop = time.monotonic(), ""
    emit(events.Requested(number, model.name, aside.purpose))
    if aside.step:
        emit(events.Step(aside.step))
    try:
        async with asyncio.timeout(aside.seconds), aclosing(model.stream(request)) as stream:
            async for event in stream:
                bound.add(event)
                builder.add(event)
                if aside.step and isinstance(event, Retry | Stall):
                    emit(events.Step(f"{aside.step}: waiting for the model"))
        if builder.stop is None:
            raise StreamCut("the answer ended without saying so")
        stop = builder.stop.value
    except TimeoutError as error:
        stop = ModelTimeout.code
        raise ModelTimeout(f"no {aside.made} came within {aside.seconds} s") from error
    except BaseException as error:  # raised again: the request is over, whatever ended it
        stop = error.code if isinstance(error, TarkError) else StopReason.CANCELLED
        raise
    finally:
        count(builder.usage)
        seconds = time.monotonic() - began
        emit(events.Answered(number, model.name, builder.usage, seconds, stop, aside.purpose))
    text = builder.message(model.name).text.strip()
    if not text or builder.stop is WireStop.REFUSAL:
        raise ModelError(f"the model wrote no {aside.made}")
    return text
