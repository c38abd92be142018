"""Stores the logins at servers over HTTP in the system's keyring, and nowhere else on the disk.

Without a keyring, nothing is stored. Tokens that the keyring does not take are kept in memory until the process ends.
"""

import asyncio
import json
import logging
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, fields
from hashlib import sha256
from pathlib import Path

from tark_lsp.errors import McpError
from tark_lsp.llm.keys.keyring_process import KeyringFailed, KeyringProcess
from tark_lsp.llm.keys.store import KEYRING_VARIABLE, READ_SECONDS, WRITE_SECONDS, AskKeyring

log = logging.getLogger(__name__)

EARLY_SECONDS = 30.0
"""A token counts as expired this long before its end, because a request takes time."""
LOCK_SECONDS, LOOK_SECONDS = 45.0, 0.05
"""How long to wait for another process's refresh, and how often to check."""
UNLOCK = f"unlock it and try again ({KEYRING_VARIABLE}=off turns it off, and then there are no logins)"


@dataclass(frozen=True, slots=True)
class StoredLogin:
    """The tokens, which are sent only to `url`, and the data for their refresh.

    `expires` and `issued` are Unix seconds. `expires` is 0 if it is unknown. `wanted`: rights that the server asked for
    later. `client_is_given`: the user registered the client by hand.
    """

    url: str
    access_token: str = field(repr=False)
    refresh_token: str = field(default="", repr=False)
    expires: float = 0.0
    issued: float = 0.0
    scope: str = ""
    wanted: str = ""
    resource: str = ""
    issuer: str = ""
    authorization_endpoint: str = ""
    token_endpoint: str = ""
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    client_method: str = ""
    client_is_given: bool = False

    @property
    def header(self) -> str:
        return f"Bearer {self.access_token}"

    @property
    def is_expired(self) -> bool:
        return self.expires > 0 and time.time() > self.expires - EARLY_SECONDS


def entry_of(name: str, scope: str) -> str:
    """The name of an entry in the keyring. `scope`: empty, or the file of an offer. It cannot be the entry of a model
    provider, because those have no slash in their names."""
    digest = f"/{sha256(scope.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}" if scope else ""
    return f"mcp/{name}{digest}"


class TokenStore:
    """Methods raise McpError if there is a keyring but it cannot be used. `lock_folder()` need not exist."""

    def __init__(
        self,
        environ: Mapping[str, str] = os.environ,
        ask: AskKeyring | None = None,
        lock_folder: Callable[[], Path] | None = None,
    ) -> None:
        self._ask_keyring = ask or KeyringProcess()
        self._off = environ.get(KEYRING_VARIABLE, "").strip().lower() == "off"
        self._lock_folder = lock_folder
        self._unsaved: dict[str, StoredLogin] = {}

    async def has_keyring(self) -> bool:
        return await self._ask("name", READ_SECONDS) is not None

    async def read(self, entry: str) -> StoredLogin | None:
        unsaved = self._unsaved.get(entry)
        try:
            text = await self._ask("read", READ_SECONDS, entry)
        except McpError:
            if unsaved is None:
                raise
            text = None
        found = [one for one in (unsaved, _decode(text) if isinstance(text, str) else None) if one is not None]
        return max(found, key=lambda one: one.issued, default=None)

    async def write(self, entry: str, login: StoredLogin, *, seconds: float = WRITE_SECONDS) -> bool:
        """Returns whether the keyring stored the login. If not, it is kept in memory, and the log says so."""
        try:
            if await self._ask("store", seconds, entry, json.dumps(asdict(login))):
                self._unsaved.pop(entry, None)
                return True
            why = "there is no keyring"
        except McpError as error:
            why = error.message
        self._unsaved[entry] = login
        log.warning("the login %s is kept in memory only, until this process ends: %s", entry, why)
        return False

    async def delete(self, entry: str) -> bool:
        """Returns whether there was a login."""
        unsaved = self._unsaved.pop(entry, None) is not None
        return bool(await self._ask("delete", WRITE_SECONDS, entry)) or unsaved

    @asynccontextmanager
    async def alone(self, entry: str) -> AsyncIterator[None]:
        """Locks the entry, so that only one process of the user refreshes it. Many servers end a login if two do.

        If files cannot be locked (Windows, some file systems), or after `LOCK_SECONDS`, it continues without the lock.
        """
        if sys.platform == "win32" or self._lock_folder is None:
            yield
            return
        import fcntl

        try:
            path = self._lock_folder() / f".{sha256(entry.encode()).hexdigest()[:32]}.lock"
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise McpError(
                f"its login cannot be locked: {error.strerror}", hint="make the state folder writable"
            ) from error
        try:
            end = time.monotonic() + LOCK_SECONDS
            while time.monotonic() < end:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    await asyncio.sleep(LOOK_SECONDS)
                except OSError as error:
                    log.info("the login %s is not locked: %s", entry, error.strerror)
                    break
            yield
        finally:
            os.close(descriptor)

    async def _ask(self, action: str, seconds: float, entry: str = "", text: str = "") -> object:
        """None if there is no keyring, or no such entry."""
        if self._off:
            return None
        question = {"action": action, "provider": entry, "text": text}
        try:
            return await asyncio.to_thread(self._ask_keyring, question, seconds)
        except KeyringFailed as error:
            raise McpError(f"the keyring {error}", hint=UNLOCK) from error


def _decode(text: str) -> StoredLogin | None:
    """None if the entry is not from tark-lsp."""
    try:
        values = json.loads(text)
        known = {one.name: values[one.name] for one in fields(StoredLogin)}
    except (ValueError, TypeError, KeyError, RecursionError):
        log.warning("an entry of the keyring is not a login that tark-lsp stored")
        return None
    types: dict[str, type | tuple[type, ...]] = {
        "expires": (int, float),
        "issued": (int, float),
        "client_is_given": bool,
    }
    right = all(isinstance(value, types.get(name, str)) for name, value in known.items())
    return StoredLogin(**known) if right else None
