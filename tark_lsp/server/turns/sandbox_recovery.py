"""What commands of killed servers left: covers are removed, and the user is told about new protected paths."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from tark_lsp.folders import state_folder
from tark_lsp.sandbox import JOURNAL

MOST_NAMED = 5


async def recover_sandbox(warn: Callable[[str], object]) -> None:
    """Call it when a server starts. Nothing is imported if nothing was left."""
    try:
        folder = state_folder() / JOURNAL
    except OSError:
        return  # without a folder for our state, no command was in the sandbox
    if folder.is_dir() and any(folder.iterdir()) and (created := await asyncio.to_thread(_recover, folder)):
        names = ", ".join(map(str, created[:MOST_NAMED]))
        more = f" and {len(created) - MOST_NAMED} more" if len(created) > MOST_NAMED else ""
        warn(
            "Tark: a server was killed while a command ran. New since then are protected paths, on which programs "
            f"act: {names}{more}. If they are not yours, delete them"
        )


def _recover(folder: Path) -> list[Path]:
    """The protected paths that are new since the runs began whose end nobody saw."""
    from tark_lsp.sandbox.covers import Journal
    from tark_lsp.sandbox.tree import TreeReader

    unfinished = Journal(folder).recover().unfinished
    known = {path for entry in unfinished for path in entry.before}
    workspaces = dict.fromkeys(path for entry in unfinished for path in entry.workspace if path.is_dir())
    return sorted(path for root in workspaces for path in TreeReader().scan(root).protected if path not in known)
