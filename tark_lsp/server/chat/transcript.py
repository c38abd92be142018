"""A chat document as a conversation: its messages, in whose words, and what of them a model is told. Pure.

`## You` and `## Tark`, alone on a line and outside fenced code, begin a message. Text before the first of them is the
person's first message where an answer follows it or nothing does; before a `## You` it is only what stands above.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, TypeAlias

from tark_lsp.messages import Message, Text
from tark_lsp.server.chat.fences import Fences

Speaker: TypeAlias = Literal["You", "Tark"]
HEADINGS: dict[str, Speaker] = {"## You": "You", "## Tark": "Tark"}
ESCAPED = re.compile(r"^\\(\\*## (?:You|Tark)[ \t]*)$", re.MULTILINE)
HEADING = re.compile(r"\\*## (?:You|Tark)[ \t]*$")
"""A heading, or one that is escaped already: each answer's gets one more backslash."""
MAY_MATTER = ("#", "`", "~", " ")
"""How a heading or a fence can begin: no other line of a large document is looked at."""
NOTHING_ASKED = "(The document begins with an answer.)"
"""Every provider wants a history that the person begins."""


@dataclass(frozen=True, slots=True)
class Section:
    """One message: lines `start` to `end` of the document, end not included; its words begin at line `body`."""

    speaker: Speaker
    start: int
    body: int
    end: int


@dataclass(frozen=True, slots=True)
class Said:
    """What one side said, whole: sections of one speaker that follow each other are one."""

    speaker: Speaker
    words: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """`open_fence`: what closes the fenced code in which the document ends; empty where it ends in none."""

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
            if not fences.feed(bare) and speaker is not None:
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
    """What the section says: `\\n` for all line endings, none around it, escaped headings as they were meant."""
    text = "".join(lines[section.body : section.end]).replace("\r\n", "\n").replace("\r", "\n").strip()
    return ESCAPED.sub(r"\1", text) if "\\#" in text else text


def conversation(lines: Sequence[str], sections: Iterable[Section]) -> list[Said]:
    """What was said, in turns: silence is left out, and who goes on speaking is heard as one."""
    said: list[Said] = []
    for section in sections:
        spoken = words(lines, section)
        if spoken and said and said[-1].speaker == section.speaker:
            said[-1] = Said(section.speaker, f"{said[-1].words}\n\n{spoken}")
        elif spoken:
            said.append(Said(section.speaker, spoken))
    return said


def digest(said: Iterable[Said]) -> str:
    """Of what was said, blanks and line breaks apart: those change when a document is formatted or saved."""
    hashed = sha256()
    for each in said:
        hashed.update(f"{each.speaker}\0{' '.join(each.words.split())}\0".encode("utf-8", "surrogatepass"))
    return hashed.hexdigest()


def history(said: Sequence[Said]) -> list[Message]:
    """What a model is told of a conversation that no session remembers: words alone, begun by the person."""
    messages = [Message("user" if each.speaker == "You" else "assistant", (Text(each.words),), "") for each in said]
    if messages and messages[0].role != "user":
        messages.insert(0, Message("user", (Text(NOTHING_ASKED),)))
    return messages


def escaped(line: str) -> str:
    """A line of an answer, never a heading of ours."""
    return f"\\{line}" if HEADING.match(line) else line
