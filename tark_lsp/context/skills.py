"""Skills: folders with a `SKILL.md` that explains one kind of task. The prompt lists them; the model reads them."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path, PurePosixPath

from tark_lsp.context.front_matter import BadFrontMatter, parse_front_matter
from tark_lsp.context.hidden import without_hidden
from tark_lsp.context.sources import Source, Sources, read_source
from tark_lsp.context.system_part import SystemPart, Whose, tagged
from tark_lsp.errors import OutsideWorkspace, WorkspaceError
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.names import check_name

FOLDER = "skills"
FILE_NAME = "SKILL.md"
NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}", re.ASCII)
LONGEST_DESCRIPTION = 500
MOST_CHARACTERS = 16 * 1024
"""The limit of each list of skills in the prompt."""
MOST_LISTED, MOST_FOLDERS = 50, 200
"""The most files of a skill's folder that are listed after its text, and the most folders searched for them."""
INTRODUCTION: Mapping[Whose, str] = {
    "person": "Skills of the person. Before a task that fits one, read it with read_skill:",
    "project": "Skills of the project. Before a task that fits one, read it with read_skill:",
}


@dataclass(frozen=True, slots=True)
class Skill:
    """`source` is the SKILL.md of the skill."""

    name: str
    description: str
    source: Source

    @property
    def folder(self) -> Path:
        return self.source.path.parent


@dataclass(frozen=True, slots=True)
class SkillText:
    """`hidden`: how many invisible characters were removed. `files`: the other files of the folder, by `path`."""

    source: Source
    text: str
    hidden: int
    files: tuple[str, ...]


def find_skills(sources: Sources) -> dict[str, Skill]:
    """The skills by name. The user's own take precedence over the project's. Invalid skills are left out, and named in
    `sources.problems`."""
    skills: dict[str, Skill] = {}
    for folder in sources.folders(FOLDER):
        for entry in sources.folder_entries(folder):
            source = sources.source_at(entry.path / FILE_NAME, entry.whose)
            text = sources.read_or_report(source)
            if text is None:
                continue
            try:
                skill = _skill(source, text)
            except BadFrontMatter as error:
                sources.problems.append(f"{source.name} is left out: {error.message}")
                continue
            known = skills.setdefault(skill.name, skill)
            if known is not skill and known.source.whose == skill.source.whose:
                sources.problems.append(f"{source.name} is left out: {known.source.name} has the same name")
    return skills


def skill_parts(skills: Mapping[str, Skill]) -> list[SystemPart]:
    """A list of the user's skills and one of the project's, with names and descriptions."""
    parts = []
    for whose, introduction in INTRODUCTION.items():
        lines = [f"- {skill.name}: {skill.description}" for skill in skills.values() if skill.source.whose == whose]
        shown: list[str] = []
        used = 0
        for line in lines:
            used += len(line)
            if used > MOST_CHARACTERS:
                shown.append(f"[{len(lines) - len(shown)} more are not listed.]")
                break
            shown.append(line)
        if shown:
            text = f"{introduction}\n\n{tagged('skills', chr(10).join(shown), whose=whose)}"
            parts.append(SystemPart(f"skills of the {whose}", "skills", text))
    return parts


def skill_file(workspace: Workspace, skill: Skill, path: str) -> Source:
    """The file `path` in the skill's folder, links resolved. Raises OutsideWorkspace if it is outside the folder."""
    if skill.source.whose == "project":
        # In a repository, the folder must not be a link to a place outside the workspace.
        folder = Path(os.path.realpath(skill.folder))
        if not workspace.is_inside(folder):
            raise OutsideWorkspace(f"the folder of the skill {skill.name} is outside the workspace")
    if PurePosixPath(path) == PurePosixPath(FILE_NAME):
        return replace(skill.source, path=Path(os.path.realpath(skill.source.path)))
    check_name(path, windows=os.name == "nt")
    folder = Path(os.path.realpath(skill.folder))
    file = Path(os.path.realpath(folder / path))
    if not file.is_relative_to(folder):
        raise OutsideWorkspace(
            f"{path} is outside the folder of the skill {skill.name}", hint="name a file of that folder"
        )
    return Source(file, f"{skill.name}/{path}", skill.source.whose)


def read_skill(workspace: Workspace, skill: Skill, path: str) -> SkillText:
    """The current text of the skill's file `path`; for SKILL.md, without its front matter. Raises WorkspaceError."""
    source = skill_file(workspace, skill, path)
    text, hidden = without_hidden(read_source(workspace, source).text)
    if source.name != skill.source.name:
        return SkillText(source, text, hidden, ())
    try:
        body = parse_front_matter(text).body
    except BadFrontMatter as error:
        raise WorkspaceError(f"{source.name}: {error.message}") from error
    return SkillText(source, body, hidden, tuple(_files(skill.folder)))


def _skill(source: Source, text: str) -> Skill:
    """Raises BadFrontMatter."""
    matter = parse_front_matter(text)
    name = matter.text_field("name") or source.path.parent.name
    if not NAME.fullmatch(name):
        raise BadFrontMatter(f"the name {name[:64]!r} is invalid: use at most 64 letters, digits and . _ -")
    description = matter.text_field("description")
    if not description:
        raise BadFrontMatter("it needs a description that says when to use it")
    if len(description) > LONGEST_DESCRIPTION:
        description = f"{description[:LONGEST_DESCRIPTION]} [cut]"
    return Skill(name, description, source)


def _files(folder: Path) -> list[str]:
    """At most `MOST_LISTED` files, without SKILL.md, hidden files, and linked folders."""
    found: list[str] = []
    for place, names, files in islice(os.walk(folder), MOST_FOLDERS):
        names[:] = sorted(name for name in names if _listed(name))  # os.walk enters only these
        inside = Path(place).relative_to(folder)
        found += [(inside / name).as_posix() for name in sorted(files) if _listed(name)]
        if len(found) > MOST_LISTED:
            break
    return [name for name in found if name != FILE_NAME][:MOST_LISTED]


def _listed(name: str) -> bool:
    return not name.startswith(".") and name.isprintable()
