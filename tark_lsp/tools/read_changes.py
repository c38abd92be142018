"""read_changes: git's diff to a commit, with unsaved text and a list of the files that git does not track."""

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath

from pydantic import Field

from tark_lsp.errors import FileMissing, OutsideWorkspace, ToolError, WorkspaceError
from tark_lsp.secrets.file_names import is_secret
from tark_lsp.tools.command import Command
from tark_lsp.tools.confined import can_confine
from tark_lsp.tools.facts import ToolFacts
from tark_lsp.tools.git import (
    COMMIT,
    DIFF,
    REVISION,
    SETTINGS,
    UNTRACKED,
    RunGit,
    git_argv,
    git_environment,
    repository_of,
    run_git,
    run_git_confined,
    without_filters,
)
from tark_lsp.tools.git_diff import FileDiff, files_of
from tark_lsp.tools.git_places import git_folders_outside
from tark_lsp.tools.masking import holds_keys
from tark_lsp.tools.results import cap_result, count_noun, plain_text
from tark_lsp.tools.tool import Arguments, Location, Preview, Risk, Tool, ToolContext, ToolKind
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.encoding import decode
from tark_lsp.workspace.programs import find_program
from tark_lsp.workspace.snapshot import Snapshot

DESCRIPTION = """\
Show the differences to a commit, staged or not, as `git diff` does. Files that git does not track are listed by name, \
and unsaved text is shown as separate diffs. Because git is run, the person may be asked first."""

SECONDS = 60.0
NAMED_FILES = 50
"""The maximum number of files that are listed by name."""


class ReadChangesArguments(Arguments):
    base: str = Field(default="HEAD", description="What to compare with: a branch, a tag or a commit.")
    path: str | None = Field(
        default=None,
        min_length=1,
        description="Only this file or folder, written as in read_file. Default: the (first) workspace folder.",
    )


async def preview(args: ReadChangesArguments, ctx: ToolContext) -> Preview:
    if not REVISION.fullmatch(args.base):
        raise ToolError(
            "invalid_arguments", f"base {args.base!r} is not a revision", hint="give a branch, a tag or a commit"
        )
    scope, cwd, repository = place_of(args, ctx)
    program = find_program("git", ctx.workspace.folders)
    if program is None:
        raise ToolError("unsupported", "git is not installed", hint="do without it: read the files")
    name = scope.relative_to(cwd).as_posix()
    argv = git_argv(program, repository, (*DIFF, args.base + COMMIT, "--", name))
    outside = strays_outside(repository, ctx)
    confined = is_whole(repository, ctx) and not outside and await can_confine(ctx)
    text = "\n".join(map(shlex.join, (settings(argv, repository), argv, untracked(argv, repository))))
    # The marker is the same for all commands of a turn, so that the approved command and the running one are identical.
    env = git_environment(os.environ, f"TARK_COMMAND={os.getpid()}-{id(ctx):x}")
    read_too = f" (with {', '.join(map(str, outside))}, outside the workspace)" if outside else ""
    return Preview(
        f"read_changes {args.base} {ctx.workspace.display(scope)}{read_too}",
        ToolKind.READ,
        Risk.RISKY,
        locations=(Location(scope),),
        command=Command(argv, text, cwd, env, SECONDS, confined=confined, reads_only=confined, needs_trust=True),
        outside=outside,
    )


def is_whole(repository: Path, ctx: ToolContext) -> bool:
    """Whether the sandbox shows the whole repository. For one outside the workspace, this depends on its place."""
    folder = repository / ".git"
    return ctx.workspace.is_inside(repository) and folder.is_dir() and not folder.is_symlink()


def strays_outside(repository: Path, ctx: ToolContext) -> tuple[Path, ...]:
    return tuple(one for one in git_folders_outside(repository) if not ctx.workspace.is_inside(one))


def place_of(args: ReadChangesArguments, ctx: ToolContext) -> tuple[Path, Path, Path]:
    """The path to compare, the folder in which git runs, and the folder of the repository.

    Git runs in the folder of the repository if that is inside the workspace. Raises OutsideWorkspace, and ToolError
    `unsupported` if there is no repository.
    """
    scope = ctx.workspace.resolve(args.path or ".")
    folder = max((one for one in ctx.workspace.folders if scope.is_relative_to(one)), key=lambda one: len(one.parts))
    repository = repository_of(scope if scope.is_dir() else scope.parent)
    if repository is None:
        raise ToolError(
            "unsupported",
            f"{args.path or 'the workspace'} is not in a git repository",
            hint="do without it: there is nothing to compare with",
        )
    return scope, repository if repository.is_relative_to(folder) else folder, repository


def untracked(argv: Sequence[str], repository: Path) -> tuple[str, ...]:
    """The command that lists the files that git does not track. `argv`: the command for the diff."""
    return git_argv(Path(argv[0]), repository, (*UNTRACKED, "--", argv[-1]))


def settings(argv: Sequence[str], repository: Path) -> tuple[str, ...]:
    """The command that runs first. It lists the settings, some of which are then disabled."""
    return git_argv(Path(argv[0]), repository, SETTINGS)


