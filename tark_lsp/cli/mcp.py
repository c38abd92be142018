"""`tark-lsp mcp`: adds, lists, approves and tests MCP servers."""

import json
import os
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tark_lsp.cli.json_option import add_json_option, parse_with_json
from tark_lsp.cli.mcp_servers.approval import Approval
from tark_lsp.cli.mcp_servers.importing import import_servers
from tark_lsp.cli.mcp_servers.programs import PROGRAMS
from tark_lsp.cli.mcp_servers.testing import try_server
from tark_lsp.cli.runtime import new_console, run_to_exit_code
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.turn import DONE, NOT_DONE
from tark_lsp.cli.visible import one_line, visible, whole_line
from tark_lsp.errors import McpError, RequestError
from tark_lsp.folders import caches_folder, mcp_pins_folder, private_paths, state_folder, user_config_path
from tark_lsp.mcp.config_text import add_server, configured, remove_server
from tark_lsp.mcp.launching import Surroundings
from tark_lsp.mcp.names import SERVER, server_name, tool_name
from tark_lsp.mcp.offers import project_offers, validated
from tark_lsp.mcp.pin_store import PinStore
from tark_lsp.mcp.server import McpServer, ServerState
from tark_lsp.mcp.server_config import ServerConfig, quoted, resolve
from tark_lsp.mcp.token_store import TokenStore, entry_of
from tark_lsp.sandbox.planning import Places
from tark_lsp.sandbox.sandbox import Sandbox
from tark_lsp.settings_loading import load_settings
from tark_lsp.tools.addresses import is_public

if TYPE_CHECKING:
    from tark_lsp.cli.mcp_servers.logging_in import LoggingIn

EPILOG = """\
A server of yours is a table [mcp.servers.NAME] in your config.toml; a project can offer some in .mcp.json or
.vscode/mcp.json. None of them starts before you approve it: its exact command or URL, and each of its tools.
What changes later is off until you approve it again. docs/mcp.md has the details.
Exit codes: 0 done; 1 not done, or refused; 2 wrong usage."""


def main(arguments: Sequence[str]) -> int:
    parser = new_parser()
    words = list(arguments)
    at = words.index("--") if "--" in words else len(words)
    options = parse_with_json(parser, words[:at])
    if options.what == "add":
        options.command = words[at + 1 :]
    folder = Path(os.path.realpath(Path.cwd()))
    screen = Screen(new_console(), folder)
    if options.what == "add" and (wrong := _wrong_usage(options)):
        parser.error(wrong)
    return run_to_exit_code(_Mcp(screen, folder).run(options), screen)


def new_parser() -> ArgumentParser:
    parser = ArgumentParser(
        "tark-lsp mcp",
        description="Add MCP servers, list them, approve them and try them.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(
        dest="what", metavar="list | add | import | approve | login | logout | remove | test"
    )
    listing = actions.add_parser("list", help="list your servers and those that this folder offers (the default)")
    add_json_option(parser, listing, "print one JSON object per line")
    add = actions.add_parser("add", help="add a server to your config.toml, then approve it")
    add.add_argument("name", metavar="NAME", help="at most 20 of the characters a-z, 0-9 and -")
    add.add_argument("--url", metavar="URL", help="a server over HTTP, in place of a command")
    add.add_argument(
        "--header", metavar="NAME=VALUE", action="append", default=[], help="a header; ${VAR} is your variable"
    )
    add.add_argument("--env", metavar="NAME=VALUE", action="append", default=[], help="a variable; ${VAR} is yours")
    add.add_argument("--cwd", metavar="FOLDER", help="the folder in which it runs (default: the workspace)")
    add.add_argument("--network", action="store_true", help="give it the network in the sandbox")
    add.add_argument("--no-sandbox", action="store_true", help="run it without the sandbox")
    add.add_argument("--trusted", action="store_true", help="trust what it says about its tools (which only read)")
    add.add_argument(
        "command", metavar="COMMAND", nargs="*", default=[], help="the program and its arguments, after --"
    )
    bring = actions.add_parser("import", help="add the servers of another program to your config.toml")
    bring.add_argument("program", metavar="PROGRAM", help=f"{', '.join(PROGRAMS)}, or a file of one of them")
    bring.add_argument("names", metavar="NAME", nargs="*", help="only these servers")
    bring.add_argument("--network", action="store_true", help="give them the network in the sandbox")
    approve = actions.add_parser("approve", help="show a server and all its tools, and approve them")
    approve.add_argument("name", metavar="NAME", help="as in the list")
    login = actions.add_parser("login", help="log in at a server over HTTP, with your browser")
    login.add_argument("name", metavar="NAME", help="as in the list")
    login.add_argument("--client-id", metavar="ID", default="", help="the id of a client that you registered there")
    login.add_argument("--client-secret", action="store_true", help="ask for the secret of that client")
    logout = actions.add_parser("logout", help="delete the login at a server from the keyring")
    logout.add_argument("name", metavar="NAME", help="as in the list")
    remove = actions.add_parser("remove", help="remove a server from your config.toml, and what you approved of it")
    remove.add_argument("name", metavar="NAME", help="as in the list")
    test = actions.add_parser("test", help="start an approved server and list its tools, or call one")
    test.add_argument("name", metavar="NAME", help="as in the list")
    test.add_argument("tool", metavar="TOOL", nargs="?", help="call this tool")
    test.add_argument("arguments", metavar="JSON", nargs="?", default="{}", help="its arguments")
    return parser


