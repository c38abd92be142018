"""Stores keys and logins: in the system's keyring, else in a file that only the user can read.

Each secret is stored with the origin it is for, so that it is not sent to a base URL that was changed later.
All calls block, for seconds at worst: use `asyncio.to_thread` in a coroutine.
"""

import json
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tark_lsp.errors import SettingsError
from tark_lsp.llm.keys.files import KeyFiles
from tark_lsp.llm.keys.keyring_process import KeyringFailed, KeyringProcess

KEYRING_VARIABLE = "TARK_KEYRING"
KEYRING = "the keyring"
READ_SECONDS, WRITE_SECONDS = 5.0, 60.0
"""Storing can wait until the user unlocks the keyring; a turn cannot."""

AskKeyring = Callable[[dict[str, str], float], Any]
"""A question and its seconds -> the value of the answer (keyring_program.py). Raises KeyringFailed."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """A key, or a login's token. `place`: text for the user. `expires`: Unix seconds; None: never."""

    secret: str = field(repr=False)
    origin: str
    place: str
    expires: float | None = None


class KeyStore:
    """`folder` holds the files if there is no keyring. It is created when it is first needed.

    `ask_keyring` None: the system's. Every method raises SettingsError, with what to do, if the stored data cannot be
    read or changed.
    """

    def __init__(
        self,
        folder: Path,
        environ: Mapping[str, str] = os.environ,
        ask_keyring: AskKeyring | None = None,
        *,
        seconds: tuple[float, float] = (READ_SECONDS, WRITE_SECONDS),
    ) -> None:
        self._files = KeyFiles(folder)
        self._ask_keyring = ask_keyring or KeyringProcess()
        self._read_seconds, self._write_seconds = seconds
        self._off = environ.get(KEYRING_VARIABLE, "").strip().lower() == "off"

    def read_secret(self, provider: str) -> StoredSecret | None:
        """The file overrides the keyring: storing in the keyring deletes the file, so a file is always newer."""
        text = self._files.read_secret(provider)
        if text is not None:
            return _decode(text, self._files.describe_location(provider))
        text = self._ask("read", self._read_seconds, provider)
        return None if text is None else _decode(text, KEYRING)

    def write_secret(self, provider: str, secret: str, origin: str, expires: float | None = None) -> str:
        """Returns where it is stored, as text for the user. A failed keyring can contain an older secret, but the file
        overrides it.
        """
        text = json.dumps({"secret": secret, "origin": origin, "expires": expires})
        stored = None
        try:
            stored = self._ask("store", self._write_seconds, provider, text)
        except SettingsError as error:
            log.warning("%s; a file is used instead", error)
        if stored:
            self._files.delete_secret(provider)
            return KEYRING
        self._files.write_secret(provider, text)
        return self._files.describe_location(provider)

    def delete_secret(self, provider: str) -> list[str]:
        """Returns the places it was deleted from."""
        places = [self._files.describe_location(provider)] if self._files.delete_secret(provider) else []
        try:
            if self._ask("delete", self._write_seconds, provider):
                places.append(KEYRING)
        except SettingsError as error:
            done = f"deleted from {places[0]}, but " if places else ""
            raise SettingsError(f"{done}{error.message}, so it may still contain one", hint=error.hint) from error
        return places

    def describe_location(self) -> str:
        """Where a secret would be stored now, as text for the user."""
        try:
            name = self._ask("name", self._read_seconds)
        except SettingsError as error:
            return f"files in {self._files.folder}, because {error.message}"
        return (
            f"{KEYRING} ({name})" if name is not None else f"files in {self._files.folder}, because there is no keyring"
        )

    def _ask(self, action: str, seconds: float, provider: str = "", text: str = "") -> Any:
        """None: there is no keyring, or no such entry."""
        if self._off:
            return None
        try:
            return self._ask_keyring({"action": action, "provider": provider, "text": text}, seconds)
        except KeyringFailed as error:
            raise SettingsError(
                f"{KEYRING} {error}",
                hint=f"unlock it and try again, or set {KEYRING_VARIABLE}=off to keep keys in files",
            ) from error


def _decode(text: str, place: str) -> StoredSecret:
    try:
        match json.loads(text):
            case {"secret": str(secret), "origin": str(origin), **rest}:
                expires = rest.get("expires")
                return StoredSecret(secret, origin, place, float(expires) if isinstance(expires, int | float) else None)
    except (json.JSONDecodeError, RecursionError):
        pass
    # The text is not repeated: it can still be a key.
    raise SettingsError(f"the entry in {place} is not a key that tark-lsp stored", hint="log in again, or log out")
