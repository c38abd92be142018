"""Compares a workspace with its state before a command, and moves new protected paths out of it."""

import contextlib
import os
import shutil
import time
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tark_lsp.sandbox.tree import Found, found_at


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A protected path that a command created. `kept`: where it is now."""

    path: Path
    kept: Path


@dataclass(frozen=True, slots=True)
class Findings:
    """What a run did to protected paths.

    - `quarantined`: new paths that were moved away.
    - `moved`: (before, now), because a parent folder was renamed. The content is the same.
    - `restored`: removed links that were created again.
    - `failed`: new paths that could not be moved away, with the reason. Nothing may run until the user has seen them.
    - `problem`: why not everything was checked; empty if it was.
    """

    quarantined: tuple[Quarantined, ...] = ()
    moved: tuple[tuple[Path, Path], ...] = ()
    restored: tuple[Path, ...] = ()
    failed: tuple[tuple[Path, str], ...] = ()
    problem: str = ""

    @property
    def is_clean(self) -> bool:
        return not (self.quarantined or self.moved or self.restored or self.failed or self.problem)


def settle(
    before: Mapping[Path, Found],
    after: Mapping[Path, Found],
    allowed: Sequence[Path],
    covers: Collection[Path],
    folder: Path,
) -> Findings:
    """Move new paths into a new folder below `folder`. `allowed`: paths to which the command was allowed to write."""
    known = {(found.device, found.inode): path for path, found in before.items() if found.link_text is None}
    place = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{uuid.uuid4().hex[:8]}"
    quarantined: list[Quarantined] = []
    moved: list[tuple[Path, Path]] = []
    failed: list[tuple[Path, str]] = []
    restored: list[Path] = []
    for path, found in after.items():
        if (path in covers and _is_empty(path)) or any(path.is_relative_to(one) for one in allowed):
            continue
        if path in before and found.is_still(before[path]):
            continue
        source = known.get((found.device, found.inode))
        if source is not None and found.link_text is None:
            there = after.get(source)
            if there is None or not there.is_still(before[source]):
                moved.append((source, path))
                continue
        try:
            quarantined.append(Quarantined(path, _move(path, place, len(quarantined))))
        except OSError as error:
            failed.append((path, error.strerror or str(error)))
    for path, found in before.items():
        gone = not os.path.lexists(path) and path.parent.is_dir()
        if found.link_text is not None and gone and not any(path.is_relative_to(one) for one in allowed):
            with contextlib.suppress(OSError):
                path.symlink_to(found.link_text)
                restored.append(path)
        now = found_at(path) if found.link_text is not None else None
        if now is None or now.link_text != found.link_text or not now.leads_elsewhere(found):
            continue
        if not any(path.is_relative_to(one) for one in allowed):  # its target was replaced
            try:
                quarantined.append(Quarantined(path, _move(path, place, len(quarantined))))
                restored = [one for one in restored if one != path]
            except OSError as error:
                failed.append((path, error.strerror or str(error)))
    return Findings(tuple(quarantined), tuple(moved), tuple(restored), tuple(failed))


def _is_empty(path: Path) -> bool:
    """Whether it is an empty folder, like a cover. A cover that was removed no longer protects its name."""
    try:
        return path.is_dir() and not path.is_symlink() and not any(path.iterdir())
    except OSError:
        return False


def _move(path: Path, place: Path, number: int) -> Path:
    """Raises OSError. Does not follow links or overwrite anything."""
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    target = place / f"{number}-{path.name}"
    try:
        path.rename(target)
    except OSError:
        shutil.move(path, target)  # to another file system, it is copied, links as links
    return target
