"""replace_selection: replaces exactly the characters that the user selected, and nothing else."""

from pydantic import Field

from tark_lsp.errors import ToolError
from tark_lsp.tools.edit_file import locations_of
from tark_lsp.tools.facts import ToolFacts, TurnScope
from tark_lsp.tools.masking import mask_file, masked_errors, restore_texts
from tark_lsp.tools.proposing import conflict_error, edit_to, match_style, read_or_absent, with_draft
from tark_lsp.tools.tool import Arguments, Preview, Risk, Selection, Tool, ToolContext, ToolKind
from tark_lsp.workspace.edits import ProposedEdit, map_range
from tark_lsp.workspace.lines import Hunk, count_lines, split_lines
from tark_lsp.workspace.placing.left_out import is_prose, require_complete, require_no_numbers
from tark_lsp.workspace.placing.thread import in_thread
from tark_lsp.workspace.snapshot import Snapshot

DESCRIPTION = """\
Replace the text that the person selected, all of it and nothing else, in one call. The selection can begin or end \
within a line: give only the text between its two ends. The line ending after its last line does not change."""


class ReplaceSelectionArguments(Arguments):
    new_text: str = Field(
        description="The whole new text of the selection, with its final indentation; empty to remove the selection."
    )


async def preview(args: ReplaceSelectionArguments, ctx: ToolContext) -> Preview:
    selection = ctx.selection
    if selection is None:
        raise ToolError("unsupported", "nothing is selected in this turn", hint="use edit_file")
    path = selection.snapshot.path
    draft = ctx.draft_at(path)
    if draft is not None and draft.removes:
        raise ToolError("conflict", "this answer deletes the file with the selection", hint="change it or delete it")
    now = read_or_absent(ctx, path)
    new_text = with_secrets(args.new_text, ctx, selection)
    with masked_errors(ctx, path):
        edit = await in_thread(replaced, ctx, selection, now, ctx.drafts.get(path), new_text)
    title = f"replace_selection in {ctx.workspace.display(path)}"
    return Preview(title, ToolKind.EDIT, Risk.WRITE, locations=locations_of(edit), edits=(edit,))


def with_secrets(new_text: str, ctx: ToolContext, selection: Selection) -> str:
    """The new text with the secrets of the file in place of their tokens. Raises ToolError."""
    snapshot = selection.snapshot
    (restored,) = restore_texts(ctx, snapshot.path, [new_text])
    if restored != new_text:
        masked = mask_file(ctx, snapshot.path, snapshot.text)
        if masked.cuts(selection.start) or masked.cuts(selection.end):
            raise ToolError(
                "invalid_arguments",
                "the selection begins or ends within a secret, so its token stands for more than is selected",
                hint="leave the token out, or ask the person to select the whole secret",
            )
    return restored


def replaced(
    ctx: ToolContext, selection: Selection, now: Snapshot, draft: ProposedEdit | None, new_text: str
) -> ProposedEdit:
    """The edit of the file in its state `now`. Does not read files or documents. Raises ToolError."""
    at_start = map_range(selection.snapshot.text, now.text, selection.start, selection.end)
    if at_start is None:
        raise conflict_error(ctx, selection.snapshot, now, selected_lines(selection))
    current = with_draft(ctx, now, draft)
    place = map_range(now.text, current.text, *at_start) or around_drafts(now.text, current.text, *at_start)
    if place is None:
        raise ToolError(
            "conflict",
            "another edit of this answer crosses the border of the selection",
            hint="change the selection with one replace_selection, and the rest with edit_file",
        )
    start, end = place
    old = current.text[start:end]
    if not is_prose(now.path):
        require_complete(current.text, old, new_text)
        require_no_numbers(old, new_text, count_lines(current.text[:start]) + 1)
    new = match_style(old, new_text, current.text)
    if new == old:
        raise ToolError(
            "invalid_arguments",
            "this would change nothing: the selection already has this text",
            hint="if that is what you wanted, continue; otherwise give another new_text",
        )
    return edit_to(now, current.text[:start] + new + current.text[end:], draft)


def around_drafts(now: str, drafted: str, start: int, end: int) -> tuple[int, int] | None:
    """The selection in `drafted` if all drafts are inside it, else None."""
    after = len(now) - end
    inside = drafted.startswith(now[:start]) and drafted.endswith(now[end:]) and len(drafted) >= start + after
    return (start, len(drafted) - after) if inside else None


def selected_lines(selection: Selection) -> Hunk:
    text = selection.snapshot.text
    first = len(split_lines(text[: selection.start] + "|")) - 1
    last = len(split_lines(text[: selection.end] + "|"))
    return Hunk(first, tuple(split_lines(text)[first:last]), ())


FACTS = ToolFacts(
    reads=False,
    edits=True,
    runs=False,
    scopes=frozenset({TurnScope.SELECTION, TurnScope.WORKSPACE}),
    needs_selection=True,
    of_workspace=True,
)
TOOL = Tool("replace_selection", DESCRIPTION, ReplaceSelectionArguments, Risk.WRITE, preview, None, facts=FACTS)
