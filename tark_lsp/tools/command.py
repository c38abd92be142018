"""Command: what a call would run, where, and what it gets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Command:
    """A command exactly as it will be executed.

    `parts`: the words of each simple command, as bash reads them; empty if the text is not certain, and `unclear` says
    why. `confined`: in the sandbox. `reads_only`: in a sandbox that cannot write to the workspace. `reading_parts`: the
    numbers of the parts that only read. `needs_trust`: even if it only reads, it starts a program of the workspace, or
    git, which takes settings from it; such parts are not in `reading_parts`. `network` and `writable`: what it gets in
    the sandbox beyond the workspace. `cwd_id`: device and inode of the folder, so that it runs in no other folder that
    is at this path meanwhile. `checkpoint`: why undo could not take back what it changes; empty if it can, or if it
    changes nothing.
    """

    argv: tuple[str, ...]
    text: str
    cwd: Path
    env: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: float = 120.0
    parts: tuple[tuple[str, ...], ...] = ()
    unclear: str = ""
    confined: bool = False
    reads_only: bool = False
    reading_parts: frozenset[int] = frozenset()
    needs_trust: bool = False
    network: bool = False
    writable: tuple[Path, ...] = ()
    cwd_id: str = ""
    checkpoint: str = ""

    @property
    def beyond(self) -> str:
        """What it gets beyond the workspace, to follow a description of the command. Empty: nothing."""
        network = ["the network"] if self.network else []
        needs = [*network, *(f"write access to {path}" for path in self.writable)]
        return f", with {' and '.join(needs)}" if needs else ""
