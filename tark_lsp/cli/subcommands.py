"""The table of subcommands, and their dispatch: each is a file in this folder with `main(arguments) -> exit code`."""

import difflib
import sys
from collections.abc import Sequence
from importlib import import_module

from tark_lsp import __version__

SUBCOMMANDS = {
    "serve": "the language server over stdin and stdout; also what runs with no subcommand",
    "run": 'let the agent work on a file from the terminal: tark-lsp run FILE[:START-END] "instruction"',
    "chat": "talk with the agent about the current folder, at the terminal",
    "sessions": "what is stored of your sessions: list, show, rename, delete, export, import",
    "demo": "see the main job on a small project, with a script in place of a model: no key, no network",
    "undo": "what the agent changed in this folder, and how to take it back: tark-lsp undo [TURN]",
    "install": "put the plugin of an editor in its place: tark-lsp install neovim, or vscode",
    "login": "store the key of a provider, or log in to it: tark-lsp login PROVIDER",
    "logout": "delete what login stored",
    "status": "which providers have a key, and where it comes from",
    "usage": "tokens, cost and time of requests to models: by model, day, session or turn",
    "doctor": "what works here, what does not, and what to do about it",
}


def run_subcommand(arguments: Sequence[str]) -> int:
    name, *rest = arguments
    if name in ("-h", "--help"):
        print(_help())
        return 0
    if name in ("-V", "--version"):
        print(f"tark-lsp {__version__}")
        return 0
    if name not in SUBCOMMANDS:
        near = difflib.get_close_matches(name, SUBCOMMANDS, n=1)
        meant = f" (did you mean {near[0]}?)" if near else ""
        print(f"tark-lsp: no subcommand {name!r}{meant}; see tark-lsp --help", file=sys.stderr)
        return 2
    if name == "serve":
        print(f"tark-lsp serve takes no arguments, but got {rest}", file=sys.stderr)
        return 2
    module = import_module(f"tark_lsp.cli.{name}")
    code: int = module.main(rest)
    return code


def _help() -> str:
    rows = "\n".join(f"  {name:8} {what}" for name, what in SUBCOMMANDS.items())
    return f"""tark-lsp {__version__}: an AI agent for every editor that speaks LSP

usage: tark-lsp [--stdio]           start the language server (your editor does this)
       tark-lsp SUBCOMMAND ...      tark-lsp SUBCOMMAND --help tells more

{rows}"""
