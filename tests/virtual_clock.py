"""An event loop whose clock jumps to the next timer when nothing is ready, so that seconds of waiting cost nothing.

A busy machine does not change what happens on it: a timer of 5 ms is always before one of 20 ms, and nothing else is
between. A test file gets it by `pytestmark = pytest.mark.virtual_clock`, if all that its tests wait for is in this
process. Sockets and programs need the real clock: what they send is not known to be on its way.
"""

import asyncio
import selectors
import time
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, TypeVar, TypeVarTuple, Unpack

THREAD_SECONDS = 30.0
"""Of real time, for what a thread does meanwhile: the clock stands still for that."""
TICK_SECONDS = 1e-6
"""Each round of the loop takes that long, so that what sleeps for the rounding error of a sum goes on some day."""
T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class NothingWillHappen(Exception):
    """All wait for something, and nothing is on its way."""


class _Jumping(selectors.SelectSelector):
    def __init__(self, now: float) -> None:
        super().__init__()
        self.now = now
        self.threads = 0

    def select(self, timeout: float | None = None) -> Any:
        self.now += TICK_SECONDS
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if self.threads:
            return super().select(THREAD_SECONDS)
        if timeout is None:
            raise NothingWillHappen
        self.now += timeout
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """Threads are waited for in real time. `now`: what the clock shows at the beginning."""

    def __init__(self, now: float = 0.0) -> None:
        self._jumping = _Jumping(now)
        self._misuse = ""
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now

    def stand_still(self, seconds: float) -> None:
        """Like `time.sleep` in a callback: the clock goes on, and nothing runs meanwhile."""
        self._jumping.now += seconds

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[Ts]], T], *args: *Ts
    ) -> asyncio.Future[T]:
        future = super().run_in_executor(executor, func, *args)
        self._jumping.threads += 1
        future.add_done_callback(self._thread_done)
        return future

    async def subprocess_exec(self, *_: Any, **__: Any) -> Any:
        raise self._misused("a program was started")

    async def create_connection(self, *_: Any, **__: Any) -> Any:
        raise self._misused("a connection was opened")

    def close(self) -> None:
        super().close()
        assert not self._misuse, f"{self._misuse}, so this test needs the real clock"

    def _misused(self, why: str) -> AssertionError:
        """The code under test can catch the error, so the end of the loop raises it again."""
        self._misuse = why
        return AssertionError(why)

    async def shutdown_default_executor(self, *limits: Any) -> None:
        """`limits` are those of newer Pythons."""
        self._jumping.threads += 1
        try:
            await super().shutdown_default_executor(*limits)
        finally:
            self._jumping.threads -= 1

    def _thread_done(self, _: object) -> None:
        self._jumping.threads -= 1


def virtual_loop() -> VirtualLoop:
    """Begins with the time of the real clock, so that what was measured before is not in the future."""
    return VirtualLoop(time.monotonic())
