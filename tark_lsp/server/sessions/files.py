"""The files that sessions are exported to and imported from."""

import os
from pathlib import Path
from typing import Literal

from tark_lsp.errors import RequestError
from tark_lsp.sessions.rows import SessionRow
from tark_lsp.sessions.store import SessionStore

LARGEST_BYTES = 256 * 1024**2
Format = Literal["markdown", "json"]


def exported(store: SessionStore, row: SessionRow, form: Format) -> tuple[str, str]:
    """The ending of the file's name, and what is in it."""
    if form == "json":
        from tark_lsp.sessions.export import to_json

        return ".json", to_json(row, store.messages(row.id), store.turns(row.id), store.updates)
    from tark_lsp.sessions.markdown import to_markdown

    return ".md", to_markdown(row, store.messages(row.id), store.turns(row.id))


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
