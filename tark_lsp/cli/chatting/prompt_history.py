"""The earlier prompts of all conversations, in a file of the state folder that only the user can read."""

import os
from pathlib import Path

from prompt_toolkit.history import FileHistory

MAX_KEPT = 10_000
"""Characters. The Up key does not bring back a longer prompt."""
MAX_FILE_BYTES = 2_000_000
"""Bytes. If the file is larger, only its last half of this size is kept."""


def open_history(folder: Path) -> "PromptHistory":
    """Opens the file in `folder`, and creates it with mode 0600 if it is missing. Raises OSError."""
    path = folder / "prompts.history"
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    path.chmod(0o600)
    if path.stat().st_size > MAX_FILE_BYTES:
        kept = path.read_bytes()[-MAX_FILE_BYTES // 2 :]
        path.write_bytes(kept[kept.find(b"\n\n") + 1 :])
    return PromptHistory(str(path))


class PromptHistory(FileHistory):
    """A prompt that cannot be stored is remembered until the end of this conversation."""

    def store_string(self, string: str) -> None:
        if len(string) > MAX_KEPT:
            return
        try:
            super().store_string(string)
        except OSError:
            return  # a full disk or a read-only home: `History` keeps it in memory
