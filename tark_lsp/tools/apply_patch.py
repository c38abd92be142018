"""apply_patch: files added, updated, moved and deleted by one patch, all of it or nothing."""

from dataclasses import replace

from pydantic import Field

from tark_lsp.errors import FailureForModel, FileMissing, ToolError
from tark_lsp.tools.delete_file import removal
from tark_lsp.tools.edit_file import locations_of
from tark_lsp.tools.move_file import move
from tark_lsp.tools.patch_format import SHOWN, Section, parse_patch
from tark_lsp.tools.patch_placing import patched
from tark_lsp.tools.proposing import editable, existing, propose
from tark_lsp.tools.results import counted
from tark_lsp.tools.tool import Arguments, Location, Preview, Risk, Tool, ToolContext, ToolKind
from tark_lsp.tools.write_file import written
from tark_lsp.workspace.edits import ProposedEdit

DESCRIPTION = """\
Change several files at once by a patch that begins with `*** Begin Patch`: update, add, delete and move them. All of \
it is applied or nothing: where one place cannot be found, the answer says which. Only the lines that differ are \
touched; unsaved work of the person is kept. To change one place of one file, edit_file is enough."""

NAMED_FILES = 5
"""Files named in the title at most."""


class ApplyPatchArguments(Arguments):
    patch: str = Field(
        description=f"The patch, in this format:\n{SHOWN}\nPaths as in read_file. Each line of an update begins with a "
        "space (it stays), - (it goes) or + (it comes), then follows the line with its indentation. Give about three "
        "lines that stay around each change. Where they stand more than once, put `@@ ` and the first line of the "
        "class or function they are in before them, one such line for each level. The changes of a file come in the "
        "order of the file. `*** End of File` after the lines says that they are its last. No line numbers, nothing "
        "left out."
    )


async def preview(args: ApplyPatchArguments, ctx: ToolContext) -> Preview:
    scratch = replace(ctx, drafts=dict(ctx.drafts))
    for number, section in enumerate(parse_patch(args.patch), 1):
        try:
            for edit in edits_of(section, scratch):
                scratch.drafts[edit.path] = edit
        except FailureForModel as error:
            raise ToolError(
                error.code,
                f"nothing of the patch was applied, because of section {number}, {section.title}: {error.message}",
                hint=error.hint,
                details={"section": number, "path": section.path, **error.details},
            ) from error
    edits = tuple(edit for path, edit in scratch.drafts.items() if ctx.drafts.get(path) is not edit)
    deletes = any(edit.removes for edit in edits)
    return Preview(
        title_of(edits, ctx),
        ToolKind.EDIT,
        Risk.DANGEROUS if deletes else Risk.WRITE,
        locations=tuple(place for edit in edits for place in locations_of(edit) or (Location(edit.path),)),
        edits=edits,
        whole=True,
    )


def edits_of(section: Section, ctx: ToolContext) -> tuple[ProposedEdit, ...]:
    """As the tools that do the same for one file. Raises WorkspaceError, ToolError."""
    if section.action == "add":
        return (added(ctx, section),)
    path = named(ctx, section.path)
    if section.action == "delete":
        return (removal(ctx, path),)
    edits: tuple[ProposedEdit, ...] = ()
    if section.chunks:
        edits = (propose(ctx, existing(ctx, path), lambda text: patched(text, section.chunks)),)
        ctx = replace(ctx, drafts={**ctx.drafts, **{edit.path: edit for edit in edits}})
    if section.target is not None:
        edits = move(ctx, path, require_no_prefix(ctx, section.target))
    return edits


def added(ctx: ToolContext, section: Section) -> ProposedEdit:
    """Raises ToolError `invalid_arguments` where there is such a file, unless this answer deletes it."""
    path = editable(ctx, require_no_prefix(ctx, section.path))
    try:
        ctx.read(path)
    except FileMissing:
        return written(ctx, path, section.text)
    raise ToolError(
        "invalid_arguments",
        f"{section.path} is there already",
        hint="change it with *** Update File:, or give it a whole new text with write_file",
    )


def named(ctx: ToolContext, path: str) -> str:
    """The path without the `a/` or `b/` of a unified diff, where there is only a file without it."""
    plain = path[2:] if path.startswith(("a/", "b/")) else path
    return plain if plain != path and not stands(ctx, path) and stands(ctx, plain) else path


def require_no_prefix(ctx: ToolContext, path: str) -> str:
    """The path of a new file. Raises ToolError where `a/` or `b/` may be that of a unified diff or a new folder."""
    if path.startswith(("a/", "b/")) and not editable(ctx, path[:1]).exists():
        raise ToolError(
            "invalid_arguments",
            f"there is no folder {path[:1]}, so {path} may mean {path[2:]}",
            hint=f"write {path[2:]}; to make a folder {path[:1]} use write_file or move_file",
        )
    return path


def stands(ctx: ToolContext, path: str) -> bool:
    try:
        ctx.read(editable(ctx, path))
    except FileMissing:
        return False
    except FailureForModel:
        return True  # there is something, and what is wrong with it is told where it is used
    return True


def title_of(edits: tuple[ProposedEdit, ...], ctx: ToolContext) -> str:
    names = []
    for edit in edits:
        name = ctx.workspace.display(edit.path)
        if edit.removes:
            name += " (deleted)"
        elif edit.target is not None:
            name += f" to {ctx.workspace.display(edit.target)}"
        elif not edit.base.exists:
            name += " (new)"
        names.append(name)
    rest = [counted(len(names) - NAMED_FILES, "other")] if len(names) > NAMED_FILES else []
    return f"apply_patch {', '.join([*names[:NAMED_FILES], *rest])}"


TOOL = Tool("apply_patch", DESCRIPTION, ApplyPatchArguments, Risk.WRITE, preview, None)
