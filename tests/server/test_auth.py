"""`tark.auth.*` in the whole server: codes are shown, logins continue in the background, no secret is shown."""

import asyncio
import json
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.errors import RequestError, SettingsError
from tark_lsp.folders import keys_folder
from tark_lsp.llm.keys import device_login
from tark_lsp.llm.keys.device_login import DeviceCode
from tark_lsp.llm.keys.store import KeyStore
from tark_lsp.server import auth
from tests.key_provider import KeyProvider
from tests.llm.keys.loopback_github import (
    CLIENT_ID,
    DENIED,
    GRANTED,
    LOGIN_TOKEN,
    PENDING,
    SECRETS,
    USER_CODE,
    LoopbackGitHub,
)
from tests.patience import AT_ONCE, HANGS
from tests.server.desk import Desk, MakeDesk
from tests.server.scripted import refuse

COPILOT = {"provider": "copilot"}


def settings(github: LoopbackGitHub) -> str:
    return f'[providers.copilot]\nclientId = "{CLIENT_ID}"\nloginUrl = "{github.url}"\n'


async def noted(desk: Desk, words: str, count: int = 1) -> str:
    """The message with these words, once it came."""
    async with asyncio.timeout(AT_ONCE):
        notes = desk.connection.notes
        while len(found := [note for note in notes() if words in note]) < count:  # noqa: ASYNC110  nothing signals it
            await asyncio.sleep(0.01)
    return found[-1]


def kept() -> dict[str, Any]:
    return {file.stem: json.loads(file.read_text())["secret"] for file in keys_folder().glob("*.json")}


