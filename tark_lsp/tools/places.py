"""Where a path argument leads: inside the workspace, or outside of it, which the person has to allow first."""

import os
from dataclasses import dataclass
from pathlib import Path

from tark_lsp.errors import FileMissing, NotText, OutsideWorkspace
from tark_lsp.tools.tool import Preview, ToolContext
from tark_lsp.workspace.names import check_name
from tark_lsp.workspace.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Place:
    """`path` is absolute, with no links left in it. `shown` is how people and the model see it."""

    path: Path
    shown: str
    outside: tuple[Path, ...] = ()
    """`(path,)` where it is outside the workspace: what goes into `Preview.outside`."""


def locate(ctx: ToolContext, path: str) -> Place:
    """Raises OutsideWorkspace where no folder is open, and for names nobody can be asked about (with NUL, say)."""
    try:
        resolved = ctx.workspace.resolve(path)
    except OutsideWorkspace:
        check_name(path, windows=os.name == "nt")
        if not ctx.workspace.folders or (":" in path and not Path(path).is_absolute()):
            raise
        resolved = Path(os.path.realpath(ctx.workspace.folders[0] / path))
    return place_of(ctx, resolved)


def place_of(ctx: ToolContext, path: Path) -> Place:
    """`path` is absolute, with no links left in it."""
    outside = () if ctx.workspace.is_inside(path) else (path,)
    return Place(path, ctx.workspace.display(path), outside)


def locate_again(ctx: ToolContext, path: str, preview: Preview) -> Place:
    """At `run`: the same place, which must not lead out by another way than the person was asked about."""
    place = locate(ctx, path)
    if place.outside and place.path not in preview.outside:
        raise OutsideWorkspace(f"{path} leads to another place than before", hint="make the call again")
    return place


def read_place(ctx: ToolContext, place: Place) -> Snapshot:
    """The file as the model should see it. Raises WorkspaceError."""
    return ctx.workspace.read_outside(place.path) if place.outside else ctx.read(place.path)


def require_folder(place: Place) -> None:
    """Raises FileMissing or NotText."""
    if not place.path.exists():
        raise FileMissing(f"there is no {place.shown}", hint="list_directory and find_files tell what there is")
    if not place.path.is_dir():
        raise NotText(f"{place.shown} is a file, not a folder", hint="read it with read_file")
