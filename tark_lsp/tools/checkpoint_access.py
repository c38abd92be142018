"""How a turn's commands reach the checkpoints."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported when the first command could be recorded
    from tark_lsp.workspace.checkpoints.commands.command_checkpoints import CommandCheckpoints


@dataclass(frozen=True, slots=True)
class CheckpointAccess:
    """`turn_id`: the turn whose undo takes back what its commands change."""

    commands: "CommandCheckpoints"
    turn_id: str
