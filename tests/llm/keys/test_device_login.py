"""The device flow: the meaning of each answer to a poll, the waits, and where a token can be sent."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tark_lsp.errors import AuthenticationFailed, BadRequest, ModelError, ModelTimeout, SettingsError, TarkError
from tark_lsp.http import HttpRequest, HttpResponse, HttpTransport
from tark_lsp.llm.keys import device_login
from tark_lsp.llm.keys.device_login import (
    DeviceCode,
    DeviceLogin,
    GrantedToken,
    TokenPolling,
    request_device_code,
    wait_for_token,
)
from tark_lsp.llm.provider import load_providers
from tests.llm.keys.loopback_github import (
    BROKEN,
    CLIENT_ID,
    DENIED,
    DEVICE_CODE,
    EXPIRED,
    GRANTED,
    HICCUP,
    LOGIN_TOKEN,
    PENDING,
    USER_CODE,
    LoopbackGitHub,
    told,
)
from tests.loopback import Raw
from tests.patience import AT_ONCE

COPILOT = load_providers()["copilot"].login
assert COPILOT is not None


def login_at(github: LoopbackGitHub, **more: Any) -> DeviceLogin:
    assert COPILOT is not None
    return replace(COPILOT, url=github.url, client_id=CLIENT_ID, **more)


@pytest.fixture
async def transport() -> AsyncIterator[HttpTransport]:
    made = HttpTransport()
    yield made
    await made.aclose()


class Sleep:
    """A clock without real waiting. It records the waits."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.waits.append(seconds)


SLOW = told({"error": "slow_down"})
SLOW_12 = told({"error": "slow_down", "interval": 12})
RFC_PENDING = told({"error": "authorization_pending"}, 400)  # RFC 8628 answers 400, GitHub 200
BUSY = told({"message": "API rate limit exceeded"}, 429)

COURSES: dict[str, tuple[Sequence[Raw], list[float], type[TarkError] | None, str]] = {
    "at once": ([GRANTED], [5], None, ""),
    "pending": ([PENDING, RFC_PENDING, PENDING, GRANTED], [5, 5, 5, 5], None, ""),
    "slow down": ([SLOW, SLOW, PENDING, GRANTED], [5, 10, 15, 15], None, ""),
    "slow down, as the site says": ([SLOW_12, PENDING, GRANTED], [5, 12, 12], None, ""),
    "hiccups": ([HICCUP, BROKEN, BUSY, Raw([b""], 200), told({}), GRANTED], [5] * 6, None, ""),
    "denied": ([PENDING, DENIED], [5, 5], AuthenticationFailed, "refused on the web page"),
    "expired, says the site": ([PENDING, EXPIRED], [5, 5], AuthenticationFailed, "expired"),
    "expired, says the clock": ([PENDING], [5, 5, 5, 5], AuthenticationFailed, "expired"),
    "an app without device flow": ([told({"error": "device_flow_disabled"})], [5], BadRequest, "device_flow_disabled"),
    "an answer that is long": ([told({"error": "x" * 9999})], [5], BadRequest, "xxx"),
    "a token that no header can carry": ([told({"access_token": "a\nb"})], [5] * 4, AuthenticationFailed, "expired"),
}


@pytest.mark.parametrize(("polls", "waits", "kind", "words"), COURSES.values(), ids=COURSES.keys())
async def test_polls_of_a_login(
    transport: HttpTransport, polls: Sequence[Raw], waits: list[float], kind: type[TarkError] | None, words: str
) -> None:
    sleep = Sleep()
    lives = 20 if "expired" in words else 900
    async with LoopbackGitHub(polls, expires_in=lives) as github:
        login = login_at(github)
        code = await request_device_code(login, "copilot", transport)
        assert (code.user_code, code.verification_uri) == (USER_CODE, f"{github.url}/login/device")
        if kind is None:
            assert await wait_for_token(login, code, transport, sleep) == GrantedToken(LOGIN_TOKEN, None)
        else:
            with pytest.raises(TarkError, match=words) as caught:
                await wait_for_token(login, code, transport, sleep)
            assert type(caught.value) is kind
            assert len(str(caught.value)) < 600
        assert len(github.asked_for("/login/oauth/access_token")) == len(waits)
    assert sleep.waits == waits


