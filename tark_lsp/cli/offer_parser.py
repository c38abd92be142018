"""The command line of `tark-lsp agents` and `tark-lsp hooks`: list, approve NAME, remove NAME."""

from argparse import ArgumentParser, RawDescriptionHelpFormatter

from tark_lsp.cli.json_option import add_json_option


def new_offer_parser(plural: str, one: str, *, description: str, epilog: str) -> ArgumentParser:
    """`plural` is the subcommand (`hooks`), and `one` the singular with its article (`a hook`)."""
    parser = ArgumentParser(
        f"tark-lsp {plural}", description=description, epilog=epilog, formatter_class=RawDescriptionHelpFormatter
    )
    actions = parser.add_subparsers(dest="what", metavar="list | approve | remove")
    listing = actions.add_parser("list", help=f"list your {plural} and those that this folder offers (the default)")
    add_json_option(parser, listing, "print one JSON object per line")
    approving = actions.add_parser("approve", help=f"show {one} of this project in full, and approve it")
    approving.add_argument("name", metavar="NAME", help="as in the list")
    remove = actions.add_parser("remove", help=f"remove your approval of {one} of this project")
    remove.add_argument("name", metavar="NAME", help="as in the list")
    return parser
