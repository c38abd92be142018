"""Finds the ignore files above a search's folder that apply to it, and the ignore file that probably makes it fail.

ripgrep would read the ignore files of all parent folders, up to the root of the disk. The rules of a repository end at
its top folder, so ripgrep gets the rules in between as one list, with patterns for absolute paths.
"""

import contextlib
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tark_lsp.errors import ToolError

IGNORE_FILES = (".gitignore", ".ignore", ".rgignore")
"""In the order in which ripgrep reads them. The rules of the last file win."""

LARGEST_IGNORE_FILE = 1_000_000
"""In bytes. Real ignore files have a few thousand. Each line becomes a pattern in memory."""

SPECIAL = re.compile(r"([*?\[\]\\{}!# ])")
"""Characters that a backslash makes ordinary in an ignore file."""

LOOK_SECONDS = 1.0
"""How long to look for the ignore file that makes a search fail."""


def rules_above(roots: Iterable[Path], tops: Sequence[Path]) -> list[str]:
    """Lines of an ignore file for the folder `/`: the rules between the top of each root's repository and the root.

    Without a repository, the folder in `tops` that contains the root is the top. Raises ToolError if an ignore file is
    not a regular file, or too large.
    """
    return [line for root in roots for folder in folders_above(root, tops) for line in _rules_of(folder)]


def folders_above(root: Path, tops: Sequence[Path]) -> list[Path]:
    """The folders above `root`, from the top of its repository on, outermost first. Empty if it is the top."""
    above: list[Path] = []
    for folder in (root, *root.parents):
        if folder != root:
            above.insert(0, folder)
        if (folder / ".git").exists():
            return above
    top = max((top for top in tops if root.is_relative_to(top)), key=lambda top: len(top.parts), default=root)
    return [folder for folder in above if folder.is_relative_to(top)]


def likely_culprit(roots: Iterable[Path]) -> Path | None:
    """The first ignore file at or below the roots that is not regular or is too large; gives up after a second."""
    deadline = time.monotonic() + LOOK_SECONDS
    for root in roots:
        for folder, _, names in os.walk(root):
            for name in IGNORE_FILES:
                if name in names and not _is_usable(Path(folder, name)):
                    return Path(folder, name)
            if time.monotonic() > deadline:
                return None
    return None


def _is_usable(path: Path) -> bool:
    """Also true if it cannot be examined, because then it does not make the search fail."""
    with contextlib.suppress(OSError):
        status = path.stat()
        return stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST_IGNORE_FILE
    return True


def _rules_of(folder: Path) -> Iterator[str]:
    for name in IGNORE_FILES:
        path = folder / name
        if not _is_usable(path):
            raise ToolError(
                "too_large",
                f"the ignore file {path} is no regular file, or larger than {LARGEST_IGNORE_FILE:,} bytes",
                hint="tell the user: searches work again when it is repaired or removed",
            )
        with contextlib.suppress(OSError):  # usually there is no such file
            for line in path.read_text("utf-8", "replace").splitlines():
                if (moved := _for_absolute_paths(line, folder)) is not None:
                    yield moved


def _for_absolute_paths(line: str, folder: Path) -> str | None:
    """A line of an ignore file in `folder` (gitignore(5)), rewritten for an ignore file in `/`. None for a comment."""
    if not line.strip() or line.startswith("#"):
        return None
    negated, line = ("!", line[1:]) if line.startswith("!") else ("", line)
    line = line if line.endswith("\\ ") else line.rstrip(" ")
    place = folder.as_posix().removeprefix(folder.anchor.replace("\\", "/"))
    prefix = "".join(f"{escaped}/" for escaped in SPECIAL.sub(r"\\\1", place).split("/") if escaped)
    is_anchored = "/" in line.removesuffix("/")
    return f"{negated}/{prefix}{line.removeprefix('/') if is_anchored else '**/' + line}"
