"""RunningCommand: a file with the state of the workspace before a command, kept until its changes are recorded.

The server that runs the command holds a lock on the file. If no process holds the lock, the server was killed.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

from tark_lsp.workspace.checkpoints.commands.entries import Entry, Stamp
from tark_lsp.workspace.checkpoints.commands.survey import Survey
from tark_lsp.workspace.file_state import StateKind

KINDS = tuple(StateKind)


@dataclass(frozen=True, slots=True)
class RunningCommand:
    """`since`: the number of the last change that any server had recorded before. `before`: the entries by
    path, some with blobs in `stores`."""

    turn_id: str
    folders: tuple[Path, ...]
    since: int
    before: dict[str, Entry]
    stores: tuple[Path, ...]
    file: Path
    lock: int
    """A descriptor of the file, which holds the lock."""

    def close(self) -> None:
        """Remove the file, because the changes of the command are recorded."""
        self.file.unlink(missing_ok=True)
        os.close(self.lock)

    def leave(self) -> None:
        """Keep the file, so that the next server tries again to find out what changed."""
        os.close(self.lock)


def write_running(folder: Path, turn_id: str, folders: Sequence[Path], since: int, survey: Survey) -> RunningCommand:
    """Blocks. Raises OSError."""
    import fcntl

    folder.mkdir(mode=0o700, exist_ok=True)
    entries = [
        (path, KINDS.index(one.kind), one.mode, one.stamp, one.content, os.fsdecode(one.link))
        for path, one in survey.entries.items()
    ]
    named = [[str(path) for path in paths] for paths in (folders, survey.stores)]
    # Names that are not UTF-8 have lone surrogates, which JSON writes as escapes.
    data = json.dumps((turn_id, *named, since, entries), separators=(",", ":")).encode("ascii")
    file = folder / f"{os.getpid()}-{token_hex(8)}"
    temporary = file.with_name(f".{file.name}")
    lock = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        view = memoryview(data)
        while view:
            view = view[os.write(lock, view) :]
        temporary.rename(file)
    except BaseException:  # raised again
        os.close(lock)
        temporary.unlink(missing_ok=True)
        raise
    return RunningCommand(turn_id, tuple(folders), since, survey.entries, survey.stores, file, lock)


def read_running(file: Path) -> RunningCommand | None:
    """The file of a killed server; None if the server lives, or another server has taken it over. Blocks."""
    import fcntl

    try:
        lock = os.open(file, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not file.exists():
            raise FileNotFoundError(file)  # another server removed it before this one had the lock
        with open(lock, "rb", closefd=False) as stream:
            turn_id, folders, stores, since, entries = json.loads(stream.read())
        before = dict(_entries(entries))
    except (OSError, ValueError, TypeError, IndexError):
        os.close(lock)
        return None
    return RunningCommand(turn_id, tuple(map(Path, folders)), since, before, tuple(map(Path, stores)), file, lock)


def files_of_running(folder: Path) -> list[Path]:
    with suppress(OSError), os.scandir(folder) as entries:
        return [Path(entry.path) for entry in entries if not entry.name.startswith(".")]
    return []


def _entries(rows: Sequence[Any]) -> Iterator[tuple[str, Entry]]:
    for path, kind, mode, stamp, content, link in rows:
        yield path, Entry(KINDS[kind], mode, Stamp(*stamp), content, os.fsencode(link))
