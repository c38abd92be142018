"""`tark-lsp chat`: a conversation with the agent about the current folder, in the terminal."""

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tark_lsp.cli.chatting.chat_start import ChatStart
from tark_lsp.cli.model_options import add_model_options
from tark_lsp.cli.runtime import at_terminal, new_console, run_to_exit_code
from tark_lsp.cli.screen import Screen

EPILOG = """\
The workspace is the current folder. The agent does not see anything outside it.
Edits are shown as a diff before they are written, and you decide on them. Commands run only if you allow them.
Ctrl-C cancels the running turn; a second Ctrl-C leaves. /help lists the commands.
Without a terminal, the prompt is read from standard input, the answer is plain text, and everything that needs your
permission is refused.
Exit codes: 0 done; 1 error, refused or cancelled; 2 wrong usage."""


def main(arguments: Sequence[str]) -> int:
    options = new_parser().parse_args(arguments)
    folder = Path.cwd()
    start = ChatStart(_settings(options), options.resume, options.last, options.force_model)
    if not at_terminal():
        from tark_lsp.cli.chatting.piped import answer_from_stdin

        screen = Screen(new_console(), folder)
        return run_to_exit_code(answer_from_stdin(folder, screen, sys.stdin, start), screen)
    from tark_lsp.cli.chatting.chat import chat

    return run_to_exit_code(chat(folder, start), Screen(new_console(), folder))


def _settings(options: Namespace) -> dict[str, Any]:
    given = {"model": options.model, "mode": options.mode}
    return {name: value for name, value in given.items() if value is not None}


def new_parser() -> ArgumentParser:
    parser = ArgumentParser(
        "tark-lsp chat",
        description="Talk to the agent about the current folder.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add_model_options(parser, "for this conversation")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--resume", metavar="SESSION", nargs="?", const="", help="continue a session; without SESSION you pick one"
    )
    which.add_argument(
        "--continue", dest="last", action="store_true", help="continue the newest session of this folder"
    )
    return parser
