"""Finds the folders that a `.git` refers to by a link, a name in a file, or borrowed objects. Runs nothing."""

import os
from pathlib import Path

from tark_lsp.errors import ToolError
from tark_lsp.tools.git_diff import unquoted

MOST_STORES, MOST_TEXT = 50, 65_536
"""How many folders and links are followed from one `.git`, and the maximum size of a file with names, in bytes."""


def git_folders_outside(repository: Path) -> tuple[Path, ...]:
    """The folders outside `repository` that git would read because its `.git` refers to them by a link or a name.

    The main repository of a linked worktree is not included if it lists the worktree. Raises ToolError `unsupported`
    if the folders cannot be determined.
    """
    try:
        named = _git_folder(repository / ".git")
        common = _led_to(named, named / "commondir")
        mine = named.parent == common / "worktrees" and _points_back(named, repository)
        stores = _stores(common / "objects")
    except (OSError, ValueError) as error:
        raise ToolError(
            "unsupported", f"the .git of {repository.name} cannot be followed: {error}", hint="read the files"
        ) from error
    folders = [*(() if mine else (named, common)), *(one for one in stores if one != common / "objects")]
    return tuple(dict.fromkeys(one for one in folders if not one.is_relative_to(repository)))


def _git_folder(path: Path) -> Path:
    """The git folder; a `.git` that is a file names it."""
    resolved = path.resolve(strict=True)
    if resolved.is_dir():
        return resolved
    key, _, folder = _line(resolved).partition(":")
    if key != "gitdir":
        raise ValueError("it does not name a folder")
    return (resolved.parent / folder.strip()).resolve(strict=True)


def _led_to(folder: Path, file: Path) -> Path:
    """The folder that the file names, relative to `folder`; `folder` itself if the file does not exist."""
    return (folder / _line(file)).resolve(strict=True) if os.path.lexists(file) else folder


def _points_back(named: Path, repository: Path) -> bool:
    return Path(_line(named / "gitdir")).resolve() == repository / ".git"


def _stores(objects: Path) -> list[Path]:
    """The folders with objects: `objects`, and all folders that alternates name, recursively."""
    found: list[Path] = []
    rest = [objects.resolve(strict=True)]
    while rest and len(found) < MOST_STORES:
        store = rest.pop()
        if store in found:
            continue
        found.append(store)
        names = store / "info" / "alternates"
        lines = _text(names).split("\n") if os.path.lexists(names) else []
        rest += [(store / unquoted(line)).resolve() for line in lines if line and not line.startswith("#")]
        rest += [one.resolve() for folder in (store, store / "pack") for one in _links(folder)]
    if rest:
        raise ValueError("it borrows objects from too many folders")
    return found


def _links(folder: Path) -> list[Path]:
    return [one for one in folder.iterdir() if one.is_symlink()] if folder.is_dir() else []


def _line(path: Path) -> str:
    return _text(path).rstrip("\r\n")


def _text(path: Path) -> str:
    """Raises OSError, and ValueError for anything but a short regular file: reading a pipe would block."""
    if not path.is_file() or path.stat().st_size > MOST_TEXT:
        raise ValueError(f"{path.name} is not a short file")
    return os.fsdecode(path.read_bytes())
