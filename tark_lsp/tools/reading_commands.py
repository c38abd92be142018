"""Whether a command only reads files that the model may see.

Such a command can run without a question, in a sandbox that cannot write to the workspace.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from tark_lsp.commands.reading import why_not_reading, why_parts_do_not_read
from tark_lsp.commands.shell_text import ReadCommand
from tark_lsp.tools.tool import ToolContext


def reads_only(command: ReadCommand, cwd: Path, ctx: ToolContext) -> bool:
    """Whether the command line is certain to read only files that the model may see.

    A folder is closed if one of the user's rules can hide a file below it: a command that searches the folder does not
    know the rules.
    """
    if why_not_reading(command, cwd, ctx.workspace.folders, lambda path: _is_closed(path, ctx)):
        return False
    return not _is_closed(cwd, ctx)


def reading_parts(command: ReadCommand, cwd: Path, ctx: ToolContext) -> frozenset[int]:
    """The indices of the simple commands that only read such files.

    The files must be in the workspace folder where the command starts. A grant for the other parts belongs to this
    folder, and a `cd` would change it.
    """
    if not command.is_certain or _is_closed(cwd, ctx):
        return frozenset()
    around = [folder for folder in ctx.workspace.folders if cwd.is_relative_to(folder)]

    def is_closed(path: Path) -> bool:
        real = Path(os.path.realpath(path))
        return _is_closed(path, ctx) or not any(real.is_relative_to(folder) for folder in around)

    reasons = why_parts_do_not_read(command, cwd, around, is_closed)
    return frozenset(index for index, reason in enumerate(reasons) if not reason)


def parts_of_workspace(command: ReadCommand, search_path: str, ctx: ToolContext) -> frozenset[int]:
    """The indices of the simple commands that start git or a program of the workspace.

    A program is of the workspace if `search_path` (the variable PATH) finds it there first.
    """
    return frozenset(
        index
        for index, part in enumerate(command.parts)
        if "git" in part or any(_is_of_workspace(word, search_path, ctx.workspace.folders) for word in part)
    )


def _is_of_workspace(name: str, search_path: str, folders: Sequence[Path]) -> bool:
    """Whether a word names a program of the workspace. Any word can be a program, as in `timeout 5 ls`."""
    if "/" in name or not name:
        return False  # the table of programs has no paths
    for entry in search_path.split(os.pathsep):
        if not os.path.isabs(entry):  # noqa: PTH117  # strings: a Path for each entry takes half of a decision
            return True  # relative to the folder where the command runs
        program = f"{entry.rstrip(os.sep)}{os.sep}{name}"
        if os.access(program, os.X_OK) and not os.path.isdir(program):  # noqa: PTH112
            places = (Path(program), Path(os.path.realpath(entry), name))
            return any(place.is_relative_to(folder) for place in places for folder in folders)
    return False


def _is_closed(path: Path, ctx: ToolContext) -> bool:
    from tark_lsp.secrets.file_names import is_secret  # loaded with the first command

    named, real = Path(os.path.normpath(path)), Path(os.path.realpath(path))
    if named != path and Path(os.path.realpath(named)) != real:
        return True  # `..` after a link: the table checked another place
    for place in _once(named, real):
        if ctx.is_read_denied(place) or ctx.is_read_asked(place) or not ctx.workspace.is_inside(place):
            return True
        if any(is_secret(place.relative_to(folder)) for folder in _above(place, ctx.workspace.folders)):
            return True
    return real.is_dir() and ctx.may_hide_below([real])


def _once(path: Path, real: Path) -> tuple[Path, ...]:
    return (path,) if path == real else (path, real)


def _above(path: Path, folders: Sequence[Path]) -> list[Path]:
    return [folder for folder in folders if path.is_relative_to(folder) and path != folder]
