"""Finds the editor plugins of this package, and the command that starts this server."""

import shutil
import sys
from importlib.resources import files
from pathlib import Path

from tark_lsp.errors import RequestError
from tark_lsp.processes import OWN_SERVER

ROOT = Path(__file__).parents[3]


def find_plugin(editor: str) -> tuple[Path, bool]:
    """The folder of `editor`'s plugin, and whether it is in a checkout.

    Raises RequestError if this package does not contain it.
    """
    for folder, is_checkout in (
        (Path(str(files("tark_lsp"))) / "plugins" / editor, False),
        (ROOT / "editors" / editor, True),
    ):
        if folder.is_dir():
            return folder, is_checkout
    raise RequestError(f"this tark-lsp does not contain the plugin for {editor}", hint="install tark_lsp again")


def server_command() -> list[str]:
    """The command with an absolute path, because the editor can have another working folder and PATH."""
    called = shutil.which(sys.argv[0]) if Path(sys.argv[0]).stem == "tark-lsp" else None
    if called:
        return [str(Path(called).absolute())]  # links are not resolved: an upgrade can remove their target
    return [*OWN_SERVER]
