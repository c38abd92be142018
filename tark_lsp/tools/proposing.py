"""From a change of a file's text to a proposed edit of the file as it is now, through what the model has read."""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from tark_lsp.context.snippets import CLOSING, ESCAPED_CLOSING, unescape_code
from tark_lsp.errors import FileMissing, FileTooLarge, NotText, OutsideWorkspace, ToolError, WorkspaceError
from tark_lsp.tools.tool import ToolContext
from tark_lsp.workspace.edits import ProposedEdit, rebase
from tark_lsp.workspace.lines import Hunk, split_lines
from tark_lsp.workspace.mooring import unmoored
from tark_lsp.workspace.snapshot import Snapshot

AROUND = 2
"""Lines shown on either side of a place in conflict."""

HINTS: Mapping[type[WorkspaceError], str] = {
    FileMissing: "find_files tells what there is, write_file makes a new file",
    NotText: "this tool takes text files only; for others use run_command",
    FileTooLarge: "use run_command for so large a file",
    OutsideWorkspace: "name the file itself, not a link",
}
"""What to do where a file cannot be read, unless the error itself says it."""


def editable(ctx: ToolContext, path: str) -> Path:
    """The resolved path of a file that may be edited. Raises OutsideWorkspace: nothing outside is ever written."""
    try:
        return ctx.workspace.resolve(path)
    except OutsideWorkspace as error:
        raise OutsideWorkspace(
            f"{path} is outside the workspace, where nothing can be changed", hint="only edit files of the workspace"
        ) from error


def existing(ctx: ToolContext, path: str) -> Path:
    """As `editable`, for a file that is there with the drafts of this answer. Raises WorkspaceError."""
    resolved = editable(ctx, path)
    try:
        ctx.read(resolved)
    except WorkspaceError as error:
        was_there = "it was there when you read it; " if resolved in ctx.seen else ""
        hint = (was_there if isinstance(error, FileMissing) else "") + HINTS.get(type(error), "")
        raise type(error)(error.message, hint=error.hint or hint, details=error.details) from error
    return resolved


def itself(ctx: ToolContext, path: str) -> Path:
    """As `existing`, for what concerns the file and not only its text: a link is never taken for what it leads to."""
    refuse_link(ctx, path)
    return existing(ctx, path)


def refuse_link(ctx: ToolContext, path: str) -> None:
    """Raises ToolError `unsupported` where `path` itself is a symbolic link; links in the folders above do no harm."""
    resolved = editable(ctx, path)
    for name in {path, path.partition(":")[2]}:
        for folder in ctx.workspace.folders:
            if leads_to(folder, name, resolved):
                raise ToolError(
                    "unsupported",
                    f"{path} is a link to {ctx.workspace.display(resolved)}",
                    hint=f"name {ctx.workspace.display(resolved)} if you mean that file; links are made and removed "
                    "with run_command",
                )


def leads_to(folder: Path, name: str, file: Path) -> bool:
    """Whether a step of the way from `folder` along `name` is a symbolic link to the very `file`.

    Each step is resolved as the whole is: `..` past what is not there would hide the link from the operating system.
    """
    at = folder
    for part in Path(name).parts:
        entry = at / part
        at = Path(os.path.realpath(entry))
        if at == file and entry.is_symlink():
            return True
    return False


def propose(ctx: ToolContext, path: Path, change: Callable[[str], str]) -> ProposedEdit:
    """`change` gives the whole new text from the text the model knows; the edit is of the file as it is now.

    `path` is where the file stands with the drafts of this answer, which the edit holds, too. What the model knows is
    what it last read (`ctx.seen`) with those drafts. A file that does not exist is empty text.

    Raises WorkspaceError; ToolError from `change`; `conflict` where the person changed the same lines since the model
    read them; `invalid_arguments` where nothing would change.
    """
    now = read_or_absent(ctx, source_of(ctx, path))
    current = with_draft(ctx, now)
    known = known_text(ctx, current, now)
    try:
        after = change(known.text)
    except ToolError as error:
        if error.code != "not_found" or known.text == current.text:
            raise
        known, after = current, change(current.text)  # it speaks of what the person wrote meanwhile
    if after == known.text:
        raise ToolError(
            "invalid_arguments",
            f"this would change nothing in {ctx.workspace.display(path)}: the text is already so",
            hint="if that is what you wanted, go on; else give another new text",
        )
    proposed = ProposedEdit.between(known, after)
    moved, conflicts = rebase(proposed, current)
    conflicts = conflicts or unmoored(proposed, current)
    if conflicts:
        raise conflict(ctx, known, current, conflicts[0])
    return edited(ctx, now, moved.after)


