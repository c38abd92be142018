"""send_side_request() sends a request whose answer is not shown in the turn, such as for a summary or a title."""

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass

from tark_lsp.agent import events
from tark_lsp.agent.answer_limit import AnswerLimit
from tark_lsp.agent.state import Model
from tark_lsp.errors import ModelError, ModelTimeout, StreamCut, TarkError
from tark_lsp.llm.events import MessageBuilder, Retry, Stall, WireStop
from tark_lsp.llm.request import ChatRequest
from tark_lsp.messages import StopReason, Usage


@dataclass(frozen=True, slots=True)
class SideRequest:
    """`product` names the answer in errors ("summary"). `step` is the progress message; empty for none.

    `longest`: the most tokens of the answer; None for the model's limit. `seconds`: the timeout; None for no timeout.
    """

    purpose: events.Purpose
    product: str
    step: str = ""
    longest: int | None = None
    seconds: float | None = None


async def send_side_request(
    side_request: SideRequest,
    model: Model,
    request: ChatRequest,
    number: int,
    emit: events.EventListener,
    count: Callable[[Usage], None],
) -> str:
    """The text of the answer, which is neither empty nor a refusal. `number` counts the requests of the turn.

    `count` is called with the usage, even if the request fails. Raises ModelError and AnswerTooLong.
    """
    builder, bound = MessageBuilder(), AnswerLimit(side_request.longest or model.max_output_tokens)
    began, stop = time.monotonic(), ""
    emit(events.Requested(number, model.name, side_request.purpose))
    if side_request.step:
        emit(events.Step(side_request.step))
    try:
        async with asyncio.timeout(side_request.seconds), aclosing(model.stream(request)) as stream:
            async for event in stream:
                bound.count_event(event)
                builder.add_event(event)
                if side_request.step and isinstance(event, Retry | Stall):
                    emit(events.Step(f"{side_request.step}: waiting for the model"))
        if builder.stop is None:
            raise StreamCut("the connection closed before the answer was complete")
        stop = builder.stop.value
    except TimeoutError as error:
        stop = ModelTimeout.code
        raise ModelTimeout(f"the model wrote no {side_request.product} within {side_request.seconds} s") from error
    except BaseException as error:  # raised again; every end of a request must be reported
        stop = error.code if isinstance(error, TarkError) else StopReason.CANCELLED
        raise
    finally:
        count(builder.usage)
        seconds = time.monotonic() - began
        emit(events.Answered(number, model.name, builder.usage, seconds, stop, side_request.purpose))
    text = builder.build_message(model.name).text.strip()
    if not text or builder.stop is WireStop.REFUSAL:
        raise ModelError(f"the model wrote no {side_request.product}")
    return text
