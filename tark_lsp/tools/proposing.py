"""Converts a change of the text that the model has read into a proposed edit of the file's current text."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tark_lsp.context.snippets import CLOSING, ESCAPED_CLOSING, unescape_code
from tark_lsp.errors import FileMissing, FileTooLarge, NotText, OutsideWorkspace, ToolError, WorkspaceError
from tark_lsp.tools.masking import masked_errors
from tark_lsp.tools.tool import ToolContext
from tark_lsp.workspace.ambiguous_hunks import ambiguous_hunks
from tark_lsp.workspace.edits import ProposedEdit, rebase
from tark_lsp.workspace.lines import Hunk
from tark_lsp.workspace.placing.thread import in_thread
from tark_lsp.workspace.snapshot import Snapshot

AROUND = 2
"""Lines shown before and after a conflict."""

HINTS: Mapping[type[WorkspaceError], str] = {
    FileMissing: "find_files shows what exists, write_file creates a new file",
    NotText: "this tool takes only text files; for others use run_command",
    FileTooLarge: "use run_command for such a large file",
    OutsideWorkspace: "name the file itself, not a link",
}
"""Hints for files that cannot be read, if the error has none."""


def editable_path(ctx: ToolContext, path: str) -> Path:
    """The resolved path of a file to edit. Raises OutsideWorkspace: nothing outside the workspace is ever written."""
    try:
        return ctx.workspace.resolve(path)
    except OutsideWorkspace as error:
        raise OutsideWorkspace(
            f"{path} is outside the workspace, where nothing can be changed", hint="edit only files of the workspace"
        ) from error


def existing_path(ctx: ToolContext, path: str) -> Path:
    """Like `editable_path`, for a file that exists after the drafts of this answer. Raises WorkspaceError."""
    resolved = editable_path(ctx, path)
    try:
        ctx.read_draft(resolved)
    except WorkspaceError as error:
        was_there = "it existed when you read it; " if resolved in ctx.seen else ""
        hint = (was_there if isinstance(error, FileMissing) else "") + HINTS.get(type(error), "")
        raise type(error)(error.message, hint=error.hint or hint, details=error.details) from error
    return resolved


def unlinked_path(ctx: ToolContext, path: str) -> Path:
    """Like `existing_path`, for an operation on the file itself: a symlink is refused."""
    refuse_link(ctx, path)
    return existing_path(ctx, path)


def refuse_link(ctx: ToolContext, path: str) -> None:
    """Raises ToolError `unsupported` if `path` itself is a symlink. Links in its folders are allowed."""
    resolved = editable_path(ctx, path)
    for name in {path, path.partition(":")[2]}:
        for folder in ctx.workspace.folders:
            if leads_to(folder, name, resolved):
                raise ToolError(
                    "unsupported",
                    f"{path} is a link to {ctx.workspace.display(resolved)}",
                    hint=f"name {ctx.workspace.display(resolved)} if you mean that file; use run_command to create "
                    "and remove links",
                )


def leads_to(folder: Path, name: str, file: Path) -> bool:
    """Whether a part of the path `name` below `folder` is a symlink to exactly `file`.

    Each part is resolved separately: a `..` after a missing name would hide the link from the operating system.
    """
    at = folder
    for part in Path(name).parts:
        entry = at / part
        at = Path(os.path.realpath(entry))
        if at == file and entry.is_symlink():
            return True
    return False


@dataclass(frozen=True, slots=True)
class Texts:
    """The current file, its draft in this answer, and the version that the model read last."""

    now: Snapshot
    draft: ProposedEdit | None
    seen: Snapshot | None


def propose_change(
    ctx: ToolContext, path: Path, change: Callable[[str], str], *, repeats: bool = False
) -> ProposedEdit:
    """An edit of the current file. `change` maps the text that the model knows to the whole new text.

    The model knows what it last read (`ctx.seen`) with the drafts of this answer. `path`: the path of the file after
    those drafts, which the edit includes. A missing file counts as empty text. `repeats`: a change that the text
    already has is not an error; then the edit has only the drafts.

    Raises WorkspaceError; ToolError from `change`; `conflict` if the user has changed the same lines since the model
    read them; `invalid_arguments` if nothing would change.
    """
    texts = texts_of(ctx, path)
    with masked_errors(ctx, texts.now.path):
        return changed(ctx, texts, change, repeats=repeats)


async def propose_in_thread(
    ctx: ToolContext, path: Path, change: Callable[[str], str], *, repeats: bool = False
) -> ProposedEdit:
    """Like `propose_change`, but runs `change` in a thread, so that the server can still answer the editor."""
    texts = texts_of(ctx, path)
    with masked_errors(ctx, texts.now.path):
        return await in_thread(changed, ctx, texts, change, repeats=repeats)


def texts_of(ctx: ToolContext, path: Path) -> Texts:
    """Raises WorkspaceError and ToolError."""
    now = read_or_absent(ctx, source_of(ctx, path))
    return Texts(now, ctx.drafts.get(now.path), ctx.seen.get(now.path))


def changed(ctx: ToolContext, texts: Texts, change: Callable[[str], str], *, repeats: bool) -> ProposedEdit:
    """The edit that `propose_change` returns. Does not read files or documents."""
    now, current = texts.now, with_draft(ctx, texts.now, texts.draft)
    known = known_text(texts, current)
    try:
        after = change(known.text)
    except ToolError as error:
        if error.code != "not_found" or known.text == current.text:
            raise
        known, after = current, change(current.text)  # the model means text that the user has written since
    if after == known.text != current.text:
        known, after = current, change(current.text)  # the user reverted text that the model knows
    if after == known.text and repeats:
        return edit_to(now, current.text, texts.draft)
    if after == known.text:
        raise ToolError(
            "invalid_arguments",
            f"this would change nothing in {ctx.workspace.display(current.path)}: it already has this text",
            hint="if that is what you wanted, continue; otherwise give another new text",
        )
    proposed = ProposedEdit.between(known, after)
    moved, conflicts = rebase(proposed, current)
    conflicts = conflicts or ambiguous_hunks(proposed, current)
    if conflicts:
        raise conflict_error(ctx, known, current, conflicts[0])
    return edit_to(now, moved.after, texts.draft)


def source_of(ctx: ToolContext, path: Path) -> Path:
    """The current path of the file that is at `path` after the drafts. Raises ToolError `conflict` if they move it."""
    draft = ctx.draft_at(path)
    if draft is None:
        return path
    if draft.place != path:
        shown, to = ctx.workspace.display(path), ctx.workspace.display(draft.place)
        raise ToolError(
            "conflict",
            f"{shown} is moved to {to} by this answer, so nothing can be written there yet",
            hint=f"edit {to}; create a new {shown} in your next answer",
        )
    return draft.path


def edit_to(now: Snapshot, after: str, draft: ProposedEdit | None = None) -> ProposedEdit:
    """The edit of the current file `now` to the text `after`, which includes its draft. A drafted move is kept."""
    edit = ProposedEdit.between(now, after)
    if not now.exists and not after:
        edit = replace(edit, hunks=(Hunk(0, (), ()),))  # so that the user also decides about an empty new file
    return edit if draft is None else replace(edit, target=draft.target)


def read_or_absent(ctx: ToolContext, path: Path) -> Snapshot:
    """The file, or an empty one if it does not exist. Raises WorkspaceError, and ToolError `denied` if a rule hides the
    file, because errors show lines of it."""
    if ctx.is_read_denied(path):
        why = (
            "holds keys or credentials, which no tool reads"
            if ctx.workspace.is_private(path)
            else "is hidden by a rule"
        )
        raise ToolError("denied", f"{ctx.workspace.display(path)} {why}", hint="do without it")
    try:
        return ctx.workspace.read(path)
    except FileMissing:
        return Snapshot(path, "", exists=False)


def with_draft(ctx: ToolContext, now: Snapshot, draft: ProposedEdit | None) -> Snapshot:
    """The file with its draft of this answer. Raises ToolError `conflict` if the user has changed the same lines."""
    if draft is None:
        return now
    moved, conflicts = rebase(draft, now)
    if conflicts:
        raise conflict_error(ctx, draft.base, now, conflicts[0])
    return moved.drafted


def known_text(texts: Texts, current: Snapshot) -> Snapshot:
    """The text that the model expects: what it read with the draft of this answer, else the `current` text."""
    seen = texts.seen
    if seen is None or seen.text == texts.now.text:
        return current
    if texts.draft is None:
        return seen
    moved, conflicts = rebase(texts.draft, seen)
    return current if conflicts else moved.drafted


def conflict_error(ctx: ToolContext, known: Snapshot, current: Snapshot, hunk: Hunk) -> ToolError:
    """An error with the current lines at the place of `hunk` from `known`."""
    start, end = lines_now(known, current, hunk)
    lines = current.lines
    first, last = max(0, start - AROUND), min(len(lines), end + AROUND)
    return ToolError(
        "conflict",
        f"since you read {ctx.workspace.display(current.path)} the person changed the lines of this edit",
        hint="look at the current lines; if the edit is still needed, make it again based on them",
        details={"start_line": first + 1, "end_line": last, "current": "".join(lines[first:last])},
    )


def lines_now(known: Snapshot, current: Snapshot, hunk: Hunk) -> tuple[int, int]:
    """The range of lines in `current` (from 0, end exclusive) at the place of `hunk.old` in `known`."""
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


def match_style(old: str, new: str, whole: str) -> str:
    """Adapt `new`, which replaces `old` in the text `whole`, to properties of `old` that the model cannot see.

    These are the kind of line endings, whether the last line has one, and the escape of the snippet format.
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
    """The most common line ending; "" if there is none."""
    crlf = text.count("\r\n")
    counts = {"\n": text.count("\n") - crlf, "\r\n": crlf, "\r": text.count("\r") - crlf}
    best = max(counts, key=lambda ending: counts[ending])
    return best if counts[best] else ""
