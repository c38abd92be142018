"""How many tokens a text, a message or a tool's definition takes, estimated in linear time by what is in it. Pure.

Tokenizers cut a text where the kind of its characters changes, so runs are counted, not characters: a run of letters
begins about one token, each change inside it from lower to upper case another, and so on. The weights were fitted to
o200k_base over code, prose, JSON, logs and eleven languages; docs/budget.md has what that comes to, and how far off it
is. Another model's tokenizer differs by a factor that is much the same for all texts: see context/budget.py.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from tark_lsp.messages import Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolDefinition, ToolResult

T = TypeVar("T")

IMAGE_TOKENS = 1_500
"""For any image: providers scale what is larger than about this much."""

MESSAGE_TOKENS = 4
CALL_TOKENS = 12
TOOL_TOKENS = 12
"""What stands around each in the provider's own form of it."""

ECHO_CHARACTERS = 8
"""Characters of what a provider has sent back to it, for a token: mostly ciphertext, of which it bills the thoughts."""


def _class_of(byte: int) -> str:
    """Of a byte of UTF-8; one that continues a character is left out before."""
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
    """A table that keeps these classes, as `a`, and makes blanks of the rest."""
    return bytes(ord("a") if chr(byte) in classes else ord(" ") for byte in range(256))


CLASSES = bytes(ord(_class_of(byte)) for byte in range(256))
CONTINUATIONS = bytes(range(0x80, 0xC0))
RUNS: Mapping[bytes, tuple[float, float]] = {
    _mask("lU"): (0.93, 0.05),
    _mask("0"): (0.94, 0.33),
    _mask("."): (0.27, 0.26),
}
"""Letters, digits, punctuation -> tokens for each run, and for each character of it."""

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
"""Tokens for each of these in the classes of a text; the letters are those of `_class_of`."""

SAMPLES, SAMPLE_CHARACTERS = 32, 32_768


def text_tokens(text: str) -> float:
    """Of a tokenizer like o200k_base. About 25 MB a second; of a very long text only samples are looked at."""
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
    return characters(echo) / ECHO_CHARACTERS


def characters(value: object) -> int:
    """Of all texts in something that is like JSON."""
    match value:
        case str():
            return len(value)
        case Mapping():
            return sum(map(characters, value.values()))
        case Sequence():
            return sum(map(characters, value))
    return 0


@dataclass(slots=True)
class Sizes(Generic[T]):
    """The sizes of what is told again with each request, each measured once."""

    measure: Callable[[T], float]
    _known: dict[int, tuple[T, float]] = field(default_factory=dict)

    def of(self, things: Sequence[T]) -> list[float]:
        """What is not among these any more is forgotten; `id` is safe since they are held here."""
        self._known = {id(each): self._known.get(id(each)) or (each, self.measure(each)) for each in things}
        return [self._known[id(each)][1] for each in things]


def shown(tokens: float) -> str:
    """For people: `812`, `13k`, `1.2M`."""
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if tokens >= size * 0.9995:
            amount = tokens / size
            return f"{amount:.1f}{unit}" if amount < 10 else f"{amount:,.0f}{unit}"
    return f"{tokens:.0f}"
