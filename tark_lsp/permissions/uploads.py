"""Which hosts the user allowed to get the code of a workspace, to make vectors of it. A JSON file, read each time.

If it cannot be read, nothing is allowed by it.
"""

import json
import os
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from tark_lsp.permissions.folder_identity import identify_folder


class AllowedUploads:
    def __init__(self, locate: Callable[[], Path]) -> None:
        """`locate()` returns the file, whose folder exists, or raises OSError."""
        self._locate = locate

    def is_allowed(self, folders: Sequence[Path], host: str) -> bool:
        """Whether the host may get the code of each of these folders, which are still those that it was asked for."""
        known = self._read().get(host, {})
        return bool(folders) and all(
            identity is not None and known.get(folder) == identity for folder, identity in _identities(folders)
        )

    def allow(self, folders: Sequence[Path], host: str) -> None:
        """Raises OSError if it cannot be stored."""
        allowed = self._read()
        identities = {folder: identity for folder, identity in _identities(folders) if identity is not None}
        allowed[host] = allowed.get(host, {}) | identities
        self._write(allowed)

    def forget(self, folders: Sequence[Path] | None) -> None:
        """No host may get the code of these folders, or None: of any folder, any more. Raises OSError."""
        gone = None if folders is None else {folder for folder, _ in _identities(folders)}
        allowed = self._read()
        left = {
            host: {name: value for name, value in known.items() if gone is not None and name not in gone}
            for host, known in allowed.items()
        }
        if left != allowed:
            self._write(left)

    def _read(self) -> dict[str, dict[str, str]]:
        with suppress(OSError, ValueError):
            stored = json.loads(self._locate().read_text(encoding="utf-8"))
            if isinstance(stored, dict) and all(isinstance(known, dict) for known in stored.values()):
                return stored
        return {}

    def _write(self, allowed: dict[str, dict[str, str]]) -> None:
        path = self._locate()
        new = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(allowed, file)
            new.replace(path)
        except OSError:
            new.unlink(missing_ok=True)
            raise


def _identities(folders: Sequence[Path]) -> list[tuple[str, str | None]]:
    real = [Path(os.path.realpath(folder)) for folder in folders]
    return [(str(folder), identify_folder(folder)) for folder in real]
