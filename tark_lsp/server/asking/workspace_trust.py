"""Finds out whether the user trusts the folders of a workspace, and asks.

The editor's own answer (`workspaceTrusted`) wins. Otherwise, trusted folders are stored. The user is asked once about
other folders, when something would first run without asking because of trust. *Not Now* lasts until the server ends.
"""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from tark_lsp.permissions import TRUST_ANSWERS
from tark_lsp.permissions.store import PermissionStore, PermissionsUnusable
from tark_lsp.server.asking.inputs import Inputs
from tark_lsp.server.asking.questions import WARNING, Questions
from tark_lsp.settings import Settings
from tark_lsp.tools.editor import Option
from tark_lsp.visible import visible

MEANS = (
    "Then your hooks and approved MCP servers can run, and commands run in the sandbox without a question, if your "
    "approval level or a rule of yours allows it."
)
NAMED = 3
"""The number of folders that are named; further folders are only counted."""


class WorkspaceTrust:
    def __init__(
        self,
        settings: Callable[[], Settings],
        store: PermissionStore,
        questions: Questions,
        inputs: Inputs | None = None,
    ) -> None:
        """`inputs`: the client asks in its own way. None: a message asks, and no answer means *Not Now*."""
        self._settings = settings
        self._store = store
        self._questions = questions
        self._inputs = inputs
        self.changed = store.changed
        self._not_now: set[frozenset[Path]] = set()
        self._one_question = asyncio.Lock()

    def is_trusted(self, folders: Sequence[Path]) -> bool:
        """Nothing is trusted if there are no folders."""
        trusted = self._settings().workspace_trusted
        return trusted if trusted is not None else self._store.is_trusted(folders)

    def can_ask(self, folders: Sequence[Path]) -> bool:
        is_open = bool(folders) and frozenset(folders) not in self._not_now
        return is_open and self._settings().workspace_trusted is None and not self._store.is_trusted(folders)

    def trust(self, folders: Sequence[Path]) -> bool:
        """Trust the folders, unless the editor says that the user does not. Returns whether they are trusted."""
        if self._settings().workspace_trusted is None:
            self._keep(folders)
        return self.is_trusted(folders)

    async def ask(self, folders: Sequence[Path], turn_id: str, session_id: str) -> bool:
        """Whether they are trusted. Asks the user once; a cancelled question is asked again later."""
        async with self._one_question:  # two turns can need it at the same time
            if self.can_ask(folders):
                if await self._is_answered_by_trust(_question(folders), turn_id, session_id):
                    self._keep(folders)
                else:
                    self._not_now.add(frozenset(folders))
            return self.is_trusted(folders)

    async def _is_answered_by_trust(self, question: str, turn_id: str, session_id: str) -> bool:
        if self._inputs is None:
            title = await self._questions.ask(f"Tark: {question}", list(TRUST_ANSWERS.values()), level=WARNING)
            return title == TRUST_ANSWERS["trust"]
        options = tuple(Option(*answer) for answer in TRUST_ANSWERS.items())
        return await self._inputs.ask(turn_id, session_id, question, options, False, False) == ["trust"]

    def _keep(self, folders: Sequence[Path]) -> None:
        try:
            for folder in folders:
                self._store.add(folder)
        except PermissionsUnusable as error:
            self._not_now.add(frozenset(folders))
            self._questions.warn(f"Tark: your trust cannot be stored: {error.message}. So every command asks")


def _question(folders: Sequence[Path]) -> str:
    named = " and ".join(visible(str(folder)) for folder in folders[:NAMED])
    more = f" and {len(folders) - NAMED} more" if len(folders) > NAMED else ""
    return f"do you trust {named}{more}? {MEANS}"
