"""Rules: Markdown files with instructions for the files that their globs match, the user's own and the project's
(`.tark/rules/`)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tark_lsp.context.front_matter import BadFrontMatter, parse_front_matter
from tark_lsp.context.sources import Source, Sources
from tark_lsp.context.system_part import SystemPart, tagged
from tark_lsp.errors import ToolError
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.globs import Glob

FOLDER = "rules"
MOST_CHARACTERS = 64 * 1024
"""The limit of all applicable rules together."""
MOST_LISTED, LONGEST_LINE = 50, 300
OTHERS = "Rules for files that have not come up yet. Before you change such a file, read its rule with read_file:"
MOST_COMPARED = 500
"""Only this many files, the last ones, are compared with the globs, because a session can read thousands."""


@dataclass(frozen=True, slots=True)
class FileRule:
    """A rule without `globs` is for every file. (Permission rules are something else: agent/rules.py.)"""

    source: Source
    folder: Path | None
    """The workspace folder that the globs are relative to. None, for any folder, if the rule is the user's own."""
    globs: tuple[Glob, ...]
    shown_globs: str
    description: str
    text: str

    def concerns(self, names: Mapping[Path | None, Sequence[str]]) -> bool:
        """`names`: the relative paths of the files, by workspace folder; all of them under the key None."""
        return not self.globs or any(glob.matches(name) for glob in self.globs for name in names[self.folder])


def find_rules(sources: Sources, files: Sequence[Path]) -> list[SystemPart]:
    """The rules for any of `files` (resolved paths), and a list of the other rules.

    Rules for every file come first, so that the beginning of the prompt stays the same. Invalid files are left out and
    named in `sources.problems`.
    """
    names = _names(files[-MOST_COMPARED:], sources.workspace)
    found, others = [], []
    room = MOST_CHARACTERS
    for rule in sorted(_read(sources), key=lambda rule: bool(rule.globs)):
        if not rule.concerns(names):
            others.append(rule)
            continue
        if len(rule.text) > room:
            sources.problems.append(
                f"{rule.source.name} is left out: other rules fill the limit of {MOST_CHARACTERS:,} characters"
            )
            continue
        room -= len(rule.text)
        about = {name: text for name, text in (("about", rule.description), ("for", rule.shown_globs)) if text}
        text = tagged("rule", rule.text, whose=rule.source.whose, file=rule.source.name, **about)
        found.append(SystemPart(rule.source.name, "rules", text, rule.source.path))
    return [*found, *_listed(others)]


def _listed(rules: Sequence[FileRule]) -> list[SystemPart]:
    """A list of the project's rules for files that have not come up. The model can read them when it needs them.

    The user's own rules are not listed: they are outside the workspace, so the user would be asked before each read.
    """
    lines = [
        f"- {rule.source.name}, for {rule.shown_globs}{f': {rule.description}' if rule.description else ''}"[
            :LONGEST_LINE
        ]
        for rule in rules
        if rule.source.whose == "project"
    ]
    if not lines:
        return []
    if len(lines) > MOST_LISTED:
        lines[MOST_LISTED:] = [f"[{len(lines) - MOST_LISTED} more in .tark/rules are not listed.]"]
    text = f"{OTHERS}\n\n{tagged('rules', chr(10).join(lines), whose='project')}"
    return [SystemPart("rules for other files", "rules", text)]


def _names(files: Sequence[Path], workspace: Workspace) -> dict[Path | None, list[str]]:
    names: dict[Path | None, list[str]] = {folder: [] for folder in workspace.folders}
    everywhere: dict[str, None] = {}
    for file in files:
        inside = [folder for folder in workspace.folders if folder in file.parents]
        for folder in inside:
            names[folder].append(file.relative_to(folder).as_posix())
            everywhere[names[folder][-1]] = None
        if not inside:
            everywhere[file.relative_to(file.anchor).as_posix()] = None
    return {**names, None: list(everywhere)}


def _read(sources: Sources) -> Iterator[FileRule]:
    for folder in sources.folders(FOLDER):
        base = folder.path.parents[1] if folder.whose == "project" else None
        for source in sources.folder_entries(folder, ".md"):
            text = sources.read_or_report(source)
            if text is None:
                continue
            try:
                matter = parse_front_matter(text)
                words = matter.list_field("globs")
                globs = () if matter.flag_field("alwaysApply") else tuple(Glob.parse(glob) for glob in words)
                description = matter.text_field("description")
            except (BadFrontMatter, ToolError) as error:
                sources.problems.append(f"{source.name} is left out: {error.message}")
                continue
            if matter.body.strip():
                shown = ", ".join(words) if globs else ""
                yield FileRule(source, base, globs, shown, description, matter.body)
