"""Compaction: replaces the old messages of a history by a summary, which the model writes in one request.

The last messages and the whole prompt of the running turn stay. The history changes only if the summary frees enough,
so an error or a cancellation leaves it unchanged.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tark_lsp.agent import events, history
from tark_lsp.agent.kinds import read_prompt
from tark_lsp.agent.prompt_budget import PromptBudget
from tark_lsp.agent.side_request import SideRequest
from tark_lsp.agent.summary import Summary, collect_user_texts, format_transcript
from tark_lsp.context.budget import LAST_SHARE, LEAST_COMPACTED, compaction_start
from tark_lsp.context.tokens import format_tokens, message_tokens
from tark_lsp.errors import TarkError
from tark_lsp.llm.request import ChatRequest
from tark_lsp.messages import Message, Text

SUMMARY_REQUEST = SideRequest("compaction", "summary", "summarizing earlier messages")

SUMMARY_TOKENS = 8_192
"""The limit of the answer. It leaves room for the thinking of some models; the prompt asks for a short summary."""

LIKELY_SUMMARY = 1_500
"""Tokens: the estimated size of a summary, to decide whether one would free enough."""

SAID_TOKENS, SAID_SHARE = 2_000.0, 0.05
"""The most of the user's own text that is kept: tokens, and share of the window."""

UNKNOWN_WINDOW = 100_000
"""Tokens: the assumed window if the model's window is unknown."""

TRANSCRIPT_SHARE, TRANSCRIPT_CHARACTERS = 0.5, 2
"""The share of the window that the summarized text can take, and a low estimate of the characters per token."""


class CompactionRefused(TarkError):
    code = "compaction"


@dataclass(frozen=True, slots=True)
class Compacted:
    """Tokens of the whole request, system prompt and tools included, before and after."""

    before: int
    after: int


AskModel = Callable[[ChatRequest], Awaitable[str]]
"""Returns the text of the answer. Raises TarkError."""


async def compact_messages(budget: PromptBudget, at_work: Message | None, ask: AskModel) -> Compacted:
    """`at_work`: the prompt of the running turn. Raises CompactionRefused and the errors of `ask`. Then nothing has
    changed."""
    session, before = budget.session, budget.load()
    messages, sizes = session.messages, budget.sizes()
    ratio, window = budget.estimates.ratio(budget.model.name), before.window or UNKNOWN_WINDOW
    start = compaction_start(messages, sizes, LAST_SHARE * window / ratio)
    old = messages[:start]
    kept_prompt = any(message is at_work for message in messages[start:])
    words = collect_user_texts(
        [message for message in old if message is not at_work], min(SAID_TOKENS, SAID_SHARE * window)
    )

    def freed(summary: Message, likely: float = 0) -> float:
        return sum(sizes[:start]) - message_tokens(summary) - likely

    least = LEAST_COMPACTED * budget.counted
    summary = Summary("", words, None if kept_prompt else at_work)
    if freed(summary.message, LIKELY_SUMMARY) < least:
        raise CompactionRefused("a summary of the earlier messages would free too little", hint=_hint(budget))
    length = round(TRANSCRIPT_SHARE * window / ratio * TRANSCRIPT_CHARACTERS)
    asked = f"<conversation>\n{format_transcript(old, length)}\n</conversation>\n\nWrite the summary now."
    request = ChatRequest(
        read_prompt("compaction"),
        (Message("user", (Text(asked),)),),
        max_output_tokens=min(SUMMARY_TOKENS, before.longest_answer or SUMMARY_TOKENS, window // 4),
        thinking=session.thinking,
        session_id=session.id,
    )
    text = await ask(request)
    new = Summary(text, words, summary.at_work).message
    if messages[:start] != old or freed(new) < least:
        raise CompactionRefused("the summary of the earlier messages would free too little", hint=_hint(budget))
    history.check_history([new, *messages[start:]])
    messages[:start] = [new]
    session.shortened = max(1, session.shortened - start + 1)
    budget.emit(events.HistoryCompacted(new, len(messages) - 1))
    budget.notice("Earlier messages are replaced by a summary from here on", before)
    return Compacted(before.sent, budget.load().sent)


def _hint(budget: PromptBudget) -> str:
    window = budget.load().window
    room = f" than {format_tokens(window)} tokens" if window else ""
    return f"start a new session, or choose a model with a larger window{room}"
