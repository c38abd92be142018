"""Commands whose changes are recorded in a turn: run in a plain shell, undone, done again; and a picture of a tree."""

import asyncio
import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tark_lsp.tools.command_checkpoint import list_not_ignored
from tark_lsp.workspace.checkpoints.checkpoints import Checkpoints
from tark_lsp.workspace.checkpoints.commands.command_checkpoints import CommandCheckpoints
from tark_lsp.workspace.checkpoints.store import CheckpointStore
from tark_lsp.workspace.checkpoints.turn_undo import UndoResult
from tark_lsp.workspace.file_state import FileChange
from tark_lsp.workspace.files import Workspace
from tests.checkpoints import unexpected
from tests.memory import MemoryBuffers

GIT = shutil.which("git")
TURN = "turn-1"
Picture = dict[str, tuple[object, ...]]


@dataclass
class CommandBench:
    """`restart` makes everything again on the same state folder, as a new server does."""

    root: Path
    state: Path
    folders: list[Path] = field(default_factory=list)
    buffers: MemoryBuffers = field(default_factory=MemoryBuffers)

    def __post_init__(self) -> None:
        self.folders = self.folders or [self.root]
        for folder in (*self.folders, self.state):
            folder.mkdir(parents=True, exist_ok=True)
        self.restart()

    def restart(self) -> None:
        store = CheckpointStore(lambda: self.state / "checkpoints.sqlite3", unexpected)
        self.checkpoints = Checkpoints(
            store, lambda _: ("a turn", self.folders), lambda: self.state / "checkpoint-copies"
        )
        self.commands = CommandCheckpoints(self.checkpoints, lambda: self.state / "running-commands", list_not_ignored)
        self.workspace = Workspace(self.folders, self.buffers)

    def git(self, *arguments: str, cwd: Path | None = None) -> None:
        assert GIT is not None
        own = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
        env = {"PATH": os.environ["PATH"], "HOME": str(self.state), "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run([GIT, *own, *arguments], cwd=cwd or self.root, env=env, check=True, capture_output=True)

    def write(self, name: str, data: bytes | str = b"", mode: int = 0o644) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        path.chmod(mode)
        return path

    async def run(self, script: str, meanwhile: Callable[[], object] = lambda: None) -> list[FileChange]:
        running = await self.commands.begin(TURN, self.folders)
        await self.shell(script)
        meanwhile()
        return await self.commands.finish(running)

    async def shell(self, script: str) -> None:
        argv = ["/bin/bash", "-c", script]
        done = await asyncio.to_thread(subprocess.run, argv, cwd=self.root, check=False, capture_output=True)
        assert not done.stderr, done.stderr

    async def undo(self) -> UndoResult:
        return await self.checkpoints.undo(TURN, self.workspace)

    async def redo(self) -> UndoResult:
        return await self.checkpoints.redo(TURN, self.workspace)

    async def copied(self) -> set[bytes]:
        """What a command that changes nothing copies."""
        shutil.rmtree(self.state / "checkpoint-copies", ignore_errors=True)
        self.restart()
        await self.run("true")
        return {path.read_bytes() for path in (self.state / "checkpoint-copies").glob("*")}


def picture(*roots: Path) -> Picture:
    """Each path but those of `.git`: a file with its bytes and mode, a link with its target, a folder with its mode."""
    found: Picture = {}
    for root in roots:
        for path in sorted(root.rglob("*")):
            if ".git" in path.relative_to(root).parts:
                continue
            status = path.lstat()
            if stat.S_ISLNK(status.st_mode):
                found[str(path)] = ("link", str(path.readlink()))
            elif stat.S_ISDIR(status.st_mode):
                found[str(path)] = ("folder", stat.S_IMODE(status.st_mode))
            elif stat.S_ISREG(status.st_mode):
                found[str(path)] = ("file", stat.S_IMODE(status.st_mode), path.read_bytes())
    return found
