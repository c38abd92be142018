"""`tark-lsp chat`: a conversation with the agent about the current folder, at the terminal."""

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tark_lsp.cli.screen import Screen
from tark_lsp.cli.session import at_terminal, finish, new_console
from tark_lsp.cli.wanted_model import add_model_and_mode

EPILOG = """\
The workspace is the current folder: the agent sees nothing outside it.
Edits are shown as a diff and asked about before they are written; commands are asked about before they run.
Ctrl-C cancels the running turn, a second Ctrl-C leaves. /help lists the commands.
Without a terminal the prompt is read from standard input, the answer is written plainly, and whatever would be asked
is refused.
Exit codes: 0 done; 1 error, refused or cancelled; 2 wrong usage."""


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    folder = Path.cwd()
    if not at_terminal():
        from tark_lsp.cli.chatting.piped import answer

        screen = Screen(new_console(), folder)
        return finish(answer(folder, screen, sys.stdin, _settings(options), options.resume, last=options.last), screen)
    from tark_lsp.cli.chatting.chat import Begin, chat

    begin = Begin(_settings(options), options.resume, options.last)
    return finish(chat(folder, begin), Screen(new_console(), folder))


def _settings(options: Namespace) -> dict[str, Any]:
    given = {"model": options.model, "mode": options.mode}
    return {name: value for name, value in given.items() if value is not None}


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        "tark-lsp chat",
        description="Talk with the agent about the current folder.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add_model_and_mode(parser, "for this conversation")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--resume", metavar="SESSION", nargs="?", const="", help="go on with a session; none named: pick one"
    )
    which.add_argument(
        "--continue", dest="last", action="store_true", help="go on with the newest session of this folder"
    )
    return parser
