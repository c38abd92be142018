"""`tark-lsp install EDITOR`: installs the editor's plugin, which is part of this package."""

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from tark_lsp.cli.runtime import new_console, run_to_exit_code
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.turn import DONE


class Installing(Protocol):
    """The functions that each module in installing/ provides for its editor. They return the exit code."""

    def install(self, screen: Screen, *, link: bool) -> int: ...

    def uninstall(self, screen: Screen) -> int: ...


def _neovim() -> Installing:
    from tark_lsp.cli.installing import neovim

    return neovim


def _vscode() -> Installing:
    from tark_lsp.cli.installing import vscode

    return vscode


EDITORS: dict[str, tuple[str, Callable[[], Installing]]] = {
    "neovim": (
        "chat, hunks in the buffer, permissions and commands for Neovim 0.11 or newer (docs/neovim.md)",
        _neovim,
    ),
    "vscode": (
        "the same for VS Code 1.91 or newer and related editors: code, codium, cursor, code-server (docs/vscode.md)",
        _vscode,
    ),
}
"""By editor: what its plugin offers, and a function that imports its module."""
EPILOG = """\
Without EDITOR, the command lists what can be installed. A plugin of an older tark-lsp is replaced completely. Files
that you put there yourself are kept, with a message. The plugin starts the tark-lsp that installed it.
Exit codes: 0 done, or listed; 1 not done, and nothing was changed except what is printed; 2 wrong usage."""


def main(arguments: Sequence[str]) -> int:
    parser = new_parser()
    options = parser.parse_args(arguments)
    if options.editor is None and (options.link or options.uninstall):
        parser.error("name the EDITOR")
    screen = Screen(new_console(), Path.cwd())
    return run_to_exit_code(_run(options, screen), screen)


def new_parser() -> ArgumentParser:
    parser = ArgumentParser(
        "tark-lsp install",
        description="Install the plugin of an editor.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("editor", metavar="EDITOR", nargs="?", choices=list(EDITORS), help=", ".join(EDITORS))
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--link", action="store_true", help="link to this checkout instead of copying it, to work on the plugin"
    )
    how.add_argument("--uninstall", action="store_true", help="remove the plugin")
    return parser


async def _run(options: Namespace, screen: Screen) -> int:
    if options.editor is None:
        for name, (what, _) in EDITORS.items():
            screen.print_line(f"tark-lsp install {name}  {what}")
        return DONE
    editor = EDITORS[options.editor][1]()
    return editor.uninstall(screen) if options.uninstall else editor.install(screen, link=options.link)
