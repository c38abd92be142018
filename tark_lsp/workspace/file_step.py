"""FileStep: one change of what is at a path, made without an editor, and the function that makes it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from tark_lsp.errors import TarkError
from tark_lsp.workspace.disk.file_errors import file_error
from tark_lsp.workspace.file_state import BY_STAMP, FileState

if TYPE_CHECKING:
    from tark_lsp.workspace.disk.folder import Folder


@dataclass(frozen=True, slots=True)
class FileStep:
    """`now` must be there, and `wanted` replaces it; None: nothing. `source` has the bytes of a file."""

    path: Path
    now: FileState | None
    wanted: FileState | None
    source: Path | None = None


def read_states(places: "Iterable[tuple[Folder, PurePath, FileState | None]]") -> list[FileState | None]:
    """What is at each place. The third value is what is expected. A file that was not read then is not read now."""
    return [folder.state(relative, by_stamp=_is_by_stamp(expected)) for folder, relative, expected in places]


def make_steps(places: "Iterable[tuple[Folder, PurePath, FileStep]]") -> list[str]:
    """Make the steps in order. Returns for each step why it was not made; empty if it was made."""
    return [_make(folder, relative, step) for folder, relative, step in places]


def _make(folder: "Folder", relative: PurePath, step: FileStep) -> str:
    try:
        folder.put(relative, step.now, step.wanted, step.source)
    except OSError as error:
        return file_error(error, "the file", writing=True).message
    except TarkError as error:
        return error.message
    return ""


def _is_by_stamp(expected: FileState | None) -> bool:
    return expected is not None and expected.content.startswith(BY_STAMP)
