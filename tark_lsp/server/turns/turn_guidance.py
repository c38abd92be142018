"""What the project's and the user's files add to a turn's system prompt (context/guidance.py)."""

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

if TYPE_CHECKING:  # not needed before the first turn, so the start does not wait for it
    from tark_lsp.context.guidance import Guidance
    from tark_lsp.context.memory import Memory


class TurnGuidance:
    """One per server, so that the user is told each problem once."""

    def __init__(self) -> None:
        self._reported: set[str] = set()

    def find_guidance(
        self, session: Session, workspace: Workspace, document: Path | None, files: Sequence[Path], rules: Policy
    ) -> "Guidance":
        """`files`: those that came up in the session; they decide which rules apply. A rule that the model read once
        stays.

        The notes about the workspace are those from the start of the session: a prompt that stays the same is cached.
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
        """The problems that this did not return before."""
        new = [problem for problem in guidance.problems if problem not in self._reported]
        self._reported.update(new)
        return new


def memory_of(workspace: Workspace) -> "Memory | None":
    """None if no folder is open, since a memory belongs to one."""
    from tark_lsp.context.memory import Memory

    return Memory(workspace, state_folder) if workspace.folders else None


def files_of(request: incoming.StartTurn) -> list[Path]:
    """The files that the request's context names, resolved."""
    paths = [path_from_uri(part.uri) for part in request.context if isinstance(part, incoming.FileContext)]
    return [Path(os.path.realpath(path)) for path in paths if path is not None]
