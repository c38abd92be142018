"""The session, turn and tool call that the running code belongs to, for its log lines."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class LogIds:
    """Empty strings if there is none. The tool call's id is Tark's, not the provider's."""

    session_id: str = ""
    turn_id: str = ""
    call_id: str = ""


NO_IDS = LogIds()
CURRENT_IDS: ContextVar[LogIds] = ContextVar("tark_lsp.log_ids", default=NO_IDS)
"""The ids of this task and of the tasks it starts: asyncio copies the context to each of them."""


@contextmanager
def log_context(**ids: str) -> Iterator[None]:
    """Sets these ids (fields of `LogIds`) inside the context; the others stay unchanged."""
    before = CURRENT_IDS.set(replace(CURRENT_IDS.get(), **ids))
    try:
        yield
    finally:
        CURRENT_IDS.reset(before)
