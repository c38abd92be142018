"""The settings as they are now: read from all their layers, anew when one changes, and what of them is wrong."""

import logging
import os
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from tark_lsp.folders import keys_folder, user_config_path, workspace_config_path
from tark_lsp.llm.client import Models
from tark_lsp.llm.keys.logins import Logins
from tark_lsp.llm.keys.store import KeyStore
from tark_lsp.server.asking.questions import WARNING, Questions
from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.server.provider_override import overrides, scenario_of
from tark_lsp.settings import Settings, load_settings

log = logging.getLogger(__name__)


class Configuration:
    """`settings`, and the `models` they give; `problems` are sentences for people."""

    def __init__(
        self,
        connection: Connection,
        questions: Questions,
        folders: Callable[[], Sequence[Path]],
        soon: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        """`folders()`: those of the workspace, which may have settings of their own. `soon(work)`: begins it."""
        self._connection = connection
        self._questions = questions
        self._folders = folders
        self._keys = KeyStore(keys_folder())
        self._said: object = None
        """By the client, in `workspace/didChangeConfiguration` or when it was asked."""
        self._told: set[str] = set()
        self._closing: list[Models] = []
        self._soon = soon
        self.settings = Settings()
        self.models = Models(keys=self._keys)
        self.problems: Sequence[str] = ()

    def load(self) -> None:
        client, before = self._connection.client, self.settings
        self.settings, self.problems = load_settings(
            user_file=user_config_path(),
            environ=os.environ,
            initialization=client.initialization_options,
            configuration=self._said,
            trusted_client=client.understands("userSettings"),
            workspace_files=[workspace_config_path(folder) for folder in self._folders()],
        )
        logging.getLogger("tark_lsp").setLevel(self.settings.log_level.upper())
        if self.settings.providers != before.providers:
            self._closing.append(self.models)  # turns that run may still be using them
            self.models = Models(overrides(self.settings), scenario=scenario_of(self.settings), keys=self._keys)

    def load_and_tell(self) -> None:
        self.load()
        self.tell_problems()

    def tell_problems(self) -> None:
        """Each once."""
        for problem in self.problems:
            if problem not in self._told:
                self._told.add(problem)
                self._questions.tell(f"Tark: {problem}", level=WARNING)

    def changed(self, params: dict[str, Any]) -> None:
        """`workspace/didChangeConfiguration`: what it says, or that the client is to be asked."""
        settings = params.get("settings")
        if settings.get("tark") if isinstance(settings, dict) and "tark" in settings else settings:
            self._hear(settings)
        else:
            self.fetch()

    def fetch(self) -> None:
        """Ask the client, behind what goes on."""
        self._soon(self._fetch())

    def logins(self) -> Logins:
        return Logins(overrides(self.settings), os.environ, self._keys)

    async def aclose(self) -> None:
        for models in (*self._closing, self.models):
            await models.aclose()

    async def _fetch(self) -> None:
        """What the client then says is its layer whole, and so is nothing."""
        if not self._connection.client.has("workspace.configuration"):
            self._hear(None)
            return
        try:
            answer = await self._connection.request("workspace/configuration", {"items": [{"section": "tark"}]})
        except RequestFailed as error:
            log.warning("workspace/configuration: %s", error)
            return
        said = answer[0] if isinstance(answer, list) and answer else None
        self._hear({"tark": said} if said else None)

    def _hear(self, said: object) -> None:
        self._said = said
        self.load_and_tell()
