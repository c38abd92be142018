"""The pending requests of a connection, and the time limits of each."""

import asyncio
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tark_lsp.errors import McpError
from tark_lsp.mcp.elicitation import Elicit
from tark_lsp.mcp.json_rpc import Failure, Reply, RequestId, RpcError, id_in

HARD_SECONDS = 600.0


class Clock:
    """Ends a request after `idle` seconds without progress, and after `hard` seconds in any case.

    While the user is asked a question, both limits pause.
    """

    def __init__(self, idle: float, hard: float = HARD_SECONDS) -> None:
        self._loop = asyncio.get_running_loop()
        self._idle = idle
        now = self._loop.time()
        self._idle_end, self._hard_end = now + idle, now + max(idle, hard)
        self._asking = 0
        self.timeout = asyncio.timeout_at(self._end())

    def progress(self) -> None:
        self._idle_end = self._loop.time() + self._idle
        self._reschedule()

    @contextmanager
    def asking(self) -> Iterator[None]:
        began = self._loop.time()
        self._asking += 1
        self._reschedule()
        try:
            yield
        finally:
            self._asking -= 1
            self._hard_end += self._loop.time() - began
            self.progress()

    def _reschedule(self) -> None:
        if not self.timeout.expired():
            self.timeout.reschedule(self._end())

    def _end(self) -> float | None:
        end = min(self._idle_end, self._hard_end)
        return None if self._asking or end == math.inf else end


@dataclass(slots=True, eq=False)
class Waiting:
    """`report` is called with the text of each progress report. `elicit`: None if the user cannot be asked."""

    answer: "asyncio.Future[Mapping[str, Any]]"
    clock: Clock
    report: Callable[[str], None] | None = None
    elicit: Elicit | None = None
    asked: dict[int | str, "asyncio.Task[None]"] = field(default_factory=dict)
    questions: int = 0
    """How many questions the server asked during this request, the open ones included."""


class WaitingRequests:
    """All pending requests. Messages for a request that is no longer pending are ignored."""

    def __init__(self) -> None:
        self._by_id: dict[RequestId, Waiting] = {}

    def __contains__(self, request_id: object) -> bool:
        return request_id in self._by_id

    @contextmanager
    def add(self, request_id: RequestId, waiting: Waiting) -> Iterator[None]:
        """The request is pending until the end of the block. Then its open questions to the user are cancelled."""
        self._by_id[request_id] = waiting
        try:
            yield
        finally:
            del self._by_id[request_id]
            for task in waiting.asked.values():
                task.cancel()

    def latest_askable(self) -> Waiting | None:
        """The latest request during which the user can be asked."""
        return next((one for one in reversed(self._by_id.values()) if one.elicit is not None), None)

    def answer(self, reply: Reply) -> None:
        if (waiting := self._by_id.get(reply.id)) is not None and not waiting.answer.done():
            waiting.answer.set_result(reply.result)

    def refuse(self, failure: Failure) -> None:
        """A failure without an id belongs to the pending request, if there is only one."""
        request_id = failure.id
        if request_id is None and len(self._by_id) == 1:
            request_id = next(iter(self._by_id))
        if request_id is not None:
            self.fail(request_id, RpcError(failure))

    def fail(self, request_id: RequestId, error: McpError) -> None:
        if (waiting := self._by_id.get(request_id)) is not None and not waiting.answer.done():
            waiting.answer.set_exception(error)

    def fail_all(self, error: McpError) -> None:
        for request_id in self._by_id:
            self.fail(request_id, error)

    def progress(self, params: Mapping[str, Any]) -> None:
        waiting = self._by_id.get(id_in(params, "progressToken"))
        if waiting is not None and waiting.report is not None:
            waiting.clock.progress()
            waiting.report(progress_text(params))

    def cancel_question(self, params: Mapping[str, Any]) -> None:
        """The server cancelled a question that it asked the user."""
        for waiting in self._by_id.values():
            if (task := waiting.asked.pop(id_in(params, "requestId"), None)) is not None:
                task.cancel()


def _figure(value: object) -> str:
    """Empty if the value is not a number, or an integer that is too large for `float`."""
    try:
        return f"{float(value):g}" if isinstance(value, int | float) else ""
    except OverflowError:
        return ""


def progress_text(params: Mapping[str, Any]) -> str:
    """One line: `reading (3 of 10)`."""
    done, total = _figure(params.get("progress")), _figure(params.get("total"))
    message = " ".join(str(params.get("message") or "")[:1_000].split())[:200]
    count = f"{done} of {total}" if done and total else done
    return f"{message} ({count})" if message and count else message or count
