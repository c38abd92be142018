"""A log record as text: a line for stderr, a line of JSON for the log file; both without keys."""

import json
import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from tark_lsp.log_ids import CURRENT
from tark_lsp.redaction import redact


class LineFormatter(logging.Formatter):
    """As people read it; a traceback follows in lines of its own. `secrets` are taken out wherever they stand."""

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record), self._secrets)


class JsonFormatter(logging.Formatter):
    """One line: `{time, level, logger, message, pid, sessionId?, turnId?, toolCallId?, exception?}`.

    `time` is ISO 8601 in UTC. The ids are those of the code that logs (log_ids.py).
    """

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        super().__init__()
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        ids = CURRENT.get()
        fields: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": redact(record.getMessage(), self._secrets),
            "pid": record.process,
            "sessionId": ids.session_id,
            "turnId": ids.turn_id,
            "toolCallId": ids.call_id,
            "exception": redact(self.formatException(record.exc_info), self._secrets) if record.exc_info else "",
        }
        return json.dumps({name: value for name, value in fields.items() if value != ""})
