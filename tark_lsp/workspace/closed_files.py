"""Changes of files that are not open in the editor. The functions block, so they run in a thread.

Each function compares the file with the text that the change was made for, and calls `ready` right before it writes.
All raise OSError and WorkspaceError.
"""

from pathlib import Path, PurePath
from typing import TypeAlias

from tark_lsp.workspace.disk.folder import Folder, Ready
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.encoding import UTF_8, decode
from tark_lsp.workspace.outcomes import Applied, Outcome, Stale
from tark_lsp.workspace.snapshot import Snapshot

LARGEST_FILE = 10_000_000
"""Bytes on disk, or characters in a buffer."""
CHANGED = Stale("the file has changed on disk")
Location: TypeAlias = tuple[Folder, PurePath]
"""A folder, and the path of a file inside it."""


def apply_edit(location: Location, edit: ProposedEdit, ready: Ready) -> Outcome:
    folder, relative = location
    note = ""
    if edit.base.exists:
        old = folder.read(relative, LARGEST_FILE).data
        text, encoding = decode(old)
        if text != edit.base.text:
            return CHANGED
        after = edit.after
        data = encoding.encode(after)
        if data != old:
            note = folder.replace(relative, data, old, ready)
    else:
        after = edit.after
        folder.create(relative, UTF_8.encode(after), ready)
    return Applied(Snapshot(edit.path, after), note)


def remove_file(location: Location, snapshot: Snapshot, ready: Ready) -> Outcome:
    folder, relative = location
    data = folder.read(relative, LARGEST_FILE).data
    if decode(data)[0] != snapshot.text:
        return CHANGED
    folder.remove(relative, data, ready)
    return Applied(Snapshot(snapshot.path, "", exists=False))


def move_file(location: Location, snapshot: Snapshot, new: Location, target: Path, ready: Ready) -> Outcome:
    folder, relative = location
    data = folder.read(relative, LARGEST_FILE).data
    if decode(data)[0] != snapshot.text:
        return CHANGED
    return Applied(Snapshot(target, snapshot.text), folder.move(relative, *new, data, ready))


def restore_file(location: Location, path: Path, data: bytes, mode: int, ready: Ready) -> Outcome:
    folder, relative = location
    text = decode(data)[0]
    folder.create(relative, data, ready, mode)
    return Applied(Snapshot(path, text))
