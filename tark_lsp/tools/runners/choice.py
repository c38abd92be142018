"""Chooses the runner and the command line for a call: the row that the nearest folder uses."""

import os
import shlex
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tark_lsp.errors import FileMissing, ToolError
from tark_lsp.tools.runners.project import Mark, Project
from tark_lsp.tools.runners.runner import Purpose, Runner, Words
from tark_lsp.tools.runners.table import runners_for
from tark_lsp.tools.tool import ToolContext

DEEPEST, MOST_FOLDERS = 2, 300
"""Limits for the search for projects below the workspace folder, which are named in the error if none is above."""


@dataclass(frozen=True, slots=True)
class Target:
    """`path` exists. Without a path and a name, the target is everything in `folder`."""

    folder: Path
    path: Path | None = None
    name: str = ""

    @property
    def file(self) -> Path | None:
        return self.path if self.path is not None and not self.path.is_dir() else None


@dataclass(frozen=True, slots=True)
class Choice:
    """`mark`: the sign that the runner is used. `also`: the other runners that are used in the same folder."""

    runner: Runner
    argv: Words
    cwd: Path
    mark: Mark
    also: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return shlex.join(self.argv)


def choose(purpose: Purpose, target: str | None, runner: str | None, ctx: ToolContext) -> Choice:
    """Raises ToolError and WorkspaceError."""
    rows = [row for row in runners_for(purpose) if runner is None or row.name == runner]
    if not rows:
        known = ", ".join(row.name for row in runners_for(purpose))
        raise ToolError("invalid_arguments", f"there is no runner {runner!r}", hint=f"the runners are: {known}")
    if not ctx.workspace.folders:
        raise ToolError("unsupported", "no folder is open", hint="ask the person to open the folder of the project")
    wanted = read_target(target, ctx)
    rows = [row for row in rows if wanted.file is None or row.is_about(wanted.file)]
    missing: list[str] = []
    chain = _upwards(wanted.folder, ctx)
    found = _first(wanted, chain, rows, "marks", missing, ctx) or _first(
        wanted, [*reversed(chain)], rows, "guesses", missing, ctx
    )
    if found is None:
        raise _nothing(purpose, wanted, rows, missing, ctx)
    return found


def read_target(target: str | None, ctx: ToolContext) -> Target:
    """Parse a path, `PATH::NAME`, or the name of a test or target. Raises ToolError and WorkspaceError."""
    text = (target or "").strip()
    if not text:
        return Target(ctx.workspace.folders[0])
    path, _, name = text.partition("::")
    if not text.isprintable() or text.startswith("-") or name.startswith("-"):
        raise ToolError("invalid_arguments", f"{text!r} is not a target", hint="give a path, path::name or a name")
    for named, inside in ((text, ""), (path, name)):
        if (resolved := _existing(named, ctx)) is not None:
            return Target(resolved if resolved.is_dir() else resolved.parent, resolved, inside)
    if "/" in path or os.sep in path or Path(path).suffix:
        raise FileMissing(f"{path} does not exist", hint="list_directory shows what exists")
    return Target(ctx.workspace.folders[0], name=text)


def _existing(path: str, ctx: ToolContext) -> Path | None:
    """The path if it exists. Raises OutsideWorkspace if it is outside the workspace."""
    resolved = ctx.workspace.resolve(path)
    return resolved if resolved.exists() else None


def _upwards(folder: Path, ctx: ToolContext) -> list[Path]:
    """The folder and its parents up to the workspace folder."""
    inside = [one for one in (folder, *folder.parents) if ctx.workspace.is_inside(one)]
    return inside or [folder]


def _first(
    target: Target, folders: Sequence[Path], rows: Sequence[Runner], shown_by: str, missing: list[str], ctx: ToolContext
) -> Choice | None:
    """The first row of the first folder that uses it. The row must accept the target and have a program."""
    for folder in folders:
        project = Project(folder, ctx)
        choices = [choice for row in rows if (choice := _choice(row, target, project, shown_by, missing, ctx))]
        if choices:
            first, *others = choices
            also = tuple(other.runner.name for other in others)
            return Choice(first.runner, first.argv, first.cwd, first.mark, also)
    return None


