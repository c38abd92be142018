"""replace_selection: exactly the characters the person selected become others; nothing else can change."""

from pydantic import Field

from tark_lsp.errors import ToolError
from tark_lsp.tools.edit_file import locations_of
from tark_lsp.tools.proposing import conflict, edited, in_the_manner_of, read_or_absent, with_draft
from tark_lsp.tools.tool import Arguments, Preview, Risk, Selection, Tool, ToolContext, ToolKind
from tark_lsp.workspace.edits import map_range
from tark_lsp.workspace.lines import Hunk, split_lines
from tark_lsp.workspace.placing.misquoted import require_whole

DESCRIPTION = """\
Replace the text the person selected, all of it and nothing else, in one call. The selection may begin or end within a \
line: give only what is to stand between its two ends. The line ending after its last line stays as it is."""


class ReplaceSelectionArguments(Arguments):
    new_text: str = Field(
        description="The whole new text of the selection, indented as it should be in the file; empty removes it."
    )


async def preview(args: ReplaceSelectionArguments, ctx: ToolContext) -> Preview:
    selection = ctx.selection
    if selection is None:
        raise ToolError("unsupported", "nothing is selected in this turn", hint="use edit_file")
    path = selection.snapshot.path
    draft = ctx.draft_at(path)
    if draft is not None and draft.removes:
        raise ToolError("conflict", "this answer deletes the file of the selection", hint="change it or delete it")
    now = read_or_absent(ctx, path)
    at_start = map_range(selection.snapshot.text, now.text, selection.start, selection.end)
    if at_start is None:
        raise conflict(ctx, selection.snapshot, now, selected_lines(selection))
    current = with_draft(ctx, now)
    place = map_range(now.text, current.text, *at_start) or around_drafts(now.text, current.text, *at_start)
    if place is None:
        raise ToolError(
            "conflict",
            "another edit of this answer reaches across the end of the selection",
            hint="change the selection with one replace_selection, and the rest with edit_file",
        )
    start, end = place
    old = current.text[start:end]
    require_whole(current.text, old, args.new_text)
    new = in_the_manner_of(old, args.new_text, current.text)
    if new == old:
        raise ToolError(
            "invalid_arguments",
            "this would change nothing: the selection is already so",
            hint="if that is what you wanted, go on; else give another new_text",
        )
    edit = edited(ctx, now, current.text[:start] + new + current.text[end:])
    title = f"replace_selection in {ctx.workspace.display(path)}"
    return Preview(title, ToolKind.EDIT, Risk.WRITE, locations=locations_of(edit), edits=(edit,))


def around_drafts(now: str, drafted: str, start: int, end: int) -> tuple[int, int] | None:
    """The selection in `drafted` where all drafts lie inside of it; None where one reaches out."""
    after = len(now) - end
    inside = drafted.startswith(now[:start]) and drafted.endswith(now[end:]) and len(drafted) >= start + after
    return (start, len(drafted) - after) if inside else None


def selected_lines(selection: Selection) -> Hunk:
    text = selection.snapshot.text
    first = len(split_lines(text[: selection.start] + "|")) - 1
    last = len(split_lines(text[: selection.end] + "|"))
    return Hunk(first, tuple(split_lines(text)[first:last]), ())


TOOL = Tool("replace_selection", DESCRIPTION, ReplaceSelectionArguments, Risk.WRITE, preview, None)
