"""Decides when MCP servers are read and started. Their pins are read soon after the start of Tark's server, so that the
first turn knows their tools. Their programs start only after the first request of a turn was sent, so that they do not
delay the answer. A call waits until its server is ready.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from tark_lsp.agent.events import AgentEvent, Requested
from tark_lsp.server.turns.mcp_tools import McpTools
from tark_lsp.server.turns.turn_record import Observer, TurnRecord

AFTER_SECONDS = 0.2
"""The delay after the request, because the programs need CPU time that the request and its first answer need, too."""


READ_AFTER_SECONDS = 1.0
"""The delay after the client is ready, so that its first requests are answered before."""


class McpStart(Observer):
    def __init__(self, mcp: McpTools) -> None:
        self._mcp = mcp
        self._timer: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None

    def read_soon(self) -> None:
        """Read the pins while nobody waits. Without servers, this only looks for two files."""
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
