"""Named prompts: Markdown files that the user calls by name, as a kind of turn, `/name`, or a code action.

They are in `prompts` beside the user's config.toml, and in `.tark/prompts` and `.claude/commands` of each workspace
folder. The front matter gives title, description and kind; it cannot choose a model, a mode, tools or permissions.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from tark_lsp.context.front_matter import BadFrontMatter, FrontMatter, parse_front_matter
from tark_lsp.context.sources import OTHER_FOLDERS, Source, Sources

FOLDER = "prompts"
ENDING = ".md"
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
KEYS = ("title", "description", "kind", "needsSelection")
CLAUDE_KEYS = ("description",)
"""The keys that count in `.claude/commands`."""
MOST = 50
"""The most prompts of one folder, because all of them are read for every list."""
DEFAULT_KIND = "agent"
REPLACEABLE = frozenset({"init", "review"})
"""Built-in kinds that are newer than named prompts. A user may already have a prompt of that name, so it replaces the
kind."""
ARGUMENTS = "$ARGUMENTS"
LONGEST_TITLE, LONGEST_DESCRIPTION = 60, 200
LONGEST_FILLED = 200_000
"""The most characters that the user's text can take in all places of `$ARGUMENTS` together. If it would take more, it
is added once, at the end."""
SESSION_WORDS = frozenset(
    """accept agent approval approve cancel clear compact context delete diff doctor exit export fork help login logout
    mode model models new permissions prompts quit redo reject rename restore resume sessions status stop thinking undo
    usage""".split()  # noqa: SIM905  # a list reads best as words
)
"""The names of clients' commands. A repository must not be able to redefine `/undo`."""


@dataclass(frozen=True, slots=True)
class NamedPrompt:
    """`kind`: the built-in kind whose tools and limits the prompt has. `title` and `description` are one line each."""

    name: str
    title: str
    description: str
    kind: str
    needs_selection: bool
    body: str
    source: Source

    def fill(self, added: str) -> str:
        """The text, with the user's text `added` in place of `$ARGUMENTS`, or else at the end."""
        added = added.strip()
        places = self.body.count(ARGUMENTS)
        if places and (places == 1 or places * len(added) <= LONGEST_FILLED):
            return self.body.replace(ARGUMENTS, added)
        return f"{self.body}\n\n{added}" if added else self.body


def find_prompts(sources: Sources, kinds: Collection[str], only: str = "") -> dict[str, NamedPrompt]:
    """The prompts by name. The user's own take precedence over the project's. Invalid files are left out, and named in
    `sources.problems`.

    `kinds`: the built-in kinds. `only`: read only the files of this name, so only their problems are named.
    """
    prompts: dict[str, NamedPrompt] = {}
    for folder in sources.folders(FOLDER):
        entries = sources.folder_entries(folder, ENDING)
        if len(entries) > MOST:
            sources.problems.append(f"{folder.name} has {len(entries)} prompts: only the first {MOST} by name are used")
        for source in entries[:MOST]:
            if only and _name(source) != only:
                continue
            text = sources.read_or_report(source)
            if text is None:
                continue
            try:
                prompt = _prompt(source, parse_front_matter(text), sources.problems, kinds)
            except BadFrontMatter as error:
                sources.problems.append(f"{source.name} is left out: {error.message}")
                continue
            known = prompts.setdefault(prompt.name, prompt)
            if known is not prompt and known.source.whose == source.whose:
                sources.problems.append(f"{source.name} is left out: {known.source.name} has the same name")
    return prompts


def _name(source: Source) -> str:
    return source.path.name.removesuffix(ENDING).lower()


def _for_claude(source: Source) -> bool:
    """Whether the prompt is one of the project's for Claude Code. Its other keys can mean something else there."""
    return source.whose == "project" and source.path.parent.parts[-2:] == OTHER_FOLDERS[FOLDER]


def _prompt(source: Source, front: FrontMatter, problems: list[str], kinds: Collection[str]) -> NamedPrompt:
    """Raises BadFrontMatter."""
    name = _name(source)
    if not NAME.fullmatch(name):
        raise BadFrontMatter("the name of a prompt must be at most 40 letters (a-z), digits, - and _")
    if name in SESSION_WORDS or (name in kinds and name not in REPLACEABLE):
        raise BadFrontMatter(f"/{name} is the name of a command or kind of Tark")
    keys = CLAUDE_KEYS if _for_claude(source) else KEYS
    if ignored := [key[:40] for key in front.fields if key not in keys]:
        whose = f"a prompt in {'/'.join(OTHER_FOLDERS[FOLDER])}" if keys is CLAUDE_KEYS else "a prompt"
        problems.append(f"{source.name}: ignored: {', '.join(ignored)} ({whose} can only set {', '.join(keys)})")
        front = replace(front, fields={key: value for key, value in front.fields.items() if key in keys})
    kind = front.text_field("kind") or DEFAULT_KIND
    if kind not in kinds:
        raise BadFrontMatter(f"kind: there is no {kind[:40]!r}; the kinds are {', '.join(kinds)}")
    body = front.body.strip()
    if not body:
        raise BadFrontMatter("it has no text")
    title = front.text_field("title") or re.sub("[-_]+", " ", name).strip().capitalize()
    return NamedPrompt(
        name,
        title[:LONGEST_TITLE],
        front.text_field("description")[:LONGEST_DESCRIPTION],
        kind,
        front.flag_field("needsSelection"),
        body,
        source,
    )
