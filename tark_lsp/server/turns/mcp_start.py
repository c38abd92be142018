"""Starts the MCP servers of a turn when its first request is on its way: nobody waits for them to have the first word.

Their tools are known from their pins, and a call waits for its server.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from tark_lsp.agent.events import AgentEvent, Requested
from tark_lsp.server.turns.mcp_tools import McpTools
from tark_lsp.server.turns.turn_record import Observer, TurnRecord

AFTER_SECONDS = 0.2
"""The programs take the processor that the request and the beginning of its answer need."""


class McpStart(Observer):
    def __init__(self, mcp: McpTools) -> None:
        self._mcp = mcp
        self._timer: asyncio.TimerHandle | None = None

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
        if self._timer is not None:
            self._timer.cancel()

    def _start(self) -> None:
        self._timer = None
        self._mcp.start()
