"""Ends an answer that does not end: longer than its model can write, whatever it is made of."""

from dataclasses import dataclass

from tark_lsp.context.tokens import characters, shown
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
"""Tokens, where the model's own limit is unknown: more than nearly all models can write."""

CHARACTERS_PER_TOKEN = 10
"""Twice of what is usual: the bound is for what went wrong."""

LEAST, LEAST_OF_A_PART = 2, 200
"""Characters an event counts at least, and one that begins a part: empty ones without end are endless, too."""

KEPT = 32_000
"""Characters of such an answer that stay in the history."""


class AnswerTooLong(TarkError):
    code = "answer_too_long"


@dataclass(slots=True)
class AnswerBound:
    """`longest`: tokens the model writes at most; None where unknown."""

    longest: int | None
    used: int = 0
    pending: int = 0
    """Characters of arguments that came in pieces and are not complete."""

    def add(self, event: StreamEvent) -> None:
        """Raises AnswerTooLong."""
        match event:
            case TextDelta(text) | ThinkingDelta(text):
                self.used += max(LEAST, len(text))
            case ToolCallDelta(_, piece):
                self.used += max(LEAST, len(piece))
                self.pending += len(piece)
            case ToolCallComplete(_, arguments):  # some wires bring them in one
                self.used += max(LEAST, len(arguments) - self.pending)
                self.pending = 0
            case ToolCallStart():
                self.used += LEAST_OF_A_PART
            case Echo(echo=echo):
                self.used += LEAST_OF_A_PART + characters(echo)
            case _:
                self.used += LEAST
        longest = self.longest or LONGEST_ANSWER
        if self.used > longest * CHARACTERS_PER_TOKEN:
            raise AnswerTooLong(
                f"the answer did not end: after {self.used:,} characters, more than {shown(longest)} tokens make, "
                "it was broken off",
                hint="ask for less at once, or choose another model",
            )
