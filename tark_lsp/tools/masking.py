"""Masks the secrets of files in the output of tools, and restores them in new text (safety.md, "Secrets")."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path, PurePath

from tark_lsp.errors import FileMissing, ToolError, WorkspaceError
from tark_lsp.secrets.file_names import is_secret
from tark_lsp.secrets.tokens import MARK, Masked, UnknownToken
from tark_lsp.tools.tool import Selection, ToolContext
from tark_lsp.workspace.lines import split_lines
from tark_lsp.workspace.search.search_check import LINE_LIMIT, FoundLine

LONGEST_SEARCHED = 500_000
"""Characters. For longer files, a search does not mask the whole text: it can find lines in a thousand files."""

PART_OF_A_KEY = re.compile(r"[A-Za-z0-9+/=]{32}")
"""Matches in a line of a private key. Only the other lines show that the line belongs to a key."""


def mask_file(ctx: ToolContext, path: Path, text: str) -> Masked:
    """`text`: the whole text of the file at the resolved path `path`."""
    return ctx.masks.mask_file(path, text, every_value=holds_keys(ctx, path), shown=ctx.shows_secrets_of(path))


def holds_keys(ctx: ToolContext, path: Path) -> bool:
    """Whether the name of the file says that it contains keys. Then every value in it is masked."""
    return is_secret(PurePath(ctx.workspace.display(path)))


def mask_selection(ctx: ToolContext, selection: Selection) -> Selection:
    """The selection as the model sees it. If its edge is inside a secret, it includes the whole secret."""
    snapshot = selection.snapshot
    masked = mask_file(ctx, snapshot.path, snapshot.text)
    start, end = masked.place_of(selection.start, selection.end)
    return Selection(replace(snapshot, text=masked.text), start, end)


def mask_lines(ctx: ToolContext, lines: Sequence[FoundLine]) -> list[FoundLine]:
    """Mask the lines of a search if the whole file is needed for this: in a file with keys, or for a line that can be
    part of a private key. Other lines are masked later with the whole result."""
    whole: dict[str, Sequence[str] | None] = {}
    for line in lines:
        path = Path(line.path)
        if line.path not in whole and (
            holds_keys(ctx, path) or ctx.shows_secrets_of(path) or PART_OF_A_KEY.search(line.text)
        ):
            whole[line.path] = masked_lines(ctx, path)
    return [_masked_line(line, whole.get(line.path)) for line in lines]


def _masked_line(line: FoundLine, masked: Sequence[str] | None) -> FoundLine:
    if masked is None or line.number > len(masked):
        return line
    return replace(line, text=masked[line.number - 1].rstrip("\r\n")[: 2 * LINE_LIMIT])


def masked_lines(ctx: ToolContext, path: Path) -> Sequence[str] | None:
    """The masked lines of a file. None if the file cannot be read, or is too long for a file with handwritten keys."""
    with suppress(WorkspaceError):
        inside = ctx.workspace.is_inside(path)
        text = (ctx.read_draft(path) if inside else ctx.workspace.read_outside(path)).text
        if len(text) <= LONGEST_SEARCHED or holds_keys(ctx, path):
            return split_lines(mask_file(ctx, path, text).text)
    return None


@contextmanager
def masked_errors(ctx: ToolContext, path: Path) -> Iterator[None]:
    """Mask errors of edits, because they show lines of the file."""
    try:
        yield
    except ToolError as error:
        every = holds_keys(ctx, path)
        message = ctx.masks.mask_text(error.message, every_value=every)
        details = ctx.masks.mask_json(dict(error.details), every_value=every)
        raise ToolError(error.code, message, hint=error.hint, details=details) from error


def restore_texts(ctx: ToolContext, path: Path, texts: Iterable[str]) -> list[str]:
    """Replace the tokens in texts of the model with the secrets of the file.

    `path`: the file's path before the drafts of this answer. Raises ToolError `invalid_arguments` for a token that is
    unknown or from another file.
    """
    texts = list(texts)
    if not any(MARK in text.lower() for text in texts):
        return texts
    try:
        current = ctx.workspace.read(path).text
    except FileMissing:
        current = ""
    try:
        return [ctx.masks.restore(path, text, current, every_value=holds_keys(ctx, path)) for text in texts]
    except UnknownToken as unknown:
        raise ToolError(
            "invalid_arguments",
            f"{unknown.token} is not a secret of {ctx.workspace.display(path)}: such a token stands for a secret only "
            "in the file where you read it",
            hint="read the file again and copy its tokens exactly; to use a secret in another file, ask the person to "
            "write it there, or refer to it by name (a variable)",
        ) from unknown
