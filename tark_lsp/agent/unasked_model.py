"""A placeholder for the model in a turn whose calls the user made. It is never asked."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported when a model is asked
    from tark_lsp.llm.events import StreamEvent
    from tark_lsp.llm.request import ChatRequest


@dataclass(frozen=True, slots=True)
class UnaskedModel:
    """`name`: the session's model, which clients show; empty if none was selected yet."""

    name: str
    context_window: int | None = None
    max_output_tokens: int | None = None
    is_local: bool = True

    def stream(self, _: "ChatRequest") -> "AsyncGenerator[StreamEvent, None]":
        raise AssertionError("a turn with given calls asks no model")
