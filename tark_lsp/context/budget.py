"""How much of a model's window a request takes, and what of a history to shorten or to sum up. Pure.

    fixed (system prompt, tools) + history + reserve (for the answer)  against  the window

Estimates of tokens are corrected by what the provider reports. At `SHORTEN_AT` of the window old tool results are told
shortened, at `COMPACT_AT` what is old is summed up. Both break the provider's cache of the prefix, so each waits until
it frees so much that the next time is far.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tark_lsp.context.tokens import Sizes, definition_tokens
from tark_lsp.messages import Message, ToolDefinition

SHORTEN_AT, COMPACT_AT = 0.65, 0.85
LEAST_SHORTENED = 0.1
"""Of the window: shortening that frees less is put off."""

LEAST_COMPACTED = 0.2
"""Of what is told: a compaction that frees less is not worth what it forgets."""

LAST_MESSAGES = 6
"""Of these, no tool result is shortened: the model is at work with them."""

LAST_SHARE = 0.15
"""Of the window: the last messages up to this size stay as they are in a compaction."""

RESERVE, RESERVE_SHARE = 8_192, 0.125
"""Tokens kept free for the answer: the model's longest, where known, but no more than this share of its window."""

LARGEST_ERROR = 1.1
"""A prompt is refused only where it is too long even if the estimate is so much too high."""

RATIOS: tuple[tuple[str, float], ...] = (("claude", 1.2), ("gemini", 1.05), ("gpt", 1.0), ("", 1.1))
"""Tokens a model counts for one of ours, until it has reported: the first name that is in the model's counts.
Guesses on the safe side; that of Claude stands between its old tokenizer (1.08) and what its newest is said to need."""

RATIO_BOUNDS = (0.6, 2.0)
LEARNING = 0.3
"""The part of a difference that one report corrects."""

LEAST_TO_LEARN = 1_000
"""Tokens: in smaller requests the provider's own additions are most of the difference."""


@dataclass(slots=True)
class Estimates:
    """What was learned of models from their answers; one for all sessions of a process."""

    definitions: Sizes[ToolDefinition] = field(default_factory=lambda: Sizes(definition_tokens))
    _ratios: dict[str, float] = field(default_factory=dict)
    _too_long: dict[str, int] = field(default_factory=dict)

    def ratio(self, model: str) -> float:
        return self._ratios.get(model) or next(ratio for name, ratio in RATIOS if name in model.lower())

    def tokens(self, model: str, counted: float) -> int:
        """`counted` by context/tokens.py, in the model's own tokens."""
        return round(counted * self.ratio(model))

    def learn(self, model: str, counted: float, reported: int) -> None:
        """`reported`: the input tokens of a request, cached ones included; 0 where nothing was."""
        if counted >= LEAST_TO_LEARN and reported > 0:
            ratio = self.ratio(model)
            low, high = RATIO_BOUNDS
            self._ratios[model] = min(high, max(low, ratio + LEARNING * (reported / counted - ratio)))
            if reported > self._too_long.get(model, reported):
                del self._too_long[model]

    def overflowed(self, model: str, tokens: int) -> None:
        """A request of so many tokens, by our estimate, was refused as too long."""
        if tokens >= LEAST_TO_LEARN:
            self._too_long[model] = min(tokens, self._too_long.get(model, tokens))

    def window(self, model: str, known: int | None) -> int | None:
        """Tokens; None where neither it nor its end was ever told."""
        sizes = [size for size in (known, self._too_long.get(model)) if size is not None]
        return min(sizes, default=None)


@dataclass(frozen=True, slots=True)
class Load:
    """What a request takes, in the model's tokens. `window` None: unknown, and nothing is done before it overflows."""

    window: int | None
    fixed: int
    history: int
    longest_answer: int | None = None

    @property
    def reserve(self) -> int:
        wanted = self.longest_answer or RESERVE
        return wanted if self.window is None else min(wanted, int(self.window * RESERVE_SHARE))

    @property
    def sent(self) -> int:
        return self.fixed + self.history

    @property
    def share(self) -> float:
        """Of the window; 0.0 where that is unknown."""
        return (self.sent + self.reserve) / self.window if self.window else 0.0

    @property
    def room_for_answer(self) -> int | None:
        """What the answer must be bounded to, so that the provider takes the request; None: as it is."""
        if self.window is None or self.longest_answer is None:
            return None
        room = self.window - round(self.sent * LARGEST_ERROR)
        return None if room >= self.longest_answer else max(room, self.reserve)


def shorten_before(sizes: Sequence[float], shortened: Sequence[float], done: int, least: float) -> int:
    """The number of first messages to tell shortened, of which `done` are; `least`: what it must free, as sizes are.

    `shortened` are the sizes the messages have once they are.
    """
    end = len(sizes) - LAST_MESSAGES
    freed = sum(sizes[done:end]) - sum(shortened[done:end])
    return end if end > done and freed > 0 and freed >= least else done


def last_from(messages: Sequence[Message], sizes: Sequence[float], most: float) -> int:
    """Where the messages begin that stay in a compaction: up to `most` of size, calls with their results, at least one.

    They begin with a message of the person or the model: results without their calls cannot be sent.
    """
    start, size = len(messages), 0.0
    for index in range(len(messages) - 1, -1, -1):
        size += sizes[index]
        if size > most and start < len(messages):
            break
        if messages[index].role != "tool":
            start = index
    return start
