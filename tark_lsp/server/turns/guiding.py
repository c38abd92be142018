"""What the files of the project and the person's own tell a turn (context/guidance.py), and which problems are news."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tark_lsp.agent.approval import Policy, closed
from tark_lsp.agent.session import Session
from tark_lsp.folders import state_folder, user_config_path
from tark_lsp.server import protocol
from tark_lsp.server.documents.uris import path_from_uri
from tark_lsp.workspace.files import Workspace

if TYPE_CHECKING:  # not needed before the first turn, and a start should not wait for it
    from tark_lsp.context.guidance import Guidance
    from tark_lsp.context.memory import Memory


class Guiding:
    """One per server: a problem is said to the person once."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def find(
        self, session: Session, workspace: Workspace, document: Path | None, files: Sequence[Path], rules: Policy
    ) -> "Guidance":
        """`files`: those that came up in the session, by which rules apply; what the model read once stays one.

        The notes about the workspace are those of when the session began: a prompt that stays is a cached one.
        """
        from tark_lsp.context.guidance import find_guidance
        from tark_lsp.context.memory import memory_part
        from tark_lsp.context.sources import Sources

        sources = Sources(workspace, user_config_path().parent, lambda path: closed(path, rules, workspace))
        memory = memory_of(workspace)
        if memory is None:
            return find_guidance(sources, document, files, ())
        folder = workspace.folders[0]
        if folder not in session.memory:
            part, problem = memory_part(memory)
            session.memory[folder] = () if part is None else (part,)
            sources.problems += [problem] if problem else []
        return find_guidance(sources, document, files, session.memory[folder])

    def news(self, guidance: "Guidance") -> list[str]:
        """The problems that were not said yet; they are, from now on."""
        news = [problem for problem in guidance.problems if problem not in self._told]
        self._told.update(news)
        return news


def memory_of(workspace: Workspace) -> "Memory | None":
    """None: no folder is open that it could be about."""
    from tark_lsp.context.memory import Memory

    return Memory(workspace, state_folder) if workspace.folders else None


def files_of(request: protocol.StartTurn) -> list[Path]:
    """Those the request's context names, resolved."""
    paths = [path_from_uri(each.uri) for each in request.context if isinstance(each, protocol.FileContext)]
    return [Path(os.path.realpath(path)) for path in paths if path is not None]
