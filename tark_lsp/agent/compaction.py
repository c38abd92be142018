"""Compaction: what is old in a history is told as a summary from now on, which one request to the model writes.

The last messages stay, and of a running turn its prompt, whole. The history changes only once there is a summary that
is worth it, so whatever fails or is cancelled on the way leaves it as it was.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tark_lsp.agent import events, history
from tark_lsp.agent.aside import Aside
from tark_lsp.agent.kinds import read_prompt
from tark_lsp.agent.summary import Summary, said, transcript
from tark_lsp.agent.told import Told
from tark_lsp.context.budget import LAST_SHARE, LEAST_COMPACTED, last_from
from tark_lsp.context.tokens import message_tokens, shown
from tark_lsp.errors import TarkError
from tark_lsp.llm.request import ChatRequest
from tark_lsp.messages import Message, Text

SUMMARY = Aside("compaction", "summary", "summing up what was said before")

SUMMARY_TOKENS = 8_192
"""Of the answer at most, since some models think before; the summary itself is asked to be short."""

LIKELY_SUMMARY = 1_500
"""Tokens: what is not worth asking for is decided with this."""

SAID_TOKENS, SAID_SHARE = 2_000.0, 0.05
"""Of the person's own words, at most: tokens, and share of the window."""

UNKNOWN_WINDOW = 100_000
"""Tokens that are reckoned with where the window is unknown."""

TRANSCRIPT_SHARE, TRANSCRIPT_CHARACTERS = 0.5, 2
"""How much of the window is given to be summed up, and characters that surely are no less than a token."""


class GivenUp(TarkError):
    code = "compaction"


@dataclass(frozen=True, slots=True)
class Compacted:
    """Tokens of what is told, with system prompt and tools, before and after."""

    before: int
    after: int


Ask = Callable[[ChatRequest], Awaitable[str]]
"""Gives the answer's text. Raises TarkError."""


async def compact(told: Told, at_work: Message | None, ask: Ask) -> Compacted:
    """`at_work`: the running turn's prompt. Raises GivenUp, and what `ask` raises; nothing has changed then."""
    session, before = told.session, told.load()
    messages, sizes = session.messages, told.sizes()
    ratio, window = told.estimates.ratio(told.model.name), before.window or UNKNOWN_WINDOW
    start = last_from(messages, sizes, LAST_SHARE * window / ratio)
    old = messages[:start]
    kept_prompt = any(message is at_work for message in messages[start:])
    words = said([each for each in old if each is not at_work], min(SAID_TOKENS, SAID_SHARE * window))

    def freed(summary: Message, likely: float = 0) -> float:
        return sum(sizes[:start]) - message_tokens(summary) - likely

    least = LEAST_COMPACTED * told.counted
    summary = Summary("", words, None if kept_prompt else at_work)
    if freed(summary.message, LIKELY_SUMMARY) < least:
        raise GivenUp("summing up what was said before would free too little", hint=_hint(told))
    length = round(TRANSCRIPT_SHARE * window / ratio * TRANSCRIPT_CHARACTERS)
    asked = f"<conversation>\n{transcript(old, length)}\n</conversation>\n\nWrite the summary now."
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
        raise GivenUp("the summary of what was said before would free too little", hint=_hint(told))
    history.check([new, *messages[start:]])
    messages[:start] = [new]
    session.shortened = max(1, session.shortened - start + 1)
    told.emit(events.HistoryCompacted(new, len(messages) - 1))
    told.notice("What was said before is told as a summary from here on", before)
    return Compacted(before.sent, told.load().sent)


def _hint(told: Told) -> str:
    window = told.load().window
    room = f" than {shown(window)} tokens" if window else ""
    return f"start a new session, or choose a model with a larger window{room}"