@dataclass(frozen=True, slots=True)
class Changes:
    """The output of git in `cwd`.

    `files`: can be shown. `closed`: hidden by a rule. `asked`: a rule asks before they are read. `new`: the names of
    untracked files. `unsaved`: documents with unsaved changes that can be shown. `unsaved_hidden`: those that cannot.
    `complete`: git's output was not cut.
    """

    cwd: Path
    files: list[FileDiff]
    closed: list[FileDiff]
    asked: list[FileDiff]
    new: list[str]
    unsaved: list[Path]
    unsaved_hidden: list[Path]
    complete: bool


async def collect(args: ReadChangesArguments, ctx: ToolContext, preview: Preview) -> Changes:
    """Run git as previewed. Raises ToolError and WorkspaceError."""
    command = preview.command
    scope, cwd, repository = place_of(args, ctx)
    if command is None or cwd != command.cwd or scope != preview.locations[0].path:
        raise OutsideWorkspace("path now leads to another place", hint="make the call again")
    if strays_outside(repository, ctx) != preview.outside:
        raise OutsideWorkspace("the .git now leads to another place", hint="make the call again")
    run: RunGit = partial(run_git_confined, ctx=ctx) if command.confined else run_git
    env = await without_filters(settings(command.argv, repository), cwd, command.env, run)
    diff = await run(command.argv, cwd, env)
    listed = await run(untracked(command.argv, repository), cwd, env)
    new = [os.fsdecode(name) for name in listed.data.split(b"\0") if name]
    files = files_of(os.fsdecode(diff.data))
    closed = [file for file in files if any(ctx.is_read_denied(cwd / name) for name in file.names)]
    asked = [file for file in files if file not in closed and any(ctx.is_read_asked(cwd / name) for name in file.names)]
    open_to_all = [file for file in files if file not in closed and file not in asked]
    unsaved = [path for path in sorted(ctx.editor.unsaved_documents(cwd)) if path.is_relative_to(scope)]
    to_show = [path for path in unsaved if not ctx.is_read_denied(path) and not ctx.is_read_asked(path)]
    hidden = [path for path in unsaved if path not in to_show]
    return Changes(cwd, open_to_all, closed, asked, new, to_show, hidden, diff.complete)


async def run(args: ReadChangesArguments, ctx: ToolContext, preview: Preview) -> str:
    found = await collect(args, ctx, preview)
    all_files = [*found.files, *found.closed, *found.asked]
    told = [f"Changes against {args.base} in {ctx.workspace.display(found.cwd)}: {count_noun(len(all_files), 'file')}."]
    for what, some in (
        ("Not tracked by git", [shown(name) for name in found.new]),
        ("Not saved, shown as separate diffs below", [ctx.workspace.display(path) for path in found.unsaved]),
        ("Not saved, and left out by a rule", [ctx.workspace.display(path) for path in found.unsaved_hidden]),
        ("A rule hides the text from you", names_of(found.closed)),
        ("A rule asks first, so left out here; use read_file to ask", names_of(found.asked)),
    ):
        if some:
            told.append(f"{what}: {listing(some)}.")
    if not found.complete:
        told.append("There is more than fits: give one path.")
    changed = [line for file in found.files for line in masked_diff(ctx, file).rstrip("\n").split("\n")]
    for path in found.unsaved:
        diff = "\n".join(unsaved_diff(ctx, path))
        changed += ctx.masks.mask_text(diff, every_value=holds_keys(ctx, path)).split("\n")
    return cap_result(ctx, [*told, *changed], f"give one path: {listing(names_of(all_files))}")


def masked_diff(ctx: ToolContext, file: FileDiff) -> str:
    return ctx.masks.mask_text(shown(file.text), every_value=any(is_secret(PurePath(name)) for name in file.names))


def shown(text: str) -> str:
    """Like `plain_text`, with U+FFFD for bytes that are not UTF-8."""
    return plain_text(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def names_of(files: Sequence[FileDiff]) -> list[str]:
    return sorted({shown(name) for file in files for name in file.names})


def listing(names: Sequence[str]) -> str:
    more = [count_noun(len(names) - NAMED_FILES, "other")] if len(names) > NAMED_FILES else []
    return ", ".join([*names[:NAMED_FILES], *more])


def unsaved_diff(ctx: ToolContext, path: Path) -> list[str]:
    """The diff from the file on disk to the text in the editor, or the reason why there is none."""
    name = Path(ctx.workspace.display(path))
    try:
        before = Snapshot(name, decode(ctx.workspace.read_bytes(path))[0])
    except FileMissing:
        before = Snapshot(name, "", exists=False)
    except WorkspaceError as error:
        return [f"{name.as_posix()} is not saved, and the file cannot be read: {error.message}"]
    diff = ProposedEdit.between(before, ctx.workspace.read(path).text).diff()
    return [f"not saved: {name.as_posix()}", *diff.rstrip("\n").split("\n")]


FACTS = ToolFacts(reads=True, edits=False, runs=True, rule_subject="itself", of_workspace=True)
TOOL = Tool("read_changes", DESCRIPTION, ReadChangesArguments, Risk.RISKY, preview, run, seconds=SECONDS, facts=FACTS)
