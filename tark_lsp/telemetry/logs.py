"""Starts the log of the server: to stderr, which editors keep, and to a file of JSON lines in the state folder."""

import logging
import os
import sys
from collections.abc import Mapping

from tark_lsp.folders import logs_folder
from tark_lsp.telemetry.log_file import LogFile
from tark_lsp.telemetry.log_format import JsonFormatter, LineFormatter


class Redactor:
    """Calls `redact` with the secrets of `environ`. It is imported with the first record: compiling it is slow."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._secrets: tuple[str, ...] | None = None

    def __call__(self, text: str) -> str:
        from tark_lsp.redaction import environment_secrets, redact

        if self._secrets is None:
            self._secrets = environment_secrets(self._environ)
        return redact(text, self._secrets)


def start_logging() -> None:
    """The file is created with the first record. The level of `tark_lsp` is set when the settings are loaded."""
    redact = Redactor(os.environ)
    stderr, file = logging.StreamHandler(sys.stderr), LogFile(logs_folder)
    stderr.setFormatter(LineFormatter(redact))
    file.setFormatter(JsonFormatter(redact))
    root = logging.getLogger()
    root.setLevel(logging.WARNING)
    root.addHandler(stderr)
    root.addHandler(file)
    logging.getLogger("pygls").setLevel(logging.WARNING)  # at lower levels it logs whole messages
