"""What stands in a history for what was before it: a model's summary, and the person's own words. Pure.

A summary is one message of the person's side with several texts: the summary itself, each of the person's earlier
messages (short, in their words, since a summary may lose what mattered), and the request that is at work, whole.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tark_lsp.agent.prompt import SAYS, own_words
from tark_lsp.context.tokens import text_tokens
from tark_lsp.messages import Image, Message, Text, ToolCall, ToolResult

OPENING = (
    "[What was said before this was too long to be told whole. Here is a summary that a model wrote of it. Files may "
    "have changed since: read before you edit.]\n\n"
)
SAID = "The person said before: "
AT_WORK = "The request that is being worked on, whole:\n\n"

LONGEST_SAID = 600
"""Characters of one earlier message of the person's."""

LONGEST_ENTRIES = {
    "Person": 4_000,
    "Told with it": 2_000,
    "Assistant": 3_000,
    "Call": 400,
    "Result": 600,
    "Failure": 600,
    "Summary": 24_000,
}
"""Characters of each in what is given to be summed up."""


@dataclass(frozen=True, slots=True)
class Summary:
    """`said`: the person's earlier words, in order. `at_work`: the running turn's prompt, where that is summed up."""

    text: str
    said: tuple[str, ...]
    at_work: Message | None = None

    @property
    def message(self) -> Message:
        said = (Text(f"{SAID}{each}\n\n") for each in self.said)
        at_work = () if self.at_work is None else (Text(AT_WORK), *self.at_work.parts)
        return Message("user", (Text(f"{OPENING}{self.text}\n\n"), *said, *at_work))


def is_summary(message: Message) -> bool:
    return message.role == "user" and message.text.startswith(OPENING)


def said(messages: Sequence[Message], most: float) -> tuple[str, ...]:
    """What the person said in these messages: the first of it, and of the rest the last, in at most `most` tokens."""
    found = [words for message in messages if message.role == "user" for words in _words(message)]
    kept = found[:1]
    room = most - sum(map(text_tokens, kept))
    for words in reversed(found[1:]):
        room -= text_tokens(words)
        if room < 0:
            break
        kept.insert(1, words)
    return tuple(kept)


def transcript(messages: Sequence[Message], most: int) -> str:
    """The messages as a text to be summed up, about `most` characters at most: what is too much is cut out in it.

    Only what begins a line at the margin is an entry: whatever stands in one cannot pass for the next.
    """
    text = "\n".join(entry for message in messages for entry in _entries(message))
    if len(text) <= most:
        return text
    head = most // 4  # goals stand at the beginning, what is at work at the end
    return f"{text[:head]}\n[... {len(text) - most:,} characters left out ...]\n{text[head - most :]}"


def _words(message: Message) -> Iterator[str]:
    """Of the person's own, without what was told with them; of a summary those that it carries."""
    if not is_summary(message):
        if words := own_words(message):
            yield words if len(words) <= LONGEST_SAID else f"{words[:LONGEST_SAID]}…"
        return
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    end = texts.index(AT_WORK) if AT_WORK in texts else len(texts)
    yield from (text.removeprefix(SAID).strip() for text in texts[:end] if text.startswith(SAID))
    if at_work := texts[end + 1 :]:
        yield from _words(Message("user", tuple(map(Text, at_work))))


def _entries(message: Message) -> Iterator[str]:
    match message.role:
        case "user" if is_summary(message):
            yield _entry("Summary", "Summary of what was before", message.text)
        case "user":
            words = own_words(message)
            if given := message.text.strip().removesuffix(words).removesuffix(SAYS).strip():
                yield _entry("Told with it", "Told with what the person says next", given)
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
    """One line at the margin; the further ones stand two spaces in."""
    longest = LONGEST_ENTRIES[kind]
    cut = text if len(text) <= longest else f"{text[:longest]}…"
    lines = f"{heading}: {cut}".replace("</conversation", "<\\/conversation").splitlines()
    return "\n  ".join(lines)
