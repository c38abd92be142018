"""The message that replaces old messages in a history: a model's summary, and the user's own texts. Pure.

It is one user message with several texts: the summary, the user's earlier messages, and the whole current request. The
earlier messages are shortened, but in the user's own words, because a summary can lose important parts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tark_lsp.agent.prompt import USER_SAYS, typed_text
from tark_lsp.context.tokens import text_tokens
from tark_lsp.messages import Image, Message, Text, ToolCall, ToolResult

OPENING = (
    "[What was said before this was too long to be told whole. Here is a summary that a model wrote of it. Files may "
    "have changed since: read before you edit.]\n\n"
)
USER_SAID = "The person said before: "
AT_WORK = "The request that is being worked on, whole:\n\n"

LONGEST_SAID = 600
"""The most characters of one earlier message of the user."""

LONGEST_ENTRIES = {
    "Person": 4_000,
    "Attached": 2_000,
    "Assistant": 3_000,
    "Call": 400,
    "Result": 600,
    "Failure": 600,
    "Summary": 24_000,
}
"""The most characters of one entry in the text to summarize, by its kind."""


@dataclass(frozen=True, slots=True)
class Summary:
    """`user_texts`: the user's earlier texts, in order. `at_work`: the running turn's prompt, if it is replaced."""

    text: str
    user_texts: tuple[str, ...]
    at_work: Message | None = None

    @property
    def message(self) -> Message:
        said = (Text(f"{USER_SAID}{text}\n\n") for text in self.user_texts)
        at_work = () if self.at_work is None else (Text(AT_WORK), *self.at_work.parts)
        return Message("user", (Text(f"{OPENING}{self.text}\n\n"), *said, *at_work))


def is_summary(message: Message) -> bool:
    return message.role == "user" and message.text.startswith(OPENING)


def collect_user_texts(messages: Sequence[Message], most: float) -> tuple[str, ...]:
    """The user's texts in these messages: the first text, and as many of the last ones as fit into `most` tokens."""
    found = [words for message in messages if message.role == "user" for words in _words(message)]
    kept = found[:1]
    room = most - sum(map(text_tokens, kept))
    for words in reversed(found[1:]):
        room -= text_tokens(words)
        if room < 0:
            break
        kept.insert(1, words)
    return tuple(kept)


def format_transcript(messages: Sequence[Message], most: int) -> str:
    """The messages as a text to summarize. If it is longer than about `most` characters, the middle is cut out.

    Only a line without indentation starts an entry, so the content of an entry cannot imitate another one.
    """
    text = "\n".join(entry for message in messages for entry in _entries(message))
    if len(text) <= most:
        return text
    head = most // 4  # the beginning has the goals, the end has the current work
    return f"{text[:head]}\n[... {len(text) - most:,} characters left out ...]\n{text[head - most :]}"


def _words(message: Message) -> Iterator[str]:
    """The user's own texts, without attachments; for a summary, the texts that it contains."""
    if not is_summary(message):
        if words := typed_text(message):
            yield words if len(words) <= LONGEST_SAID else f"{words[:LONGEST_SAID]}…"
        return
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    end = texts.index(AT_WORK) if AT_WORK in texts else len(texts)
    yield from (text.removeprefix(USER_SAID).strip() for text in texts[:end] if text.startswith(USER_SAID))
    if at_work := texts[end + 1 :]:
        yield from _words(Message("user", tuple(map(Text, at_work))))


def _entries(message: Message) -> Iterator[str]:
    match message.role:
        case "user" if is_summary(message):
            yield _entry("Summary", "Summary of earlier messages", message.text)
        case "user":
            words = typed_text(message)
            if given := message.text.strip().removesuffix(words).removesuffix(USER_SAYS).strip():
                yield _entry("Attached", "Attached to what the person says next", given)
            if words:
                yield _entry("Person", "Person", words)
        case "assistant" if message.text.strip():
            yield _entry("Assistant", "Assistant", message.text)
    for part in message.parts:
        match part:
            case ToolCall(name=name, arguments=arguments):
                yield _entry("Call", f"Call of {name}", arguments)
            case ToolResult(content=content, is_error=failed):
                kind = "Failure" if failed else "Result"
                yield _entry(kind, kind, content)
            case Image():
                yield "(an image)"


def _entry(kind: str, heading: str, text: str) -> str:
    """One entry of the transcript. The lines after the first one are indented by two spaces."""
    longest = LONGEST_ENTRIES[kind]
    cut = text if len(text) <= longest else f"{text[:longest]}…"
    lines = f"{heading}: {cut}".replace("</conversation", "<\\/conversation").splitlines()
    return "\n  ".join(lines)
