"""Whether a command only reads what the model may see, so that it can run without a question in a sandbox that cannot
write to the workspace."""

import os
from collections.abc import Sequence
from pathlib import Path

from tark_lsp.commands.reading import why_not_reading
from tark_lsp.commands.shell_text import ReadCommand
from tark_lsp.tools.tool import ToolContext


def reads_only(command: ReadCommand, cwd: Path, ctx: ToolContext) -> bool:
    """Whether the command line is certain to read only files that the model may see.

    A folder counts as closed if a rule of yours can keep a file below it from the model: a command that searches it
    does not know your rules.
    """
    if not command.is_certain or (_starts_git(command) and not ctx.sandbox.runs_git):
        return False
    if why_not_reading(command, cwd, ctx.workspace.folders, lambda path: _is_closed(path, ctx)):
        return False
    return not _is_closed(cwd, ctx)


def _starts_git(command: ReadCommand) -> bool:
    return any("git" in part for part in command.parts)


def _is_closed(path: Path, ctx: ToolContext) -> bool:
    from tark_lsp.sandbox.secrets import is_secret  # loaded with the first command

    real = Path(os.path.realpath(path))
    for place in _once(path, real):
        if ctx.is_read_denied(place) or ctx.is_read_asked(place) or not ctx.workspace.is_inside(place):
            return True
        if any(is_secret(place.relative_to(folder)) for folder in _above(place, ctx.workspace.folders)):
            return True
    return real.is_dir() and ctx.may_hide_below([real])


def _once(path: Path, real: Path) -> tuple[Path, ...]:
    return (path,) if path == real else (path, real)


def _above(path: Path, folders: Sequence[Path]) -> list[Path]:
    return [folder for folder in folders if path.is_relative_to(folder) and path != folder]
