"""Reads and writes the files of exported sessions."""

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
    """The text of an export file."""
    messages, turns = store.log.messages(row.id), store.log.turns(row.id)
    if form == "json":
        from tark_lsp.sessions.export import to_json

        return to_json(row, messages, turns, store.log.updates)
    from tark_lsp.sessions.markdown import to_markdown

    return to_markdown(row, messages, turns)


def new_export(session_id: str, form: Format) -> Path:
    """The path of a new file in the state folder. Raises RequestError if its folder cannot be created."""
    try:
        folder = state_folder() / "exports"
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise RequestError(f"path: {error}", hint="name a file elsewhere") from error
    return folder / f"{session_id}-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}{ENDINGS[form]}"


def write_new(path: Path, text: str) -> Path:
    """Write a new file with mode 0600. Raises RequestError if it already exists, or cannot be written."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="") as stream:
            stream.write(text)
    except FileExistsError:
        raise RequestError(f"path: {path} exists already", hint="name another file") from None
    except OSError as error:
        raise RequestError(f"path: {path} cannot be written: {error.strerror or error}") from error
    return path


def read_import(path: Path) -> str:
    """The text of an exported session. Raises RequestError if the file cannot be read, or is not text."""
    try:
        if not path.is_file():
            raise RequestError(f"import: {path} is not a file")
        if path.stat().st_size > LARGEST_BYTES:
            raise RequestError(f"import: {path} is larger than any exported session")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise RequestError(f"import: {path} is not an exported session", hint="export one as json") from None
    except OSError as error:
        raise RequestError(f"import: {path} cannot be read: {error.strerror or error}") from error
