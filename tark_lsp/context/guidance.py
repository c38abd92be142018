"""Guidance: all that the files of the project and the person's own add to the system prompt, in one order.

What changes least comes first, since a prompt that begins as the last one did is a cached one: skills, memory, the
person's instructions, the project's from its top down to the document, rules for every file, rules for some.
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
    """`problems`: sentences for the person about what was left out, or changed."""

    parts: tuple[SystemPart, ...] = ()
    skills: Mapping[str, Skill] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def find_guidance(
    sources: Sources, document: Path | None, files: Sequence[Path], memory: Sequence[SystemPart]
) -> Guidance:
    """`document`: the one the turn is about. `files`: others that came up, for which rules apply, too."""
    skills = find_skills(sources)
    about = [*files, *([] if document is None else [document])]
    parts = (
        *skill_parts(skills),
        *memory,
        *find_instructions(sources, document),
        *find_rules(sources, about),
    )
    return Guidance(parts, skills, tuple(dict.fromkeys(sources.problems)))
