"""apply_patch: adds, updates, moves and deletes files with one patch, completely or not at all."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from pydantic import Field

from tark_lsp.errors import FailureForModel, FileMissing, ToolError
from tark_lsp.tools.delete_file import removal
from tark_lsp.tools.edit_file import locations_of
from tark_lsp.tools.facts import ToolFacts
from tark_lsp.tools.masking import restore_texts
from tark_lsp.tools.move_file import move
from tark_lsp.tools.patch_format import SHOWN, Chunk, Section, inside_fences, parse_patch
from tark_lsp.tools.patch_placing import patched
from tark_lsp.tools.proposing import editable_path, existing_path, propose_in_thread, source_of
from tark_lsp.tools.results import count_noun
from tark_lsp.tools.tool import Arguments, Location, Preview, Risk, Tool, ToolContext, ToolKind
from tark_lsp.tools.unified_diff import is_unified_diff, parse_unified_diff
from tark_lsp.tools.write_file import written
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.placing.deadline import one_budget
from tark_lsp.workspace.placing.left_out import is_prose
from tark_lsp.workspace.placing.thread import in_thread

DESCRIPTION = """\
Change several files at once with a patch that begins with `*** Begin Patch`: update, add, delete and move them. The \
patch is applied completely or not at all; if one place cannot be found, the result says which. Only the lines that \
differ are changed, and the person's unsaved work is kept. To change one place in one file, use edit_file."""

NAMED_FILES = 5
"""The maximum number of files in the title."""


class ApplyPatchArguments(Arguments):
    patch: str = Field(
        description=f"The patch, in this format:\n{SHOWN}\nPaths are written as in read_file. Each line of an update "
        "begins with a space (it stays), - (it is removed) or + (it is added), followed by the line with its "
        "indentation. Give about three unchanged lines around each change. If they occur more than once, put `@@ ` and "
        "the first line of the enclosing class or function before them, one such line per level. The changes of a file "
        "must be in the order of the file. `*** End of File` after the lines says that they are the last of the file. "
        "Give no line numbers and leave nothing out."
    )


async def preview(args: ApplyPatchArguments, ctx: ToolContext) -> Preview:
    scratch = replace(ctx, drafts=dict(ctx.drafts))
    with one_budget():
        await draft_sections(await in_thread(sections_of, args.patch), scratch)
    edits = tuple(edit for path, edit in scratch.drafts.items() if ctx.drafts.get(path) is not edit)
    deletes = any(edit.removes for edit in edits)
    return Preview(
        title_of(edits, ctx),
        ToolKind.EDIT,
        Risk.DANGEROUS if deletes else Risk.WRITE,
        locations=tuple(place for edit in edits for place in locations_of(edit) or (Location(edit.path),)),
        edits=edits,
        atomic=True,
    )


def sections_of(patch: str) -> tuple[Section, ...]:
    """Raises ToolError `invalid_arguments`. A unified diff without the envelope is accepted, too."""
    lines = patch.replace("\r\n", "\n").split("\n")
    first, last = inside_fences(lines)
    return parse_unified_diff(lines[first:last]) if is_unified_diff(lines[first:last]) else parse_patch(patch)


async def draft_sections(sections: Iterable[Section], scratch: ToolContext) -> None:
    """Add the edits of all sections to the drafts. Raises a ToolError that names the section that cannot be applied."""
    for number, section in enumerate(sections, 1):
        try:
            for edit in await edits_of(section, scratch):
                if edit.path in scratch.drafts or edit.hunks or edit.operation:
                    scratch.drafts[edit.path] = edit
        except FailureForModel as error:
            raise ToolError(
                error.code,
                f"nothing of the patch was applied, because of section {number}, {section.title}: {error.message}",
                hint=error.hint,
                details={"section": number, "path": section.path, **error.details},
            ) from error


async def edits_of(section: Section, ctx: ToolContext) -> tuple[ProposedEdit, ...]:
    """The edits of one section, the same as from the tools for single files. Raises WorkspaceError, ToolError."""
    if section.action == "add":
        return (await added(ctx, section),)
    path = named(ctx, section.path)
    if section.action == "delete":
        return (removal(ctx, path),)
    edits: tuple[ProposedEdit, ...] = ()
    if section.chunks:
        existing = existing_path(ctx, path)
        chunks = [with_secrets(chunk, ctx, source_of(ctx, existing)) for chunk in section.chunks]
        repeats = any(chunk.old != chunk.new for chunk in chunks)
        change = partial(patched, chunks=chunks, prose=is_prose(editable_path(ctx, path)))
        edits = (await propose_in_thread(ctx, existing, change, repeats=repeats),)
        ctx = replace(ctx, drafts={**ctx.drafts, **{edit.path: edit for edit in edits}})
    if section.target is not None:
        edits = move(ctx, path, require_no_prefix(ctx, section.target))
    return edits


def with_secrets(chunk: Chunk, ctx: ToolContext, path: Path) -> Chunk:
    """The chunk with the secrets of the file in place of their tokens. Raises ToolError."""
    lines = restore_texts(ctx, path, (*chunk.headers, *chunk.old, *chunk.new))
    headers, old = len(chunk.headers), len(chunk.headers) + len(chunk.old)
    return replace(chunk, headers=tuple(lines[:headers]), old=tuple(lines[headers:old]), new=tuple(lines[old:]))


async def added(ctx: ToolContext, section: Section) -> ProposedEdit:
    """Raises ToolError `invalid_arguments` if the file exists, unless this answer deletes it."""
    path = editable_path(ctx, require_no_prefix(ctx, section.path))
    try:
        ctx.read_draft(path)
    except FileMissing:
        return await written(ctx, path, section.text)
    raise ToolError(
        "invalid_arguments",
        f"{section.path} already exists",
        hint="change it with *** Update File:, or replace its whole text with write_file",
    )


def named(ctx: ToolContext, path: str) -> str:
    """The path without the `a/` or `b/` of a unified diff, if only the file without that prefix exists."""
    plain = path[2:] if path.startswith(("a/", "b/")) else path
    return plain if plain != path and not stands(ctx, path) and stands(ctx, plain) else path


def require_no_prefix(ctx: ToolContext, path: str) -> str:
    """The path of a new file. Raises ToolError if `a/` or `b/` can be the prefix of a unified diff or a new folder."""
    if path.startswith(("a/", "b/")) and not editable_path(ctx, path[:1]).exists():
        raise ToolError(
            "invalid_arguments",
            f"there is no folder {path[:1]}, so {path} could mean {path[2:]}",
            hint=f"write {path[2:]}; to create a folder {path[:1]} use write_file or move_file",
        )
    return path


def stands(ctx: ToolContext, path: str) -> bool:
    try:
        ctx.read_draft(editable_path(ctx, path))
    except FileMissing:
        return False
    except FailureForModel:
        return True  # it exists; the error is reported where the file is used
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
    rest = [count_noun(len(names) - NAMED_FILES, "other")] if len(names) > NAMED_FILES else []
    return f"apply_patch {', '.join([*names[:NAMED_FILES], *rest])}"


FACTS = ToolFacts(reads=False, edits=True, runs=False, of_workspace=True)
TOOL = Tool("apply_patch", DESCRIPTION, ApplyPatchArguments, Risk.WRITE, preview, None, facts=FACTS)