async def test_a_login_and_a_logout(make: MakeDesk, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with LoopbackGitHub([PENDING, GRANTED], interval=0.1) as github:
        desk = make("window.showDocument.support", tark=(), config=settings(github))
        desk.connection.answers["window/showDocument"] = lambda _: {"success": True}
        page = f"{github.url}/login/device"
        begun = await desk.command("tark.auth.login", COPILOT)
        assert begun == {"provider": "copilot", "userCode": USER_CODE, "verificationUri": page, "expiresIn": 900}
        assert (await desk.command("tark.auth.status", COPILOT))["status"] == "pending"
        told = await noted(desk, "to log in to copilot")
        assert page in told
        assert USER_CODE in told
        assert await desk.connection.asking("window/showDocument") == {"uri": page, "external": True}
        assert "the file" in await noted(desk, "logged in to copilot")
        assert kept() == {"copilot": LOGIN_TOKEN}
        status = await desk.command("tark.auth.status", COPILOT)
        assert (status["status"], status["provider"]) == ("ready", "copilot")
        (model,) = (await desk.command("tark.models.list", COPILOT))["models"]
        assert model["id"] == "copilot/gpt-4.1"

        out = await desk.command("tark.auth.logout", COPILOT)
        assert len(out["deleted"]) == 1
        assert kept() == {}
        assert (await desk.command("tark.auth.status", COPILOT))["status"] == "missing"
        with pytest.raises(SettingsError, match="not logged in to copilot"):
            await desk.command("tark.models.list", {**COPILOT, "refresh": True})
    said = json.dumps([desk.connection.told, desk.connection.asked]) + caplog.text
    for secret in SECRETS:
        assert secret not in said
    assert USER_CODE not in caplog.text


@pytest.mark.parametrize(
    ("github", "words"),
    [
        (lambda: LoopbackGitHub([PENDING, DENIED], interval=0.1), "refused on the web page"),
        (lambda: LoopbackGitHub([PENDING], interval=0.1, expires_in=0.3), "the code expired"),
    ],
    ids=["denied", "expired"],
)
async def test_logins_that_fail(make: MakeDesk, github: Callable[[], LoopbackGitHub], words: str) -> None:
    async with github() as site:
        desk = make(config=settings(site))
        await desk.command("tark.auth.login", COPILOT)
        assert words in await noted(desk, "not logged in to copilot")
        assert kept() == {}
        assert (await desk.command("tark.auth.status", COPILOT))["status"] == "missing"


async def test_a_second_login_ends_the_first(make: MakeDesk) -> None:
    async with LoopbackGitHub([PENDING], interval=0.1) as github:
        desk = make(tark=(), config=settings(github))
        await desk.command("tark.auth.login", COPILOT)
        (first,) = desk.app.parts.command_parts.auth._running.values()
        await desk.command("tark.auth.login", COPILOT)
        assert first.cancelled()
        (second,) = desk.app.parts.command_parts.auth._running.values()
        await desk.command("tark.auth.logout", COPILOT)
        assert second.cancelled()
        assert desk.app.parts.command_parts.auth._running == {}
        await noted(desk, "to log in to copilot", 2)
        assert not [note for note in desk.connection.notes() if "not logged in" in note]


async def test_logins_at_once_and_a_logout_leave_nothing(make: MakeDesk) -> None:
    async with LoopbackGitHub([GRANTED], interval=2) as github:  # after which one that goes on asks
        desk = make(config=settings(github))
        await asyncio.gather(*(desk.command("tark.auth.login", COPILOT) for _ in range(2)))
        await desk.command("tark.auth.logout", COPILOT)
        assert desk.app.parts.command_parts.auth._running == {}
        await asyncio.sleep(2.5)
        assert github.asked_for("/login/oauth/access_token") == []
        assert kept() == {}


async def test_a_logout_while_a_login_starts(make: MakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on, start = asyncio.Event(), asyncio.Event(), device_login.request_device_code

    async def slow(*words: Any) -> DeviceCode:
        begun.set()
        await go_on.wait()
        return await start(*words)

    monkeypatch.setattr(device_login, "request_device_code", slow)
    async with LoopbackGitHub([GRANTED], interval=0.3) as github:
        desk = make(config=settings(github))
        login = asyncio.create_task(desk.command("tark.auth.login", COPILOT))
        await begun.wait()
        logout = asyncio.create_task(desk.command("tark.auth.logout", COPILOT))
        await asyncio.sleep(0.05)
        go_on.set()
        await asyncio.gather(login, logout)
        assert desk.app.parts.command_parts.auth._running == {}
        await asyncio.sleep(0.5)
        assert kept() == {}


class SlowStore:
    """`KeyStore.write_secret` that waits in its thread, as for a keyring that is locked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.go_on, store = threading.Event(), threading.Event(), KeyStore.write_secret

        def slow(keys: KeyStore, *words: Any) -> str:
            self.begun.set()
            self.go_on.wait(HANGS)
            return store(keys, *words)

        monkeypatch.setattr(KeyStore, "write_secret", slow)


async def test_a_logout_while_a_login_is_stored(make: MakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = SlowStore(monkeypatch)
    async with LoopbackGitHub([GRANTED], interval=0.1) as github:
        desk = make(config=settings(github))
        await desk.command("tark.auth.login", COPILOT)
        await asyncio.to_thread(slow.begun.wait, AT_ONCE)
        logout = asyncio.create_task(desk.command("tark.auth.logout", COPILOT))
        await asyncio.sleep(0.1)
        assert not logout.done()
        slow.go_on.set()
        assert len((await logout)["deleted"]) == 1
        assert kept() == {}


async def test_shutdown_does_not_wait_for_a_keyring(make: MakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "STOP_SECONDS", 0.1)
    slow = SlowStore(monkeypatch)
    async with LoopbackGitHub([GRANTED], interval=0.1) as github:
        desk = make(config=settings(github))
        await desk.command("tark.auth.login", COPILOT)
        await asyncio.to_thread(slow.begun.wait, AT_ONCE)
        (running,) = desk.app.parts.command_parts.auth._running.values()
        async with asyncio.timeout(AT_ONCE):
            await desk.app.stop()
        slow.go_on.set()
        await asyncio.wait([running])


async def test_shutdown_ends_a_login_at_once(make: MakeDesk) -> None:
    async with LoopbackGitHub([PENDING], interval=60) as github:
        desk = make("window.showDocument.support", tark=(), config=settings(github))
        await desk.command("tark.auth.login", COPILOT)
        await desk.connection.asking("window/showDocument")
        (running,) = desk.app.parts.command_parts.auth._running.values()
        async with asyncio.timeout(AT_ONCE):
            await desk.app.stop()
        assert running.cancelled()


async def test_an_editor_that_opens_no_page(make: MakeDesk) -> None:
    async with LoopbackGitHub([PENDING, GRANTED], interval=0.1) as github:
        desk = make("window.showDocument.support", tark=(), config=settings(github))
        desk.connection.answers["window/showDocument"] = refuse
        await desk.command("tark.auth.login", COPILOT)
        await noted(desk, "logged in to copilot")
        await desk.command("tark.auth.logout", COPILOT)


async def test_a_login_without_a_client_id(make: MakeDesk) -> None:
    desk = make()
    with pytest.raises(SettingsError, match="client ID") as caught:
        await desk.command("tark.auth.login", COPILOT)
    assert "providers.copilot.clientId" in caught.value.hint


async def test_an_editor_that_shows_answers_is_told_the_end_alone(make: MakeDesk) -> None:
    async with LoopbackGitHub([PENDING, GRANTED], interval=0.1) as github:
        desk = make("window.showDocument.support", config=settings(github))
        await desk.command("tark.auth.login", {"provider": "openai"})
        await desk.command("tark.auth.login", COPILOT)
        assert "Tark: logged in to copilot; " in await noted(desk, "copilot")
        assert (await desk.command("tark.auth.logout", COPILOT))["deleted"] != []
        assert len(desk.connection.notes()) == 1
        assert desk.connection.asked == []


async def test_a_key_is_never_asked_for_in_the_editor(make: MakeDesk) -> None:
    desk = make(tark=())
    answer = await desk.command("tark.auth.login", {"provider": "openai"})
    assert answer["status"] == "key"
    assert answer["hint"] == "run `tark-lsp login openai` in a terminal, or set OPENAI_API_KEY"
    assert answer["hint"] in await noted(desk, "openai")
    assert desk.connection.asked == []


async def test_keys_of_the_environment(make: MakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-s3cret")
    desk = make(tark=())
    openai = {
        "provider": "openai",
        "status": "ready",
        "source": "OPENAI_API_KEY",
        "hint": "",
        "variables": ["OPENAI_API_KEY"],
        "login": False,
    }
    statuses = {provider["provider"]: provider for provider in (await desk.command("tark.auth.status"))["providers"]}
    assert statuses["openai"] == openai
    assert statuses["ollama"]["status"] == "unneeded"
    assert "tark-lsp login groq" in statuses["groq"]["hint"]
    assert "`openai`: ready OPENAI_API_KEY" in await noted(desk, "# Keys")  # to editors that show nothing themselves
    out = await desk.command("tark.auth.logout", {"provider": "openai"})
    assert out == {"provider": "openai", "deleted": [], "hint": "OPENAI_API_KEY is set and still gives a key: unset it"}
    for report in (await desk.command("tark.state"), await desk.command("tark.doctor"), desk.connection.told):
        assert "s3cret" not in json.dumps(report)
    assert openai in (await desk.command("tark.doctor"))["keys"]
    assert "- keys: openai (OPENAI_API_KEY)" in await noted(desk, "# tark-lsp", 2)


async def test_no_workspace_can_send_a_login_elsewhere(make: MakeDesk, tmp_path: Path) -> None:
    async with LoopbackGitHub() as evil:
        desk = make(folders=[tmp_path])
        (tmp_path / ".tark").mkdir()
        (tmp_path / ".tark" / "config.toml").write_text(settings(evil))
        desk.app.configuration_changed({"settings": {"tark": {"providers": {"copilot": {"clientId": CLIENT_ID}}}}})
        await desk.settled()
        with pytest.raises((SettingsError, RequestError), match="client ID"):
            await desk.command("tark.auth.login", COPILOT)
        assert evil.requests == []
        assert any("ignored" in note for note in desk.connection.notes())


# Checking a key


@pytest.mark.parametrize(
    ("provider", "key", "options", "result", "model"),
    [
        ("openai", "sk-right", {}, "accepted", "openai/gpt-6.1-sol"),
        ("openai", "sk-wrong", {}, "refused", None),
        ("openai", "sk-right", {"status": 500}, "unchecked", None),
        ("openai", "sk-wrong", {"public": True}, "unchecked", "openai/gpt-6.1-sol"),
        ("openrouter", "sk-right", {"public": True}, "accepted", "openrouter/gpt-6.1-sol"),
        ("openrouter", "sk-wrong", {"public": True}, "refused", None),
        ("lmstudio", "", {"public": True}, "accepted", "lmstudio/gpt-5.1"),
    ],
)
async def test_a_key_is_checked_by_a_request_that_needs_it(
    make: MakeDesk,
    monkeypatch: pytest.MonkeyPatch,
    provider: str,
    key: str,
    options: dict[str, Any],
    result: str,
    model: str | None,
) -> None:
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", key)
    with KeyProvider(**options) as server:
        desk = make(config=f'[providers.{provider}]\nbaseUrl = "{server.url}"\n')
        found = await desk.command("tark.auth.check", {"provider": provider})
    assert (found["result"], found["model"]) == (result, model), found
    assert (found["message"] == "") == (result == "accepted")
    assert key == "" or key not in json.dumps([found, desk.connection.told])


async def test_a_key_that_cannot_be_checked_without_a_network(make: MakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-right")
    desk = make(config='[providers.openai]\nbaseUrl = "http://127.0.0.1:1/v1"\n')
    found = await desk.command("tark.auth.check", {"provider": "openai"})
    assert (found["result"], found["model"]) == ("unchecked", None)
    assert "no connection to 127.0.0.1" in found["message"]


async def test_no_key_is_no_check(make: MakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(SettingsError, match="no key for openai"):
        await make().command("tark.auth.check", {"provider": "openai"})


async def test_a_login_needs_a_client_id(make: MakeDesk) -> None:
    assert (await make().command("tark.auth.status", COPILOT))["login"] is False
