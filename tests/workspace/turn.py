"""An agent that changes files as the server does: records a change, makes it, records the outcome."""

import stat
from dataclasses import dataclass
from pathlib import Path

from tark_lsp.workspace.checkpoints.checkpoints import Checkpoints
from tark_lsp.workspace.checkpoints.turn_undo import UndoResult
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.encoding import decode
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.outcomes import Applied, Outcome
from tark_lsp.workspace.snapshot import Snapshot
from tests.memory import MemoryBuffers


@dataclass
class Turn:
    workspace: Workspace
    buffers: MemoryBuffers
    checkpoints: Checkpoints
    turn_id: str = "t1"

    async def write(self, path: Path, after: str) -> None:
        exists = path.exists() or self.buffers.get(path) is not None
        base = self.workspace.read(path) if exists else Snapshot(path, "", exists=False)
        noted = self.checkpoints.record_edit(self.turn_id, path, base.text if exists else None, after)
        self._settle(noted, await self.workspace.apply(ProposedEdit.between(base, after), "Tark: test"))

    async def move(self, path: Path, target: Path) -> None:
        noted = self.checkpoints.record_move(self.turn_id, path, target)
        self._settle(noted, await self.workspace.move(self.workspace.read(path), target))

    async def remove(self, path: Path) -> None:
        mode = stat.S_IMODE(path.stat().st_mode)
        _, encoding = decode(self.workspace.read_bytes(path))
        data = encoding.encode(self.workspace.read(path).text)  # unsaved text is the user's, too
        noted = self.checkpoints.record_removal(self.turn_id, path, data, mode)
        self._settle(noted, await self.workspace.remove(self.workspace.read(path)))

    async def undo(self) -> UndoResult:
        return await self.checkpoints.undo(self.turn_id, self.workspace)

    def _settle(self, noted: int, outcome: Outcome) -> None:
        assert isinstance(outcome, Applied), outcome
        self.checkpoints.settle_change(noted, outcome)
