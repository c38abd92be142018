"""The code index of the open folders: runs if it is needed, the workspace is trusted and the settings allow it.

Its modules are imported, and its process is started, only when something needs it (docs/index.md, "When it runs").
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from tark_lsp.errors import ToolError
from tark_lsp.index.code_index import CodeIndex, NoIndex
from tark_lsp.index.status import IndexState, IndexStatus
from tark_lsp.listeners import Listeners
from tark_lsp.server.asking.workspace_trust import WorkspaceTrust
from tark_lsp.server.background import BackgroundTasks
from tark_lsp.server.configuration import Configuration
from tark_lsp.server.indexing.rules import IndexRules
from tark_lsp.server.indexing.running_index import RunningIndex
from tark_lsp.server.indexing.why_not import WhyNot, why_not_indexed
from tark_lsp.settings import Settings
from tark_lsp.workspace.files import Workspace

if TYPE_CHECKING:  # imported only when an index runs
    from tark_lsp.index.model import Found
    from tark_lsp.index.questions import Question

log = logging.getLogger(__name__)

T = TypeVar("T")
WithVector: TypeAlias = "Callable[[Question[Any]], Awaitable[tuple[Question[Any], str]]]"
"""Adds the vector of its query to a search. Returns the question, and a note if the vector cannot be computed."""


class WorkspaceIndex:
    """A CodeIndex. These attributes have listeners:

    - `running`: gets the client after it was started, and None when it is closed.
    - `shown`: gets each new status.
    - `rules_changed`: the results of `allows` can have changed.

    Before each question, `before_asking` is called, then `with_vector`.
    """

    def __init__(
        self,
        workspace: Workspace,
        open_folders: Callable[[], Sequence[Path]],
        configuration: Configuration,
        trust: WorkspaceTrust,
        background: BackgroundTasks,
    ) -> None:
        self._workspace = workspace
        self._open_folders = open_folders
        self._configuration = configuration
        self._trust = trust
        self._background = background
        self._needed = self._ended = False
        self.process = RunningIndex(
            self._wanted, self._may_index, lambda: configuration.settings.index.max_megabytes * 1_000_000
        )
        self._rules = IndexRules(configuration.policy(), workspace)
        self._known: tuple[Settings, Sequence[Path]] | None = None
        self.before_asking: Callable[[], None] = lambda: None
        self.with_vector: WithVector = _without_vector
        self.running = self.process.changed
        self.shown = self.process.shown
        self.rules_changed: Listeners[None] = Listeners()

    def of_turn(self, workspace: Workspace) -> CodeIndex:
        """Return the index for a turn that begins now in this workspace."""
        if workspace is not self._workspace:
            return NoIndex("no folder is open in the editor")
        self.need()
        if self.process.client is not None:
            self.process.client.rescan()
        return self

    def need(self) -> None:
        """Start the index if possible: a question will probably follow soon."""
        self._needed = True
        self.look_again()

    def look_again(self) -> None:
        """Start or end the index if a change of trust, settings or folders requires it."""
        if self._needed and not self._ended:
            self._background.start(self._switch())

    def settings_changed(self) -> None:
        """Apply settings that were loaded again, perhaps because folders were opened or closed."""
        known = (self._configuration.settings, self._workspace.folders)
        if known == self._known:
            return
        self._known = known
        self._rules = IndexRules(self._configuration.policy(), self._workspace)
        self.rules_changed.emit(None)
        if self.process.client is not None:
            self.process.client.rules_changed()
        self.look_again()

    def why_not(self) -> WhyNot | None:
        """The reason why no index can run now; None if one can."""
        return why_not_indexed(self._open_folders(), self._configuration.settings, self._trust.is_trusted)

    def allows(self, path: Path) -> bool:
        """Whether the index may have this file, and answers may name it."""
        return self._rules.allows(path)

    async def status(self) -> IndexStatus:
        if (why := self.why_not()) is not None:
            return IndexStatus(IndexState.OFF, reason=str(why))
        return self.process.last_status if self.process.client is None else await self.process.client.status()

    async def ask(self, question: "Question[T]") -> "Found[T]":
        self._needed = True
        await self._switch()
        client = self.process.client
        if client is None:
            return await NoIndex(self._reason()).ask(question)
        self.before_asking()
        asked, note = await self.with_vector(question)
        found: Found[T] = await client.ask(asked)
        if note:
            found = replace(found, notes=(*found.notes, note))
        return replace(found, items=[item for item in found.items if self.allows(path_of(item))])

    async def rebuild(self) -> None:
        """Raises ToolError if there is no index."""
        self._needed = True
        await self._switch()
        if self.process.client is None:
            raise ToolError("unsupported", str(self.why_not() or self._reason()))
        await self.process.client.rebuild()

    async def close(self) -> None:
        self._ended = True
        await self._switch()

    def _reason(self) -> str:
        """A clause that says why no client runs although one is needed."""
        if self._ended:
            return "the server ends"
        why = self.why_not()
        return why.reason if why is not None else self.process.last_status.reason

    async def _switch(self) -> None:
        await self.process.switch(quietly=self._ended)  # a client that shuts down the server gets no more

    def _wanted(self) -> tuple[Path, ...]:
        return () if self._ended or self.why_not() is not None else tuple(self._open_folders())

    def _may_index(self, paths: Sequence[Path]) -> Sequence[bool]:
        """Check trust again, too: if another process has revoked it, the index ends at the next file."""
        if self.why_not() is not None:
            self.look_again()
            return [False] * len(paths)
        return self._rules.allow_each(paths)


async def _without_vector(question: "Question[Any]") -> "tuple[Question[Any], str]":
    return question, ""


def path_of(item: object) -> Path:
    """The file of an answer's item. Raises TypeError if it has none, because then no rule can be checked."""
    path = getattr(item, "path", None)
    if not isinstance(path, Path):
        raise TypeError(f"{type(item).__name__} names no file")
    return path
