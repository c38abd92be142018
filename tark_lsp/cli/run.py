"""`tark-lsp run FILE[:START-END] "instruction"`: one turn of the agent on a file, from the terminal."""

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path

from tark_lsp.cli.screen import Screen
from tark_lsp.cli.session import finish, new_console, server
from tark_lsp.cli.target import parse_target
from tark_lsp.cli.turn import run_turn
from tark_lsp.cli.wanted_model import add_model_and_mode
from tark_lsp.server.client_documents import read_text
from tark_lsp.workspace.lines import split_lines

EPILOG = """\
The workspace is the current folder: FILE lies in it, and the agent sees nothing outside it.
Edits are shown as a diff and asked about before they are written.
Ctrl-C cancels the turn, a second Ctrl-C ends everything at once.
Without a terminal nothing can be asked: edits need --yes, everything else that would be asked is refused.
Exit codes: 0 done; 1 error, refused or cancelled; 2 wrong usage."""


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    screen = Screen(new_console(), Path.cwd())
    return finish(_run(options, screen), screen)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        "tark-lsp run",
        description="Let the agent work on a file.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE[:START-END]", help="the file, and the lines that are selected (from 1)")
    parser.add_argument("instruction", help="what to do")
    parser.add_argument(
        "--yes", action="store_true", help="apply edits unasked (not: protected files, commands, the network)"
    )
    add_model_and_mode(parser, "for this run")
    return parser


async def _run(options: Namespace, screen: Screen) -> int:
    folder = Path.cwd()
    target = parse_target(options.file, folder)
    selected = target.range_in(split_lines(read_text(target.path)))
    async with server(folder, screen, yes=options.yes) as (client, person):
        document = client.documents.open(target.path)
        start = {
            "prompt": options.instruction,
            "textDocument": {"uri": document.uri, "version": document.version},
            "range": selected,
            "model": options.model,
            "mode": options.mode,
        }
        given = {key: value for key, value in start.items() if value is not None}
        return await run_turn(client, screen, person, given)
