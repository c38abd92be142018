"""Guidance: everything that files of the user and the project add to the system prompt, in a fixed order.

The parts that change least come first, because providers cache a prompt by its prefix: skills, memory, the user's
instructions, the project's instructions from its top folder down to the document, rules for all files, other rules.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tark_lsp.context.instructions import find_instructions
from tark_lsp.context.rules import find_rules
from tark_lsp.context.skills import Skill, find_skills, skill_parts
from tark_lsp.context.sources import Sources
from tark_lsp.context.system_part import SystemPart


@dataclass(frozen=True, slots=True)
class Guidance:
    """`problems`: sentences for the user about files that were left out or changed."""

    parts: tuple[SystemPart, ...] = ()
    skills: Mapping[str, Skill] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def find_guidance(
    sources: Sources, document: Path | None, files: Sequence[Path], memory: Sequence[SystemPart]
) -> Guidance:
    """`document`: the document that the turn is about. `files`: other files of the session, whose rules also apply."""
    skills = find_skills(sources)
    about = [*files, *([] if document is None else [document])]
    parts = (
        *skill_parts(skills),
        *memory,
        *find_instructions(sources, document),
        *find_rules(sources, about),
    )
    return Guidance(parts, skills, tuple(dict.fromkeys(sources.problems)))
