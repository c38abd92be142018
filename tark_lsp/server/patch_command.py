"""`tark.patch`: the edits that are kept in memory, as one unified diff."""

from collections.abc import Iterable
from pathlib import Path

from tark_lsp.server.commands import Command
from tark_lsp.server.protocol import command_payloads
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.git_patch import git_patch


class PatchCommand:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def commands(self) -> Iterable[Command]:
        yield Command("tark.patch", command_payloads.Nothing, self.patch)

    async def patch(self, _: command_payloads.Nothing) -> dict[str, str]:
        """Paths start at the top of the repository: `git apply` wants that in every folder of it."""
        parts = []
        for folder in self._workspace.folders:
            changes = [change for change in self._workspace.memory_changes() if change.path.is_relative_to(folder)]
            parts.append(git_patch(changes, _top(folder)))
        return {"patch": "".join(parts)}


def _top(folder: Path) -> Path:
    from tark_lsp.tools.git import repository_of  # only `tark-lsp run --patch` needs it

    return repository_of(folder) or folder
