"""`CheckpointAccess`: gives the commands of a turn access to the checkpoints."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported only with the first command that can be recorded
    from tark_lsp.workspace.checkpoints.commands.command_checkpoints import CommandCheckpoints


@dataclass(frozen=True, slots=True)
class CheckpointAccess:
    """`turn_id`: the turn whose undo reverts the changes of its commands."""

    commands: "CommandCheckpoints"
    turn_id: str