STARTS: dict[str, tuple[dict[str, Any], float, float]] = {
    "as GitHub does": ({}, 5, 900),
    "no interval": ({"interval": None}, 5, 900),
    "no waiting": ({"interval": 0}, 0.1, 900),
    "nonsense": ({"interval": "soon", "expires_in": -1}, 5, 3600),
    "for ever": ({"expires_in": 1e8}, 5, 3600),
}


@pytest.mark.parametrize(("fields", "interval", "expires_in"), STARTS.values(), ids=STARTS.keys())
async def test_how_a_login_starts(
    transport: HttpTransport, fields: dict[str, Any], interval: float, expires_in: float
) -> None:
    async with LoopbackGitHub(**fields) as github:
        code = await request_device_code(login_at(github), "copilot", transport)
    assert (code.interval, code.expires_in) == (interval, expires_in)
    assert DEVICE_CODE not in repr(code)
    assert USER_CODE not in repr(code)


NO_START: dict[str, tuple[dict[str, Any], str]] = {
    "no device code": ({"device_code": None}, "did not return a login code"),
    "an empty user code": ({"user_code": ""}, "did not return a login code"),
    "a user code that steers the terminal": ({"user_code": "\x1b[2J"}, "did not return a login code"),
    "a login page on another site": (
        {"verification_uri": "https://evil.example/login"},
        "names a login page on another site",
    ),
    "a page that is none": ({"verification_uri": "javascript:alert(1)"}, "names a login page on another site"),
    "an error": ({"device_code": None, "error": "device_flow_disabled"}, "device_flow_disabled"),
}


@pytest.mark.parametrize(("fields", "words"), NO_START.values(), ids=NO_START.keys())
async def test_logins_that_do_not_start(transport: HttpTransport, fields: dict[str, Any], words: str) -> None:
    async with LoopbackGitHub(**fields) as github:
        with pytest.raises(ModelError, match=words) as caught:
            await request_device_code(login_at(github), "copilot", transport)
    assert DEVICE_CODE not in str(caught.value)


async def test_client_ids(transport: HttpTransport) -> None:
    """There is no default client id: the well-known ids belong to other products."""
    assert COPILOT is not None
    with pytest.raises(SettingsError, match="needs a client ID") as missing:
        await request_device_code(COPILOT, "copilot", transport)
    assert "providers.copilot.clientId" in missing.value.hint
    async with LoopbackGitHub() as github:
        with pytest.raises(ModelError) as wrong:
            await request_device_code(replace(login_at(github), client_id="other"), "copilot", transport)
    assert "providers.copilot.clientId" in wrong.value.hint


async def test_a_login_is_cancelled_at_once(transport: HttpTransport) -> None:
    async with LoopbackGitHub([PENDING]) as github:
        login = login_at(github)
        waiting = asyncio.create_task(
            wait_for_token(login, await request_device_code(login, "copilot", transport), transport)
        )
        await asyncio.sleep(0.05)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(waiting, AT_ONCE)
        stalled = asyncio.create_task(wait_for_token(login, DeviceCode("d", "u", "", 900, 0), transport))
        await github.asked(2)
        stalled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(stalled, AT_ONCE)


async def test_a_site_that_is_unreachable(transport: HttpTransport) -> None:
    async with LoopbackGitHub() as github:
        login = login_at(github)
    with pytest.raises(ModelError, match="no connection"):
        await request_device_code(login, "copilot", transport)
    with pytest.raises(AuthenticationFailed, match="expired"):
        await wait_for_token(login, DeviceCode("d", "u", "", 20, 5), transport, Sleep())


def test_polling_alone() -> None:
    polling = TokenPolling(5)
    odd: list[object] = [None, [], "text", {"error": 7}, {"access_token": 7}, {"access_token": ""}]
    for body in odd:
        assert polling.read_answer(body, 200) is None
    assert polling.interval == 5
    assert polling.read_answer({"access_token": "t", "expires_in": 28800}, 200) == GrantedToken("t", 28800)
    assert "t=" not in repr(GrantedToken("secret-t", None))
    assert "secret" not in repr(GrantedToken("secret-t", None))


