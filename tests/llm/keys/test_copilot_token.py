"""A GitHub login in use: exchanged, refreshed early and once after a refusal, revoked, and never sent elsewhere."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tark_lsp.errors import AuthenticationFailed, MissingKey, ModelError, ProtocolError, SettingsError
from tark_lsp.http import HttpTransport
from tark_lsp.llm.client import Models
from tark_lsp.llm.keys.copilot_token import CopilotAccess
from tark_lsp.llm.keys.credentials import origin_of
from tark_lsp.llm.keys.store import KeyStore
from tark_lsp.llm.provider import configure_provider, load_providers
from tests.llm.asking import ask
from tests.llm.keys.loopback_github import (
    BROKEN,
    HICCUP,
    LOGIN_TOKEN,
    MINT,
    NO_COPILOT,
    REVOKED,
    UNKNOWN,
    LoopbackGitHub,
    told,
)
from tests.loopback import Raw

EXCHANGE = "/copilot_internal/v2/token"
CHAT = "/chat/completions"
REF = "copilot/gpt-4.1"


class Clock:
    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


def logged_in(folder: Path, github: LoopbackGitHub, token: str = LOGIN_TOKEN, expires: float | None = None) -> KeyStore:
    keys = KeyStore(folder, {"TARK_KEYRING": "off"})
    keys.write_secret("copilot", token, origin_of(github.url), expires)
    return keys


@asynccontextmanager
async def access_to(
    github: LoopbackGitHub, keys: KeyStore | None, clock: Clock, environ: Mapping[str, str] | None = None
) -> AsyncIterator[CopilotAccess]:
    provider = configure_provider("copilot", load_providers(), github.override())
    assert provider.login is not None
    transport = HttpTransport()
    try:
        yield CopilotAccess(provider, provider.login, environ or {}, keys, transport, clock)
    finally:
        await transport.aclose()


@asynccontextmanager
async def models_of(github: LoopbackGitHub, keys: KeyStore | None) -> AsyncIterator[Models]:
    models = Models({"copilot": github.override()}, {}, keys=keys)
    try:
        yield models
    finally:
        await models.aclose()


async def test_a_token_is_exchanged_kept_and_refreshed_early(tmp_path: Path) -> None:
    clock = Clock()
    async with LoopbackGitHub() as github, access_to(github, logged_in(tmp_path, github), clock) as access:
        first = await access.get_access()
        assert first.key is not None
        assert (first.base_url, first.key.value, first.key.origin) == (github.url, "copilot-s3cret-1", github.url)
        assert "s3cret" not in repr(first)
        clock.time += 1499
        assert await access.get_access() is first
        clock.time += 1
        second = await access.get_access()
        assert second.key is not None
        assert second.key.value == "copilot-s3cret-2"
    assert len(github.asked_for(EXCHANGE)) == 2
    assert "s3cret" not in repr(access._session)


@pytest.mark.parametrize("trouble", [HICCUP, BROKEN, told({"message": "busy"}, 429), told({})], ids=str)
async def test_a_failed_refresh_does_no_harm_while_the_token_is_valid(tmp_path: Path, trouble: Raw) -> None:
    clock = Clock()
    github = LoopbackGitHub(exchanges=[MINT, trouble])
    async with github, access_to(github, logged_in(tmp_path, github), clock) as access:
        first = await access.get_access()
        clock.time += 1559
        assert await access.get_access() == first
        clock.time += 1
        with pytest.raises(ModelError):
            await access.get_access()


async def test_two_requests_at_once_refresh_once(tmp_path: Path) -> None:
    clock = Clock()
    async with LoopbackGitHub() as github, access_to(github, logged_in(tmp_path, github), clock) as access:
        both = await asyncio.gather(*(access.get_access() for _ in range(5)))
        assert len(set(both)) == 1
        clock.time += 1500
        await asyncio.gather(*(access.get_access() for _ in range(5)))
        assert github.minted == 2
        refused = await access.get_access()
        assert await asyncio.gather(*(access.renew_access(refused) for _ in range(5))) == [True] * 5
        assert github.minted == 3


async def test_a_cancelled_refresh_leaves_the_next_one_free(tmp_path: Path) -> None:
    github = LoopbackGitHub(exchanges=[Raw(stall=True), MINT])
    async with github, access_to(github, logged_in(tmp_path, github), Clock()) as access:
        waiting = asyncio.create_task(access.get_access())
        await github.asked(1)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert (await access.get_access()).key is not None


async def test_refreshed_once_when_a_model_refuses(tmp_path: Path) -> None:
    async with LoopbackGitHub() as github, models_of(github, logged_in(tmp_path, github)) as models:
        model = await models.open_model(REF)
        assert (await ask(model))[1] is None
        github.refused.add("copilot-s3cret-1")
        assert (await ask(model))[1] is None
        sent = [request.headers["authorization"] for request in github.asked_for(CHAT)]
        assert sent == ["Bearer copilot-s3cret-1", "Bearer copilot-s3cret-1", "Bearer copilot-s3cret-2"]
        github.refused |= {f"copilot-s3cret-{n}" for n in range(9)}
        _, error = await ask(model)
        assert isinstance(error, AuthenticationFailed)
        assert "tark-lsp login copilot" in error.hint
        assert "s3cret" not in str(error)  # the loopback server says which token it refuses
        assert (len(github.asked_for(CHAT)), github.minted) == (5, 3)


async def test_two_models_that_are_refused_at_once_refresh_once(tmp_path: Path) -> None:
    async with LoopbackGitHub() as github, models_of(github, logged_in(tmp_path, github)) as models:
        model = await models.open_model(REF)
        assert (await ask(model))[1] is None
        github.refused.add("copilot-s3cret-1")
        assert [error for _, error in await asyncio.gather(ask(model), ask(model))] == [None, None]
        assert github.minted == 2


@pytest.mark.parametrize(
    ("answer", "words", "hint"),
    [
        (REVOKED, "Bad credentials", "tark-lsp login copilot"),
        (NO_COPILOT, "No access to GitHub", "has Copilot"),
    ],
    ids=["revoked", "no Copilot"],
)
async def test_a_login_that_is_refused(tmp_path: Path, answer: Raw, words: str, hint: str) -> None:
    async with LoopbackGitHub(exchanges=[MINT, answer]) as github:
        keys = logged_in(tmp_path, github)
        async with models_of(github, keys) as models:
            model = await models.open_model(REF)
            github.refused.add("copilot-s3cret-1")
            _, error = await ask(model)
            assert isinstance(error, AuthenticationFailed)
            assert words in error.message
            assert hint in error.hint
            assert "s3cret" not in str(error)
            # Refused is refused: the login itself is sent to no model in its place.
            assert [item.headers["authorization"] for item in github.asked_for(CHAT)] == ["Bearer copilot-s3cret-1"]


async def test_a_new_login_is_used_at_once(tmp_path: Path) -> None:
    async with LoopbackGitHub() as github:
        keys = logged_in(tmp_path, github, "gho_revoked")
        async with models_of(github, keys) as models:
            with pytest.raises(AuthenticationFailed):
                await models.open_model(REF)
            logged_in(tmp_path, github)
            assert (await ask(await models.open_model(REF)))[1] is None
            keys.delete_secret("copilot")
            _, error = await ask(await models.open_model(REF))
            assert isinstance(error, MissingKey)
            assert "tark-lsp login copilot" in error.hint


async def test_a_login_without_exchange_is_the_bearer_token(tmp_path: Path) -> None:
    async with LoopbackGitHub(exchanges=[UNKNOWN]) as github, models_of(github, logged_in(tmp_path, github)) as models:
        model = await models.open_model(REF)
        for _ in range(3):
            assert (await ask(model))[1] is None
        assert {request.headers["authorization"] for request in github.asked_for(CHAT)} == {f"Bearer {LOGIN_TOKEN}"}
        assert len(github.asked_for(EXCHANGE)) == 1


async def test_a_token_from_the_environment_is_sent_unchanged(tmp_path: Path) -> None:
    environ = {"COPILOT_GITHUB_TOKEN": "ghp_own"}
    async with LoopbackGitHub() as github:
        async with access_to(github, logged_in(tmp_path, github), Clock(), environ) as access:
            found = await access.get_access()
            assert found.key is not None
            assert (found.key.value, found.key.source) == ("ghp_own", "COPILOT_GITHUB_TOKEN")
            assert await access.renew_access(found) is False
        assert github.requests == []


@pytest.mark.parametrize(
    "endpoint", ["https://evil.example", "https://api.githubcopilot.com.evil.example", "file:///etc", "http://10.0.0.1"]
)
async def test_no_answer_sends_a_token_elsewhere(tmp_path: Path, endpoint: str) -> None:
    async with LoopbackGitHub() as github, access_to(github, logged_in(tmp_path, github), Clock()) as access:
        github.endpoint = endpoint
        with pytest.raises(ProtocolError, match="nothing was sent there"):
            await access.get_access()


@pytest.mark.parametrize("exchange", [UNKNOWN, told({"token": "t", "refresh_in": 1500})], ids=["direct", "exchanged"])
async def test_no_other_base_url_gets_the_login(tmp_path: Path, exchange: Raw) -> None:
    async with LoopbackGitHub(exchanges=[exchange]) as github:
        override = github.override(base_url="https://proxy.example")
        models = Models({"copilot": override}, {}, keys=logged_in(tmp_path, github))
        with pytest.raises(ProtocolError, match=r"https://proxy\.example, so nothing was sent"):
            await models.open_model(REF)
        await models.aclose()


async def test_a_login_is_for_its_site(tmp_path: Path) -> None:
    async with LoopbackGitHub() as github, LoopbackGitHub() as other:
        async with access_to(other, logged_in(tmp_path, github), Clock()) as access:
            with pytest.raises(MissingKey, match="is for http") as caught:
                await access.get_access()
        assert github.url in str(caught.value)
        assert other.requests == []


async def test_a_login_that_has_expired(tmp_path: Path) -> None:
    async with LoopbackGitHub() as github:
        for expires in (time.time() - 1, time.time() + 60):
            async with access_to(github, logged_in(tmp_path, github, expires=expires), Clock()) as access:
                if expires > time.time():
                    assert (await access.get_access()).key is not None
                    continue
                with pytest.raises(AuthenticationFailed, match="has expired") as caught:
                    await access.get_access()
                assert "tark-lsp login copilot" in caught.value.hint
                assert github.requests == []


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"login_url": "http://github.example"}, "not https"),
        ({"login_url": "http://127.0.0.1.evil.example"}, "not https"),
    ],
)
def test_logins_only_over_https(setting: dict[str, str], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        configure_provider("copilot", load_providers(), LoopbackGitHub().override(**setting))


def test_an_enterprises_site() -> None:
    provider = configure_provider(
        "copilot", load_providers(), LoopbackGitHub().override(login_url="https://acme.ghe.com/")
    )
    assert provider.login is not None
    assert provider.base_url == "https://copilot-api.acme.ghe.com"
    assert provider.login.subdomain_url("api", provider.login.exchange_path) == f"https://api.acme.ghe.com{EXCHANGE}"
    with pytest.raises(SettingsError, match="openai has no login"):
        configure_provider("openai", load_providers(), LoopbackGitHub().override())


@pytest.mark.parametrize("status", [400, 401, 403, 500])
async def test_a_refusal_that_repeats_the_login(tmp_path: Path, status: int) -> None:
    github = LoopbackGitHub(exchanges=[told({"message": f"bad token {LOGIN_TOKEN}"}, status)])
    async with github, access_to(github, logged_in(tmp_path, github), Clock()) as access:
        with pytest.raises(ModelError, match=r"bad token \*\*\*") as caught:
            await access.get_access()
    assert LOGIN_TOKEN not in str(caught.value)
