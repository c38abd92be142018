"""`Command`: what a call runs, where, and with which access."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Command:
    """A command exactly as it will be executed.

    - `parts`: the words of each simple command as bash reads them; empty if they are not certain. Then `unclear` says
      why.
    - `confined`: it runs in the sandbox.
    - `reads_only`: it runs in a sandbox that cannot write to the workspace.
    - `reading_parts`: the indices of the parts that only read.
    - `needs_trust`: even if it only reads, it starts a program of the workspace, or git, which takes settings from the
      workspace. Such parts are not in `reading_parts`.
    - `network`, `writable`: its access in the sandbox beyond the workspace.
    - `cwd_id`: device and inode of the folder, so that it does not run in another folder that has replaced it.
    - `checkpoint`: why undo cannot revert its changes; empty if it can, or if there are none.
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
        """A clause with its access beyond the workspace, to append to a description; empty if there is none."""
        network = ["the network"] if self.network else []
        needs = [*network, *(f"write access to {path}" for path in self.writable)]
        return f", with {' and '.join(needs)}" if needs else ""
