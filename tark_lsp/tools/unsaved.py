"""Finds documents with unsaved changes, for the user and the model: a command sees only the files on disk."""

from collections.abc import Callable, Sequence
from pathlib import Path

from tark_lsp.tools.tool import ToolContext

MOST_NAMED = 5


def find_unsaved(ctx: ToolContext) -> tuple[Path, ...]:
    """The unsaved documents in the whole workspace: a command can read all of it, whatever folder it starts in."""
    return tuple(sorted({path for folder in ctx.workspace.folders for path in ctx.editor.unsaved_documents(folder)}))


def describe_unsaved(paths: Sequence[Path], display: Callable[[Path], str]) -> str:
    """`a.py is not saved`, `a.py, b.py and 3 others are not saved`."""
    names = [display(path) for path in paths[:MOST_NAMED]]
    if len(paths) > MOST_NAMED:
        left = len(paths) - MOST_NAMED
        names.append(f"{left} other{'s' * (left > 1)}")
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{listed} {'is' if len(paths) == 1 else 'are'} not saved"
