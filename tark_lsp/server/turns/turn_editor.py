"""The editor for the tools of one turn (`tools.tool.Editor`). Its questions carry the ids of the turn."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tark_lsp.errors import WorkspaceError
from tark_lsp.server.asking.inputs import Inputs
from tark_lsp.server.documents.client_state import ClientState
from tark_lsp.tools.editor import Diagnostic, Option
from tark_lsp.workspace.files import Workspace

if TYPE_CHECKING:
    from tark_lsp.tools.language_servers import CodeAnswer, CodeQuestion


class TurnEditor:
    def __init__(self, state: ClientState, inputs: Inputs, turn_id: str, session_id: str, workspace: Workspace) -> None:
        self._state = state
        self._workspace = workspace
        self._inputs = inputs
        self._ids = (turn_id, session_id)

    async def read_diagnostics(self, path: Path | None) -> Sequence[Diagnostic]:
        return await self._state.read_diagnostics(path)

    async def ask_user(
        self,
        question: str,
        options: Sequence[Option] = (),
        *,
        multiple: bool = False,
        free_text: bool = True,
        by_model: bool = False,
    ) -> str | list[str] | None:
        return await self._inputs.ask(*self._ids, question, options, multiple, free_text, by_model)

    async def save_documents(self, paths: Sequence[Path]) -> Sequence[Path]:
        return await self._state.save_documents(paths)

    def unsaved_documents(self, folder: Path) -> Sequence[Path]:
        """The unsaved documents, and the files that are changed only in memory."""
        in_memory = [change.path for change in self._workspace.memory_changes() if change.path.is_relative_to(folder)]
        return [*self._state.unsaved_documents(folder), *in_memory]

    async def ask_language_servers(self, question: "CodeQuestion") -> "CodeAnswer | None":
        lines: Sequence[str] = ()
        if question.path is not None:
            with suppress(WorkspaceError):  # the file is gone, so the column does not matter
                lines = self._workspace.read(question.path).lines
        line = lines[question.line - 1] if question.line <= len(lines) else ""
        return await self._state.ask_language_servers(question, line)
