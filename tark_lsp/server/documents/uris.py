"""URIs of files to paths and back, on POSIX and on Windows (RFC 8089; LSP 3.17, "URIs")."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

_DRIVE = re.compile(r"/[A-Za-z]:")


def path_text(uri: str, *, windows: bool = os.name == "nt") -> str | None:
    """The path a `file:` URI names, unresolved; None for other schemes and for what is no path here.

    Windows: `file:///c%3A/a` and `file:///C:/a` are both `C:\\a`, `file://host/share/a` is `\\\\host\\share\\a`.
    A POSIX system has no hosts in paths, so only an empty one and localhost are taken there.
    """
    try:
        parts = urlsplit(uri)
        path = unquote(parts.path, errors="strict")
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
    """The resolved path of a `file:` URI (the key of a document), or None: it has no path."""
    text = path_text(uri)
    if text is None:
        return None
    try:
        return Path(text).resolve()
    except (OSError, RuntimeError):  # a loop of symbolic links; a name the file system cannot hold
        return None


def uri_from_path(path: Path) -> str:
    """The `file:` URI of an absolute path, as VS Code writes it but for the drive's colon, which stays a colon."""
    text = path.as_posix()
    if text.startswith("//"):
        return "file:" + quote(text, safe="/")
    return "file://" + quote(text if text.startswith("/") else f"/{text}", safe="/:" if path.drive else "/")


def paths_of_files(params: Mapping[str, Any], *names: str) -> Iterator[list[Path]]:
    """Of each file a notice is about, what it says under these names; what is no file is left out."""
    files = params.get("files")
    for file in files if isinstance(files, list) else ():
        uris = [file.get(name) for name in names] if isinstance(file, dict) else []
        paths = [path_from_uri(uri) for uri in uris if isinstance(uri, str)]
        known = [path for path in paths if path is not None]
        if len(known) == len(names):
            yield known
