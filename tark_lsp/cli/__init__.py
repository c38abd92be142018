"""The command `tark-lsp`: the language server over stdio, or one of the subcommands in this folder."""

import sys


def main() -> int:
    """Returns the exit code: 0 if done, 1 if not done, 2 for wrong usage, 130 after Ctrl-C."""
    arguments = sys.argv[1:]
    # Editors wait for the start, so only the server is imported for them. Some LSP clients always add --stdio.
    if not arguments and sys.stdin is not None and sys.stdin.isatty():
        from tark_lsp.cli.subcommands import introduce

        introduce()
        return 0
    if all(argument in ("serve", "--stdio") for argument in arguments):
        from tark_lsp.server.handshake import main as serve

        return serve()
    try:
        from tark_lsp.cli.subcommands import run_subcommand

        return run_subcommand(arguments)
    except KeyboardInterrupt:  # while the program loads; later, each subcommand handles it
        return 130
