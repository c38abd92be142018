"""`tark-lsp gateway`: every model behind OpenAI's Responses API, on loopback (docs/gateway.md)."""

import importlib.util
import logging
import os
import secrets
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tark_lsp.cli.model_options import model_name
from tark_lsp.cli.runtime import new_console, run_to_exit_code
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.turn import DONE
from tark_lsp.cli.usable_settings import load_usable_settings
from tark_lsp.errors import SettingsError
from tark_lsp.folders import keys_folder
from tark_lsp.settings import Settings

if TYPE_CHECKING:
    from tark_lsp.llm.client import Models

TOKEN_VARIABLE = "TARK_GATEWAY_TOKEN"
MIN_TOKEN = 16
NEEDED = ("starlette", "uvicorn", "httptools")
EPILOG = f"""\
Clients send the token as their API key. Set {TOKEN_VARIABLE} to choose it (at least {MIN_TOKEN} characters);
without it, a new one is printed at each start.
Exit codes: 0 stopped by SIGINT or SIGTERM; 1 it could not start; 2 wrong usage."""


def main(arguments: Sequence[str]) -> int:
    options = new_parser().parse_args(arguments)
    screen = Screen(new_console(), Path.cwd())
    return run_to_exit_code(_serve(options, screen), screen)


def new_parser() -> ArgumentParser:
    parser = ArgumentParser(
        "tark-lsp gateway",
        description="Serve every model behind OpenAI's Responses API, on this machine only.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--port", type=_port, default=8282, help="the port on 127.0.0.1; 0: a free one (default: 8282)")
    parser.add_argument("--model", metavar="PROVIDER/MODEL", type=model_name, help="for requests that name no model")
    parser.add_argument(
        "--alias",
        metavar="NAME=PROVIDER/MODEL",
        type=_alias,
        action="append",
        default=[],
        help="another name for a model; can be repeated",
    )
    parser.add_argument("--no-token", action="store_true", help="let every program on this machine use your keys")
    return parser


async def _serve(options: Namespace, screen: Screen) -> int:
    """Raises SettingsError."""
    if any(importlib.util.find_spec(name) is None for name in NEEDED):
        raise SettingsError("the gateway is not installed", hint="install it with: pip install 'tark_lsp[gateway]'")
    token = "" if options.no_token else find_token(os.environ)
    from tark_lsp.gateway.guard import Guard
    from tark_lsp.gateway.names import ModelNames
    from tark_lsp.gateway.serving import listen, serve
    from tark_lsp.telemetry.logs import start_logging
    from tark_lsp.telemetry.optional_tracing import gateway_listeners

    start_logging()
    settings = load_usable_settings()
    logging.getLogger("tark_lsp").setLevel(settings.log_level.upper())
    listening = listen(options.port)
    models = _models(settings)
    aliases = {**settings.gateway.aliases, **dict(options.alias)}
    for ref in filter(None, [options.model, *aliases.values()]):
        models.check_name(ref)
    screen.print_line(f"http://127.0.0.1:{listening.getsockname()[1]}/v1")
    if token and TOKEN_VARIABLE not in os.environ:
        screen.print_line(f"token: {token}")
    names = ModelNames(options.model or "", models.check_name, aliases)
    async with gateway_listeners(os.environ) as listeners:
        await serve(models, names, Guard(token), listening, listeners)
    return DONE


def find_token(environ: Mapping[str, str]) -> str:
    """The user's token, else a new one. Raises SettingsError if it is too short, or cannot be sent in a header."""
    token = environ.get(TOKEN_VARIABLE)
    if token is None:
        return secrets.token_urlsafe(32)
    if len(token) < MIN_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise SettingsError(
            f"{TOKEN_VARIABLE} is too short, or has characters that a header cannot hold",
            hint=f"use at least {MIN_TOKEN} ASCII letters, digits and signs, or unset it",
        )
    return token


def _models(settings: Settings) -> "Models":
    """The user's own providers and keys. Prices are not loaded, because the gateway does not show them."""
    from tark_lsp.gateway.serving import RETRIES
    from tark_lsp.llm.catalog.prices import Prices
    from tark_lsp.llm.client import Models
    from tark_lsp.llm.keys.store import KeyStore
    from tark_lsp.server.provider_override import overrides, scenario_of

    return Models(
        overrides(settings),
        scenario=scenario_of(settings),
        keys=KeyStore(keys_folder()),
        policy=RETRIES,
        prices=Prices(()),
    )


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= 65535):
        raise ArgumentTypeError(f"{text!r} is not a port: use a number from 0 to 65535")
    return int(text)


def _alias(text: str) -> tuple[str, str]:
    name, _, ref = text.partition("=")
    if not name:
        raise ArgumentTypeError(f"{text!r} is not written as NAME=PROVIDER/MODEL")
    return name, model_name(ref)
