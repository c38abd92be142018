"""The login at one server over HTTP, for its requests: the header with the token, and its refresh.

The keyring is read only after the server refused a request, so servers without a login cost nothing. This module never
opens a web page: only `tark-lsp mcp login NAME` does.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tark_lsp.llm.keys.store import READ_SECONDS
from tark_lsp.mcp.challenges import MOST_SCOPES, LoginEnded, NeedsLogin, challenge_field, scopes_of
from tark_lsp.mcp.extra import EXTRA, Refresh, has_extra
from tark_lsp.mcp.token_store import StoredLogin, TokenStore, entry_of
from tark_lsp.mcp.transport import HttpRefusal


@dataclass(frozen=True, slots=True)
class LoginTarget:
    """The server of a login. `scope`: empty, or the file of an offer."""

    name: str
    scope: str
    url: str

    @property
    def entry(self) -> str:
        return entry_of(self.name, self.scope)

    @property
    def hint(self) -> str:
        command = f"run `tark-lsp mcp login {self.name}` in a terminal"
        return command if has_extra() else f"{EXTRA}, then {command}"


class Login:
    """Used by all requests of one connection."""

    def __init__(self, target: LoginTarget, store: TokenStore, refresh: Refresh) -> None:
        self._target = target
        self._store = store
        self._refresh = refresh
        self._current: StoredLogin | None = None
        self._lacks_rights = False
        self._renewing: asyncio.Task[str] | None = None

    async def header(self) -> str:
        """The header for the next request; empty until the server refuses one. Raises McpError."""
        if self._current is None:
            return ""
        if self._lacks_rights:  # until the user has logged in again
            stored = await self._store.read(self._target.entry)
            if stored is not None and stored.url == self._target.url and stored.issued > self._current.issued:
                self._current, self._lacks_rights = stored, False
        return await self.header_after(self._current.header) if self._current.is_expired else self._current.header

    async def header_after(self, sent: str, challenge: str = "") -> str:
        """Another header, after the server refused `sent`. Raises NeedsLogin or another McpError."""
        if self._renewing is None or self._renewing.done():
            if self._current is not None and self._current.header != sent and not self._current.is_expired:
                return self._current.header
            self._renewing = asyncio.create_task(self._renew(sent, challenge))
            self._renewing.add_done_callback(_seen)
        # A refresh must finish and be stored even if its caller is cancelled: the old token may already be invalid.
        return await asyncio.shield(self._renewing)

    async def _renew(self, sent: str, challenge: str) -> str:
        stored = await self._stored(challenge)
        if stored.header == sent or stored.is_expired:
            async with self._store.alone(self._target.entry):
                stored = await self._stored(challenge)  # another process may have refreshed it meanwhile
                if stored.header == sent or stored.is_expired:
                    stored = await self._refreshed(stored, challenge)
        self._current = stored
        return stored.header

    async def _stored(self, challenge: str) -> StoredLogin:
        """The login that this or another process stored last. Raises NeedsLogin."""
        stored = await self._store.read(self._target.entry)
        if stored is None or stored.url != self._target.url:
            self._current = None
            raise NeedsLogin(401, "it needs a login", hint=self._target.hint, challenge=challenge)
        return stored

    async def _refreshed(self, stored: StoredLogin, challenge: str) -> StoredLogin:
        ended = NeedsLogin(401, "your login has ended", hint=self._target.hint, challenge=challenge)
        if not stored.refresh_token:
            raise ended
        try:
            fresh = await self._refresh(stored)
        except LoginEnded as error:
            newer = await self._stored(challenge)
            if newer.refresh_token != stored.refresh_token:
                return newer
            await self._store.delete(self._target.entry)
            self._current = None
            raise ended from error
        await self._store.write(self._target.entry, fresh, seconds=READ_SECONDS)
        return fresh

    async def refusal(self, status: int, headers: Mapping[str, str]) -> HttpRefusal | None:
        """The error to raise for this answer; None if the answer is not about the login."""
        challenge = headers.get("www-authenticate", "")
        if status == 401:
            return NeedsLogin(401, "it refuses your login", hint=self._target.hint, challenge=challenge)
        if status != 403 or challenge_field(challenge, "error") != "insufficient_scope" or self._current is None:
            return None
        self._lacks_rights = True
        wanted = scopes_of(challenge_field(challenge, "scope"))
        known = self._current.wanted.split()
        if new := [scope for scope in wanted if scope not in known]:
            self._current = replace(self._current, wanted=" ".join([*known, *new][:MOST_SCOPES]))
            stored = await self._store.read(self._target.entry)
            if stored is not None and stored.access_token == self._current.access_token:  # else there is a newer one
                await self._store.write(self._target.entry, self._current, seconds=READ_SECONDS)
        named = f": {' '.join(wanted)}"[:300] if wanted else ""
        message = f"your login does not have the rights for this{named}"
        return HttpRefusal(403, message, hint=self._target.hint, challenge=challenge)


def _seen(task: "asyncio.Task[str]") -> None:
    if not task.cancelled():
        task.exception()  # each request that waited raises it
