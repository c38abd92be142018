"""The command `tark.settings.set`: model, mode, approval, thinking and agent of one session, or of new ones."""

from collections.abc import Callable, Iterable
from typing import Any

from tark_lsp.agent.session import Session
from tark_lsp.context.agents import NO_AGENT
from tark_lsp.errors import RequestError, SettingsError
from tark_lsp.server.commands import Command
from tark_lsp.server.prompting.custom_agents import CustomAgents
from tark_lsp.server.protocol import command_payloads
from tark_lsp.server.sessions.new_sessions import settings_json
from tark_lsp.server.sessions.sessions import Sessions

Json = dict[str, Any]


class SettingsCommand:
    def __init__(self, sessions: Sessions, check_model: Callable[[str], None], agents: CustomAgents) -> None:
        """`check_model(name)` raises SettingsError if the provider is unknown."""
        self._sessions = sessions
        self._check_model = check_model
        self._agents = agents

    def commands(self) -> Iterable[Command]:
        yield Command("tark.settings.set", command_payloads.SetSettings, self.set_settings)

    def state(self, session_id: str | None) -> Any:
        """For `tark.state`: the live sessions, or one. Raises RequestError for an unknown id."""
        sessions = self._sessions
        shown = sessions.live.all_sessions() if session_id is None else [sessions.rows.read_session(session_id)]
        return [{"sessionId": session.id, **self._settings_of(session)} for session in shown]

    async def set_settings(self, request: command_payloads.SetSettings) -> Json:
        """Raises RequestError for an unknown provider or agent."""
        new = self._sessions.new_sessions
        if request.model is not None:
            self._require_model("model", request.model)
        elif request.mode is not None and (own := new.settings.models.modes.of(request.mode)) is not None:
            self._require_model(f"models.modes.{request.mode}", own)
        wanted = request.model_dump(exclude_none=True, include={"model", "mode", "approval", "thinking", "agent"})
        if request.agent is not None:
            wanted["agent"] = self._agent_name(request.agent)
        if request.session_id is None:
            new.set_defaults(wanted)
            return self._settings_of(new.make_session())
        session = self._sessions.use(request.session_id)
        new.change(session, wanted)
        self._sessions.save(session)
        return self._settings_of(session)

    def _agent_name(self, wanted: str) -> str:
        """The agent's name; empty for none. Raises RequestError if the agent is unknown, or its model's provider is."""
        if wanted == NO_AGENT:
            return ""
        agent = self._agents.find(wanted.lower(), "agent")
        if not agent.is_offer and (own := self._agents.model_of(agent)):
            self._require_model(f"the model of the agent {agent.name}", own)
        return agent.name

    def _settings_of(self, session: Session) -> Json:
        return {**settings_json(session), **self._agents.effective(session)}

    def _require_model(self, field: str, name: str) -> None:
        """Raises RequestError if the model's provider is unknown."""
        try:
            self._check_model(name)
        except SettingsError as error:
            raise RequestError(f"{field}: {error.message}", hint=error.hint) from error
