"""A chat document as a conversation: its messages, who wrote them, and the history for the model. Pure.

`## You` and `## Tark`, alone on a line and outside fenced code, begin a message. Text before the first heading is the
user's first message if an answer or nothing follows. If a `## You` follows, it belongs to no message.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, TypeAlias

from tark_lsp.messages import Message, Text
from tark_lsp.server.prompting.fences import Fences

Speaker: TypeAlias = Literal["You", "Tark"]
HEADINGS: dict[str, Speaker] = {"## You": "You", "## Tark": "Tark"}
ESCAPED = re.compile(r"^\\(\\*## (?:You|Tark)[ \t]*)$", re.MULTILINE)
HEADING = re.compile(r"\\*## (?:You|Tark)[ \t]*$")
"""A heading, or an escaped heading. In an answer, each gets one more backslash."""
MAY_MATTER = ("#", "`", "~", " ")
"""Characters that can begin a heading or a fence. Other lines of a large document are skipped."""
NOTHING_ASKED = "(The document begins with an answer.)"
"""Every provider requires a history that begins with the user."""


@dataclass(frozen=True, slots=True)
class Section:
    """One message: the lines [start, end) of the document. Its text begins at line `body`."""

    speaker: Speaker
    start: int
    body: int
    end: int


@dataclass(frozen=True, slots=True)
class Said:
    """What one side said. Adjacent sections of one speaker are joined."""

    speaker: Speaker
    words: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """`open_fence`: the fence that closes the open fenced code at the end of the document; empty if there is none."""

    sections: tuple[Section, ...]
    open_fence: str


def parse(lines: Sequence[str]) -> Transcript:
    """`lines` with their endings."""
    fences = Fences()
    found: list[tuple[int, Speaker]] = []
    for number, line in enumerate(lines):
        if line.startswith(MAY_MATTER):
            bare = line.rstrip("\r\n")
            speaker = HEADINGS.get(bare.rstrip(" \t"))
            if not fences.add_line(bare) and speaker is not None:
                found.append((number, speaker))
    first = found[0] if found else (len(lines), "Tark")
    sections = []
    if first[1] == "Tark" and any(line.strip() for line in lines[: first[0]]):
        sections.append(Section("You", 0, 0, first[0]))
    ends = [number for number, _ in found[1:]] + [len(lines)]
    for (start, speaker), end in zip(found, ends, strict=bool(found)):
        sections.append(Section(speaker, start, start + 1, end))
    return Transcript(tuple(sections), fences.closing)


def words(lines: Sequence[str], section: Section) -> str:
    """The text of the section: `\\n` for all line endings, none around it, headings unescaped."""
    text = "".join(lines[section.body : section.end]).replace("\r\n", "\n").replace("\r", "\n").strip()
    return ESCAPED.sub(r"\1", text) if "\\#" in text else text


def conversation(lines: Sequence[str], sections: Iterable[Section]) -> list[Said]:
    """What both sides said, without empty sections. Adjacent sections of one speaker are joined."""
    said: list[Said] = []
    for section in sections:
        text = words(lines, section)
        if text and said and said[-1].speaker == section.speaker:
            said[-1] = Said(section.speaker, f"{said[-1].words}\n\n{text}")
        elif text:
            said.append(Said(section.speaker, text))
    return said


def digest(said: Iterable[Said]) -> str:
    """A hash of what was said, without white space, which changes when a document is formatted or saved."""
    hashed = sha256()
    for message in said:
        hashed.update(f"{message.speaker}\0{' '.join(message.words.split())}\0".encode("utf-8", "surrogatepass"))
    return hashed.hexdigest()


def history(said: Sequence[Said]) -> list[Message]:
    """The history for a conversation that no session has: text only, beginning with the user."""
    messages = [Message("user" if part.speaker == "You" else "assistant", (Text(part.words),), "") for part in said]
    if messages and messages[0].role != "user":
        messages.insert(0, Message("user", (Text(NOTHING_ASKED),)))
    return messages


def escaped(line: str) -> str:
    """A line of an answer, escaped so that it is never one of Tark's headings."""
    return f"\\{line}" if HEADING.match(line) else line
