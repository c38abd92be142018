"""edit_file: replaces some lines of a file."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from pydantic import Field

from tark_lsp.errors import ToolError
from tark_lsp.tools.facts import ToolFacts, TurnScope
from tark_lsp.tools.masking import restore_texts
from tark_lsp.tools.proposing import existing_path, propose_change, propose_in_thread, source_of
from tark_lsp.tools.tool import Arguments, Location, Preview, Risk, Tool, ToolContext, ToolKind
from tark_lsp.workspace.edits import ProposedEdit, rebase
from tark_lsp.workspace.lines import split_lines
from tark_lsp.workspace.placing.deadline import limited_time
from tark_lsp.workspace.placing.left_out import is_prose
from tark_lsp.workspace.placing.placing import place_edit
from tark_lsp.workspace.snapshot import Snapshot

DESCRIPTION = """\
Replace text in a file of the workspace. old_text must occur in the file exactly once; otherwise choose the place with \
line_hint, or set replace_all. Only the lines that differ are changed, and the person's unsaved work is kept. If \
old_text is not found, the result shows the nearest lines. Use write_file for new files."""


class EditFileArguments(Arguments):
    path: str = Field(min_length=1, description="The file, written as in read_file.")
    old_text: str = Field(
        description="The text to replace: whole lines, copied from the file with their indentation, with enough lines "
        "around the change to occur only once. Never shorten it with `...`."
    )
    new_text: str = Field(description="The new text, with its final indentation; empty to remove old_text.")
    line_hint: int | None = Field(
        default=None,
        ge=1,
        description="The approximate line, counted from 1, where old_text begins: needed if it occurs more than once.",
    )
    replace_all: bool = Field(default=False, description="Whether to replace every occurrence of old_text.")


def edit_of(args: EditFileArguments, ctx: ToolContext) -> ProposedEdit:
    """Raises WorkspaceError and ToolError."""
    path = existing_path(ctx, args.path)
    args = with_secrets(args, ctx, path)
    return propose_change(ctx, path, change_of(args, ctx, path), repeats=args.old_text != args.new_text)


async def edit_in_thread(args: EditFileArguments, ctx: ToolContext) -> ProposedEdit:
    """Like `edit_of`, but finds the place in a thread."""
    path = existing_path(ctx, args.path)
    args = with_secrets(args, ctx, path)
    return await propose_in_thread(ctx, path, change_of(args, ctx, path), repeats=args.old_text != args.new_text)


def with_secrets(args: EditFileArguments, ctx: ToolContext, path: Path) -> EditFileArguments:
    """Replace the tokens of secrets with the secrets. Raises ToolError."""
    old, new = restore_texts(ctx, source_of(ctx, path), (args.old_text, args.new_text))
    return args.model_copy(update={"old_text": old, "new_text": new})


def change_of(args: EditFileArguments, ctx: ToolContext, path: Path) -> Callable[[str], str]:
    draft = ctx.draft_at(path)
    read = None if draft is None else ctx.seen.get(draft.path, draft.base)
    prose = is_prose(path)
    return lambda text: placed(text, args, hints_of(draft, read, args.line_hint), prose=prose)


def placed(text: str, args: EditFileArguments, hints: Sequence[int | None], *, prose: bool = False) -> str:
    """The text with the edit. `hints`: the lines that the hint can mean, the most likely first.

    Raises ToolError, with the code `not_unique` if the hints lead to different places.
    """
    place = partial(place_edit, text, args.old_text, args.new_text, replace_all=args.replace_all, prose=prose)
    with limited_time():
        there = [hint for hint in hints if hint and begins_at(text, args.old_text, hint)]
        first, *others = there if len(there) == 1 else hints
        results = {place(line_hint=first)}
        for hint in others:
            with suppress(ToolError):
                results.add(place(line_hint=hint))
        return results.pop() if len(results) == 1 else place()  # raises an error that lists the places


def begins_at(text: str, old_text: str, line: int) -> bool:
    """Whether exactly these lines begin at the line, from 1."""
    wanted = [one.rstrip() for one in split_lines(old_text)]
    return [one.rstrip() for one in split_lines(text)[line - 1 : line - 1 + len(wanted)]] == wanted


def hints_of(draft: ProposedEdit | None, read: Snapshot | None, hint: int | None) -> Sequence[int | None]:
    """The lines in the draft that the hint can mean, from 1.

    The hint is a line in the text that the model `read`, or already includes the earlier edits of this answer.
    """
    if hint is None or draft is None or read is None:
        return (hint,)
    carried, _ = rebase(draft, read)
    as_read = hint + sum(len(hunk.new) - len(hunk.old) for hunk in carried.hunks if hunk.end < hint)
    return (hint,) if as_read == hint else (as_read, hint)


def locations_of(edit: ProposedEdit) -> tuple[Location, ...]:
    return tuple(Location(edit.path, hunk.start, hunk.end) for hunk in edit.hunks)


async def preview(args: EditFileArguments, ctx: ToolContext) -> Preview:
    edit = await edit_in_thread(args, ctx)
    title = f"edit_file {ctx.workspace.display(edit.path)}"
    return Preview(title, ToolKind.EDIT, Risk.WRITE, locations=locations_of(edit), edits=(edit,))


FACTS = ToolFacts(
    reads=False, edits=True, runs=False, scopes=frozenset({TurnScope.SELECTION, TurnScope.WORKSPACE}), of_workspace=True
)
TOOL = Tool("edit_file", DESCRIPTION, EditFileArguments, Risk.WRITE, preview, None, facts=FACTS)
