"""`tark-lsp install EDITOR`: puts the editor's plugin, which comes with this package, where the editor finds it."""

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from tark_lsp.cli.screen import Screen
from tark_lsp.cli.session import finish, new_console
from tark_lsp.cli.turn import DONE


class Installing(Protocol):
    """What a file in installing/ has for its editor; both answer with the exit code."""

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
        "the same for VS Code 1.91 or newer and its kin: into code, codium, cursor, code-server (docs/vscode.md)",
        _vscode,
    ),
}
"""What its plugin brings, and where it is."""
EPILOG = """\
Without EDITOR, what can be installed. What an older tark-lsp installed is replaced as a whole; what you put there
yourself is left alone, and said. The plugin starts the very tark-lsp that installed it.
Exit codes: 0 done, or listed; 1 not done, and nothing was changed but what is said to be; 2 wrong usage."""


def main(arguments: Sequence[str]) -> int:
    parser = ArgumentParser(
        "tark-lsp install",
        description="Install the plugin of an editor.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("editor", metavar="EDITOR", nargs="?", choices=list(EDITORS), help=", ".join(EDITORS))
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--link", action="store_true", help="link to this checkout instead of copying; to work on it")
    how.add_argument("--uninstall", action="store_true", help="remove it again")
    options = parser.parse_args(arguments)
    if options.editor is None and (options.link or options.uninstall):
        parser.error("of which EDITOR?")
    screen = Screen(new_console(), Path.cwd())
    return finish(_run(options, screen), screen)


async def _run(options: Namespace, screen: Screen) -> int:
    if options.editor is None:
        for name, (what, _) in EDITORS.items():
            screen.line(f"tark-lsp install {name}  {what}")
        return DONE
    editor = EDITORS[options.editor][1]()
    return editor.uninstall(screen) if options.uninstall else editor.install(screen, link=options.link)
