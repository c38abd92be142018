"""Cleans up after sandboxed commands of killed servers: removes their covers, and warns about new protected paths."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from tark_lsp.folders import state_folder
from tark_lsp.sandbox import JOURNAL

MOST_NAMED = 5


async def recover_sandbox(warn: Callable[[str], object]) -> None:
    """Must be called when a server starts. Imports nothing if there is nothing to clean up."""
    try:
        folder = state_folder() / JOURNAL
    except OSError:
        return  # without a state folder, no command ran in the sandbox
    if folder.is_dir() and any(folder.iterdir()) and (created := await asyncio.to_thread(_recover, folder)):
        names = ", ".join(map(str, created[:MOST_NAMED]))
        more = f" and {len(created) - MOST_NAMED} more" if len(created) > MOST_NAMED else ""
        warn(
            "Tark: a server was killed while a command ran. Since then there are new protected paths, which other "
            f"programs run or obey: {names}{more}. If they are not yours, delete them"
        )


def _recover(folder: Path) -> list[Path]:
    """The protected paths that were created since the start of commands whose end was not recorded."""
    from tark_lsp.sandbox.covers import Journal
    from tark_lsp.sandbox.tree import TreeReader

    unfinished = Journal(folder).recover().unfinished
    known = {path for entry in unfinished for path in entry.before}
    workspaces = dict.fromkeys(path for entry in unfinished for path in entry.workspace if path.is_dir())
    return sorted(path for root in workspaces for path in TreeReader().scan(root).protected if path not in known)
