"""Loads the named prompts of the user and the project, and finds the kind of a turn by the request's field `kind` or
`/name` in its prompt."""

from collections.abc import Mapping
from typing import Any

from tark_lsp.agent.kinds import KINDS, Kind, agent_name, kind_of_prompt, slash_name
from tark_lsp.context.prompts import REPLACEABLE, NamedPrompt, find_prompts
from tark_lsp.context.sources import Sources
from tark_lsp.errors import RequestError
from tark_lsp.folders import user_config_path
from tark_lsp.server.asking.questions import Questions
from tark_lsp.server.configuration import Configuration
from tark_lsp.server.prompting.custom_agents import CustomAgents
from tark_lsp.workspace.files import Workspace


class NamedPrompts:
    """The prompts are read again at each use, because they are a few small files that are rarely needed."""

    def __init__(
        self, workspace: Workspace, configuration: Configuration, questions: Questions, agents: CustomAgents
    ) -> None:
        """Each prompt that is left out is reported once."""
        self._workspace = workspace
        self._configuration = configuration
        self._questions = questions
        self.agents = agents
        self._reported: set[str] = set()

    def load_all(self) -> Mapping[str, NamedPrompt]:
        return self._read()

    def _read(self, only: str = "") -> Mapping[str, NamedPrompt]:
        """`only`: reads, and reports the problems of, only the files of this name."""
        sources = Sources(self._workspace, user_config_path().parent, self._configuration.is_closed)
        found = find_prompts(sources, KINDS, only)
        for problem in sources.problems:
            if problem not in self._reported:
                self._reported.add(problem)
                self._questions.warn(f"Tark: {problem}")
        return found

    def find_kind(self, name: str, prompt: str, has_range: bool, *, asks: bool) -> Kind:
        """The kind of a request. If `name` is `agent`, the prompt can name another kind. `asks`: the user will be asked
        for a prompt.

        Raises RequestError if the kind does not exist, or needs a prompt or range that the request does not have.
        """
        kind = self._find(name)
        if kind is None:
            known = ", ".join([*KINDS, *self.load_all()])
            raise RequestError(f"kind: there is no kind {name!r}", hint=f"the kinds are {known}")
        if name == "agent" and (chosen := agent_name(prompt)) is not None:
            kind = self.agents.chosen(kind, chosen)
        elif name == "agent" and (called := slash_name(prompt)) is not None:
            kind = self._find(called) or kind
        if kind.agent is not None and not asks and not kind.prompt_text(prompt).strip():
            raise RequestError(
                f"prompt: say what the agent {kind.agent.name} should do",
                hint="to choose it for the session: Select Agent in VS Code, :TarkAgents in Neovim",
            )
        if kind.needs_prompt and not asks and not kind.prompt_text(prompt).strip():
            raise RequestError(f"prompt: kind {kind.name} needs a prompt")
        if kind.needs_range and not has_range:
            raise RequestError(f"range: kind {kind.name} needs a selection")
        return kind

    def state(self, _: str | None) -> list[dict[str, Any]]:
        """For `tark.state`."""
        return [prompt_json(prompt) for prompt in self.load_all().values()]

    def _find(self, name: str) -> Kind | None:
        if name in KINDS and name not in REPLACEABLE:
            return KINDS[name]
        prompt = self._read(name).get(name)
        return KINDS.get(name) if prompt is None else kind_of_prompt(prompt)


def prompt_json(prompt: NamedPrompt) -> dict[str, Any]:
    """For `tark.state`."""
    return {
        "name": prompt.name,
        "title": prompt.title,
        "description": prompt.description,
        "source": "user" if prompt.source.whose == "person" else "workspace",
        "needsSelection": kind_of_prompt(prompt).needs_range,
    }
