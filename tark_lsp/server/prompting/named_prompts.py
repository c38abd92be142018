"""The named prompts there are now, and which kind of turn a request means: by its kind, or by `/name` in its words."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tark_lsp.agent.kinds import KINDS, Kind, called_by, kind_of
from tark_lsp.context.prompts import NamedPrompt, find_prompts
from tark_lsp.context.sources import Sources
from tark_lsp.errors import RequestError
from tark_lsp.workspace.files import Workspace


class NamedPrompts:
    """Read anew at each use: some small files, and only when a person asks for something."""

    def __init__(
        self, workspace: Workspace, own: Path, closed: Callable[[Path], bool], say: Callable[[str], None]
    ) -> None:
        """`own`: the folder of the person's config.toml. `closed`: does a rule keep this file from the model? `say`:
        tells the person what is left out, which happens once."""
        self._workspace = workspace
        self._own = own
        self._closed = closed
        self._say = say
        self._said: set[str] = set()

    def all(self) -> Mapping[str, NamedPrompt]:
        sources = Sources(self._workspace, self._own, self._closed)
        found = find_prompts(sources, KINDS)
        for problem in sources.problems:
            if problem not in self._said:
                self._said.add(problem)
                self._say(problem)
        return found

    def kind(self, name: str, prompt: str, has_range: bool, *, asks: bool) -> Kind:
        """The kind of a request; an agent's may be named by its words. `asks`: the person will be asked for a prompt.

        Raises RequestError where there is no such kind, or it needs what the request has not.
        """
        kind = self._find(name)
        if kind is None:
            known = ", ".join([*KINDS, *self.all()])
            raise RequestError(f"kind: there is no kind {name!r}", hint=f"the kinds are {known}")
        if name == "agent" and (called := called_by(prompt)) is not None:
            kind = self._find(called) or kind
        if kind.needs_prompt and not asks and not kind.words(prompt).strip():
            raise RequestError(f"prompt: kind {kind.name} needs one")
        if kind.needs_range and not has_range:
            raise RequestError(f"range: kind {kind.name} needs one")
        return kind

    def _find(self, name: str) -> Kind | None:
        if name in KINDS:
            return KINDS[name]
        prompt = self.all().get(name)
        return None if prompt is None else kind_of(prompt)


def prompt_json(prompt: NamedPrompt) -> dict[str, Any]:
    """For `tark.state`."""
    return {
        "name": prompt.name,
        "title": prompt.title,
        "description": prompt.description,
        "source": "user" if prompt.source.whose == "person" else "workspace",
        "needsSelection": kind_of(prompt).needs_range,
    }
