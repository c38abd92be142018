"""Runs the background tasks of the terminal chat, and reports the errors that they raise."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from tark_lsp.cli.screen import Screen
from tark_lsp.errors import TarkError
from tark_lsp.server.client import ServerGone


class BackgroundTasks:
    """An unexpected exception is a bug in Tark: it is kept in `fault`, and `on_fault()` is called."""

    def __init__(self, screen: Screen, on_fault: Callable[[], None]) -> None:
        self.fault: BaseException | None = None
        self._screen = screen
        self._on_fault = on_fault
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Starts a task whose errors are printed."""
        self.start_unreported(self.report_errors(work))

    def start_unreported(self, work: Coroutine[Any, Any, None]) -> None:
        """Starts a task that prints its errors itself."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._task_ended)

    async def report_errors(self, work: Coroutine[Any, Any, None]) -> None:
        """Prints the error that `work` raises, with its hint, except `ServerGone`, which `ChatServer` reports."""
        try:
            await work
        except ServerGone:
            return
        except TarkError as error:
            self._screen.print_error(error.message, error.hint)
        except TimeoutError:
            self._screen.print_error("the server did not start in time", "your next prompt or command tries again")

    def cancel_all(self) -> None:
        for task in tuple(self._tasks):
            task.cancel()

    async def wait_all(self) -> None:
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _task_ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.fault = self.fault or error
            self._on_fault()
