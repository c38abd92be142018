"""Covers: empty folders at names that a command must not create. With a journal, they are removed even after a kill.

Bubblewrap can mount only on an existing path, so the folder also exists outside while the command runs. A folder that
is not empty, or that another program has replaced, is never removed.
"""

import contextlib
import json
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tark_lsp.processes import is_alive

COVERED = (
    *(".git", ".hg", ".svn", ".jj", ".tark", ".husky", ".githooks"),
    *(
        ".vscode",
        ".idea",
        ".zed",
        ".fleet",
        ".helix",
        ".nvim",
        ".nvimrc",
        ".nvim.lua",
        ".exrc",
        ".vimrc",
        ".devcontainer",
    ),
    *(".envrc", ".mise.toml", ".mise", ".direnvrc", ".cargo", ".gradle", ".mvn"),
    *(".claude", ".codex", ".gemini", ".cursor", ".mcp.json", ".github", ".gitlab", ".circleci"),
)
"""Absent names at the top of a workspace that get a cover, because a shell, an editor, an agent or git would act on
them while the command is still running. All other protected names are found after it has ended, and are moved away
before anything else runs."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One run in the journal: its covers with their inodes, and the protected paths that existed before it."""

    file: Path
    process_id: int
    started: str
    covers: Mapping[Path, int]
    workspace: tuple[Path, ...]
    before: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Recovery:
    """The results from the journal of killed servers: covers that were removed, and runs that were never checked."""

    removed: tuple[Path, ...] = ()
    unfinished: tuple[Entry, ...] = ()


class Journal:
    """A folder with one small file for each run that has not ended."""

    def __init__(self, folder: Path) -> None:
        """The folder is created with the first run, with mode 0700."""
        self._folder = folder

    @contextlib.contextmanager
    def run(
        self, workspace: Sequence[Path], before: Iterable[Path], covered: bool = True
    ) -> Iterator[tuple[Path, ...]]:
        """Create the covers of this run, which exist inside the block. Raises OSError if the journal fails."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = self.new_file("json")
        shared = self._covers_of_others()
        wanted = [folder / name for folder in workspace for name in COVERED] if covered else []
        absent = [path for path in wanted if path in shared or not os.path.lexists(path)]
        # Recorded before they exist, so that a kill between the two steps leaves nothing unknown behind.
        self._write(file, workspace, before, dict.fromkeys(absent, 0))
        made: dict[Path, int] = {}
        try:
            for path in absent:
                with contextlib.suppress(FileExistsError):
                    path.mkdir(mode=0o700)
                made[path] = path.lstat().st_ino
            self._write(file, workspace, before, made)
            yield tuple(made)
        finally:
            self._remove(file, made)

    @contextlib.contextmanager
    def without_run(self) -> Iterator[tuple[Path, ...]]:
        """Create only the folder, for `new_file`. There are no covers. Raises OSError."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        yield ()

    def new_file(self, ending: str) -> Path:
        """A new path in the folder."""
        return self._folder / f"{uuid.uuid4().hex}.{ending}"

    def recover(self) -> Recovery:
        """Remove what killed servers left behind. Call this once when a server starts, before its first run."""
        removed: list[Path] = []
        unfinished: list[Entry] = []
        for entry in self._entries():
            if _runs(entry):
                continue
            removed += self._remove(entry.file, entry.covers)
            unfinished.append(entry)
        if not any(map(_runs, self._entries())):
            for file in self._folder.glob("*.info"):
                file.unlink(missing_ok=True)
        return Recovery(tuple(removed), tuple(unfinished))

    def covers(self) -> frozenset[Path]:
        """The covers of all current runs."""
        return frozenset(self._covers_of_others())

    def _remove(self, file: Path, covers: Mapping[Path, int]) -> list[Path]:
        file.unlink(missing_ok=True)
        shared = self._covers_of_others()
        removed = []
        for path, inode in covers.items():
            # Only empty folders can be removed this way, so no content can be lost.
            with contextlib.suppress(OSError):
                if path not in shared and inode in (0, path.lstat().st_ino):
                    path.rmdir()
                    removed.append(path)
        return removed

    def _covers_of_others(self) -> set[Path]:
        return {path for entry in self._entries() if _runs(entry) for path in entry.covers}

    def _entries(self) -> Iterator[Entry]:
        if not self._folder.is_dir():
            return
        for file in self._folder.glob("*.json"):
            try:
                row = json.loads(file.read_text(encoding="utf-8"))
                covers = {Path(path): int(inode) for path, inode in row["covers"].items()}
                folders, before = (tuple(map(Path, row[key])) for key in ("workspace", "before"))
                yield Entry(file, int(row["process"]), str(row["started"]), covers, folders, before)
            except FileNotFoundError:
                continue  # that run has ended
            except (OSError, ValueError, KeyError, TypeError, AttributeError):
                file.rename(file.with_suffix(".unreadable"))  # kept for inspection; nothing else reads it

    def _write(self, file: Path, workspace: Iterable[Path], before: Iterable[Path], covers: Mapping[Path, int]) -> None:
        row = {
            "process": os.getpid(),
            "started": start_of(os.getpid()),
            "covers": {str(path): inode for path, inode in covers.items()},
            "workspace": [*map(str, workspace)],
            "before": [*map(str, before)],
        }
        unfinished = file.with_suffix(".new")
        unfinished.write_text(json.dumps(row), encoding="utf-8")
        unfinished.rename(file)


def start_of(process_id: int) -> str:
    """When a process started, in ticks since boot; empty if unknown. With its id, this identifies a process."""
    try:
        text = Path(f"/proc/{process_id}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return text.rpartition(")")[2].split()[19]


def _runs(entry: Entry) -> bool:
    return is_alive(entry.process_id) and start_of(entry.process_id) == entry.started
