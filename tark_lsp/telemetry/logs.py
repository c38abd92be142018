"""Where the server's log goes: to stderr, which editors keep, and to a file of JSON lines in the state folder."""

import logging
import os
import sys

from tark_lsp.folders import logs_folder
from tark_lsp.redaction import secrets_of
from tark_lsp.telemetry.log_file import LogFile
from tark_lsp.telemetry.log_format import JsonFormatter, LineFormatter


def begin_logs() -> None:
    """From now on; the file is made when there is something to write. `tark_lsp`'s level is set with the settings."""
    secrets = secrets_of(os.environ)
    stderr, file = logging.StreamHandler(sys.stderr), LogFile(logs_folder)
    stderr.setFormatter(LineFormatter(secrets))
    file.setFormatter(JsonFormatter(secrets))
    root = logging.getLogger()
    root.setLevel(logging.WARNING)
    root.addHandler(stderr)
    root.addHandler(file)
    logging.getLogger("pygls").setLevel(logging.WARNING)  # it logs whole messages below that
