"""`tark-lsp run FILE[:START-END] "instruction"`: one turn of the agent on a file, from the terminal."""

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path

from tark_lsp.cli.file_target import parse_file_target
from tark_lsp.cli.model_options import add_model_options
from tark_lsp.cli.runtime import new_console, run_to_exit_code, running_server
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.turn import run_turn
from tark_lsp.server.client_documents import read_text
from tark_lsp.workspace.lines import split_lines

EPILOG = """\
The workspace is the current folder. FILE must be in it, and the agent does not see anything outside it.
Edits are shown as a diff before they are written, and you decide on them.
Ctrl-C cancels the turn; a second Ctrl-C ends the program at once.
Without a terminal nobody can be asked: edits need --yes, and everything else that needs permission is refused.
Exit codes: 0 done; 1 error, refused or cancelled; 2 wrong usage."""


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    screen = Screen(new_console(), Path.cwd())
    return run_to_exit_code(_run(options, screen), screen)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        "tark-lsp run",
        description="Let the agent work on a file.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "file", metavar="FILE[:START-END]", help="the file, and the selected lines (the first line is 1)"
    )
    parser.add_argument("instruction", help="what to do")
    parser.add_argument(
        "--yes", action="store_true", help="apply edits without asking (not: protected files, commands, the network)"
    )
    add_model_options(parser, "for this run")
    return parser


async def _run(options: Namespace, screen: Screen) -> int:
    folder = Path.cwd()
    target = parse_file_target(options.file, folder)
    selected = target.range_in(split_lines(read_text(target.path)))
    async with running_server(folder, screen, yes=options.yes) as (client, person):
        document = client.documents.open(target.path)
        start = {
            "prompt": options.instruction,
            "textDocument": {"uri": document.uri, "version": document.version},
            "range": selected,
            "model": options.model,
            "mode": options.mode,
        }
        values = {key: value for key, value in start.items() if value is not None}
        return await run_turn(client, screen, person, values)
