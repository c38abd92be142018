"""`tark.auth.*`: logins, which continue after their command was answered, and where keys come from. Never a key."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tark_lsp.errors import RequestError, SettingsError, TarkError
from tark_lsp.http import HttpTransport
from tark_lsp.prose import prose_line
from tark_lsp.server.asking.questions import ERROR, INFO, WARNING, Questions
from tark_lsp.server.asking.text_display import TextDisplay
from tark_lsp.server.commands import Command
from tark_lsp.server.configuration import Configuration
from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.server.protocol import command_payloads
from tark_lsp.visible import code_span

if TYPE_CHECKING:
    from tark_lsp.llm.keys.device_login import DeviceCode, DeviceLogin
    from tark_lsp.llm.keys.logins import KeyStatus, Logins
    from tark_lsp.llm.provider import Provider

STOP_SECONDS = 1.0

log = logging.getLogger(__name__)


class Auth:
    def __init__(
        self, connection: Connection, questions: Questions, show: TextDisplay, configuration: Configuration
    ) -> None:
        self._connection = connection
        self._questions = questions
        self._show = show
        self._configuration = configuration
        self._network = HttpTransport()
        self._running: dict[str, asyncio.Task[None]] = {}
        # Held while a login starts and during a logout, so that no login starts unnoticed meanwhile.
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def commands(self) -> Iterable[Command]:
        yield Command("tark.auth.login", command_payloads.ProviderName, self.login)
        yield Command("tark.auth.logout", command_payloads.ProviderName, self.logout)
        yield Command("tark.auth.status", command_payloads.AuthStatus, self.status)
        yield Command("tark.auth.check", command_payloads.ProviderName, self.check)

    async def login(self, request: command_payloads.ProviderName) -> dict[str, Any]:
        """A code, and the page to type it on. For a provider with a key, how to set it: never through the editor."""
        from tark_lsp.llm.keys import device_login  # imported here: the start does not need it

        logins, name = self._configuration.logins(), request.provider
        provider = _known(logins, name)
        if provider.login is None:
            options = [
                f"run `tark-lsp login {name}` in a terminal",
                *(f"set {variable}" for variable in provider.key_env),
            ]
            hint = ", or ".join(options)
            self._tell(f"Tark: to give {name} its key, {hint}")
            return {"provider": name, "status": "key", "hint": hint}
        async with self._locks[name]:
            await self._cancel(name)
            code = await device_login.request_device_code(provider.login, name, self._network)
            minutes = f"{code.expires_in / 60:.0f} minutes"
            page, typed = code.verification_uri, code.user_code
            self._tell(f"Tark: to log in to {name}, open {page} and enter {typed} (valid for {minutes})")
            self._running[name] = asyncio.create_task(self._finish(logins, name, provider.login, code))
        return {
            "provider": name,
            "userCode": code.user_code,
            "verificationUri": code.verification_uri,
            "expiresIn": code.expires_in,
        }

    async def logout(self, request: command_payloads.ProviderName) -> dict[str, Any]:
        """This also cancels a login that has not finished."""
        logins, name = self._configuration.logins(), request.provider
        _known(logins, name)
        async with self._locks[name]:
            await self._cancel(name)
            deleted = await logins.delete_key(name)
        variable = logins.active_variable(name)
        told = f"deleted from {' and '.join(deleted)}" if deleted else f"nothing was stored for {name}"
        hint = f"{variable} is set and still gives a key: unset it" if variable else ""
        self._tell(f"Tark: {told}" + (f"; {hint}" if hint else ""), level=WARNING if hint else INFO)
        return {"provider": name, "deleted": deleted, "hint": hint}

    async def status(self, request: command_payloads.AuthStatus) -> dict[str, Any]:
        logins = self._configuration.logins()
        if request.provider is not None:
            _known(logins, request.provider)
            return self._json(await logins.key_status(request.provider))
        statuses = await self.statuses()
        await self._show.command_result("keys", keys_text(statuses))
        return {"providers": statuses}

    async def check(self, request: command_payloads.ProviderName) -> dict[str, Any]:
        """Does the provider accept its current key? Asks it with a request that needs the key."""
        logins = self._configuration.logins()
        _known(logins, request.provider)
        found = await logins.check_provider(request.provider)
        return {"provider": request.provider, "result": found.result, "message": found.message, "model": found.model}

    async def statuses(self) -> list[dict[str, Any]]:
        """For every provider: where its key comes from, and what to do if there is none."""
        return [self._json(status) for status in await self._configuration.logins().key_statuses()]

    async def stop(self) -> None:
        """Cancels all logins. Does not wait long for a keyring that is being written."""
        running = list(self._running.values())
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=STOP_SECONDS)
        await self._network.aclose()

    async def _cancel(self, name: str) -> None:
        """Returns once a key that the login was storing is stored, so that it can be deleted."""
        task = self._running.get(name)
        if task is not None:
            if not task.cancelling():  # a second cancel would stop it from waiting for the store
                task.cancel()
            await asyncio.wait([task])
            self._running.pop(name, None)  # a task that had not begun does not do so itself

    async def _finish(self, logins: "Logins", name: str, login: "DeviceLogin", code: "DeviceCode") -> None:
        """Wait until the user has logged in, store the key, and show the result as a message."""
        from tark_lsp.llm.keys import device_login  # as in `login`

        opening = asyncio.create_task(self._open(code.verification_uri))
        try:
            granted = await device_login.wait_for_token(login, code, self._network)
            place = await _whole(logins.store_key(name, granted.token, granted.expires_in))
        except TarkError as error:
            self._questions.tell(f"Tark: not logged in to {name}: {error}", level=ERROR)
        else:
            self._questions.tell(f"Tark: logged in to {name}; the login is kept in {place}")
        finally:
            opening.cancel()  # some editors never answer
            if self._running.get(name) is asyncio.current_task():
                del self._running[name]

    def _tell(self, message: str, level: int = INFO) -> None:
        """Show what the command also answers: for clients that do not show answers themselves."""
        if not self._connection.client.understands("updates"):
            self._questions.tell(message, level=level)

    async def _open(self, page: str) -> None:
        """In the browser, if the editor can. Clients that show the command's answer open the page themselves."""
        client = self._connection.client
        if client.understands("updates") or not client.has("window.showDocument.support"):
            return
        try:
            await self._connection.request("window/showDocument", {"uri": page, "external": True})
        except RequestFailed as error:
            log.info("the page to log in on was not opened: %s", error)

    def _json(self, status: "KeyStatus") -> dict[str, Any]:
        logins = self._configuration.logins()
        try:
            variables, has_login = logins.key_variables(status.provider), logins.has_login(status.provider)
        except SettingsError:
            variables, has_login = (), False  # its settings are wrong, as its hint says
        return {
            "provider": status.provider,
            "status": "pending" if status.provider in self._running else status.state,
            "source": status.source,
            "hint": status.hint,
            "variables": list(variables),
            "login": has_login,
        }


def keys_text(statuses: Sequence[Mapping[str, Any]]) -> str:
    rows = (f"- {code_span(key['provider'])}: {key['status']} {prose_line(key['source'])}".rstrip() for key in statuses)
    return "# Keys\n\n" + "\n".join(rows) + "\n"


async def _whole(storing: Coroutine[Any, Any, str]) -> str:
    """If cancelled, wait for the storing first: its thread cannot be stopped, and could store a key after a logout."""
    task = asyncio.create_task(storing)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled() and (error := task.exception()) is not None:
            log.info("a login that was given up was not stored: %s", error)
        raise


def _known(logins: "Logins", name: str) -> "Provider":
    try:
        return logins.find_provider(name)
    except SettingsError as error:
        raise RequestError(f"provider: {error.message}", hint=error.hint) from error
