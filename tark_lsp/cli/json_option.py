"""The option `--json` of a list that is also what a subcommand does by default: `tark-lsp hooks [--json] [list]`."""

from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Sequence


def add_json_option(parser: ArgumentParser, listing: ArgumentParser, what: str) -> None:
    """`listing` is the parser of the list, one of the subparsers. `what`: the help."""
    for accepting, default in ((parser, False), (listing, SUPPRESS)):  # both: an option before `list` is kept
        accepting.add_argument("--json", action="store_true", default=default, help=what)


def parse_with_json(parser: ArgumentParser, arguments: Sequence[str], listing: str = "list") -> Namespace:
    """Refuses `--json` for everything but `listing`, which is also the default."""
    options = parser.parse_args(arguments)
    if options.json and options.what not in (None, listing):
        parser.error(f"--json works only with {listing}")
    return options
