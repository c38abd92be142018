"""`tark-lsp status [PROVIDER]`: which providers have a key, and where it comes from; never the key."""

import os
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from tark_lsp.cli.logins import describe, load_logins
from tark_lsp.cli.runtime import new_console, run_to_exit_code
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.visible import visible
from tark_lsp.errors import TarkError
from tark_lsp.llm.keys.logins import KeyStatus, Logins

STYLES = {"ready": "green", "unusable": "bold red", "missing": "none", "unneeded": "dim"}


def main(arguments: Sequence[str]) -> int:
    options = new_parser().parse_args(arguments)
    screen = Screen(new_console(), Path.cwd())
    return run_to_exit_code(_status(options.provider, screen, check=options.check), screen)


def new_parser() -> ArgumentParser:
    parser = ArgumentParser(
        "tark-lsp status",
        description="Show where the keys of the providers come from.",
        epilog="Exit codes: 0 there is a key (for PROVIDER, or for any provider); 1 there is none, or it was refused.",
    )
    parser.add_argument("provider", metavar="PROVIDER", nargs="?", help="show only this provider")
    parser.add_argument("--check", action="store_true", help="ask the providers whether they accept their keys")
    return parser


async def _status(only: str | None, screen: Screen, *, check: bool) -> int:
    logins = load_logins(os.environ)
    statuses = [await logins.key_status(only)] if only else await logins.key_statuses()
    good = False
    for status in statuses:
        text, style, ready = describe(status), STYLES[status.state], status.state == "ready"
        if check and ready:
            found, ready = await _check(logins, status)
            text, style = f"{text}; {found}", style if ready else STYLES["unusable"]
        good = good or ready
        screen.print_line(visible(f"{status.provider:12} {text}"), style)
    screen.print_line(visible(f"keys are stored in {await logins.describe_location()}"), "dim")
    return 0 if good else 1


async def _check(logins: Logins, status: KeyStatus) -> tuple[str, bool]:
    try:
        return f"it lists {await logins.check_key(status.provider)} models", True
    except TarkError as error:
        return f"{error.message}: {error.hint}" if error.hint else error.message, False
