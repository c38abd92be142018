"""`tark.auth.*`: logins that go on behind the command that began them, and where keys come from; never a key."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Coroutine
from typing import Any

from tark_lsp.errors import RequestError, SettingsError, TarkError
from tark_lsp.http import HttpTransport
from tark_lsp.llm.keys import device_login
from tark_lsp.llm.keys.device_login import DeviceCode, DeviceLogin
from tark_lsp.llm.keys.logins import KeyStatus, Logins
from tark_lsp.llm.provider import Provider
from tark_lsp.server import protocol
from tark_lsp.server.asking.questions import INFO, WARNING, Questions
from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.server.turns.answers import ERROR, Answers

STOP_SECONDS = 1.0

log = logging.getLogger(__name__)


class Auth:
    """`logins` gives those of the settings as they are now."""

    def __init__(
        self, connection: Connection, questions: Questions, answers: Answers, logins: Callable[[], Logins]
    ) -> None:
        self._connection = connection
        self._questions = questions
        self._answers = answers
        self._logins = logins
        self._network = HttpTransport()
        self._running: dict[str, asyncio.Task[None]] = {}
        # Held while a login starts and while a logout goes on, so that none starts unseen behind a logout.
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def login(self, request: protocol.ProviderName, _: Any) -> dict[str, Any]:
        """A code and a page to type it on; of a provider with a key, how to give it: never through the editor."""
        logins, name = self._logins(), request.provider
        provider = _known(logins, name)
        if provider.login is None:
            ways = [f"run `tark-lsp login {name}` in a terminal", *(f"set {each}" for each in provider.key_env)]
            hint = ", or ".join(ways)
            self._tell(f"Tark: to give {name} its key, {hint}")
            return {"provider": name, "status": "key", "hint": hint}
        async with self._locks[name]:
            await self._cancel(name)
            code = await device_login.start(provider.login, name, self._network)
            minutes = f"{code.expires_in / 60:.0f} minutes"
            page, typed = code.verification_uri, code.user_code
            self._tell(f"Tark: to log in to {name}, open {page} and type {typed} (good for {minutes})")
            self._running[name] = asyncio.create_task(self._finish(logins, name, provider.login, code))
        return {
            "provider": name,
            "userCode": code.user_code,
            "verificationUri": code.verification_uri,
            "expiresIn": code.expires_in,
        }

    async def logout(self, request: protocol.ProviderName, _: Any) -> dict[str, Any]:
        """A login under way is given up, too."""
        logins, name = self._logins(), request.provider
        _known(logins, name)
        async with self._locks[name]:
            await self._cancel(name)
            deleted = await logins.delete(name)
        variable = logins.variable(name)
        told = f"deleted from {' and '.join(deleted)}" if deleted else f"nothing was stored for {name}"
        hint = f"{variable} is set and still gives a key: unset it" if variable else ""
        self._tell(f"Tark: {told}" + (f"; {hint}" if hint else ""), level=WARNING if hint else INFO)
        return {"provider": name, "deleted": deleted, "hint": hint}

    async def status(self, request: protocol.AuthStatus, _: Any) -> dict[str, Any]:
        logins = self._logins()
        if request.provider is not None:
            _known(logins, request.provider)
            return self._json(await logins.status(request.provider))
        statuses = await self.statuses()
        rows = (f"- `{each['provider']}`: {each['status']} {each['source']}".rstrip() for each in statuses)
        await self._answers.result("keys", "# Keys\n\n" + "\n".join(rows) + "\n")
        return {"providers": statuses}

    async def statuses(self) -> list[dict[str, Any]]:
        """Of every provider: where its key comes from, and what to do where there is none."""
        return [self._json(each) for each in await self._logins().statuses()]

    async def stop(self) -> None:
        """A keyring that is being written to is not waited for, beyond a moment."""
        running = list(self._running.values())
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=STOP_SECONDS)
        await self._network.aclose()

    async def _cancel(self, name: str) -> None:
        """What the login was storing is then stored, and can be deleted."""
        task = self._running.get(name)
        if task is not None:
            if not task.cancelling():  # a second cancel would end its waiting for the store
                task.cancel()
            await asyncio.wait([task])
            self._running.pop(name, None)  # one that had not begun does not do so itself

    async def _finish(self, logins: Logins, name: str, login: DeviceLogin, code: DeviceCode) -> None:
        """The person's part, and what comes of it as a message."""
        opening = asyncio.create_task(self._open(code.verification_uri))
        try:
            granted = await device_login.finish(login, code, self._network)
            place = await _whole(logins.store(name, granted.token, granted.expires_in))
        except TarkError as error:
            self._questions.tell(f"Tark: not logged in to {name}: {error}", level=ERROR)
        else:
            self._questions.tell(f"Tark: logged in to {name}; the login is kept in {place}")
        finally:
            opening.cancel()  # an editor may never answer
            if self._running.get(name) is asyncio.current_task():
                del self._running[name]

    def _tell(self, message: str, level: int = INFO) -> None:
        """What the command answers, too: editors that show answers by themselves would say it twice."""
        if not self._connection.client.understands("updates"):
            self._questions.tell(message, level=level)

    async def _open(self, page: str) -> None:
        """In the browser, where the editor can; the message says the same. One that shows answers offers it there."""
        client = self._connection.client
        if client.understands("updates") or not client.has("window.showDocument.support"):
            return
        try:
            await self._connection.request("window/showDocument", {"uri": page, "external": True})
        except RequestFailed as error:
            log.info("the page to log in on was not opened: %s", error)

    def _json(self, status: KeyStatus) -> dict[str, Any]:
        try:
            variables = self._logins().variables(status.provider)
        except SettingsError:
            variables = ()  # it is set up wrongly, as its hint says
        return {
            "provider": status.provider,
            "status": "pending" if status.provider in self._running else status.state,
            "source": status.source,
            "hint": status.hint,
            "variables": list(variables),
        }


async def _whole(storing: Coroutine[Any, Any, str]) -> str:
    """Cancelled, it ends no earlier than the storing, whose thread cannot be stopped and would outlast a logout."""
    task = asyncio.create_task(storing)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled() and (error := task.exception()) is not None:
            log.info("a login that was given up was not stored: %s", error)
        raise


def _known(logins: Logins, name: str) -> Provider:
    try:
        return logins.provider(name)
    except SettingsError as error:
        raise RequestError(f"provider: {error.message}", hint=error.hint) from error