class _Mcp:
    def __init__(self, screen: Screen, folder: Path) -> None:
        self._screen = screen
        self._folder = folder
        self._pins = PinStore(mcp_pins_folder)
        self._settings, self._problems = load_settings(user_file=user_config_path(), environ=os.environ)
        places = Places(Path.home(), caches_folder(), state_folder(), private_paths())
        sandbox = None if self._settings.sandbox == "off" else Sandbox(places, [folder])
        required = self._settings.sandbox == "require"
        tokens = TokenStore(lock_folder=mcp_pins_folder)
        self._around = Surroundings(lambda: [folder], os.environ, lambda: sandbox, lambda: required, is_public, tokens)

    async def run(self, options: Namespace) -> int:
        for problem in self._problems:
            self._screen.print_line(whole_line(problem), "yellow")
        match options.what:
            case "add":
                return await self._add(options)
            case "import":
                return import_servers(
                    self._screen, self._folder, options.program, options.names, network=options.network
                )
            case "approve":
                return await self._approval().approve(self._find(options.name))
            case "login":
                logging_in, secret = self._logging_in(), options.client_secret
                return await logging_in.log_in(self._find(options.name), options.client_id, with_secret=secret)
            case "logout":
                return await self._logging_in().log_out(self._find(options.name))
            case "remove":
                return await self._remove(options.name)
            case "test":
                server = McpServer(self._find(options.name), self._pins, self._around)
                return await try_server(self._screen, self._approval(), server, options.tool, options.arguments)
            case _:
                return await self._list(as_json=options.json)

    def _logging_in(self) -> "LoggingIn":
        from tark_lsp.cli.mcp_servers.logging_in import LoggingIn

        return LoggingIn(self._screen, self._folder, self._pins, self._around)

    def _approval(self) -> Approval:
        return Approval(self._screen, self._folder, self._pins, self._around)

    def _configs(self) -> list[ServerConfig]:
        own = [ServerConfig(name, one) for name, one in self._settings.mcp.servers.items()]
        offers = project_offers([self._folder], [one.name for one in own])
        for problem in offers.problems:
            self._screen.print_line(whole_line(problem), "yellow")
        return [*own, *offers.servers]

    def _find(self, name: str) -> ServerConfig:
        configs = {config.name: config for config in self._configs()}
        if name not in configs:
            known = ", ".join(configs) or "none"
            raise RequestError(f"there is no MCP server {one_line(name)!r}", hint=f"there are: {known}")
        return configs[name]

    async def _list(self, *, as_json: bool) -> int:
        configs = self._configs()
        for config in configs:
            state, shown, tools, hint = await self._state(config)
            if as_json:
                row = {"name": config.name, "source": config.scope, "state": state, "runs": shown, "tools": tools}
                print(json.dumps(row))
                continue
            count = f", {len(tools)} {'tool' if len(tools) == 1 else 'tools'}" if tools else ""
            source = f" ({whole_line(config.scope)})" if config.is_offer else ""
            self._screen.print_line(f"{config.name}{source}: {whole_line(state)}{count}: {whole_line(shown)}")
            if hint:
                self._screen.print_line(f"  {whole_line(hint)}", "dim")
        if not configs and not as_json:
            self._screen.print_line("there are no MCP servers; tark-lsp mcp add --help shows how to add one")
        return DONE

    async def _state(self, config: ServerConfig) -> tuple[str, str, list[str], str]:
        """The state, the command or URL, the names of the tools, and what the user can do."""
        settings, name = config.settings, config.name
        shown = settings.url or " ".join(map(quoted, (settings.command or "", *settings.args)))
        try:
            shown = resolve(config, [self._folder]).shown
            if not settings.enabled:
                return "disabled", shown, [], ""
            pin = McpServer(config, self._pins, self._around).approved()
            needs_login = pin.needs_login and await self._around.tokens.read(entry_of(name, config.scope)) is None
        except McpError as error:
            return error.message, shown, [], error.hint
        tools = [tool_name(name, tool.name) for tool in pin.tools]
        if needs_login:
            return ServerState.NEEDS_LOGIN, shown, tools, f"log in with `tark-lsp mcp login {name}`"
        return "approved", shown, tools, ""

    async def _add(self, options: Namespace) -> int:
        name = options.name
        if name in configured(user_config_path()):
            hint = f"to approve it: tark-lsp mcp approve {name}; to replace it, first: tark-lsp mcp remove {name}"
            raise RequestError(f"you have an MCP server {name} already", hint=hint)
        program = {} if options.url else {"command": options.command[0], "args": options.command[1:]}
        values = {
            **({"url": options.url} if options.url else program),
            "env": _pairs(options.env),
            "headers": _pairs(options.header),
            "network": options.network,
            "sandbox": not options.no_sandbox,
            "trusted": options.trusted,
            **({"cwd": options.cwd} if options.cwd else {}),
        }
        try:
            settings = validated(values)
        except ValueError as error:
            raise RequestError(str(error)) from error
        config = ServerConfig(name, settings)
        resolve(config, [self._folder])
        self._screen.print_line(visible(add_server(user_config_path(), name, settings)))
        code = NOT_DONE
        try:
            code = await self._approval().approve(config)
        finally:  # also after an error or Ctrl-C
            if code != DONE:
                left = f"{name} is in your config.toml, but not approved; to go on: tark-lsp mcp approve {name}"
                self._screen.print_line(left, "yellow")
        return code

    async def _remove(self, name: str) -> int:
        config = next((one for one in self._configs() if one.name == name), None)
        scope = "" if config is None else config.scope
        removed = remove_server(user_config_path(), name)  # first: if it fails, the approval stays, too
        unpinned = self._pins.remove(name, scope)
        if not unpinned and not removed and config is not None:
            hint = "it does not start before you approve it; to remove the offer, edit that file"
            raise RequestError(f"{name} is an offer of {one_line(scope)}, which you have not approved", hint=hint)
        if not unpinned and not removed:
            raise RequestError(f"there is no MCP server {one_line(name)!r}", hint="tark-lsp mcp list shows them")
        self._screen.print_line(f"removed: {name}")
        if config is not None and config.settings.url and await self._around.tokens.delete(entry_of(name, scope)):
            self._screen.print_line("its login was deleted from the keyring")
        return DONE


def _wrong_usage(options: Namespace) -> str:
    """What is wrong with the options of `add`; empty if nothing is."""
    if not SERVER.fullmatch(options.name):
        similar = server_name(options.name)
        example = f", like {similar}" if similar else ""
        return f"{one_line(options.name)!r} cannot be the name of a server: use at most 20 of a-z, 0-9 and -{example}"
    if options.url and options.command:
        return "give either a command after -- or --url, not both"
    if not options.url and not options.command:
        return "give a command after --, or --url"
    wrong = next((text for text in (*options.env, *options.header) if "=" not in text), None)
    return "" if wrong is None else f"{one_line(wrong)!r} is not NAME=VALUE"


def _pairs(texts: Sequence[str]) -> dict[str, str]:
    return dict(text.split("=", 1) for text in texts)