def _choice(
    row: Runner, target: Target, project: Project, shown_by: str, missing: list[str], ctx: ToolContext
) -> Choice | None:
    marks: Sequence[Mark] = getattr(row, shown_by)
    mark = next((mark for mark in marks if project.has(mark)), None)
    words = None if mark is None else _words(row, target, project)
    if mark is None or words is None:
        return None
    program = find_program(row, project.folder, ctx)
    if program is None:
        places = ", ".join([*row.where.value.split(), "PATH"])
        missing.append(f"{row.name} is used here ({mark}), but {row.program[0]} is not in {places}")
        return None
    return Choice(row, (program, *row.words, *words), project.folder, mark)


def _words(row: Runner, target: Target, project: Project) -> Words | None:
    """The words that are added for the target; None if the runner does not accept it."""
    if target.path is None and not target.name:
        return row.whole(project) if callable(row.whole) else row.whole
    if target.name and row.names is not None and target.name not in row.names(project):
        return None
    if target.path is None:
        form = row.named
    elif target.file is not None:
        form = row.in_file if target.name else row.file
    elif target.path == project.folder and not target.name:
        return row.whole(project) if callable(row.whole) else row.whole
    else:
        form = row.in_folder if target.name else row.folder
    if form is None:
        return None
    path = target.path or project.folder
    values = {
        "{path}": _relative(path, project.folder),
        "{parent}": _relative(path.parent if target.file is not None else path, project.folder),
        "{name}": target.name,
    }
    return tuple(_filled(word, values) for word in form)


def _filled(word: str, values: dict[str, str]) -> str:
    """Fill each placeholder only once, because a value can look like another placeholder."""
    for name, value in values.items():
        if name in word:
            before, after = word.split(name, 1)
            return f"{before}{value}{_filled(after, values)}"
    return word


def _relative(path: Path, folder: Path) -> str:
    """The relative path in a form that cannot look like an option or a file of options."""
    text = path.relative_to(folder).as_posix()
    return f"./{text}" if text.startswith(("-", "@")) else text


def find_program(row: Runner, folder: Path, ctx: ToolContext) -> str | None:
    """The program of the project, relative to the folder, else the name of a program in PATH.

    If PATH finds the program of the project, only its name is used, so that the same rules and grants apply.
    """
    for name in row.program:
        in_path = shutil.which(name)
        for level in _upwards(folder, ctx):
            for place in row.where.value.split():
                program = level / place / name
                if program.is_file() and os.access(program, os.X_OK):
                    same = in_path is not None and Path(in_path) == program
                    return name if same else Path(os.path.relpath(program, folder)).as_posix()
        if in_path is not None:
            return name
    return None


def _nothing(
    purpose: Purpose, target: Target, rows: Sequence[Runner], missing: Sequence[str], ctx: ToolContext
) -> ToolError:
    if missing:
        hint = "install it with run_command, or run another program with run_command"
        return ToolError("unsupported", "; ".join(dict.fromkeys(missing)), hint=hint)
    below = [] if target.path or target.name else list(_below(rows, ctx))
    if below:
        message = f"nothing that {purpose} knows is at the top of the workspace, but it is in: {', '.join(below)}"
        return ToolError("unsupported", message, hint="give one of these folders as the target")
    known = ", ".join(row.name for row in rows) or "none of this kind of file"
    about = target.name or (ctx.workspace.display(target.path) if target.path else "the workspace")
    message = f"nothing that {purpose} knows is used for {about} (it knows {known})"
    return ToolError("unsupported", message, hint="use run_command")


def _below(rows: Sequence[Runner], ctx: ToolContext) -> Iterator[str]:
    """`folder (runner)` for projects below the workspace folders."""
    folders = [(folder, 0) for folder in ctx.workspace.folders]
    for number, (folder, depth) in enumerate(folders):
        if number > MOST_FOLDERS:
            return
        project = Project(folder, ctx)
        row = next((row for row in rows if any(project.has(mark) for mark in row.marks)), None)
        if row is not None:
            yield f"{ctx.workspace.display(folder)} ({row.name})"
        elif depth < DEEPEST:
            folders += [(one, depth + 1) for one in _subfolders(folder)]


def _subfolders(folder: Path) -> list[Path]:
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []
    return [folder / name for name in names if not name.startswith(".") and name != "node_modules"]
