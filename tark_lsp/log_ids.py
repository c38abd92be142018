"""Which session, turn and tool call the running code belongs to, so that its log lines can say so."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class LogIds:
    """ "" where there is none. The tool call's id is ours, never the provider's."""

    session_id: str = ""
    turn_id: str = ""
    call_id: str = ""


NONE = LogIds()
CURRENT: ContextVar[LogIds] = ContextVar("tark_lsp.log_ids", default=NONE)
"""Of this task and of those it starts: asyncio copies it to each of them."""


@contextmanager
def belonging(**ids: str) -> Iterator[None]:
    """Inside, the ids named (fields of `LogIds`) are these, the others as outside."""
    before = CURRENT.set(replace(CURRENT.get(), **ids))
    try:
        yield
    finally:
        CURRENT.reset(before)
