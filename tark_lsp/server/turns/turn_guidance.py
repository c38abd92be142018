"""The parts of a turn's system prompt from files of the project and the user (context/guidance.py)."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tark_lsp.agent.approval import Policy, is_read_denied
from tark_lsp.agent.session import Session
from tark_lsp.folders import state_folder, user_config_path
from tark_lsp.server.protocol import incoming
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.uris import path_from_uri

if TYPE_CHECKING:  # loaded with the first turn, so that the start does not wait for it
    from tark_lsp.context.guidance import Guidance
    from tark_lsp.context.memory import Memory


class TurnGuidance:
    """There is one per server, so that each problem is reported only once."""

    def __init__(self) -> None:
        self._reported: set[str] = set()

    def find_guidance(
        self, session: Session, workspace: Workspace, document: Path | None, files: Sequence[Path], rules: Policy
    ) -> "Guidance":
        """`files`: the files that came up in the session. They determine the rules that apply, so a rule that applied
        once stays.

        The notes about the workspace are from the start of the session, so that the prompt stays the same and cached.
        """
        from tark_lsp.context.guidance import find_guidance
        from tark_lsp.context.memory import memory_part
        from tark_lsp.context.sources import Sources

        sources = Sources(workspace, user_config_path().parent, lambda path: is_read_denied(path, rules, workspace))
        memory = memory_of(workspace)
        if memory is None:
            return find_guidance(sources, document, files, ())
        folder = workspace.folders[0]
        if folder not in session.memory:
            part, problem = memory_part(memory)
            session.memory[folder] = () if part is None else (part,)
            sources.problems += [problem] if problem else []
        return find_guidance(sources, document, files, session.memory[folder])

    def new_problems(self, guidance: "Guidance") -> list[str]:
        """The problems that were not returned before."""
        new = [problem for problem in guidance.problems if problem not in self._reported]
        self._reported.update(new)
        return new


def memory_of(workspace: Workspace) -> "Memory | None":
    """The memory; None if no folder is open, because a memory belongs to a folder."""
    from tark_lsp.context.memory import Memory

    return Memory(workspace, state_folder) if workspace.folders else None


def files_of(request: incoming.StartTurn) -> list[Path]:
    """The files that the request's context names, resolved."""
    paths = [path_from_uri(part.uri) for part in request.context if isinstance(part, incoming.FileContext)]
    return [Path(os.path.realpath(path)) for path in paths if path is not None]
