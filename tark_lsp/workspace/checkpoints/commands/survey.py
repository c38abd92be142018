"""A survey of the workspace before or after a command: links, folders, and all files that Git does not ignore."""

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha1
from pathlib import Path, PurePath

from tark_lsp.workspace.checkpoints.commands.copies import Copies
from tark_lsp.workspace.checkpoints.commands.entries import Entry, entry_at, entry_of, is_folder, is_sure, stamp_of
from tark_lsp.workspace.checkpoints.commands.git_objects import LARGEST_BLOB
from tark_lsp.workspace.checkpoints.commands.git_repositories import Repositories, Repository, folders_with_git
from tark_lsp.workspace.disk.hashing import PIECE, opened
from tark_lsp.workspace.file_state import StateKind, kind_of
from tark_lsp.workspace.protected import is_protected_path

MOST_FILES = 100_000
MOST_BYTES = 200_000_000
"""Limit for files that Git cannot restore."""
CACHE = f"{os.sep}__pycache__{os.sep}"
"""Python creates such a folder beside modules that it imports, also in a project without a .gitignore."""
TRIES = 3
GIT = "git:"


class CannotCheckpoint(Exception):
    """The changes of a command could not be undone. The text says why, for the user: "its folders have ..."."""


@dataclass(slots=True)
class Survey:
    """`entries` by absolute path. `repositories`: the nearest repository above each tracked file, by its path."""

    entries: dict[str, Entry]
    repositories: list[Repository] = field(default_factory=list)

    @property
    def stores(self) -> tuple[Path, ...]:
        """Where the blobs of the entries are: object folders of Git."""
        return tuple(dict.fromkeys(store for one in self.repositories for store in one.objects.stores))


class Surveyor:
    """Remembers what it read until a file changes. Its methods block; for one thread at a time."""

    def __init__(self, copies: Copies) -> None:
        self._copies = copies
        self._repositories = Repositories()
        self._known: dict[str, Entry] = {}
        """The entries whose stamps are sure, each with what is known about its content."""

    def survey(self, folders: Sequence[Path], listed: Sequence[str], granted: Sequence[Path] = ()) -> Survey:
        """`listed`: the files below the folders that are not ignored. `granted`: see `CommandCheckpoints.why_not`.

        A file of an earlier survey is included, even if a command made Git ignore it since.
        """
        tops = [str(folder) for folder in folders]
        files = {*(path for path in listed if CACHE not in path), *_below(self._known, tops)}
        found: dict[str, Entry] = {}
        repositories: dict[str, Repository] = {}
        waiting, seen = [path for folder in folders for path in folders_with_git(folder)], set[str]()
        above = {*tops, *_parents(files, tops)}
        while waiting or above:
            for top in waiting:
                repository = self._repositories.find(top, folders, granted)
                if repository is not None:
                    repositories[top] = repository
                    tracked = {*_below(repository.tracked, tops)} - files
                    above |= _parents(tracked, tops) - seen
                    files |= tracked
            waiting = []
            for path in sorted(above - seen):  # a folder before what is in it: nothing behind a link counts
                seen.add(path)
                if path in tops or is_folder(found.get(parent_of(path))):
                    waiting += _look_into(path, above, found)
            above -= seen
        for path in files:
            if path not in found and is_folder(found.get(parent_of(path))):
                entry = entry_at(path, self._known.get(path))
                if entry is not None and entry.kind is StateKind.FILE:
                    found[path] = entry
        for path in [path for path in self._known if path in files and path not in found]:
            del self._known[path]
        return Survey(found, [repositories[top] for top in sorted(repositories, key=len, reverse=True)])

    def classify(self, survey: Survey) -> None:
        """Find out for each file whether Git can restore it. Raises CannotCheckpoint if the others are too large."""
        files = [(path, entry) for path, entry in survey.entries.items() if entry.kind is StateKind.FILE]
        if len(survey.entries) > MOST_FILES:
            raise CannotCheckpoint(f"its folders have more than {MOST_FILES:,} files")
        tracked: dict[str, tuple[bytes, Repository]] = {}
        for repository in reversed(survey.repositories):
            tracked |= {path: (name, repository) for path, name in repository.tracked.items()}
        size = 0
        for path, entry in files:
            if entry.content.startswith(GIT) and path in tracked:
                continue
            if not entry.content or entry.content.startswith(GIT):
                survey.entries[path] = entry = entry._replace(content=_git_content(path, entry, tracked.get(path)))
                self._remember(path, entry)
            size += 0 if entry.content.startswith(GIT) else entry.stamp.size
        if size > MOST_BYTES:
            raise CannotCheckpoint(f"its folders have {_sized(size)} of files that Git cannot restore")

    def copy(self, survey: Survey) -> None:
        """Store what Git cannot restore. Raises CannotCheckpoint."""
        size = 0
        for path, entry in [*survey.entries.items()]:
            if entry.kind is not StateKind.FILE or entry.content.startswith(GIT):
                continue
            if not (entry.content and self._copies.use(entry.content)):
                copied = self._copied(path)
                if copied is None:
                    del survey.entries[path]
                    continue
                survey.entries[path] = entry = copied
                self._remember(path, entry)
            size += entry.stamp.size
            if size > MOST_BYTES:
                raise CannotCheckpoint(f"its folders have more than {_sized(MOST_BYTES)} that Git cannot restore")

    def _remember(self, path: str, entry: Entry) -> None:
        if is_sure(entry):
            self._known[path] = entry
        else:
            self._known.pop(path, None)

    def digests(self) -> Collection[str]:
        """The copies that the next survey may need."""
        return {entry.content for entry in self._known.values()}

    def _copied(self, path: str) -> Entry | None:
        """The file as it was copied; None if it is gone."""
        try:
            for _ in range(TRIES):
                with opened(path) as descriptor:
                    before = os.fstat(descriptor)
                    if kind_of(before.st_mode) is not StateKind.FILE:
                        return None
                    digest = self._copies.add_descriptor(descriptor)
                    if stamp_of(os.fstat(descriptor)) == stamp_of(before):
                        return entry_of(before)._replace(content=digest)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise CannotCheckpoint(f"{Path(path).name} cannot be copied: {error.strerror}") from error
        raise CannotCheckpoint(f"{Path(path).name} changes all the time")


