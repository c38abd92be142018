"""Functions that the subcommands share: a console, a server with the terminal as its client, and error messages."""

import asyncio
import sys
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rich.console import Console

from tark_lsp.cli.editor import edit_text
from tark_lsp.cli.keyboard import Keyboard
from tark_lsp.cli.person import TerminalPerson
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.turn import NOT_DONE
from tark_lsp.errors import TarkError
from tark_lsp.server.client import Client


def at_terminal() -> bool:
    """Whether a user can see a question and type the answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def new_console(*, quiet: bool = False, stderr: bool = False) -> Console:
    return Console(highlight=False, markup=False, emoji=False, quiet=quiet, stderr=stderr)


@asynccontextmanager
async def running_server(
    folder: Path,
    screen: Screen,
    *,
    yes: bool | None,
    settings: Mapping[str, Any] = MappingProxyType({}),
    environ: Mapping[str, str] | None = None,
) -> AsyncIterator[tuple[Client, TerminalPerson]]:
    """Runs a server on `folder`. Edits are always reviewed before they are written: a terminal has no undo.

    `yes`: see `TerminalPerson`.
    """
    person = TerminalPerson(screen, Keyboard() if at_terminal() else None, yes=yes, edit=edit_text)
    async with await Client.start(
        folder, person, settings={**settings, "editReview": "ask"}, environ=environ
    ) as client:
        yield client, person


def run_to_exit_code(work: Coroutine[Any, Any, int], screen: Screen) -> int:
    """Runs `work` and returns its exit code. After an error or Ctrl-C, prints a message and returns 1."""
    try:
        return asyncio.run(work)
    except (KeyboardInterrupt, asyncio.CancelledError):
        screen.print_line("cancelled", "yellow")
    except TarkError as error:
        screen.print_error(error.message, error.hint)
    except TimeoutError:
        screen.print_error("the server did not answer in time", "try again; tark-lsp doctor shows more")
    except OSError as error:
        screen.print_error(f"{error.filename or ''}: {error.strerror or error}".removeprefix(": "))
    return NOT_DONE
