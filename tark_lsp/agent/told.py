"""What a model is told with the next request, how much of its window that takes, and old results told shortened."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tark_lsp.agent import events
from tark_lsp.agent.session import Session
from tark_lsp.agent.shortening import long_texts, shortened
from tark_lsp.agent.state import Model
from tark_lsp.context.budget import LAST_MESSAGES, LEAST_SHORTENED, Estimates, Load, shorten_before
from tark_lsp.context.tokens import message_tokens, shown, text_tokens
from tark_lsp.messages import ToolDefinition


@dataclass(slots=True)
class Told:
    """`keep`: keeps the whole text of a result that is told shortened.

    `fixed` is the size of system prompt and tools, as context/tokens.py counts; so are `sizes` and `counted`.
    """

    session: Session
    model: Model
    system: str
    tools: Sequence[ToolDefinition]
    estimates: Estimates
    keep: Callable[[str], object]
    emit: events.Listener
    fixed: float = field(init=False)

    def __post_init__(self) -> None:
        self.fixed = text_tokens(self.system) + sum(self.estimates.definitions.of(self.tools))

    @property
    def counted(self) -> float:
        return self.fixed + sum(self.sizes())

    def sizes(self) -> list[float]:
        return self.session.sizes.of(self.session.messages)

    def tokens(self, counted: float) -> int:
        """In the model's own."""
        return self.estimates.tokens(self.model.name, counted)

    def load(self) -> Load:
        return Load(
            self.estimates.window(self.model.name, self.model.context_window),
            self.tokens(self.fixed),
            self.tokens(sum(self.sizes())),
            self.model.max_output_tokens,
        )

    def shorten(self, least_share: float = LEAST_SHORTENED) -> bool:
        """Tell old tool results shortened from here on, where that frees `least_share` of the window; False: not so."""
        session, before = self.session, self.load()
        done, sizes = session.shortened, self.sizes()
        least = least_share * (before.window or 0) / self.estimates.ratio(self.model.name)
        candidates = zip(sizes[done:-LAST_MESSAGES], session.messages[done:-LAST_MESSAGES], strict=True)
        if sum(size for size, message in candidates if message.role == "tool") < least:
            return False  # found out before any of them is shortened, since it is so at most requests
        short = [*session.messages[:done], *map(shortened, session.messages[done:])]
        lengths = [
            size if new is old else message_tokens(new)
            for new, old, size in zip(short, session.messages, sizes, strict=True)
        ]
        end = shorten_before(sizes, lengths, done, least)
        if end == done:
            return False
        for message in session.messages[done:end]:
            for text in long_texts(message):
                self.keep(text)
        session.messages[done:end] = short[done:end]
        session.shortened = end
        self.emit(events.HistoryShortened(len(session.messages) - end))
        self.notice("Old tool results are told shortened from here on", before)
        return True

    def notice(self, what: str, before: Load) -> None:
        """With the figures of before and now."""
        now = self.load()
        window = f" of {shown(now.window)}" if now.window else ""
        sizes = f"about {shown(before.sent)} tokens before, {shown(now.sent)} now{window}"
        self.emit(events.Notice("info", f"{what}: {sizes}."))
