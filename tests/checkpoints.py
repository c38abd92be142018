"""Checkpoints in memory, as of a server without a state folder; and what is called where no file may fail."""

from pathlib import Path

from tark_lsp.workspace.checkpoints.checkpoints import Checkpoints
from tark_lsp.workspace.checkpoints.store import CheckpointStore


def checkpoints_in_memory() -> Checkpoints:
    return Checkpoints(CheckpointStore(_nowhere, lambda *_: None))


def unexpected(problem: str, *how: bool) -> None:
    raise AssertionError(problem, how)


def _nowhere() -> Path:
    raise PermissionError("there is no state folder")
