"""Keeps the index process running: starts it, restarts it if it dies, and decides which files it may index."""

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tark_lsp.errors import ToolError
from tark_lsp.index.cache_folder import workspace_cache
from tark_lsp.index.child_process import ChildEnded, ChildProcess, Message
from tark_lsp.index.json_values import from_json
from tark_lsp.index.status import IndexState, IndexStatus
from tark_lsp.listeners import Listeners

log = logging.getLogger(__name__)

DEATHS_SECONDS = 60.0
FRESH_AFTER = 3
"""After this many deaths within `DEATHS_SECONDS`, the index is rebuilt: the stored one may be the cause."""
MOST_DEATHS = 4
JUDGED_AT_ONCE = 4
"""Files that are checked before the event loop gets control again."""
STATUS_SECONDS = 0.2
"""The minimum time between two status events."""

MayIndex = Callable[[Sequence[Path]], Sequence[bool]]


class Deaths:
    """When the process died recently."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=MOST_DEATHS)

    def add(self) -> None:
        self._times.append(time.monotonic())

    def recent(self) -> int:
        """The number of deaths within `DEATHS_SECONDS`."""
        now = time.monotonic()
        return sum(now - death < DEATHS_SECONDS for death in self._times)

    def clear(self) -> None:
        self._times.clear()


class IndexSupervisor:
    """The attributes with listeners:

    - `begun`: a process was started. It has none of the state that was sent to the previous one.
    - `ended_by`: the open document whose text ended the process. This does not count as a death.
    - `shown`: each new `status`, which is the last one from the process, or the reason why none is running.
    """

    def __init__(self, folders: Sequence[Path], cache: Path, may_index: MayIndex, most_bytes: int) -> None:
        self._folders = tuple(folders)
        self._cache = workspace_cache(cache, folders)
        self._may_index = may_index
        self._most_bytes = most_bytes
        self._child: ChildProcess | None = None
        self._starting = asyncio.Lock()
        self._closed = False
        self._telling: asyncio.TimerHandle | None = None
        self._restarting: asyncio.Task[None] | None = None
        self._judging: asyncio.Task[None] | None = None
        self.status = IndexStatus(IndexState.OFF, reason="it has not been started")
        self.deaths = Deaths()
        self.shown: Listeners[IndexStatus] = Listeners()
        self.begun: Listeners[None] = Listeners()
        self.ended_by: Listeners[Path] = Listeners()
        self._parsing = ""

    @property
    def process_id(self) -> int | None:
        """None if it is not running."""
        return self._child.process_id if self._child is not None and self._child.is_running else None

    async def start(self) -> None:
        """Raises ToolError if the process cannot be started."""
        self._closed = False
        async with self._starting:
            if self._child is None or not self._child.is_running:
                await self._spawn(fresh=False)

    async def close(self) -> None:
        """End the process within 500 ms."""
        self._closed = True
        if self._telling is not None:
            self._telling.cancel()
            self._telling = None
        if self._judging is not None:
            self._judging.cancel()
        if self._restarting is not None:
            self._restarting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._restarting
        child, self._child = self._child, None
        if child is not None:
            await child.close()
        self.status = IndexStatus(IndexState.OFF, reason="it has been closed")

    def send(self, message: Message) -> None:
        if self._child is not None:
            self._child.send(message)

    async def request(self, message: Message, seconds: float) -> dict[str, Any]:
        """Ask the process, and a second one if it dies. Raises ToolError: `timeout`; `unsupported` if none is running;
        `internal` if both die or none can be started.
        """
        for is_last in (False, True):
            try:
                child = await self._running()
                return dict(await child.request(message, seconds))
            except TimeoutError:
                raise ToolError(
                    "timeout",
                    f"the code index did not answer within {seconds:g} s",
                    hint="use search_text, or ask again later",
                ) from None
            except ChildEnded as error:
                if is_last:
                    raise ToolError(
                        "internal", f"the index process failed twice: {error}", hint="use search_text and read_file"
                    ) from error
        raise AssertionError("unreachable")

    async def _running(self) -> ChildProcess:
        async with self._starting:
            if self._child is not None and self._child.is_running:
                return self._child
            if self._closed or self.status.state is IndexState.OFF:
                raise ToolError(
                    "unsupported", "the code index is not running", hint="use search_text and read_file instead"
                )
            deaths = self.deaths.recent()
            if deaths >= MOST_DEATHS:
                raise ToolError("unsupported", self.status.reason, hint="use search_text and read_file instead")
            return await self._spawn(fresh=deaths >= FRESH_AFTER)

    async def _spawn(self, *, fresh: bool) -> ChildProcess:
        child = ChildProcess(self._receive, self._ended)
        try:
            await child.start(self._folders, self._cache, most_bytes=self._most_bytes, fresh=fresh)
        except OSError as error:
            self._show(IndexStatus(IndexState.FAILED, reason=f"the index process cannot be started: {error}"))
            raise ToolError("internal", self.status.reason, hint="use search_text and read_file") from error
        self._child = child
        self._show(IndexStatus(IndexState.BUILDING))
        self.begun.emit(None)
        return child

    def _ended(self, how: str) -> None:
        culprit, self._parsing = self._parsing, ""
        if culprit:
            self.ended_by.emit(Path(culprit))
        else:
            self.deaths.add()
        if self._closed:
            return
        if self.deaths.recent() >= MOST_DEATHS:
            failed = f"the index process failed {MOST_DEATHS} times within a minute ({how}); it is tried again later"
            self._show(IndexStatus(IndexState.FAILED, reason=failed))
            return
        self._restarting = asyncio.get_running_loop().create_task(self._restart())

    async def _restart(self) -> None:
        with contextlib.suppress(ToolError):  # the status shows the error
            await self._running()

    def _receive(self, message: Message) -> None:
        if "may" in message and self._child is not None:
            self._judging = asyncio.get_running_loop().create_task(self._judge(self._child, message))
        elif "parsing" in message:
            self._parsing = message["parsing"]
        elif "status" in message:
            self._show(from_json(IndexStatus, message["status"]))

    async def _judge(self, child: ChildProcess, message: Message) -> None:
        """Answer which of these files may be indexed, in small steps: rules can take a millisecond for four files."""
        paths = [Path(path) for path in message["may"]]
        answers: list[bool] = []
        for start in range(0, len(paths), JUDGED_AT_ONCE):
            some = paths[start : start + JUDGED_AT_ONCE]
            try:
                answers += map(bool, self._may_index(some))
            except Exception:  # logged; files that cannot be checked are not indexed
                log.exception("rules of %d files", len(some))
                answers += [False] * len(some)
            await asyncio.sleep(0)
        child.send({"do": "may", "id": message["id"], "answers": answers})

    def _show(self, status: IndexStatus) -> None:
        if status != self.status:
            self.status = status
            if self._telling is None:
                self._telling = asyncio.get_running_loop().call_later(STATUS_SECONDS, self._tell)

    def _tell(self) -> None:
        self._telling = None
        self.shown.emit(self.status)
