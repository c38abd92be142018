"""Where the server's log goes: to stderr, which editors keep, and to a file of JSON lines in the state folder."""

import logging
import os
import sys
from collections.abc import Mapping

from tark_lsp.folders import logs_folder
from tark_lsp.telemetry.log_file import LogFile
from tark_lsp.telemetry.log_format import JsonFormatter, LineFormatter


class Redacting:
    """`redact` with the secrets of `environ`; imported with the first record, since its patterns take a while."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._secrets: tuple[str, ...] | None = None

    def __call__(self, text: str) -> str:
        from tark_lsp.redaction import redact, secrets_of

        if self._secrets is None:
            self._secrets = secrets_of(self._environ)
        return redact(text, self._secrets)


def begin_logs() -> None:
    """From now on; the file is made when there is something to write. `tark_lsp`'s level is set with the settings."""
    redact = Redacting(os.environ)
    stderr, file = logging.StreamHandler(sys.stderr), LogFile(logs_folder)
    stderr.setFormatter(LineFormatter(redact))
    file.setFormatter(JsonFormatter(redact))
    root = logging.getLogger()
    root.setLevel(logging.WARNING)
    root.addHandler(stderr)
    root.addHandler(file)
    logging.getLogger("pygls").setLevel(logging.WARNING)  # it logs whole messages below that