MAY_GO: list[tuple[str, str, bool]] = [
    ("https://github.com", "https://api.githubcopilot.com", True),
    ("https://github.com", "https://api.individual.githubcopilot.com/", True),
    ("https://github.com", "https://githubcopilot.com", True),
    ("https://github.com", "https://api.github.com/x", True),
    ("https://github.com", "http://api.githubcopilot.com", False),
    ("https://github.com", "https://evilgithubcopilot.com", False),
    ("https://github.com", "https://githubcopilot.com.evil.example", False),
    ("https://github.com", "https://api.githubcopilot.com@evil.example", False),
    ("https://github.com", "https://evil.example#.githubcopilot.com", False),
    ("https://github.com", "https://evil.example/.githubcopilot.com", False),
    ("https://github.com", "https://evil.example\\.githubcopilot.com", False),
    ("https://github.com", "https://evil.example%2f.githubcopilot.com", False),
    ("https://github.com", "https://[::1", False),
    ("https://github.com", "http://127.0.0.1:80", False),
    ("https://github.com", "https://localhost", False),
    ("https://github.com", "", False),
    ("https://acme.ghe.com", "https://copilot-api.acme.ghe.com", True),
    ("https://acme.ghe.com", "https://api.githubcopilot.com", True),
    ("https://acme.ghe.com", "https://copilot-api.other.ghe.com", False),
    ("http://127.0.0.1:1", "http://127.0.0.1:2/x", True),
    ("http://localhost:1", "http://[::1]:2", True),
    ("http://127.0.0.1:1", "http://127.0.0.1.evil.example", False),
    ("http://127.0.0.1:1", "ftp://127.0.0.1", False),
]


@pytest.mark.parametrize(("site", "url", "may"), MAY_GO)
def test_trusted_urls(site: str, url: str, may: bool) -> None:
    assert COPILOT is not None
    assert replace(COPILOT, url=site).is_trusted(url) is may


@pytest.mark.parametrize(
    ("site", "expected"),
    [
        ("https://github.com", "https://api.github.com/x"),
        ("https://acme.ghe.com", "https://api.acme.ghe.com/x"),
        ("http://127.0.0.1:1", "http://127.0.0.1:1/x"),
    ],
)
def test_sub_domains(site: str, expected: str) -> None:
    assert COPILOT is not None
    assert replace(COPILOT, url=site).subdomain_url("api", "/x") == expected


class Dripping(HttpTransport):
    """Its answers never end, and are never silent."""

    async def send(self, request: HttpRequest) -> HttpResponse:  # noqa: ARG002  every answer is the same
        async def drip() -> AsyncIterator[bytes]:
            while True:
                await asyncio.sleep(0.02)
                yield b" "

        async def closed() -> None:
            return None

        return HttpResponse(200, {}, drip(), closed)


async def test_a_slow_poll_ends_with_the_code() -> None:
    code = DeviceCode(DEVICE_CODE, USER_CODE, "https://github.com/login/device", expires_in=0.3, interval=0.1)
    assert COPILOT is not None
    async with asyncio.timeout(AT_ONCE):
        with pytest.raises(AuthenticationFailed, match="the code expired"):
            await wait_for_token(replace(COPILOT, client_id=CLIENT_ID), code, Dripping())


async def test_a_slow_start_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_login, "START_SECONDS", 0.2)
    assert COPILOT is not None
    async with asyncio.timeout(AT_ONCE):
        with pytest.raises(ModelTimeout, match="did not return a login code"):
            await request_device_code(replace(COPILOT, client_id=CLIENT_ID), "copilot", Dripping())


async def test_a_refusal_that_repeats_the_device_code(transport: HttpTransport) -> None:
    refusal = told({"error": "nonsense", "error_description": f"what is {DEVICE_CODE}?"})
    async with LoopbackGitHub([refusal]) as github:
        login = login_at(github)
        code = await request_device_code(login, "copilot", transport)
        with pytest.raises(BadRequest, match=r"what is \*\*\*\?") as caught:
            await wait_for_token(login, code, transport, Sleep())
    assert DEVICE_CODE not in str(caught.value)
