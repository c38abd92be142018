"""A model that plays a script: each request gets the next answer, event by event."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeAlias

from tark_lsp.errors import ModelError
from tark_lsp.llm.events import Done, StreamEvent, TextDelta, ToolCallComplete, ToolCallDelta, ToolCallStart, WireStop
from tark_lsp.llm.request import ChatRequest

NUMBERS = count(1)


@dataclass(frozen=True, slots=True)
class Call:
    """`arguments` is JSON text; `cut`: the call never completes."""

    name: str
    arguments: str
    cut: bool = False
    id: str = field(default_factory=lambda: f"provider-{next(NUMBERS)}")


def call(name: str, **arguments: Any) -> Call:
    return Call(name, json.dumps(arguments))


Part: TypeAlias = str | Call | StreamEvent | ModelError | float
"""A float is a pause, in seconds."""
Answer: TypeAlias = Sequence[Part]


def answer(*parts: Part, stop: WireStop | None = WireStop.END_TURN) -> Answer:
    """`stop` None: the stream ends without its terminal event."""
    return parts if stop is None else (*parts, Done(stop))


def events_of(part: Part) -> Sequence[StreamEvent | ModelError | float]:
    match part:
        case str():
            return [TextDelta(part)]
        case Call():
            half = len(part.arguments) // 2
            started: list[StreamEvent | ModelError | float] = [ToolCallStart(part.id, part.name)]
            started += [ToolCallDelta(part.id, piece) for piece in (part.arguments[:half], part.arguments[half:])]
            return started if part.cut else [*started, ToolCallComplete(part.id, part.arguments)]
        case _:
            return [part]


@dataclass(slots=True)
class ScriptedModel:
    """Where the script is over it says so and ends the turn."""

    answers: list[Answer] = field(default_factory=list)
    requests: list[ChatRequest] = field(default_factory=list)
    name: str = "scripted/test"
    context_window: int | None = 100_000
    max_output_tokens: int | None = None
    is_local: bool = False
    closed: int = 0
    """Streams that were ended, by whomever."""

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        self.requests.append(request)
        try:
            for part in self.answers.pop(0) if self.answers else answer("The script is over."):
                for event in events_of(part):
                    await asyncio.sleep(event if isinstance(event, float) else 0)
                    if isinstance(event, ModelError):
                        raise event
                    if not isinstance(event, float):
                        yield event
        finally:
            self.closed += 1
