"""Resolves a path argument to a place inside the workspace, or outside it, which the user must allow first."""

import os
from dataclasses import dataclass
from pathlib import Path

from tark_lsp.errors import FileMissing, NotText, OutsideWorkspace
from tark_lsp.tools.tool import Preview, ToolContext
from tark_lsp.workspace.names import check_name
from tark_lsp.workspace.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Place:
    """`path`: absolute, with all links resolved. `shown`: the path for the user and the model."""

    path: Path
    shown: str
    outside: tuple[Path, ...] = ()
    """`(path,)` if it is outside the workspace: the value for `Preview.outside`."""


def locate_path(ctx: ToolContext, path: str) -> Place:
    """Raises OutsideWorkspace if no folder is open, or if the name is invalid, for example because it contains NUL."""
    try:
        resolved = ctx.workspace.resolve(path)
    except OutsideWorkspace:
        check_name(path, windows=os.name == "nt")
        if not ctx.workspace.folders or (":" in path and not Path(path).is_absolute()):
            raise
        resolved = Path(os.path.realpath(ctx.workspace.folders[0] / path))
    return place_of_path(ctx, resolved)


def place_of_path(ctx: ToolContext, path: Path) -> Place:
    """`path` must be absolute, with all links resolved."""
    outside = () if ctx.workspace.is_inside(path) else (path,)
    return Place(path, ctx.workspace.display(path), outside)


def locate_path_again(ctx: ToolContext, path: str, preview: Preview) -> Place:
    """The place when the tool runs. Raises OutsideWorkspace if it is now an outside place that was not previewed."""
    place = locate_path(ctx, path)
    if place.outside and place.path not in preview.outside:
        raise OutsideWorkspace(f"{path} now leads to another place", hint="make the call again")
    return place


def read_place(ctx: ToolContext, place: Place) -> Snapshot:
    """The file as the model should see it. Raises WorkspaceError."""
    return ctx.workspace.read_outside(place.path) if place.outside else ctx.read_draft(place.path)


def require_folder(place: Place) -> None:
    """Raises FileMissing or NotText."""
    if not place.path.exists():
        raise FileMissing(f"{place.shown} does not exist", hint="list_directory and find_files show what exists")
    if not place.path.is_dir():
        raise NotText(f"{place.shown} is a file, not a folder", hint="read it with read_file")
