"""Whether a command only reads what the model may see, so that it can run without a question in a sandbox that cannot
write to the workspace."""

import os
from collections.abc import Sequence
from pathlib import Path

from tark_lsp.commands.reading import programs, why_not_reading
from tark_lsp.commands.shell_text import ReadCommand
from tark_lsp.tools.programs import is_planted
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
    return not _is_closed(cwd, ctx) and not starts_planted(command, ctx.workspace.folders)


def starts_planted(command: ReadCommand, folders: Sequence[Path]) -> bool:
    """Whether the repository can bring one of the programs: it is found in a folder of PATH in the workspace.

    Relative folders of PATH count, too.
    """
    path = os.environ.get("PATH", "")
    names = {word for part in command.parts for word in part if word in programs()}
    return any(is_planted(name, path, folders) for name in names)


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
