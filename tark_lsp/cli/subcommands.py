"""The table of subcommands, and their dispatch. Each is a module in this folder with `main(arguments) -> exit code`."""

import difflib
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from tark_lsp import __version__
from tark_lsp.cli.last_errors import run_to_end

SUBCOMMANDS = {
    "serve": "run the language server over stdin and stdout (the default)",
    "run": 'let the agent do one thing, in the terminal or a script: tark-lsp run [FILE]... "what to do"',
    "chat": "talk to the agent about the current folder, in the terminal",
    "sessions": "manage stored sessions: list, show, rename, delete, export, import",
    "demo": "see a turn on a small project, with a script instead of a model: no key, no network",
    "undo": "list what the agent changed in this folder, and take it back: tark-lsp undo [TURN]",
    "install": "install the plugin of an editor: tark-lsp install neovim, or vscode",
    "login": "store the key of a provider, or log in to it: tark-lsp login PROVIDER",
    "logout": "delete the stored key or login of a provider",
    "status": "show which providers have a key, and where it comes from",
    "usage": "show tokens, cost and time of model requests: by model, day, session or turn",
    "audit": "show what agents did and who allowed it, and verify that nothing was changed",
    "gateway": "serve every model behind OpenAI's Responses API: tark-lsp gateway --model PROVIDER/MODEL",
    "permissions": "list and revoke what you allowed for always: commands, and trusted folders; trust a folder",
    "mcp": "add, approve and try MCP servers, whose tools the agent can use",
    "agents": "list your custom agents, and show and approve those of a project",
    "hooks": "list your hooks, and show and approve those of a project",
    "index": "show, build or remove the code index of this folder",
    "trust-report": "test the promises of docs/safety.md on this machine, and print what held",
    "doctor": "show what works here, what does not, and what to do about it",
    "completions": "print the completions of your shell: tark-lsp completions bash, zsh or fish",
}

INTRODUCTION = f"""\
tark-lsp {__version__}: an AI agent for every editor that speaks LSP. Your editor starts it as a language server.

In this terminal, type:
  tark-lsp demo             see it work: no key, no network, none of your files
  tark-lsp doctor           what works here, and what to do about the rest
  tark-lsp login PROVIDER   store the key of a provider
  tark-lsp chat             talk to the agent about this folder
  tark-lsp run "PROMPT"     do one thing, and print the answer
  tark-lsp install EDITOR   the plugin for Neovim or VS Code
  tark-lsp --help           everything else"""


def run_subcommand(arguments: Sequence[str]) -> int:
    name, *rest = arguments
    if name in ("-h", "--help"):
        print(_help())
        return 0
    if name in ("-V", "--version"):
        print(f"tark-lsp {__version__}")
        return 0
    if name not in SUBCOMMANDS:
        similar = difflib.get_close_matches(name, SUBCOMMANDS, n=1)
        suggestion = f" (did you mean {similar[0]}?)" if similar else ""
        print(f"tark-lsp: there is no subcommand {name!r}{suggestion}; see tark-lsp --help", file=sys.stderr)
        return 2
    if name == "serve":
        print(f"tark-lsp serve takes no arguments, but got {rest}", file=sys.stderr)
        return 2
    return run_to_end(lambda arguments: int(module_of(name).main(arguments)), rest)


def module_of(name: str) -> Any:
    """The module of a subcommand, with `main` and `new_parser`."""
    return import_module(f"tark_lsp.cli.{name.replace('-', '_')}")


def introduce() -> None:
    """Prints the introduction for a user who typed only `tark-lsp`."""
    print(INTRODUCTION)


def _help() -> str:
    rows = "\n".join(f"  {name:13} {what}" for name, what in SUBCOMMANDS.items())
    return f"""tark-lsp {__version__}: an AI agent for every editor that speaks LSP

usage: tark-lsp [--stdio]           start the language server (your editor does this)
       tark-lsp SUBCOMMAND ...      tark-lsp SUBCOMMAND --help shows more

{rows}"""
