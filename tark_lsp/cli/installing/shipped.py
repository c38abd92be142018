"""Where the plugins for editors are that come with this package, and the command that starts this very server."""

import shutil
import sys
from importlib.resources import files
from pathlib import Path

from tark_lsp.errors import RequestError
from tark_lsp.processes import OWN_SERVER

ROOT = Path(__file__).parents[3]


def plugin(editor: str) -> tuple[Path, bool]:
    """The folder of `editor`'s plugin, and whether it is one of a checkout.

    Raises RequestError: this package came without it.
    """
    for folder, is_checkout in (
        (Path(str(files("tark_lsp"))) / "plugins" / editor, False),
        (ROOT / "editors" / editor, True),
    ):
        if folder.is_dir():
            return folder, is_checkout
    raise RequestError(f"this tark-lsp came without the plugin for {editor}", hint="install tark_lsp again")


def server_command() -> list[str]:
    """Absolute, for an editor that is started elsewhere and with another PATH."""
    called = shutil.which(sys.argv[0]) if Path(sys.argv[0]).stem == "tark-lsp" else None
    if called:
        return [str(Path(called).absolute())]  # links stay: what they lead to may go with an upgrade
    return [*OWN_SERVER]
