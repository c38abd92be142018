"""The model of a turn that names none: from the settings, else one that the user accepted before, else one that is
found."""

import json
from typing import Any

from tark_lsp.agent.session import Session
from tark_lsp.agent.state import Model
from tark_lsp.errors import NoModel, SettingsError
from tark_lsp.folders import state_folder
from tark_lsp.server.asking.questions import Questions
from tark_lsp.server.asking.text_display import write_private
from tark_lsp.server.configuration import Configuration
from tark_lsp.server.prompting.custom_agents import CustomAgents
from tark_lsp.server.turns.turn_record import TurnRecord
from tark_lsp.visible import visible

USE, NOT_NOW = "Use it", "Not now"
CHOSEN_MODEL = "model.json"


class SessionModels:
    """The models of sessions."""

    def __init__(self, configuration: Configuration, questions: Questions, agents: CustomAgents) -> None:
        self._configuration = configuration
        self._questions = questions
        self.agents = agents

    async def open_for(self, record: TurnRecord) -> Model:
        """Opens the model of the turn, else of its agent, else of the session. Raises SettingsError.

        The model of a project's agent is used only if the user has its provider.
        """
        models, agent = self._configuration.models, record.kind.agent
        wanted = "" if record.request.model or agent is None else self.agents.model_of(agent)
        if agent is None or not wanted:
            return await models.open_model(record.request.model or await self.model_of(record.session))
        try:
            return await models.open_model(wanted)
        except SettingsError as error:
            why = f"the model of the agent {agent.name}: {error.message}"
            if not agent.is_offer or agent.name in self._configuration.settings.models.agents:
                raise SettingsError(why, hint=error.hint) from error
            record.notes.append(f"{why}. So the turn has the model of the session")
        return await models.open_model(await self.model_of(record.session))

    async def model_of(self, session: Session) -> str:
        """The session's model. A session without one gets the default model. Raises NoModel."""
        if session.model is None:
            session.model = await self._default_model()
        return session.model

    async def _default_model(self) -> str:
        """Raises NoModel if no model is found, or if the user declines the one that is found."""
        set_model = self._configuration.settings.model
        if set_model is not None:
            return set_model
        remembered = read_chosen()
        if remembered is not None:
            return remembered
        found = await self._configuration.models.find_default_model()
        fix = (
            "run `tark-lsp login PROVIDER`, or set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or"
            ' OPENROUTER_API_KEY and restart the server; or set "model" in your config.toml'
        )
        if found is None:
            raise NoModel("no model is set and none was found", hint=fix)
        if await self._questions.ask(f"Tark: no model is set. Use {visible(found)}?", [USE, NOT_NOW]) != USE:
            raise NoModel(f"no model is set, and you did not choose {found}", hint=fix)
        write_private(state_folder(), CHOSEN_MODEL, json.dumps({"model": found}))
        return found


def with_chosen_model(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings, with the model that new sessions get without a question; None if the user will be asked."""
    return {**settings, "model": settings["model"] or read_chosen()}


def read_chosen() -> str | None:
    """The model that the user accepted before; None if there is none."""
    try:
        value = json.loads((state_folder() / CHOSEN_MODEL).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # the file does not exist, or is invalid: the user is asked again
        return None
    model = value.get("model") if isinstance(value, dict) else None
    return model if isinstance(model, str) else None
