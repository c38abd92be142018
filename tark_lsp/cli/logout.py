"""`tark-lsp logout PROVIDER`: deletes the stored key or login, and reports a variable that still provides one."""

import os
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from tark_lsp.cli.logins import load_logins
from tark_lsp.cli.runtime import new_console, run_to_exit_code
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.visible import visible
from tark_lsp.errors import SettingsError


def main(arguments: Sequence[str]) -> int:
    options = new_parser().parse_args(arguments)
    screen = Screen(new_console(), Path.cwd())
    return run_to_exit_code(_log_out(options.provider, screen), screen)


def new_parser() -> ArgumentParser:
    parser = ArgumentParser(
        "tark-lsp logout",
        description="Delete the stored key or login of a provider.",
        epilog="Exit codes: 0 deleted; 1 there was none, or an error.",
    )
    parser.add_argument("provider", metavar="PROVIDER", help="the provider's name, as in PROVIDER/MODEL")
    return parser


async def _log_out(name: str, screen: Screen) -> int:
    logins = load_logins(os.environ)
    try:
        logins.find_provider(name)
        variable = logins.active_variable(name)
    except SettingsError as error:  # the provider is not configured any more, but its key can still be stored
        screen.print_line(visible(error.message), "yellow")
        variable = ""
    places = await logins.delete_key(name)
    for place in places:
        screen.print_line(visible(f"deleted from {place}"), "green")
    if not places:
        screen.print_line(visible(f"nothing is stored for {name}"), "yellow")
    if variable:
        screen.print_line(visible(f"{variable} is set and still provides a key: unset it"), "yellow")
    return 0 if places else 1
