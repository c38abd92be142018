"""Formats a log record: as a line for stderr, or as a line of JSON for the log file; both without keys."""

import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from tark_lsp.log_ids import CURRENT_IDS


class LineFormatter(logging.Formatter):
    """For people. A traceback follows in lines of its own."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        return self._redact(super().format(record))


class JsonFormatter(logging.Formatter):
    """One line: `{time, level, logger, message, pid, sessionId?, turnId?, toolCallId?, exception?}`.

    `time` is ISO 8601 in UTC. The ids are the current ones of the code that logs (log_ids.py).
    """

    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__()
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        ids = CURRENT_IDS.get()
        fields: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._redact(record.getMessage()),
            "pid": record.process,
            "sessionId": ids.session_id,
            "turnId": ids.turn_id,
            "toolCallId": ids.call_id,
            "exception": self._redact(self.formatException(record.exc_info)) if record.exc_info else "",
        }
        return json.dumps({name: value for name, value in fields.items() if value != ""})