def source_of(ctx: ToolContext, path: Path) -> Path:
    """The path that the file at `path` has now: a draft may move it there. Raises ToolError `conflict`."""
    draft = ctx.draft_at(path)
    if draft is None:
        return path
    if draft.drafted.path != path:
        shown, to = ctx.workspace.display(path), ctx.workspace.display(draft.drafted.path)
        raise ToolError(
            "conflict",
            f"{shown} is moved to {to} by this answer, so nothing can be written there yet",
            hint=f"edit {to}; make a new {shown} in your next answer",
        )
    return draft.path


def edited(ctx: ToolContext, now: Snapshot, after: str) -> ProposedEdit:
    """The edit of the file as it is `now` to the text `after`, which holds its drafts; a drafted move stays."""
    edit = ProposedEdit.between(now, after)
    if not now.exists and not after:
        edit = replace(edit, hunks=(Hunk(0, (), ()),))  # an empty new file is decided, too
    draft = ctx.drafts.get(now.path)
    return edit if draft is None else replace(edit, target=draft.target)


def read_or_absent(ctx: ToolContext, path: Path) -> Snapshot:
    """Raises WorkspaceError; ToolError `denied` where failures, which show lines, would tell what a rule keeps back."""
    if ctx.closed(path):
        shown = ctx.workspace.display(path)
        raise ToolError("denied", f"a rule keeps the text of {shown} from you", hint="do without it")
    try:
        return ctx.workspace.read(path)
    except FileMissing:
        return Snapshot(path, "", exists=False)


def with_draft(ctx: ToolContext, now: Snapshot) -> Snapshot:
    """The file with the drafts of this answer. Raises ToolError `conflict` where the person typed into one of them."""
    draft = ctx.drafts.get(now.path)
    if draft is None:
        return now
    moved, conflicts = rebase(draft, now)
    if conflicts:
        raise conflict(ctx, draft.base, now, conflicts[0])
    return moved.drafted


def known_text(ctx: ToolContext, current: Snapshot, now: Snapshot) -> Snapshot:
    """What the model thinks is in the file: what it read, with the drafts of this answer; else what is there."""
    seen = ctx.seen.get(now.path)
    if seen is None or seen.text == now.text:
        return current
    draft = ctx.drafts.get(now.path)
    if draft is None:
        return seen
    moved, conflicts = rebase(draft, seen)
    return current if conflicts else moved.drafted


def conflict(ctx: ToolContext, known: Snapshot, current: Snapshot, hunk: Hunk) -> ToolError:
    """Says which lines of the file as it is now stand where `hunk` of `known` was to go."""
    start, end = lines_now(known, current, hunk)
    lines = split_lines(current.text)
    first, last = max(0, start - AROUND), min(len(lines), end + AROUND)
    return ToolError(
        "conflict",
        f"since you read {ctx.workspace.display(current.path)} the person changed the very lines of this edit",
        hint="look at the current lines; if the edit is still wanted, make it again on top of them",
        details={"start_line": first + 1, "end_line": last, "current": "".join(lines[first:last])},
    )


def lines_now(known: Snapshot, current: Snapshot, hunk: Hunk) -> tuple[int, int]:
    """The lines of `current`, from 0, end excluded, that stand where `hunk.old` stood in `known`."""
    start, end = hunk.start, hunk.end
    shift_start = shift_end = 0
    for change in ProposedEdit.between(known, current.text).hunks:
        grown = len(change.new) - len(change.old)
        if change.end <= hunk.start:
            shift_start += grown
        elif change.start < hunk.start:
            start = change.start
        if change.start <= hunk.end:
            shift_end += grown
            end = max(end, change.end)
    return start + shift_start, max(start + shift_start, end + shift_end)


def in_the_manner_of(old: str, new: str, whole: str) -> str:
    """`new`, meant to replace `old` in the text `whole`, with what the model cannot see of `old` kept as it was.

    That is the kind of line endings, whether the last line has one, and the escape of the snippet format.
    """
    if CLOSING in whole and ESCAPED_CLOSING not in whole:
        new = unescape_code(new)
    ending = line_ending(old) or line_ending(whole) or "\n"
    if ending != "\n":
        new = new.replace("\r\n", "\n").replace("\n", ending)
    if not old or not new:
        return new
    if old.endswith(("\n", "\r")):
        return new if new.endswith(("\n", "\r")) else new + ending
    return new.removesuffix(ending)


def line_ending(text: str) -> str:
    """The most common one; "" where there is none."""
    crlf = text.count("\r\n")
    counts = {"\n": text.count("\n") - crlf, "\r\n": crlf, "\r": text.count("\r") - crlf}
    best = max(counts, key=lambda ending: counts[ending])
    return best if counts[best] else ""
