"""Masks the secrets of files in what tools show, and gives them back in new text (safety.md, "Secrets")."""

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
"""Characters of a file that a search looks through as a whole: it can find lines of a thousand files."""

PART_OF_A_KEY = re.compile(r"[A-Za-z0-9+/=]{32}")
"""In a line of a private key, which nothing but the other lines marks as one."""


def mask_file(ctx: ToolContext, path: Path, text: str) -> Masked:
    """`text` is the whole text of the file at `path`, which is resolved."""
    return ctx.masks.mask_file(path, text, every_value=holds_keys(ctx, path), shown=ctx.shows_secrets_of(path))


def holds_keys(ctx: ToolContext, path: Path) -> bool:
    """Whether the file holds keys by its name, so that every value in it is masked."""
    return is_secret(PurePath(ctx.workspace.display(path)))


def mask_selection(ctx: ToolContext, selection: Selection) -> Selection:
    """The selection as the model sees it. A secret that it cuts is in it as a whole."""
    snapshot = selection.snapshot
    masked = mask_file(ctx, snapshot.path, snapshot.text)
    start, end = masked.place_of(selection.start, selection.end)
    return Selection(replace(snapshot, text=masked.text), start, end)


def mask_lines(ctx: ToolContext, lines: Sequence[FoundLine]) -> list[FoundLine]:
    """The lines of a search. In a file that holds keys, and for a line that can be part of a private key, all of the
    file has to be known. The others are masked with the whole result."""
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
    """None if the file cannot be read, or is so long that it has no keys that people wrote."""
    with suppress(WorkspaceError):
        inside = ctx.workspace.is_inside(path)
        text = (ctx.read_draft(path) if inside else ctx.workspace.read_outside(path)).text
        if len(text) <= LONGEST_SEARCHED or holds_keys(ctx, path):
            return split_lines(mask_file(ctx, path, text).text)
    return None


@contextmanager
def masked_errors(ctx: ToolContext, path: Path) -> Iterator[None]:
    """Errors of edits show lines of the file."""
    try:
        yield
    except ToolError as error:
        every = holds_keys(ctx, path)
        message = ctx.masks.mask_text(error.message, every_value=every)
        details = ctx.masks.mask_json(dict(error.details), every_value=every)
        raise ToolError(error.code, message, hint=error.hint, details=details) from error


def restore_texts(ctx: ToolContext, path: Path, texts: Iterable[str]) -> list[str]:
    """What a model wrote about the file, with its secrets in place of their tokens. `path` is the file's path before
    the drafts of this answer.

    Raises ToolError `invalid_arguments` for a token of another file, and one that is not known.
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
