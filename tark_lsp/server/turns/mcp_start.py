"""When MCP servers are read and started. Their pins are read soon after the start of our server, so that the first turn
knows their tools; their programs start when the first request of a turn is on its way, because a call waits for its
server, and nobody has to wait for the first word.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from tark_lsp.agent.events import AgentEvent, Requested
from tark_lsp.server.turns.mcp_tools import McpTools
from tark_lsp.server.turns.turn_record import Observer, TurnRecord

AFTER_SECONDS = 0.2
"""The programs take the processor that the request and the beginning of its answer need."""


READ_AFTER_SECONDS = 1.0
"""After the client is ready, whose first requests come before that."""


class McpStart(Observer):
    def __init__(self, mcp: McpTools) -> None:
        self._mcp = mcp
        self._timer: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None

    def read_soon(self) -> None:
        """Read what is pinned while nobody waits. Without a server, this looks for two files and does nothing."""
        self._reading = asyncio.get_running_loop().call_later(READ_AFTER_SECONDS, self._mcp.tools)

    def on_turn_accepted(self, record: TurnRecord) -> None:
        pass

    def on_turn_event(self, record: TurnRecord, event: AgentEvent) -> None:  # noqa: ARG002 - of any turn
        if isinstance(event, Requested) and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(AFTER_SECONDS, self._start)

    def on_update_sent(self, record: TurnRecord, seq: int, update: Mapping[str, Any]) -> None:
        pass

    def on_turn_ended(self, record: TurnRecord, end: Mapping[str, Any]) -> None:
        pass

    def stop(self) -> None:
        for timer in (self._timer, self._reading):
            if timer is not None:
                timer.cancel()

    def _start(self) -> None:
        self._timer = None
        self._mcp.start()
