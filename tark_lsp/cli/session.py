"""What `run` and `demo` share: a console, a server with the terminal as its client, and errors told with their fix."""

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
    """Whether somebody can see a question and type the answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def new_console(*, quiet: bool = False) -> Console:
    return Console(highlight=False, markup=False, emoji=False, quiet=quiet)


@asynccontextmanager
async def server(
    folder: Path,
    screen: Screen,
    *,
    yes: bool | None,
    settings: Mapping[str, Any] = MappingProxyType({}),
    environ: Mapping[str, str] | None = None,
) -> AsyncIterator[tuple[Client, TerminalPerson]]:
    """A server on `folder`. Edits are always reviewed before they are written: a terminal has no undo. `yes`: as
    of `TerminalPerson`."""
    person = TerminalPerson(screen, Keyboard() if at_terminal() else None, yes=yes, edit=edit_text)
    async with await Client.start(
        folder, person, settings={**settings, "editReview": "ask"}, environ=environ
    ) as client:
        yield client, person


def finish(work: Coroutine[Any, Any, int], screen: Screen) -> int:
    """Run `work` to its exit code; errors and Ctrl-C are told and are 1."""
    try:
        return asyncio.run(work)
    except (KeyboardInterrupt, asyncio.CancelledError):
        screen.line("cancelled", "yellow")
    except TarkError as error:
        screen.error(error.message, error.hint)
    except TimeoutError:
        screen.error("the server did not answer in time", "try again; tark-lsp doctor tells more")
    except OSError as error:
        screen.error(f"{error.filename or ''}: {error.strerror or error}".removeprefix(": "))
    return NOT_DONE
