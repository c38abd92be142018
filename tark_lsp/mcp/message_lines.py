"""MessageLines: reads messages from a server's stdout, one line of JSON each. Other lines are skipped and logged."""

import logging
from collections.abc import Callable

from tark_lsp.errors import McpError
from tark_lsp.mcp.json_rpc import Incoming, parse_messages
from tark_lsp.mcp.server_log import ServerLog
from tark_lsp.mcp.transport import LARGEST_MESSAGE, MOST_UNASKED

log = logging.getLogger(__name__)

LOGGED = (1, 10, 100, 1_000)
"""A skipped line is logged only if the number of skipped lines is one of these."""


class MessageLines:
    def __init__(self, name: str, server_log: ServerLog, received: Callable[[Incoming], bool]) -> None:
        """`received` gets each message, and returns whether it answers a pending request."""
        self._name = name
        self._log = server_log
        self._received = received
        self._line = bytearray()
        self._unasked = 0
        self._skipped = 0

    def feed(self, data: bytes) -> None:
        """Takes the next bytes, in chunks of any size. Raises McpError for a line that is too long, or for too many
        bytes that answer no request."""
        *whole, rest = data.split(b"\n")
        if len(self._line) + max(map(len, (*whole, rest))) > LARGEST_MESSAGE:
            self._line.clear()
            raise McpError(f"it sent a line of more than {LARGEST_MESSAGE // 2**20} MiB, so it was ended")
        for part in whole:
            line, self._line = bytes(self._line) + part, bytearray()
            self._read(line)
        self._line += rest

    def _read(self, line: bytes) -> None:
        self._unasked += len(line)
        if self._unasked > MOST_UNASKED:
            raise McpError(f"it sent {MOST_UNASKED // 2**20} MiB that nobody asked for, so it was ended")
        if not line.strip():
            return
        try:
            messages = parse_messages(line)
        except ValueError as error:
            self._skipped += 1
            if self._skipped in LOGGED:
                log.warning(
                    "MCP server %s: skipped %d lines that are not messages: %s", self._name, self._skipped, error
                )
                self._log.add(f"{self._skipped} lines on stdout were not messages, and were skipped: {error}")
            return
        for message in messages:
            if self._received(message):
                self._unasked = 0
