"""Estimates in linear time how many tokens a text, a message or a tool definition takes. Pure.

Tokenizers split a text where the kind of its characters changes. So runs are counted, not characters: a run of letters
begins about one token, each change from lower to upper case inside it begins another, and so on. The weights were
fitted to o200k_base on code, prose, JSON, logs and eleven languages. docs/budget.md lists the errors. The tokenizers of
other models differ by a factor that is about the same for all texts (see context/budget.py).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from tark_lsp.messages import Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolDefinition, ToolResult

T = TypeVar("T")

IMAGE_TOKENS = 1_500
"""The tokens of every image, because providers scale larger images down to about this size."""

MESSAGE_TOKENS = 4
CALL_TOKENS = 12
TOOL_TOKENS = 12
"""The overhead of one message, one call and one tool in the provider's format."""

ECHO_CHARACTERS = 8
"""Characters per token of data that is sent back to the provider. It is mostly encrypted thinking, billed by the length
of the thinking."""


def _class_of(byte: int) -> str:
    """The class of a byte of UTF-8, without continuation bytes."""
    first_bytes = ((0xF0, "F"), (0xE3, "c"), (0xE0, "o"), (0xCE, "g"), (0x80, "e"))
    for start, name in first_bytes:  # beyond U+FFFF, CJK and Hangul, Indic and others, Greek to Arabic, Latin
        if byte >= start:
            return name
    character = chr(byte)
    if character == "\n":
        return "\n"
    if byte <= 0x20 or byte == 0x7F:
        return " "
    if character.isalpha():
        return "l" if character.islower() else "U"
    return "0" if character.isdigit() else "."


def _mask(classes: str) -> bytes:
    """A translation table that maps these classes to `a` and all others to a space."""
    return bytes(ord("a") if chr(byte) in classes else ord(" ") for byte in range(256))


CLASSES = bytes(ord(_class_of(byte)) for byte in range(256))
CONTINUATIONS = bytes(range(0x80, 0xC0))
RUNS: Mapping[bytes, tuple[float, float]] = {
    _mask("lU"): (0.93, 0.05),
    _mask("0"): (0.94, 0.33),
    _mask("."): (0.27, 0.26),
}
"""For letters, digits and punctuation: the tokens per run, and per character in a run."""

MARKS: Mapping[bytes, float] = {
    b"lU": 1.26,  # camelCase
    b"\n": 0.07,
    b"\n ": 1.4,  # an indented line
    b"e": 2.05,
    b"g": 0.37,
    b"o": 1.18,
    b"c": 0.79,
    b"F": 2.34,
}
"""The tokens for each occurrence of these classes in a text. The letters are the classes of `_class_of`."""

SAMPLES, SAMPLE_CHARACTERS = 32, 32_768


def text_tokens(text: str) -> float:
    """The tokens, as by o200k_base. It reads about 25 MB per second. In a very long text, only samples are counted."""
    if len(text) > SAMPLES * SAMPLE_CHARACTERS:
        step = len(text) // SAMPLES
        samples = "".join(text[at : at + SAMPLE_CHARACTERS] for at in range(0, step * SAMPLES, step))
        return text_tokens(samples) * len(text) / len(samples)
    classes = text.encode("utf-8", "surrogatepass").translate(CLASSES, CONTINUATIONS)
    total = sum(classes.count(mark) * weight for mark, weight in MARKS.items())
    for mask, (of_run, of_character) in RUNS.items():
        runs = b" " + classes.translate(mask)
        total += runs.count(b" a") * of_run + runs.count(b"a") * of_character
    return total


def message_tokens(message: Message) -> float:
    return MESSAGE_TOKENS + sum(map(_part_tokens, message.parts))


def definition_tokens(tool: ToolDefinition) -> float:
    schema = json.dumps(tool.parameters, ensure_ascii=False)
    return TOOL_TOKENS + text_tokens(tool.name) + text_tokens(tool.description) + text_tokens(schema)


def _part_tokens(part: Part) -> float:
    match part:
        case Text(text, echo) | Thinking(text, echo):
            return text_tokens(text) + _echo_tokens(echo)
        case ToolCall(name=name, arguments=arguments, echo=echo):
            return CALL_TOKENS + text_tokens(name) + text_tokens(arguments) + _echo_tokens(echo)
        case ToolResult(content=content, images=images):
            return CALL_TOKENS + text_tokens(content) + IMAGE_TOKENS * len(images)
        case Image():
            return IMAGE_TOKENS
        case Opaque(echo):
            return _echo_tokens(echo)


def _echo_tokens(echo: object) -> float:
    return count_characters(echo) / ECHO_CHARACTERS


def count_characters(value: object) -> int:
    """The characters of all texts in a JSON-like value."""
    match value:
        case str():
            return len(value)
        case Mapping():
            return sum(map(count_characters, value.values()))
        case Sequence():
            return sum(map(count_characters, value))
    return 0


@dataclass(slots=True)
class SizeCache(Generic[T]):
    """The sizes of things that are sent with every request. Each is measured once."""

    measure: Callable[[T], float]
    _known: dict[int, tuple[T, float]] = field(default_factory=dict)

    def sizes_of(self, things: Sequence[T]) -> list[float]:
        """The sizes of these things. Others are forgotten. `id` is a safe key, because the cache keeps the things."""
        self._known = {id(thing): self._known.get(id(thing)) or (thing, self.measure(thing)) for thing in things}
        return [self._known[id(thing)][1] for thing in things]


def format_tokens(tokens: float) -> str:
    """The number for the user: `812`, `13k`, `1.2M`."""
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if tokens >= size * 0.9995:
            amount = tokens / size
            return f"{amount:.1f}{unit}" if amount < 10 else f"{amount:,.0f}{unit}"
    return f"{tokens:.0f}"
