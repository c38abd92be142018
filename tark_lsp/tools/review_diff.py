"""The changes for a review, as text: uncommitted changes or those of the branch, including new files.

Git runs as in read_changes. Hidden and protected files are only named. Lines that look like keys are left out. There is
a limit for each file and for all files together.
"""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from tark_lsp.context.secrets import looks_secret
from tark_lsp.errors import ToolError, WorkspaceError
from tark_lsp.tools import read_changes
from tark_lsp.tools.git import git_argv, run_git
from tark_lsp.tools.read_changes import Changes, ReadChangesArguments, listing, names_of, shown, unsaved_diff
from tark_lsp.tools.results import count_noun, fit_lines
from tark_lsp.tools.tool import Preview, ToolContext

BASES = (
    *("refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master"),
    *("refs/heads/main", "refs/heads/master"),
)
"""Possible bases of a branch. The first one that exists is used."""
MOST_OF_FILE, MOST = 16_000, 100_000
"""Characters of one file, and of all files together."""
NUMBER = 8
"""Characters that are added to a line: its number and its ending."""
MOST_NEW = 100
"""How many untracked files are read."""
HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
KEY_BEGINS, KEY_ENDS = "-----BEGIN ", "-----END "


async def find_base(ctx: ToolContext, preview: Preview) -> tuple[str, str] | None:
    """The name of the base, and the commit at which the branch diverged from it.

    `preview`: that of a call of read_changes. None if there is no base, or no common commit.
    """
    command = preview.command
    assert command is not None  # read_changes has one
    _, cwd, repository = read_changes.place_of(ReadChangesArguments(), ctx)
    program = Path(command.argv[0])
    try:
        existing = await run_git(
            git_argv(program, repository, ("for-each-ref", "--format=%(refname)", *BASES)), cwd, command.env
        )
        names = os.fsdecode(existing.data).split("\n")
        name = next((base for base in BASES if base in names), None)
        if name is None:
            return None
        commit = await run_git(git_argv(program, repository, ("merge-base", "HEAD", name)), cwd, command.env)
    except ToolError:  # there is no commit, or no common one
        return None
    return name.removeprefix("refs/remotes/").removeprefix("refs/heads/"), os.fsdecode(commit.data).strip()


def is_empty(changes: Changes) -> bool:
    parts = (changes.files, changes.closed, changes.asked, changes.new, changes.unsaved, changes.unsaved_hidden)
    return not any(parts)


def review_text(ctx: ToolContext, changes: Changes, base: str) -> str:
    """The changes for the model. `base`: a description of the base."""
    named = [*names_of(changes.closed), *names_of(changes.asked), *map(ctx.workspace.display, changes.unsaved_hidden)]
    left_out = list(map(shown, changes.new[MOST_NEW:]))
    pieces: list[str] = []
    room = MOST
    for name, lines in _files(ctx, changes, named):
        kept = fit_lines(lines, MOST_OF_FILE)  # first, because looking for keys takes time
        size = sum(len(line) + NUMBER for line in kept)
        if size > room:
            left_out.append(name)
            continue
        room -= size
        pieces += _shown_lines(kept)
        if len(kept) < len(lines):
            pieces.append(f"[{count_noun(len(lines) - len(kept), 'more line')} left out; read {name}]")
    told = [f"Changes against {base}. A number before a line is its line in the file as it is now."]
    unsaved = [ctx.workspace.display(path) for path in changes.unsaved]
    for what, names in (
        ("Not saved, so shown twice: as on disk, and what differs from it in the editor", unsaved),
        ("Only named here: hidden or protected files, or no text", named),
        ("Left out because there is too much; read them with `read_file`", left_out),
    ):
        if names:
            told.append(f"{what}: {listing(sorted(set(names)))}.")
    if not changes.complete:
        told.append("Git printed more than fits, so files are missing here.")
    return "\n".join([*told, *pieces])


def _files(ctx: ToolContext, changes: Changes, named: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The name and the lines of each change that can be shown. The names of the others are added to `named`."""
    for file in changes.files:
        names = names_of([file])
        if any(_is_named_only(ctx, changes.cwd / name) for name in file.names):
            named += names
        else:
            yield (names or ["the file"])[-1], shown(file.text).rstrip("\n").split("\n")
    for path in changes.unsaved:
        if _is_named_only(ctx, path):
            named.append(ctx.workspace.display(path))
        else:
            yield ctx.workspace.display(path), unsaved_diff(ctx, path)
    for name in changes.new[:MOST_NEW]:
        lines = _new_file(ctx, changes.cwd / name)
        if lines is None:
            named.append(shown(name))
        else:
            yield shown(name), lines


def _is_named_only(ctx: ToolContext, path: Path) -> bool:
    """Whether the path is protected or hidden (`.env`): a request for a review does not mean to send these texts."""
    return ctx.workspace.is_protected(path) or any(
        part.startswith(".") for part in Path(ctx.workspace.display(path)).parts
    )


def _new_file(ctx: ToolContext, path: Path) -> list[str] | None:
    """The lines of a new file; None if it cannot be shown."""
    path = Path(os.path.realpath(path))
    if ctx.is_read_denied(path) or ctx.is_read_asked(path) or _is_named_only(ctx, path):
        return None
    try:
        text = ctx.workspace.read(path).text
    except WorkspaceError:  # binary, too large, a link to another place
        return None
    lines = text.removesuffix("\n").split("\n") if text else []
    head = [f"new file, not tracked by git: {ctx.workspace.display(path)}", f"@@ -0,0 +1,{len(lines)} @@"]
    return [*head, *(f"+{line}" for line in lines)]


def _shown_lines(diff: Iterable[str]) -> Iterator[str]:
    """The lines of one file's diff. Lines of the new text get their numbers; those that look like keys are left out."""
    number: int | None = None
    in_key = False
    for line in diff:
        if (found := HUNK.match(line)) is not None:
            number, in_key = int(found[1]), False
            yield found[0] if looks_secret(line) else line  # git appends a line of the text
        elif number is None:
            yield line
        else:
            in_key = in_key or (KEY_BEGINS in line and "PRIVATE KEY" in line)
            secret = "a private key" if in_key else looks_secret(line[1:])
            in_key = in_key and KEY_ENDS not in line
            said = f"{line[:1]}[left out: it looks like {secret}]" if secret else line
            removed = line[:1] in ("-", "\\")
            yield f"{'' if removed else number:>6} {said}"
            number += not removed
