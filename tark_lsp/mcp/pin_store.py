"""Stores the pins: one file for each server in the state folder, written atomically."""

import json
import os
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from tark_lsp.errors import McpError
from tark_lsp.mcp.pins import Pin, pin_json, read_pin


class PinStore:
    """`locate()` returns the folder, which need not exist. A pin that cannot be read counts as missing, so the server
    does not start."""

    def __init__(self, locate: Callable[[], Path]) -> None:
        self._locate = locate
        self._known: dict[Path, tuple[tuple[int, int, int], Pin | None]] = {}

    def find(self, name: str, scope: str = "") -> Pin | None:
        """The file is read again only if it changed."""
        path = self._path(name, scope)
        try:
            status = path.stat()
        except OSError:
            return None
        state = (status.st_mtime_ns, status.st_size, status.st_ino)
        if (known := self._known.get(path)) is None or known[0] != state:
            known = self._known[path] = (state, self._read(path, name, scope))
        return known[1]

    def _read(self, path: Path, name: str, scope: str) -> Pin | None:
        try:
            pin = read_pin(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError, RecursionError):
            return None
        return pin if (pin.name, pin.scope) == (name, scope) else None

    def write(self, pin: Pin) -> None:
        """Raises McpError."""
        path = self._path(pin.name, pin.scope)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor, temporary = tempfile.mkstemp(prefix=".", dir=path.parent)  # 0600 from the start
            try:
                with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                    json.dump(pin_json(pin), stream)
                    stream.flush()
                    os.fsync(descriptor)
                Path(temporary).replace(path)
            except BaseException:  # raised again after the partial file is removed
                Path(temporary).unlink(missing_ok=True)
                raise
        except OSError as error:
            raise McpError(
                f"its approval cannot be stored: {error.strerror}", hint=f"make {path.parent} writable"
            ) from error

    def remove(self, name: str, scope: str = "") -> bool:
        """Whether there was a pin. Raises McpError."""
        try:
            self._path(name, scope).unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise McpError(f"its approval cannot be removed: {error.strerror}") from error
        return True

    def _path(self, name: str, scope: str) -> Path:
        digest = sha256("\0".join((name, scope)).encode("utf-8", "surrogateescape")).hexdigest()
        return self._locate() / f"{digest[:32]}.json"
