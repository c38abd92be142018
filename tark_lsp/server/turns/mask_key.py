"""The key of the tokens that replace secrets (secrets/masks.py), in a file that only the user can read.

With the key, a session that another server resumes has the same tokens. Without the file, the tokens are valid only for
this process.
"""

import logging
import os
import secrets
from collections.abc import Callable
from pathlib import Path

from tark_lsp.secrets.masks import PROCESS_KEY

log = logging.getLogger(__name__)

KEY_BYTES = 32


def read_mask_key(find_path: Callable[[], Path]) -> bytes:
    """The key in the file, which is created with a random key if it does not exist. `find_path` can raise OSError."""
    try:
        path = find_path()
        if not path.exists():
            _create(path)
        key = path.read_bytes()
    except OSError as error:
        log.warning("the tokens of secrets change with each start: %s", error)
        return PROCESS_KEY
    if len(key) != KEY_BYTES:
        log.warning("the tokens of secrets change with each start: %s is damaged, delete it", path)
        return PROCESS_KEY
    return key


def _create(path: Path) -> None:
    """Creates the file atomically. If another process creates it first, the key of that process is used."""
    made = path.with_name(f".{path.name}-{secrets.token_hex(6)}")
    try:
        with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(secrets.token_bytes(KEY_BYTES))
        os.link(made, path)
    except FileExistsError:
        pass
    finally:
        made.unlink(missing_ok=True)
