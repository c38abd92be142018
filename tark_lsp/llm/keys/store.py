"""Stores keys and logins: in the system's keyring, else in a file that only the user can read.

Each secret is stored with the origin it is for, so that it is not sent to a base URL that was changed later.
All calls block, for seconds at worst: use `asyncio.to_thread` in a coroutine.
"""

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from tark_lsp.errors import SettingsError
from tark_lsp.llm.keys.files import KeyFiles

SERVICE = "tark-lsp"
KEYRING_VARIABLE = "TARK_KEYRING"
KEYRING = "the keyring"
READ_SECONDS, WRITE_SECONDS = 5.0, 60.0
"""Storing can wait until the user unlocks the keyring; a turn cannot."""
KEYRING_PAUSE_SECONDS = 60.0
"""How long a keyring that did not answer is not asked again: each request would cost a timeout."""
MIN_KEYRING_PRIORITY = 1
"""The keyring library gives a lower priority to backends that store nothing or plain text ("fail", "null")."""

T = TypeVar("T")
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """A key, or a login's token. `place` is in words for people. `expires`: Unix seconds; None: never."""

    secret: str = field(repr=False)
    origin: str
    place: str
    expires: float | None = None


class Keyring(Protocol):
    """The part of the keyring library that we use."""

    def get_password(self, service: str, username: str) -> str | None: ...

    def set_password(self, service: str, username: str, password: str) -> None: ...

    def delete_password(self, service: str, username: str) -> None: ...


def system_keyring() -> Keyring | None:
    """None if the system has no secure keyring. It imports the library and calls D-Bus, so it can take long."""
    import keyring
    from keyring.backends.chainer import ChainerBackend

    found = keyring.get_keyring()
    chained: list[Any] = found.backends if isinstance(found, ChainerBackend) else [found]
    return next((backend for backend in chained if backend.priority >= MIN_KEYRING_PRIORITY), None)


class KeyStore:
    """`folder` holds the files if there is no keyring. It is created when it is first needed.

    `find_keyring` is called in a thread. Every method raises SettingsError, with what to do, if the stored data cannot
    be read or changed.
    """

    def __init__(
        self,
        folder: Path,
        environ: Mapping[str, str] = os.environ,
        find_keyring: Callable[[], Keyring | None] = system_keyring,
        *,
        seconds: tuple[float, float] = (READ_SECONDS, WRITE_SECONDS),
    ) -> None:
        self._files = KeyFiles(folder)
        self._find_keyring = find_keyring
        self._read_seconds, self._write_seconds = seconds
        self._off = environ.get(KEYRING_VARIABLE, "").strip().lower() == "off"
        self._left_alone_until = 0.0

    def read_secret(self, provider: str) -> StoredSecret | None:
        """The file overrides the keyring: storing in the keyring deletes the file, so a file is always newer."""
        text = self._files.read_secret(provider)
        if text is not None:
            return _decode(text, self._files.describe_location(provider))
        text = self._ask(lambda keyring: keyring.get_password(SERVICE, provider), self._read_seconds)
        return None if text is None else _decode(text, KEYRING)

    def write_secret(self, provider: str, secret: str, origin: str, expires: float | None = None) -> str:
        """Returns where it is stored, in words for people. A failed keyring can hold an older one; the file overrides
        it.
        """
        text = json.dumps({"secret": secret, "origin": origin, "expires": expires})

        def store(keyring: Keyring) -> bool:
            keyring.set_password(SERVICE, provider, text)
            return True

        stored = None
        try:
            stored = self._ask(store, self._write_seconds)
        except SettingsError as error:
            log.warning("%s; a file is used instead", error)
        if stored:
            self._files.delete_secret(provider)
            return KEYRING
        self._files.write_secret(provider, text)
        return self._files.describe_location(provider)

    def delete_secret(self, provider: str) -> list[str]:
        """Returns the places it was deleted from."""

        def remove(keyring: Keyring) -> bool:
            if keyring.get_password(SERVICE, provider) is None:
                return False
            keyring.delete_password(SERVICE, provider)
            return True

        places = [self._files.describe_location(provider)] if self._files.delete_secret(provider) else []
        try:
            if self._ask(remove, self._write_seconds):
                places.append(KEYRING)
        except SettingsError as error:
            done = f"deleted from {places[0]}, but " if places else ""
            raise SettingsError(f"{done}{error.message}, so it may still contain one", hint=error.hint) from error
        return places

    def describe_location(self) -> str:
        """Where a secret would be stored now, in words for people."""
        try:
            name = self._ask(lambda keyring: str(getattr(keyring, "name", "")), self._read_seconds)
        except SettingsError as error:
            return f"files in {self._files.folder}, because {error.message}"
        return (
            f"{KEYRING} ({name})" if name is not None else f"files in {self._files.folder}, because there is no keyring"
        )

    def _ask(self, question: Callable[[Keyring], T], seconds: float) -> T | None:
        """None: there is no keyring. It runs in its own thread, which is abandoned if it hangs, as on a dead D-Bus."""
        if self._off:
            return None
        if time.monotonic() < self._left_alone_until:
            raise _keyring_failed("did not answer")
        outcome: Future[T | None] = Future()

        def work() -> None:
            try:
                keyring = self._find_keyring()
                outcome.set_result(None if keyring is None else question(keyring))
            except BaseException as error:  # noqa: BLE001  a backend can raise anything, which would be lost here
                outcome.set_exception(error)

        # Not a thread of a pool: Python waits for those when it exits.
        threading.Thread(target=work, name="keyring", daemon=True).start()
        try:
            return outcome.result(seconds)
        except TimeoutError as error:
            self._left_alone_until = time.monotonic() + KEYRING_PAUSE_SECONDS
            raise _keyring_failed(f"did not answer within {seconds:g} s") from error
        except Exception as error:  # noqa: BLE001  the backend's own; only its type is shown, since its message can contain a secret
            raise _keyring_failed(f"failed ({type(error).__name__})") from None


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


def _keyring_failed(how: str) -> SettingsError:
    return SettingsError(
        f"{KEYRING} {how}", hint=f"unlock it and try again, or set {KEYRING_VARIABLE}=off to keep keys in files"
    )
