"""Finds the custom agents of the user and the project, selects them for a turn or session, and checks approvals."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from tark_lsp.agent.kinds import Kind
from tark_lsp.context.agents import NO_AGENT, Agent, find_agents
from tark_lsp.context.sources import Sources
from tark_lsp.errors import RequestError
from tark_lsp.folders import agent_pins_folder, user_config_path
from tark_lsp.messages import ApprovalLevel, Mode
from tark_lsp.server.asking.questions import Questions
from tark_lsp.server.configuration import Configuration
from tark_lsp.workspace.files import Workspace

if TYPE_CHECKING:  # loaded with the first offer
    from tark_lsp.agent_offers import AgentState
    from tark_lsp.mcp.pin_store import PinStore

PLACES = ((".tark", "agents"), (".claude", "agents"))


class HasSettings(Protocol):
    """A session, or its row. `agent` is empty if it has none."""

    @property
    def agent(self) -> str: ...
    @property
    def model(self) -> str | None: ...
    @property
    def mode(self) -> Mode: ...
    @property
    def approval(self) -> ApprovalLevel: ...


class CustomAgents:
    """The agents are read again at each use, because they are a few small files that are rarely needed."""

    def __init__(
        self, workspace: Workspace, configuration: Configuration, questions: Questions, is_trusted: Callable[[], bool]
    ) -> None:
        """`is_trusted`: whether the user trusts the folders of `workspace`. Each problem is reported only once."""
        self._workspace = workspace
        self._configuration = configuration
        self._questions = questions
        self._is_trusted = is_trusted
        self._reported: set[str] = set()

    def state(self, _: str | None) -> list[dict[str, Any]]:
        """For `tark.state`: the agents that can be used."""
        return [self.json(agent) for agent in self.usable().values()]

    def usable(self) -> Mapping[str, Agent]:
        return {name: agent for name, agent in self.find_all().items() if self.is_usable(agent)}

    def find(self, name: str, field: str = "prompt") -> Agent:
        """The agent of this name, if it can be used. Raises RequestError."""
        found = self.find_all(name).get(name)
        if found is not None and self.is_usable(found):
            return found
        agents = self.find_all()
        usable = [one.name for one in agents.values() if self.is_usable(one)]
        if name in agents:
            from tark_lsp.agent_offers import REASONS

            raise RequestError(
                f"{field}: the project's agent {name} cannot be used: {REASONS[self._state(agents[name])]}",
                hint=f"`tark-lsp agents approve {name}` shows its file and asks you",
            )
        known = ", ".join(usable) or "none; docs/agents.md shows how to write one"
        raise RequestError(f"{field}: there is no agent {name!r}", hint=f"your agents are: {known}")

    def chosen(self, kind: Kind, name: str) -> Kind:
        """The kind of a turn whose prompt names an agent. Raises RequestError."""
        return replace(kind, no_agent=True) if name == NO_AGENT else replace(kind, agent=self.find(name))

    def in_session(self, kind: Kind, session: HasSettings) -> Kind:
        """The kind with the agent of the session, unless the turn names its own, or none. Raises RequestError."""
        if kind.agent is not None or kind.no_agent or not session.agent:
            return kind
        try:
            return replace(kind, agent=self.find(session.agent, "agent"))
        except RequestError as error:
            raise RequestError(
                f"{error.message}, and this session has it", hint=f"{error.hint}; or /agent none"
            ) from error

    def model_of(self, agent: Agent) -> str:
        """The agent's model; empty for the session's. The settings take precedence over the file."""
        return self._configuration.settings.models.agents.get(agent.name, agent.model)

    def effective(self, session: HasSettings) -> dict[str, Any]:
        """The model, mode and level of the session's next turn. None without an agent, or if it cannot be used."""
        agent = self.usable().get(session.agent) if session.agent else None
        if agent is None:
            return {"effective": None}
        model, mode, level = self.model_of(agent) or session.model, session.mode, session.approval
        return {
            "effective": {
                "model": model,
                "mode": agent.stricter_mode(mode),
                "approval": agent.stricter_level(level),
            }
        }

    def find_all(self, only: str = "") -> dict[str, Agent]:
        """`only`: reads, and reports the problems of, only the files of this name."""
        sources = Sources(self._workspace, user_config_path().parent, self._configuration.is_closed)
        agents = find_agents(sources, _tools, offers=bool(self._workspace.folders) and self._is_trusted(), only=only)
        for problem in sources.problems:
            if problem not in self._reported:
                self._reported.add(problem)
                self._questions.warn(f"Tark: {problem}")
        return agents

    def unread_note(self) -> str:
        """A note if the folder has agents that are not read, because it is not trusted; else empty."""
        folders = self._workspace.folders
        if self._is_trusted() or not any(folder.joinpath(*place).is_dir() for folder in folders for place in PLACES):
            return ""
        return "this folder has agents of its own, which are not read before you trust it (tark-lsp permissions trust)"

    def _state(self, agent: Agent) -> "AgentState":
        from tark_lsp.agent_offers import state_of

        return state_of(agent, self.pins())

    def is_usable(self, agent: Agent) -> bool:
        return not agent.is_offer or self._state(agent) == "approved"

    def pins(self) -> "PinStore":
        from tark_lsp.mcp.pin_store import PinStore

        return PinStore(agent_pins_folder)

    def existing(self, name: str) -> Agent:
        """Raises RequestError."""
        agents = self.find_all()
        if name not in agents:
            raise RequestError(
                f"there is no agent {name!r}", hint=self.unread_note() or f"there are: {', '.join(agents)}"
            )
        return agents[name]

    def json(self, agent: Agent) -> dict[str, Any]:
        state, reason = "approved", ""
        if agent.is_offer:
            from tark_lsp.agent_offers import REASONS

            state = self._state(agent)
            reason = REASONS[state]
        return {
            "name": agent.name,
            "description": agent.description,
            "origin": "project" if agent.is_offer else "user",
            "source": str(agent.source.path),
            "state": state,
            "reason": reason,
            "model": self.model_of(agent) or None,
            "mode": agent.mode,
            "approval": agent.level,
        }


def _tools() -> Mapping[str, bool]:
    from tark_lsp.agent_offers import known_tools  # not needed at the start

    return known_tools()
