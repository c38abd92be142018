"""Computes how much of a model's window a request takes, and which part of a history to shorten or summarize. Pure.

    fixed (system prompt, tools) + history + reserve (for the answer)  against  the window

Estimates of tokens are corrected by what the provider reports. At `SHORTEN_AT` of the window, old tool results are
shortened; at `COMPACT_AT`, old messages are summarized. Both invalidate the provider's cache of the prompt prefix, so
each waits until it frees enough for many requests.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tark_lsp.context.tokens import SizeCache, definition_tokens
from tark_lsp.messages import Message, ToolDefinition

SHORTEN_AT, COMPACT_AT = 0.65, 0.85
LEAST_SHORTENED = 0.1
"""Share of the window: shortening that frees less is postponed."""

LEAST_COMPACTED = 0.2
"""Share of the request: a compaction that frees less is not worth the lost details."""

LAST_MESSAGES = 6
"""The tool results in this many last messages are not shortened, because the model is working with them."""

LAST_SHARE = 0.15
"""Share of the window: a compaction keeps the last messages up to this size."""

RESERVE, RESERVE_SHARE = 8_192, 0.125
"""Tokens that are reserved for the answer: the longest answer of the model if known, but at most this share of its
window."""

LARGEST_ERROR = 1.1
"""A prompt is refused only if it is too long even when the estimate is too high by this factor."""

RATIOS: tuple[tuple[str, float], ...] = (("claude", 1.2), ("gemini", 1.05), ("gpt", 1.0), ("", 1.1))
"""A model's tokens per token of Tark's estimate, until the model reports its count. The first entry whose name is part
of the model's name applies. The guesses are high. The one for Claude is between the ratio of its old tokenizer (1.08)
and the reported ratio of its newest."""

RATIO_BOUNDS = (0.6, 2.0)
LEARNING = 0.3
"""The share of the difference by which one report corrects the ratio."""

LEAST_TO_LEARN = 1_000
"""Tokens: in smaller requests, most of the difference comes from text that the provider adds."""


@dataclass(slots=True)
class Estimates:
    """The tokens of models, as learned from their answers. Shared by all sessions of a process."""

    definitions: SizeCache[ToolDefinition] = field(default_factory=lambda: SizeCache(definition_tokens))
    _ratios: dict[str, float] = field(default_factory=dict)
    _too_long: dict[str, int] = field(default_factory=dict)

    def ratio(self, model: str) -> float:
        return self._ratios.get(model) or next(ratio for name, ratio in RATIOS if name in model.lower())

    def model_tokens(self, model: str, counted: float) -> int:
        """`counted` (by context/tokens.py) in the model's own tokens."""
        return round(counted * self.ratio(model))

    def learn_ratio(self, model: str, counted: float, reported: int) -> None:
        """`reported`: the input tokens of a request, cached ones included; 0 if the provider did not report them."""
        if counted >= LEAST_TO_LEARN and reported > 0:
            ratio = self.ratio(model)
            low, high = RATIO_BOUNDS
            self._ratios[model] = min(high, max(low, ratio + LEARNING * (reported / counted - ratio)))
            if reported > self._too_long.get(model, reported):
                del self._too_long[model]

    def record_overflow(self, model: str, tokens: int) -> None:
        """Record that a request of an estimated size of `tokens` was refused as too long."""
        if tokens >= LEAST_TO_LEARN:
            self._too_long[model] = min(tokens, self._too_long.get(model, tokens))

    def known_window(self, model: str, known: int | None) -> int | None:
        """The window in tokens: the smaller of `known` and the size of a refused request. None if both are unknown."""
        sizes = [size for size in (known, self._too_long.get(model)) if size is not None]
        return min(sizes, default=None)


@dataclass(frozen=True, slots=True)
class PromptLoad:
    """The size of a request in the model's tokens. If `window` is None (unknown), only the provider can report an
    overflow."""

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
        """The used share of the window; 0.0 if the window is unknown."""
        return (self.sent + self.reserve) / self.window if self.window else 0.0

    @property
    def room_for_answer(self) -> int | None:
        """The limit that the answer needs so that the provider accepts the request; None if it needs no limit."""
        if self.window is None or self.longest_answer is None:
            return None
        room = self.window - round(self.sent * LARGEST_ERROR)
        return None if room >= self.longest_answer else max(room, self.reserve)


def shortening_end(sizes: Sequence[float], shortened: Sequence[float], done: int, least: float) -> int:
    """How many of the first messages to shorten, of which `done` already are. Shortening must free at least `least`.

    `shortened` are the sizes of the messages after shortening, in the units of `sizes`.
    """
    end = len(sizes) - LAST_MESSAGES
    freed = sum(sizes[done:end]) - sum(shortened[done:end])
    return end if end > done and freed > 0 and freed >= least else done


def compaction_start(messages: Sequence[Message], sizes: Sequence[float], most: float) -> int:
    """The index of the first message that a compaction keeps: at least one message, and as many as fit into `most`.

    It is a message of the user or the model, because results cannot be sent without their calls.
    """
    start, size = len(messages), 0.0
    for index in range(len(messages) - 1, -1, -1):
        size += sizes[index]
        if size > most and start < len(messages):
            break
        if messages[index].role != "tool":
            start = index
    return start