def _git_content(path: str, entry: Entry, tracked: tuple[bytes, Repository] | None) -> str:
    """`git:...` if the file has exactly the bytes of the tracked blob, regardless of conversions by Git."""
    if tracked is None or entry.stamp.size > LARGEST_BLOB:
        return ""
    name, repository = tracked
    try:
        with opened(path) as descriptor:
            digest = sha1(b"blob %d\0" % entry.stamp.size, usedforsecurity=False)
            while piece := os.read(descriptor, PIECE):
                digest.update(piece)
            same = digest.digest() == name and stamp_of(os.fstat(descriptor)) == entry.stamp
    except OSError:
        return ""  # `copy` finds out what is wrong
    return f"{GIT}{name.hex()}" if same and (not entry.stamp.size or repository.objects.has_blob(name)) else ""


def _look_into(folder: str, above: Collection[str], found: dict[str, Entry]) -> list[str]:
    """Add the folder, its links and its empty folders to `found`. Return the folder if it is a repository."""
    entry = entry_at(folder)
    if entry is None or entry.kind is not StateKind.FOLDER:
        return []
    found[folder] = entry
    repository = []
    try:
        with os.scandir(folder) as entries:
            for one in entries:
                if one.name == ".git":
                    repository.append(folder)
                elif one.is_symlink():
                    link = entry_at(one.path)
                    if link is not None and link.kind is StateKind.LINK:
                        found[one.path] = link
                elif one.is_dir(follow_symlinks=False) and one.path not in above and not _is_protected(one.name):
                    found.update(_without_files(one.path) or {})
    except OSError:
        pass  # it is gone, or cannot be read
    return repository


@cache
def _is_protected(name: str) -> bool:
    """The sandbox creates empty folders with such names while a command runs."""
    return is_protected_path(PurePath(name))


def _without_files(folder: str) -> dict[str, Entry] | None:
    """The folders and links below a folder without files. None if it has a file, because then it is ignored."""
    entry = entry_at(folder)
    if entry is None or os.path.basename(folder) == "__pycache__":  # noqa: PTH119  # called for each folder
        return None
    found = {folder: entry}
    try:
        with os.scandir(folder) as entries:
            for one in entries:
                if one.is_symlink():
                    link = entry_at(one.path)
                    found |= {one.path: link} if link is not None else {}
                elif not one.is_dir(follow_symlinks=False) or one.name == ".git":
                    return None
                else:
                    below = _without_files(one.path)
                    if below is None:
                        return None
                    found |= below
    except OSError:
        return None
    return found


def _parents(paths: Iterable[str], tops: Sequence[str]) -> set[str]:
    """All folders between the tops and the paths."""
    found: set[str] = set()
    for path in paths:
        folder = parent_of(path)
        while folder not in found and any(_is_below(folder, top) for top in tops):
            found.add(folder)
            folder = parent_of(folder)
    return found


def parent_of(path: str) -> str:
    return path.rpartition(os.sep)[0] or os.sep


def _below(paths: Iterable[str], tops: Sequence[str]) -> Iterable[str]:
    starts = tuple(top.rstrip(os.sep) + os.sep for top in tops)
    return (path for path in paths if path.startswith(starts))


def _is_below(path: str, top: str) -> bool:
    return path.startswith(top) and (top == os.sep or path[len(top) : len(top) + 1] == os.sep)


def _sized(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{round(size / 1e6)} MB"
