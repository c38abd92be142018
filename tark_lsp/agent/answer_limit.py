"""Stops an endless answer: one that is longer than its model can write."""

from dataclasses import dataclass

from tark_lsp.context.tokens import count_characters, format_tokens
from tark_lsp.errors import TarkError
from tark_lsp.llm.events import (
    Echo,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallComplete,
    ToolCallDelta,
    ToolCallStart,
)

LONGEST_ANSWER = 131_072
"""Tokens: the limit if the model's limit is unknown. Nearly all models write less."""

CHARACTERS_PER_TOKEN = 10
"""Twice the usual number, so that only faulty answers reach the limit."""

LEAST_OF_AN_EVENT, LEAST_OF_A_PART = 2, 200
"""The characters that each event, and each start of a part, count at least, so that empty events add up."""

KEPT_CHARACTERS = 32_000
"""The most characters of a stopped answer that stay in the history."""


class AnswerTooLong(TarkError):
    code = "answer_too_long"


@dataclass(slots=True)
class AnswerLimit:
    """`longest`: the most tokens that the model writes; None if unknown."""

    longest: int | None
    used: int = 0
    pending: int = 0
    """Characters of arguments that arrived in pieces and are not complete yet."""

    def count_event(self, event: StreamEvent) -> None:
        """Raises AnswerTooLong."""
        match event:
            case TextDelta(text) | ThinkingDelta(text):
                self.used += max(LEAST_OF_AN_EVENT, len(text))
            case ToolCallDelta(_, piece):
                self.used += max(LEAST_OF_AN_EVENT, len(piece))
                self.pending += len(piece)
            case ToolCallComplete(_, arguments):  # some providers send the arguments in one piece
                self.used += max(LEAST_OF_AN_EVENT, len(arguments) - self.pending)
                self.pending = 0
            case ToolCallStart():
                self.used += LEAST_OF_A_PART
            case Echo(echo=echo):
                self.used += LEAST_OF_A_PART + count_characters(echo)
            case _:
                self.used += LEAST_OF_AN_EVENT
        longest = self.longest or LONGEST_ANSWER
        if self.used > longest * CHARACTERS_PER_TOKEN:
            raise AnswerTooLong(
                f"the answer did not end: it was stopped after {self.used:,} characters, which is more than "
                f"{format_tokens(longest)} tokens can contain",
                hint="ask for less in one prompt, or choose another model",
            )
