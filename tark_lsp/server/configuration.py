"""The current settings: loaded from all their layers, and loaded again when one changes."""

import logging
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tark_lsp.agent.approval import Policy, is_read_denied
from tark_lsp.agent.edit_review import EditReview
from tark_lsp.agent.rules import Rule
from tark_lsp.folders import keys_folder, user_config_path, workspace_config_path
from tark_lsp.listeners import Listeners
from tark_lsp.server.asking.questions import Questions
from tark_lsp.server.background import BackgroundTasks
from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.settings import Settings
from tark_lsp.settings_layers import LayerValues
from tark_lsp.settings_loading import load_settings
from tark_lsp.workspace.files import Workspace

if TYPE_CHECKING:
    from tark_lsp.llm.client import Models
    from tark_lsp.llm.keys.logins import Logins
    from tark_lsp.llm.keys.store import KeyStore

log = logging.getLogger(__name__)


class Configuration:
    """`settings`, and the `models` they define. `problems` are sentences for the user."""

    def __init__(
        self, connection: Connection, questions: Questions, workspace: Workspace, background: BackgroundTasks
    ) -> None:
        """`workspace`: its folders can have settings of their own."""
        self._connection = connection
        self._questions = questions
        self._workspace = workspace
        self._background = background
        self._client_settings: object = None
        """From `workspace/didChangeConfiguration`, or from the answer to `workspace/configuration`."""
        self._last_usable: dict[str, LayerValues] = {}
        self._reported: set[str] = set()
        self._closing: list[Models] = []
        self.settings = Settings()
        self._models: Models | None = None
        self.problems: Sequence[str] = ()
        self.loaded: Listeners[Settings] = Listeners()
        """Tells each time that the settings were loaded, changed or not."""

    @property
    def models(self) -> "Models":
        """Made when they are first needed: importing the client and all providers would slow the start down."""
        if self._models is None:
            from tark_lsp.llm.client import Models
            from tark_lsp.server.provider_override import overrides, scenario_of

            self._models = Models(overrides(self.settings), scenario=scenario_of(self.settings), keys=self._keys)
        return self._models

    def check_model(self, name: str) -> None:
        """Raises SettingsError if there is no such provider."""
        self.models.check_name(name)

    @cached_property
    def _keys(self) -> "KeyStore":
        from tark_lsp.llm.keys.store import KeyStore  # imported here, as in `models`

        return KeyStore(keys_folder())

    def load(self) -> None:
        client, before = self._connection.client, self.settings
        self.settings, self.problems = load_settings(
            user_file=user_config_path(),
            environ=os.environ,
            initialization=client.initialization_options,
            configuration=self._client_settings,
            trusted_client=client.understands("userSettings"),
            workspace_files=[workspace_config_path(folder) for folder in self._workspace.folders],
            last_usable=self._last_usable,
        )
        logging.getLogger("tark_lsp").setLevel(self.settings.log_level.upper())
        if self._models is not None and self.settings.providers != before.providers:
            self._closing.append(self._models)  # running turns may still use them
            self._models = None
        self.loaded.emit(self.settings)

    def reload(self) -> None:
        """Load the settings again, and report new problems."""
        self.load()
        self.report_problems()

    def report_problems(self) -> None:
        """Show each problem once, and again if it comes back."""
        self._reported &= set(self.problems)
        for problem in self.problems:
            if problem not in self._reported:
                self._reported.add(problem)
                self._questions.warn(f"Tark: {problem}")

    def configuration_changed(self, params: dict[str, Any]) -> None:
        """`workspace/didChangeConfiguration`: it holds the settings, or means that they have to be asked for."""
        settings = params.get("settings")
        if settings.get("tark") if isinstance(settings, dict) and "tark" in settings else settings:
            self._use(settings)
        else:
            self.fetch()

    def fetch(self) -> None:
        """Ask the client for its settings, in the background."""
        self._background.start(self._fetch())

    def logins(self) -> "Logins":
        from tark_lsp.llm.keys.logins import Logins  # imported here, as in `models`
        from tark_lsp.server.provider_override import overrides

        return Logins(overrides(self.settings), os.environ, self._keys)

    def policy(self) -> Policy:
        """What the model may do, by the current settings."""
        client = self._connection.client
        policy = policy_of(self.settings, in_place=client.understands("review"))
        if not client.understands("inMemory"):
            return policy
        return replace(policy, in_memory=True, no_commands="files are not changed here, so no command is run")

    def is_closed(self, path: Path) -> bool:
        """Does a rule keep this file from the model?"""
        return is_read_denied(path, self.policy(), self._workspace)

    async def aclose(self) -> None:
        for models in (*self._closing, *([self._models] if self._models else ())):
            await models.aclose()

    async def _fetch(self) -> None:
        """The answer replaces all settings of the client; an empty answer removes them."""
        if not self._connection.client.has("workspace.configuration"):
            self._use(None)
            return
        try:
            answer = await self._connection.request("workspace/configuration", {"items": [{"section": "tark"}]})
        except RequestFailed as error:
            log.warning("workspace/configuration: %s", error)
            return
        section = answer[0] if isinstance(answer, list) and answer else None
        self._use({"tark": section} if section else None)

    def _use(self, client_settings: object) -> None:
        self._client_settings = client_settings
        self.reload()


def policy_of(settings: Settings, *, in_place: bool) -> Policy:
    """`in_place`: the client can review hunks in place."""
    rules = settings.permissions
    allow, ask, deny = (tuple(Rule.parse(text) for text in texts) for texts in (rules.allow, rules.ask, rules.deny))
    no_commands = ""
    required = settings.sandbox == "require" and settings.workspace_trusted is not False
    if settings.workspace_trusted is False:
        no_commands = "the person does not trust this workspace, so no command is run in it"
    elif required:
        no_commands = "the settings require a sandbox, and this command would run without one"
    review = EditReview(settings.edit_review, settings.workspace_trusted, in_place)
    return Policy(
        settings.approval,
        allow,
        ask,
        deny,
        edit_review=review,
        trusted=settings.workspace_trusted is True,
        no_commands=no_commands,
        sandbox_required=required,
    )
