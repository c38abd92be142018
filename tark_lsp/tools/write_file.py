"""write_file: a new file, or the whole text of an old one as the few hunks that differ."""

from pathlib import Path

from pydantic import Field

from tark_lsp.errors import NotText
from tark_lsp.tools.edit_file import locations_of
from tark_lsp.tools.proposing import (
    editable,
    edited,
    in_the_manner_of,
    line_ending,
    propose,
    read_or_absent,
)
from tark_lsp.tools.tool import Arguments, Preview, Risk, Tool, ToolContext, ToolKind
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.lines import line_changes, split_lines
from tark_lsp.workspace.placing.misquoted import require_whole

DESCRIPTION = """\
Make a new file, or give an old one a new text as a whole. Folders that are missing are made. Of an old file only the \
lines that differ are touched, and its line endings stay. To change a part of a file use edit_file."""


class WriteFileArguments(Arguments):
    path: str = Field(min_length=1, description="The file, written as in read_file.")
    content: str = Field(description="The whole text of the file, nothing left out.")


async def preview(args: WriteFileArguments, ctx: ToolContext) -> Preview:
    edit = written(ctx, editable(ctx, args.path), args.content)
    title = f"write_file {ctx.workspace.display(edit.drafted.path)}"
    return Preview(
        title if edit.base.exists else f"{title} (new)",
        ToolKind.EDIT,
        Risk.WRITE,
        locations=locations_of(edit),
        edits=(edit,),
    )


def written(ctx: ToolContext, path: Path, content: str) -> ProposedEdit:
    """The whole text of the file at `path`, be it new. Raises WorkspaceError, ToolError."""
    require_place(path, ctx.workspace.display(path))
    draft = ctx.draft_at(path)
    if draft is not None and draft.removes:  # made anew: the file stays, with another text
        now = read_or_absent(ctx, path)
        return ProposedEdit.between(now, whole_text(now.text, content))  # what it leaves out was to go
    if not content and (draft is None or not draft.drafted.exists):
        now = read_or_absent(ctx, path)
        if not now.exists:
            return edited(ctx, now, "")

    def change(text: str) -> str:
        require_whole(text, text, content)
        return whole_text(text, content)

    return propose(ctx, path, change)


def require_place(path: Path, shown: str) -> None:
    """Raises NotText where a folder is in the way, or a file where a folder should be."""
    if path.is_dir():
        raise NotText(f"{shown} is a folder", hint="give the path of a file in it")
    above = next((parent for parent in path.parents if parent.exists()), path.parent)
    if not above.is_dir():
        raise NotText(f"{above.name} in {shown} is a file, not a folder", hint="choose another path")


def whole_text(old: str, content: str) -> str:
    """`content` with the endings of the lines it shares with `old`, mixed ones too; new lines get the most common one.

    The file's end stays as it is, with a line ending or without, unless that is all that would change.
    """
    if not old:
        return content
    mended = in_the_manner_of(old, content, old)
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


TOOL = Tool("write_file", DESCRIPTION, WriteFileArguments, Risk.WRITE, preview, None)
