"""`tark.state`: everything that a client needs to draw the current state, after it started or missed updates."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from tark_lsp.review.restoring import HunkRestorer
from tark_lsp.server.commands import Command
from tark_lsp.server.protocol import command_payloads

Section: TypeAlias = Callable[[str | None], Any]
"""Makes one field of the answer. The argument is the session that the request is about; None: all sessions."""


class StateCommand:
    def __init__(self, restorer: HunkRestorer, sections: Mapping[str, Section]) -> None:
        """`restorer`: the hunks of earlier servers, which come back before the answer is made."""
        self._restorer = restorer
        self._sections = sections

    def commands(self) -> Iterable[Command]:
        yield Command("tark.state", command_payloads.State, self.state)

    async def state(self, request: command_payloads.State) -> Any:
        """Raises RequestError for an unknown session."""
        self._restorer.restore_now()
        return {name: section(request.session_id) for name, section in self._sections.items()}
