"""Converts URIs of files to paths and back, on POSIX and on Windows (RFC 8089; LSP 3.17, "URIs")."""

import os
import re
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

_DRIVE = re.compile(r"/[A-Za-z]:")


def path_text(uri: str, *, windows: bool = os.name == "nt") -> str | None:
    """The path that a `file:` URI names, not resolved; None for other schemes, and if it is not a path on this system.

    Windows: `file:///c%3A/a` and `file:///C:/a` are both `C:\\a`, `file://host/share/a` is `\\\\host\\share\\a`.
    POSIX paths have no hosts, so there only an empty host and localhost are accepted. POSIX names are bytes: those that
    are not UTF-8 become lone surrogates, as in `os.fsdecode`.
    """
    try:
        parts = urlsplit(uri)
        path = unquote(parts.path, errors="strict" if windows else "surrogateescape")
    except ValueError:
        return None
    if parts.scheme != "file" or not path.startswith("/") or "\0" in path:
        return None
    host = "" if parts.netloc.lower() == "localhost" else unquote(parts.netloc)
    if not windows:
        return None if host else path
    if host:
        return f"//{host}{path}".replace("/", "\\")
    if _DRIVE.match(path):
        path = path[1].upper() + path[2:]
    return path.replace("/", "\\")


def path_from_uri(uri: str) -> Path | None:
    """The resolved path of a `file:` URI (the key of a document); None if it has no path."""
    text = path_text(uri)
    if text is None:
        return None
    try:
        return Path(text).resolve()
    except (OSError, RuntimeError):  # a loop of symbolic links; a name the file system cannot hold
        return None


def uri_from_path(path: Path) -> str:
    """The `file:` URI of an absolute path, as VS Code writes it, except that the colon of a drive is not escaped.

    Bytes of a name that are not UTF-8 are escaped as they are (`%FF`). Never raises.
    """
    text = path.as_posix()
    if text.startswith("//"):
        return "file:" + quote(_name_bytes(text), safe="/")
    rooted = text if text.startswith("/") else f"/{text}"
    return "file://" + quote(_name_bytes(rooted), safe="/:" if path.drive else "/")


def _name_bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that no byte becomes: a name on Windows, or a model's text
        return text.encode("utf-8", "surrogatepass")
