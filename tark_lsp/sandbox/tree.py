"""Finds protected and secret files in a folder, within limits. What did not change since is not read again."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePath

from tark_lsp.secrets.file_names import is_secret, kind_of
from tark_lsp.workspace.protected import PROTECTED, is_protected_path, plain_name

MOST_FOLDERS = 60_000
MOST_SECONDS = 20.0

UNSURE_NANOSECONDS = 100_000_000
"""A folder that changed so shortly before it was read is read again: a later change can have the same time."""

INERT = frozenset({"node_modules", ".venv", "venv", "site-packages", "dist-packages", ".tox", ".nox", "target"})
"""In these folders, packages bring files like `.github` by the thousand. Only names of `ON_ENTRY` count there."""

ON_ENTRY = frozenset({".git", ".hg", ".jj", ".svn", ".envrc", "mise.toml", ".mise.toml", ".mise", ".exrc", ".lvimrc"})
"""What acts as soon as a shell, a prompt or an editor enters the folder."""

PAIRS = frozenset(pattern.split("/")[0] for pattern in PROTECTED if "/" in pattern)
"""First names of patterns with two: what is below a folder of that name is looked up with its parent."""

BARE = (frozenset({"HEAD", "objects", "refs"}), frozenset({"HEAD", "commondir"}))
"""A folder with one of these sets is a repository for git without any `.git`, and its settings execute. `commondir`
names another folder, which has the rest (gitrepository-layout(5))."""

OF_BARE = ("HEAD", "commondir", "config", "config.worktree", "hooks")
"""What of such a folder is protected."""


@dataclass(frozen=True, slots=True)
class Found:
    """A protected or secret path as it was. `device`, `inode`, `links`, `link_text`: of the path, not its target.

    `parent`: the inode of the folder that it is in. `changed`: its ctime, which no command can set. `leads_to`: of a
    link, what is there in the end, as of a file; None if there is nothing.
    """

    path: Path
    is_folder: bool
    device: int
    inode: int
    links: int
    link_text: str | None = None
    parent: int = 0
    changed: int = 0
    leads_to: "Found | None" = None

    def is_still(self, before: "Found") -> bool:
        """Whether it is what was there before, at the same path. A command cannot replace a protected path, only a
        folder above it. If another file is in the same folder, a program outside saved it, such as your editor."""
        if before.link_text is not None:
            return before.link_text == self.link_text
        # Some file systems of networks give files other numbers at any time.
        return self._is_numbered_as(before) or before.changed == self.changed

    def leads_elsewhere(self, before: "Found") -> bool:
        """Of a link with the same text: whether what it leads to was replaced, or was not there."""
        now, then = self.leads_to, before.leads_to
        if now is None or then is None:
            return now is not then
        return now.path != then.path or not now._is_numbered_as(then)

    def _is_numbered_as(self, before: "Found") -> bool:
        """Whether it is the same file, or another one in the same folder."""
        same = (before.device, before.inode) == (self.device, self.inode)
        return same or (before.device, before.parent) == (self.device, self.parent)


@dataclass(frozen=True, slots=True)
class Scan:
    """`problem`: why not everything was seen; empty if it was. `secrets`: files that a command cannot read."""

    protected: dict[Path, Found] = field(default_factory=dict)
    secrets: tuple[Path, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Folder:
    """What is in one folder, and its times when it was read."""

    inode: int
    changed: int
    read_at: int
    folders: tuple[str, ...]
    protected: tuple[str, ...]
    secrets: tuple[str, ...]

    @property
    def is_sure(self) -> bool:
        return self.read_at - self.changed > UNSURE_NANOSECONDS


class TreeReader:
    """Remembers folders between scans, by the time of their last change (ctime, which no program can set)."""

    def __init__(self, most_folders: int = MOST_FOLDERS, most_seconds: float = MOST_SECONDS) -> None:
        self._most_folders = most_folders
        self._most_seconds = most_seconds
        self._known: dict[str, Folder] = {}

    def scan(self, root: Path) -> Scan:
        """Everything below `root`; links are not followed. Blocks: call it in a thread."""
        deadline = time.monotonic() + self._most_seconds
        protected: dict[Path, Found] = {}
        secrets: list[Path] = []
        seen: dict[str, Folder] = {}
        waiting = [(str(root), False)]
        problem = ""
        while waiting:
            path, inert = waiting.pop()
            if len(seen) >= self._most_folders or time.monotonic() > deadline:
                problem = f"{root} has too many folders to look through ({len(seen)} within {self._most_seconds:g} s)"
                break
            try:
                folder = self._folder(path, root)
            except FileNotFoundError:
                continue  # removed meanwhile
            except OSError as error:
                problem = f"{path} cannot be read: {error.strerror}"
                continue
            seen[path] = folder
            for name in folder.protected:
                if not inert or plain_name(name) in ON_ENTRY or name in OF_BARE:
                    found = found_at(Path(path, name))
                    if found is not None:
                        protected[found.path] = found
            secrets += (Path(path, name) for name in folder.secrets)
            waiting += ((os.path.join(path, name), inert or name in INERT) for name in folder.folders)  # noqa: PTH118  # a third of the time
        beginning = str(root).rstrip(os.sep) + os.sep
        self._known = {path: one for path, one in self._known.items() if not path.startswith(beginning)} | seen
        return Scan(protected, tuple(secrets), problem)

    def _folder(self, path: str, root: Path) -> Folder:
        status = os.lstat(path)  # called for each folder
        known = self._known.get(path)
        if known and (known.inode, known.changed) == (status.st_ino, status.st_ctime_ns) and known.is_sure:
            return known
        read_at = time.time_ns()
        relative = PurePath(path).relative_to(root)
        pair = plain_name(relative.name) in PAIRS
        folders, protected, secrets, names = [], [], [], set()
        with os.scandir(path) as entries:
            for entry in entries:
                name = entry.name
                names.add(name)
                if _is_protected_name(name) or (pair and is_protected_path(PurePath(relative.name, name))):
                    protected.append(name)
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(name)
                elif kind_of(name) and is_secret(relative / name):
                    secrets.append(name)
        if any(names >= some for some in BARE):
            protected += [name for name in OF_BARE if name in names]
        return Folder(status.st_ino, status.st_ctime_ns, read_at, tuple(folders), tuple(protected), tuple(secrets))


@cache
def _is_protected_name(name: str) -> bool:
    return is_protected_path(PurePath(name))


def found_at(path: Path) -> Found | None:
    """None if it is gone."""
    try:
        status = path.lstat()
        text = str(path.readlink()) if path.is_symlink() else None
        parent = path.parent.lstat().st_ino
    except OSError:
        return None
    is_folder = path.is_dir() and text is None
    leads_to = found_at(Path(os.path.realpath(path))) if text is not None and path.exists() else None
    numbers = (status.st_dev, status.st_ino, status.st_nlink)
    return Found(path, is_folder, *numbers, text, parent, status.st_ctime_ns, leads_to)


def other_names(root: Path, files: dict[tuple[int, int], Path]) -> Iterator[Path]:
    """Paths below `root` that are further names (hard links) of these files: (device, inode) -> path."""
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            try:
                status = path.lstat()
            except OSError:
                continue
            if files.get((status.st_dev, status.st_ino), path) != path:
                yield path
