"""PromptBudget: measures how much of the model's window the next request takes, and shortens old results."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tark_lsp.agent import events
from tark_lsp.agent.session import Session
from tark_lsp.agent.shortening import shorten_message, texts_to_shorten
from tark_lsp.agent.state import Model
from tark_lsp.context.budget import LAST_MESSAGES, LEAST_SHORTENED, Estimates, PromptLoad, shortening_end
from tark_lsp.context.tokens import format_tokens, message_tokens, text_tokens
from tark_lsp.messages import ToolDefinition


@dataclass(slots=True)
class PromptBudget:
    """`keep` stores the whole text of a result that is shortened. `fixed` is the size of the system prompt and of the
    tools that are not deferred.

    `fixed`, `sizes` and `counted` are in the units of context/tokens.py.
    """

    session: Session
    model: Model
    system: str
    tools: Sequence[ToolDefinition]
    estimates: Estimates
    keep: Callable[[str], object]
    emit: events.EventListener
    fixed: float = field(init=False)

    def __post_init__(self) -> None:
        told = [tool for tool in self.tools if tool.loading != "deferred"]
        self.fixed = text_tokens(self.system) + sum(self.estimates.definitions.sizes_of(told))

    @property
    def counted(self) -> float:
        return self.fixed + sum(self.sizes())

    def sizes(self) -> list[float]:
        return self.session.sizes.sizes_of(self.session.messages)

    def tokens(self, counted: float) -> int:
        """`counted` in the model's own tokens."""
        return self.estimates.model_tokens(self.model.name, counted)

    def load(self) -> PromptLoad:
        return PromptLoad(
            self.estimates.known_window(self.model.name, self.model.context_window),
            self.tokens(self.fixed),
            self.tokens(sum(self.sizes())),
            self.model.max_output_tokens,
        )

    def shorten(self, least_share: float = LEAST_SHORTENED) -> bool:
        """Shorten old tool results if that frees `least_share` of the window. Returns whether it did."""
        session, before = self.session, self.load()
        done, sizes = session.shortened, self.sizes()
        least = least_share * (before.window or 0) / self.estimates.ratio(self.model.name)
        candidates = zip(sizes[done:-LAST_MESSAGES], session.messages[done:-LAST_MESSAGES], strict=True)
        if sum(size for size, message in candidates if message.role == "tool") < least:
            return False  # a fast check first, because this is the case for most requests
        short = [*session.messages[:done], *map(shorten_message, session.messages[done:])]
        lengths = [
            size if new is old else message_tokens(new)
            for new, old, size in zip(short, session.messages, sizes, strict=True)
        ]
        end = shortening_end(sizes, lengths, done, least)
        if end == done:
            return False
        for message in session.messages[done:end]:
            for text in texts_to_shorten(message):
                self.keep(text)
        session.messages[done:end] = short[done:end]
        session.shortened = end
        self.emit(events.HistoryShortened(len(session.messages) - end))
        self.notice("Old tool results are shortened from here on", before)
        return True

    def notice(self, what: str, before: PromptLoad) -> None:
        """Emit a notice: `what`, with the sizes before and now."""
        now = self.load()
        window = f" of {format_tokens(now.window)}" if now.window else ""
        sizes = f"about {format_tokens(before.sent)} tokens before, {format_tokens(now.sent)} now{window}"
        self.emit(events.Notice("info", f"{what}: {sizes}."))
