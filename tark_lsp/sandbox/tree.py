"""Finds protected and secret files in a folder, within limits. Unchanged folders are not read again."""

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
"""A folder that changed less than this before it was read is read again: a later change can have the same time."""

INERT = frozenset({"node_modules", ".venv", "venv", "site-packages", "dist-packages", ".tox", ".nox", "target"})
"""Folders with packages, which contain thousands of files like `.github`. Only names in `ON_ENTRY` count there."""

ON_ENTRY = frozenset({".git", ".hg", ".jj", ".svn", ".envrc", "mise.toml", ".mise.toml", ".mise", ".exrc", ".lvimrc"})
"""Names that take effect as soon as a shell, a prompt or an editor enters the folder."""

PAIRS = frozenset(pattern.split("/")[0] for pattern in PROTECTED if "/" in pattern)
"""The first names of patterns with two names. Names in a folder of that name are checked together with the folder."""

BARE = (frozenset({"HEAD", "objects", "refs"}), frozenset({"HEAD", "commondir"}))
"""A folder with one of these sets of names is a repository for git even without a `.git`, and its settings can execute
programs. `commondir` names another folder with the rest (gitrepository-layout(5))."""

OF_BARE = ("HEAD", "commondir", "config", "config.worktree", "hooks")
"""The protected names in such a folder."""


@dataclass(frozen=True, slots=True)
class Found:
    """The state of a protected or secret path. `device`, `inode`, `links`, `link_text`: of the path, not its target.

    `parent`: the inode of its folder. `changed`: its ctime, which no command can set. `leads_to`: the final target of a
    link; None if there is none.
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
        """Whether it is still the path that was there before.

        A command cannot replace a protected path, only a parent folder. So a different file in the same folder was
        saved by a program outside, such as the editor.
        """
        if before.link_text is not None:
            return before.link_text == self.link_text
        # Some network file systems can change the inode numbers of files at any time.
        return self._is_numbered_as(before) or before.changed == self.changed

    def leads_elsewhere(self, before: "Found") -> bool:
        """For a link with the same text: whether its target was replaced, or did not exist."""
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
    """`problem`: why not everything was scanned; empty if it was. `secrets`: files that a command must not read."""

    protected: dict[Path, Found] = field(default_factory=dict)
    secrets: tuple[Path, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Folder:
    """The relevant names in one folder, and its times when it was read."""

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
    """Caches folders between scans, by the time of their last change (ctime, which no program can set)."""

    def __init__(self, most_folders: int = MOST_FOLDERS, most_seconds: float = MOST_SECONDS) -> None:
        self._most_folders = most_folders
        self._most_seconds = most_seconds
        self._known: dict[str, Folder] = {}

    def scan(self, root: Path) -> Scan:
        """Scan everything below `root` without following links. Blocks, so call it in a thread."""
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
                continue  # it was just removed
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
    """The state of a path; None if it does not exist."""
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
    """Paths below `root` that are further hard links to these files. `files`: (device, inode) -> path."""
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            try:
                status = path.lstat()
            except OSError:
                continue
            if files.get((status.st_dev, status.st_ino), path) != path:
                yield path
