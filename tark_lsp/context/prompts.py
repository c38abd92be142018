"""Named prompts: Markdown files that a person calls by their name, as a kind of turn, `/name`, or a code action.

Those in `prompts` beside the person's config.toml, and in `.tark/prompts` of each workspace folder. The front matter
says what a prompt is called and for; nothing in it chooses a model, a mode, tools or what is allowed.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from tark_lsp.context.front_matter import BadFrontMatter, FrontMatter, parse_front_matter
from tark_lsp.context.sources import Source, Sources

FOLDER = "prompts"
ENDING = ".md"
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
KEYS = ("title", "description", "kind", "needsSelection")
MOST = 50
"""Of one folder: they are read whenever somebody asks what there is."""
DEFAULT_KIND = "agent"
ARGUMENTS = "$ARGUMENTS"
LONGEST_TITLE, LONGEST_DESCRIPTION = 60, 200
LONGEST_FILLED = 200_000
"""Characters that all places of the person's words may take together: else they stand once, at the end."""
SESSION_WORDS = frozenset(
    """accept approval cancel clear compact context delete diff doctor exit export fork help login logout mode model
    models new prompts quit reject rename resume sessions status stop thinking undo usage""".split()  # noqa: SIM905  # a list reads best as words
)
"""What clients call their own commands: `/undo` must never be what a repository makes it."""


@dataclass(frozen=True, slots=True)
class NamedPrompt:
    """`kind`: the built-in one whose tools and limits it has. `title` and `description` are one line each."""

    name: str
    title: str
    description: str
    kind: str
    needs_selection: bool
    body: str
    source: Source

    def filled(self, added: str) -> str:
        """Its text with what the person added: in place of `$ARGUMENTS`, else at the end."""
        added = added.strip()
        places = self.body.count(ARGUMENTS)
        if places and (places == 1 or places * len(added) <= LONGEST_FILLED):
            return self.body.replace(ARGUMENTS, added)
        return f"{self.body}\n\n{added}" if added else self.body


def find_prompts(sources: Sources, kinds: Collection[str]) -> dict[str, NamedPrompt]:
    """By name, which is unique: the person's own win. What is none is left out, and said in `sources.problems`.

    `kinds`: the built-in ones.
    """
    prompts: dict[str, NamedPrompt] = {}
    for folder in sources.folders(FOLDER):
        entries = sources.entries(folder, ENDING)
        if len(entries) > MOST:
            sources.problems.append(f"{folder.name} holds {len(entries)} prompts: only the first {MOST} by name count")
        for source in entries[:MOST]:
            text = sources.readable(source)
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


def _prompt(source: Source, front: FrontMatter, problems: list[str], kinds: Collection[str]) -> NamedPrompt:
    """Raises BadFrontMatter."""
    name = source.path.name.removesuffix(ENDING).lower()
    if not NAME.fullmatch(name):
        raise BadFrontMatter("the name of a prompt has letters, digits, - and _, at most 40")
    if name in SESSION_WORDS or name in kinds:
        raise BadFrontMatter(f"/{name} is a word of tark's own")
    kind = front.text("kind") or DEFAULT_KIND
    if kind not in kinds:
        raise BadFrontMatter(f"kind: there is no {kind[:40]!r}; the kinds are {', '.join(kinds)}")
    body = front.body.strip()
    if not body:
        raise BadFrontMatter("it says nothing")
    title = front.text("title") or re.sub("[-_]+", " ", name).strip().capitalize()
    prompt = NamedPrompt(
        name,
        title[:LONGEST_TITLE],
        front.text("description")[:LONGEST_DESCRIPTION],
        kind,
        front.flag("needsSelection"),
        body,
        source,
    )
    if ignored := [key[:40] for key in front.fields if key not in KEYS]:
        known = ", ".join(KEYS)
        problems.append(f"{source.name}: ignored: {', '.join(ignored)} (a prompt has {known}, and loosens nothing)")
    return prompt
