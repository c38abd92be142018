"""write_file: creates a file, or replaces the whole text of an existing one with edits of the lines that differ."""

from pathlib import Path

from pydantic import Field

from tark_lsp.errors import NotText
from tark_lsp.tools.edit_file import locations_of
from tark_lsp.tools.facts import ToolFacts
from tark_lsp.tools.masking import restore_texts
from tark_lsp.tools.proposing import (
    edit_to,
    editable_path,
    line_ending,
    match_style,
    propose_in_thread,
    read_or_absent,
)
from tark_lsp.tools.tool import Arguments, Preview, Risk, Tool, ToolContext, ToolKind
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.lines import line_changes, split_lines
from tark_lsp.workspace.placing.left_out import is_prose, require_complete, require_no_numbers
from tark_lsp.workspace.placing.thread import in_thread

DESCRIPTION = """\
Create a file, or replace the whole text of an existing one. Missing folders are created. In an existing file only the \
lines that differ are changed, and its line endings are kept. To change a part of a file use edit_file."""


class WriteFileArguments(Arguments):
    path: str = Field(min_length=1, description="The file, written as in read_file.")
    content: str = Field(description="The whole text of the file, nothing left out.")


async def preview(args: WriteFileArguments, ctx: ToolContext) -> Preview:
    edit = await written(ctx, editable_path(ctx, args.path), args.content)
    title = f"write_file {ctx.workspace.display(edit.paths[-1])}"
    return Preview(
        title if edit.base.exists else f"{title} (new)",
        ToolKind.EDIT,
        Risk.WRITE,
        locations=locations_of(edit),
        edits=(edit,),
    )


async def written(ctx: ToolContext, path: Path, content: str) -> ProposedEdit:
    """The edit that changes the new or existing file at `path` to `content`. Raises WorkspaceError, ToolError."""
    require_place(path, ctx.workspace.display(path))
    draft = ctx.draft_at(path)
    (content,) = restore_texts(ctx, path if draft is None else draft.path, [content])
    if draft is not None and draft.removes:  # deleted and created again: the file stays, with another text
        now = read_or_absent(ctx, path)
        if not is_prose(path):
            require_complete("", "", content)
        return await in_thread(lambda: ProposedEdit.between(now, whole_text(now.text, content)))
    if not content and (draft is None or not draft.drafted.exists):
        now = read_or_absent(ctx, path)
        if not now.exists:
            return edit_to(now, "", ctx.drafts.get(now.path))

    def change(text: str) -> str:
        if not is_prose(path):
            require_complete(text, text, content)
            require_no_numbers(text, content, 1)
        return whole_text(text, content)

    return await propose_in_thread(ctx, path, change)


def require_place(path: Path, shown: str) -> None:
    """Raises NotText if the path is a folder, or if one of its parents is a file."""
    if path.is_dir():
        raise NotText(f"{shown} is a folder", hint="give the path of a file in it")
    above = next((parent for parent in path.parents if parent.exists()), path.parent)
    if not above.is_dir():
        raise NotText(f"{above.name} in {shown} is a file, not a folder", hint="choose another path")


def whole_text(old: str, content: str) -> str:
    """`content` with the line endings of `old` in the lines that both share. New lines get the most common ending.

    The end of the file keeps or lacks its line ending as in `old`, unless that is the only change.
    """
    if not old:
        return content
    mended = match_style(old, content, old)
    plain_old, plain_new = with_newlines(old), with_newlines(mended)
    if plain_old == plain_new:
        plain_new = with_newlines(content)
    ending = line_ending(old) or "\n"
    lines = split_lines(old)
    for hunk in reversed(line_changes(plain_old, plain_new)):
        lines[hunk.start : hunk.end] = [line.replace("\n", ending) for line in hunk.new]
    return "".join(lines)


def with_newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


FACTS = ToolFacts(reads=False, edits=True, runs=False, of_workspace=True)
TOOL = Tool("write_file", DESCRIPTION, WriteFileArguments, Risk.WRITE, preview, None, facts=FACTS)
