"""Earlier prompts of all conversations, in a file of the state folder that nobody else can read."""

import os
from pathlib import Path

from prompt_toolkit.history import FileHistory

LONGEST_KEPT = 10_000
"""Characters; a longer prompt is not brought up again by the Up key."""
LARGEST_FILE = 2_000_000
"""Bytes; a larger file is begun anew, with its second half."""


def open_history(folder: Path) -> "PromptHistory":
    """The file in this folder, made 0600 where it is missing. Raises OSError."""
    path = folder / "prompts.history"
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    path.chmod(0o600)
    if path.stat().st_size > LARGEST_FILE:
        kept = path.read_bytes()[-LARGEST_FILE // 2 :]
        path.write_bytes(kept[kept.find(b"\n\n") + 1 :])
    return PromptHistory(str(path))


class PromptHistory(FileHistory):
    """A prompt that cannot be stored is remembered until the end of this conversation, which loses nothing else."""

    def store_string(self, string: str) -> None:
        if len(string) > LONGEST_KEPT:
            return
        try:
            super().store_string(string)
        except OSError:
            return  # a full disk or a home that cannot be written: History has it in memory
