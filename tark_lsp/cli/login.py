"""`tark-lsp login PROVIDER`: stores a key, or logs in with a code on a web page."""

import os
import re
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path

from tark_lsp.cli.hidden_input import ask_hidden
from tark_lsp.cli.logins import load_logins
from tark_lsp.cli.runtime import new_console, run_to_exit_code
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.usable_settings import load_usable_settings
from tark_lsp.cli.visible import visible
from tark_lsp.errors import AuthenticationFailed, SettingsError, TarkError
from tark_lsp.http import HttpTransport
from tark_lsp.llm.keys import device_login
from tark_lsp.llm.keys.credentials import origin_of, redact_secret, validate_key
from tark_lsp.llm.keys.device_login import DeviceLogin
from tark_lsp.llm.keys.logins import Logins

EPILOG = """\
Type the key (it is not shown), or pass it on stdin: tark-lsp login openai < key.txt
It is stored in the system's keyring, else in a file that only you can read. It is sent only to the
origin of the provider's base URL. A key in an environment variable overrides it.
Exit codes: 0 stored; 1 refused, cancelled or an error; 2 wrong usage."""
MAX_KEY_BYTES = 16 * 1024
QUOTES = "\"'`"
ASSIGNMENT = re.compile(r"(export\s+)?[A-Z][A-Z0-9_]*\s*=\s*[^\s=]")
"""A line of a shell or an .env file: OPENAI_API_KEY=... A key can end in =, but not have a value after it."""


def main(arguments: Sequence[str]) -> int:
    options = new_parser().parse_args(arguments)
    screen = Screen(new_console(), Path.cwd())
    name, check = options.provider, not options.no_check
    try:
        load_usable_settings()  # otherwise the key could be sent to another base URL than yours
        logins = load_logins(os.environ)
        login = logins.find_provider(name).login
        if login is not None:
            return run_to_exit_code(_log_in(logins, name, login, screen, check=check), screen)
        key = _read_key(name)
    except TarkError as error:
        screen.print_error(error.message, error.hint)
        return 1
    except (KeyboardInterrupt, EOFError):
        screen.print_line("cancelled: nothing was stored", "yellow")
        return 1
    return run_to_exit_code(_store_key(logins, name, key, screen, check=check), screen)


def new_parser() -> ArgumentParser:
    parser = ArgumentParser(
        "tark-lsp login",
        description="Store the key of a provider, or log in to it.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("provider", metavar="PROVIDER", help="the provider's name, as in PROVIDER/MODEL")
    parser.add_argument("--no-check", action="store_true", help="do not ask the provider whether it accepts the key")
    return parser


def _read_key(name: str) -> str:
    """Raises SettingsError for input that cannot be a key."""
    if sys.stdin.isatty():
        key = ask_hidden(f"the key for {visible(name)} (it is not shown): ", hint="pass it on stdin")
    else:
        given = sys.stdin.buffer.read(MAX_KEY_BYTES + 1)
        if len(given) > MAX_KEY_BYTES:
            raise SettingsError(
                f"the input is longer than {MAX_KEY_BYTES // 1024} KiB, so it is not a key",
                hint="nothing was stored: pass only the key",
            )
        key = given.decode("utf-8-sig", "replace")
    if not key.strip():
        raise SettingsError("no key was entered", hint="type it, or pass it on stdin")
    key = key.strip()
    if key[0] in QUOTES or ASSIGNMENT.match(key):
        raise SettingsError(
            "the input is not only a key: it has quotes, or a name and = before the key",
            hint="nothing was stored: copy the key again, and only the key",
        )
    return validate_key(key, "the input", "copy the key again, and only the key")


async def _store_key(logins: Logins, name: str, key: str, screen: Screen, *, check: bool) -> int:
    found = ""
    if check:
        try:
            found = f"{name} lists {await logins.check_key(name, key)} models for this key"
        except AuthenticationFailed as error:
            screen.print_error(
                redact_secret(error.message, key), "nothing was stored: check the key, or use --no-check"
            )
            return 1
        except TarkError as error:
            found = f"the key could not be checked: {redact_secret(error.message, key)}"
    await _store(logins, name, key, None, screen)
    if found:
        screen.print_line(visible(found))
    return 0


async def _log_in(logins: Logins, name: str, login: DeviceLogin, screen: Screen, *, check: bool) -> int:
    transport = HttpTransport()
    try:
        code = await device_login.request_device_code(login, name, transport)
        screen.print_line(f"open  {visible(code.verification_uri)}\ntype  {visible(code.user_code)}", "bold")
        screen.print_line(f"waiting at most {code.expires_in / 60:.0f} minutes for you; Ctrl-C cancels", "dim")
        granted = await device_login.wait_for_token(login, code, transport)
    finally:
        await transport.aclose()
    await _store(logins, name, granted.token, granted.expires_in, screen)
    if not check:
        return 0
    try:
        screen.print_line(visible(f"{name} lists {await logins.check_key(name, granted.token)} models for you"))
    except AuthenticationFailed as error:
        screen.print_error(redact_secret(error.message, granted.token), error.hint)
        return 1
    except TarkError as error:
        screen.print_line(visible(f"the login could not be checked: {redact_secret(error.message, granted.token)}"))
    return 0


async def _store(logins: Logins, name: str, secret: str, lifetime: float | None, screen: Screen) -> None:
    place = await logins.store_key(name, secret, lifetime)
    provider = logins.find_provider(name)
    origin = origin_of(provider.login.url if provider.login else provider.base_url)
    screen.print_line(visible(f"stored in {place}, for {origin}"), "green")
    if variable := logins.active_variable(name):
        screen.print_line(visible(f"{variable} is set, and overrides it"), "yellow")
