"""The files that sessions are exported to and imported from."""

import os
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from tark_lsp.errors import RequestError
from tark_lsp.folders import state_folder
from tark_lsp.sessions.rows import SessionRow
from tark_lsp.sessions.store import SessionStore

LARGEST_BYTES = 256 * 1024**2
Format = Literal["markdown", "json"]
ENDINGS: Mapping[Format, str] = {"markdown": ".md", "json": ".json"}


def exported(store: SessionStore, row: SessionRow, form: Format) -> str:
    """What the file is to hold."""
    messages, turns = store.messages(row.id), store.turns(row.id)
    if form == "json":
        from tark_lsp.sessions.export import to_json

        return to_json(row, messages, turns, store.updates)
    from tark_lsp.sessions.markdown import to_markdown

    return to_markdown(row, messages, turns)


def new_export(session_id: str, form: Format) -> Path:
    """A file that is not there yet, in the state folder. Raises RequestError where there can be none."""
    try:
        folder = state_folder() / "exports"
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise RequestError(f"path: {error}", hint="name a file elsewhere") from error
    return folder / f"{session_id}-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}{ENDINGS[form]}"


def write_new(path: Path, text: str) -> Path:
    """With mode 0600. Raises RequestError where it is there already, or cannot be written."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="") as stream:
            stream.write(text)
    except FileExistsError:
        raise RequestError(f"path: {path} is there already", hint="name another file") from None
    except OSError as error:
        raise RequestError(f"path: {path} cannot be written: {error.strerror or error}") from error
    return path


def read_import(path: Path) -> str:
    """Raises RequestError where it cannot be read, or is no text."""
    try:
        if not path.is_file():
            raise RequestError(f"import: {path} is no file")
        if path.stat().st_size > LARGEST_BYTES:
            raise RequestError(f"import: {path} is larger than any exported session")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise RequestError(f"import: {path} is no exported session", hint="export one as json") from None
    except OSError as error:
        raise RequestError(f"import: {path} cannot be read: {error.strerror or error}") from error
