"""Hostile authorization servers, and others who send answers: each login ends with an error, and nothing is stored."""

import asyncio
import contextlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tark_lsp.errors import McpError
from tark_lsp.http import HttpRequest, HttpTransport
from tark_lsp.mcp.oauth.auth_http import AuthHttp, require_safe_url
from tark_lsp.mcp.oauth.flow import LoginPage
from tark_lsp.mcp.oauth.loopback import RedirectListener
from tests.loopback import Raw
from tests.mcp.oauth_desk import oauth_desk
from tests.mcp.oauth_server import JSON, NEVER, Faults, as_json, browse
from tests.patience import AT_ONCE

FLOOD = Raw([b"a" * 65_536] * 10, headers=JSON)
EVIL = "https://evil.example"
SECRET = "acce55-secret"


def redirects(status: int = 307) -> Raw:
    return Raw([b""], status, {"location": f"{EVIL}/token"}, length=0)


def resource(**values: Any) -> Faults:
    return Faults(resource=values)


def metadata(**values: Any) -> Faults:
    return Faults(metadata=values)


def answers(path: str, answer: Raw) -> Faults:
    return Faults(answers={path: answer})


METADATA = "/.well-known/oauth-authorization-server"


@dataclass(frozen=True)
class Attack:
    """`says`: part of the error. `opens`: whether the user was asked to open a page before. `quick`: with a short
    time limit for each request."""

    faults: Faults
    says: str
    opens: bool = False
    quick: bool = field(default=False)


ATTACKS = {
    "metadata of another resource": Attack(resource(resource=f"{EVIL}/mcp"), "does not match expected"),
    "metadata of a resource below": Attack(resource(resource="http://127.0.0.1:1/mcp/more"), "does not match expected"),
    "another issuer": Attack(metadata(issuer=EVIL), "issuer mismatch"),
    "a javascript: page": Attack(metadata(authorization_endpoint="javascript:alert(1)"), "publishes no metadata"),
    "a file: page": Attack(metadata(authorization_endpoint="file:///etc/passwd"), "publishes no metadata"),
    "a page over http": Attack(metadata(authorization_endpoint="http://evil.example/a"), "not https"),
    "a page with a user name": Attack(metadata(authorization_endpoint="https://a@evil.example/a"), "a user name"),
    "a page that is too long": Attack(metadata(authorization_endpoint=f"{EVIL}/{'a' * 9_000}"), "too long"),
    "plain PKCE": Attack(metadata(code_challenge_methods_supported=["plain"]), "PKCE with S256"),
    "no PKCE": Attack(metadata(code_challenge_methods_supported=None), "PKCE with S256"),
    "no metadata": Attack(answers(METADATA, as_json({}, 404)), "publishes no metadata"),
    "metadata that is none": Attack(answers(METADATA, Raw([b"[" * 9_000], headers=JSON)), "publishes no metadata"),
    "metadata that redirects": Attack(answers(METADATA, redirects()), "publishes no metadata"),
    "metadata that floods": Attack(answers(METADATA, FLOOD), "more than 256 KiB"),
    "tokens over http": Attack(metadata(token_endpoint="http://evil.example/token"), "not https", opens=True),
    "no registration": Attack(metadata(registration_endpoint=None), "--client-id"),
    "a registration that fails": Attack(answers("/register", as_json({"error": SECRET}, 400)), "did not register"),
    "a registration without an id": Attack(answers("/register", as_json({"a": SECRET}, 201)), "did not register"),
    "another issuer in the answer": Attack(Faults(redirect={"iss": EVIL}), "iss mismatch", opens=True),
    "no code": Attack(Faults(redirect={"code": ""}), "No authorization code", opens=True),
    "tokens that redirect": Attack(answers("/token", redirects()), "redirects and is not followed", opens=True),
    "tokens that flood": Attack(answers("/token", FLOOD), "more than 256 KiB", opens=True),
    "tokens that never come": Attack(answers("/token", NEVER), "did not answer within", opens=True, quick=True),
    "tokens that are none": Attack(answers("/token", Raw([SECRET.encode()], headers=JSON)), "no token", opens=True),
    "a token of another type": Attack(
        answers("/token", as_json({"access_token": SECRET, "token_type": "mac"})), "no token", opens=True
    ),
    "a token that splits a header": Attack(
        answers("/token", as_json({"access_token": f"{SECRET}\r\nx-evil: 1", "token_type": "bearer"})),
        "no token that can be used",
        opens=True,
    ),
    "an error that repeats secrets": Attack(
        answers("/token", as_json({"error": "invalid_grant", "error_description": SECRET}, 400)),
        r"gave no token \(HTTP status 400, invalid_grant\)",
        opens=True,
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
async def test_attacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    attack = ATTACKS[name]
    if attack.quick:
        monkeypatch.setattr("tark_lsp.mcp.oauth.auth_http.REQUEST_SECONDS", 0.5)
    async with oauth_desk(tmp_path, attack.faults) as desk:
        with pytest.raises(McpError, match=attack.says) as caught:
            await desk.log_in()
        assert bool(desk.pages) == attack.opens
        assert desk.keyring.entries == {}
        shown = f"{caught.value} {caught.value.__cause__} {caplog.text}"
        assert SECRET not in shown
        assert "c0de-" not in shown
        assert all(request.path.startswith(("/.well-known", "/register", "/authorize", "/token"))
                   for request in desk.site.asked)  # fmt: skip


async def test_a_public_server_cannot_lead_to_this_machine(tmp_path: Path) -> None:
    async with oauth_desk(tmp_path) as desk:
        assert desk.is_private()  # this one is on this machine itself, so a user can log in
        with pytest.raises(McpError, match=r"private address 127\.0\.0\.1 .*privateHost"):
            await desk.log_in(private=False)
        assert desk.site.asked == []
    http = AuthHttp(lambda _: False, private=False)
    try:
        for url in ("http://localhost:1/a", "https://127.0.0.1/a", "https://[::1]/a", "https://169.254.169.254/a"):
            with pytest.raises(McpError, match="private address"):
                await http.send("GET", url, {}, b"")
        with pytest.raises(McpError, match=r"localhost\.localdomain"):  # a name that leads to it
            await http.send("GET", "https://localhost.localdomain/a", {}, b"")
    finally:
        await http.aclose()


@pytest.mark.parametrize(
    "url",
    ["https://a.example/\u202eevil", "https://a.example/\u200b", "https://a.example/a b", "https://a.example/\x1b[2J",
     "https://а.example/", "https://", "https:///a", "https://a.example:99999/", "data:text/html,a", "//a.example"],
)  # fmt: skip
def test_urls_that_are_not_opened(url: str) -> None:
    with pytest.raises(McpError, match="the login leads to"):
        require_safe_url(url, private=True)


async def test_the_page_that_is_shown_has_no_hidden_characters(tmp_path: Path) -> None:
    shown: list[LoginPage] = []

    async def look(page: LoginPage) -> None:
        shown.append(page)
        raise McpError("no")

    async with oauth_desk(tmp_path, metadata(authorization_endpoint="https://bücher.example/\u202e\u200ba")) as desk:
        with pytest.raises(McpError, match="no"):
            await desk.log_in(look)
    assert shown[0].url.startswith("https://xn--bcher-kva.example/%E2%80%AE%E2%80%8Ba?response_type=code&")


async def answer_with(page: LoginPage, **values: str) -> int:
    """What somebody else sends to the port: the real state unless `values` have another."""
    query = {name: found[0] for name, found in parse_qs(urlsplit(page.url).query).items()}
    return await browse(f"{query['redirect_uri']}?{urlencode({'state': query['state'], **values})}")


async def test_a_wrong_state_is_not_used_and_does_not_end_the_login(tmp_path: Path) -> None:
    async with oauth_desk(tmp_path) as desk:

        async def attacked(page: LoginPage) -> None:
            for state in ("wrong", ""):
                assert await answer_with(page, state=state, code="stolen", iss=desk.site.origin) == 400
            await desk.agree(page)

        await desk.log_in(attacked)
        assert all(b"stolen" not in request.body for request in desk.site.asked)


async def test_only_answers_with_a_wrong_state(tmp_path: Path) -> None:
    async with oauth_desk(tmp_path, Faults(redirect={"state": "wrong"})) as desk:
        with pytest.raises(McpError, match=r"nobody logged in within 0\.5 s; 1 answers had a wrong state"):
            await desk.log_in(seconds=0.5)
        assert desk.site.paths("/token") == []


async def test_a_code_that_was_stolen_cannot_be_used_again(tmp_path: Path) -> None:
    async with oauth_desk(tmp_path) as desk:

        async def seen(page: LoginPage) -> None:
            await desk.agree(page)
            assert await answer_with(page, code="another", iss=desk.site.origin) == 400  # the second one

        await desk.log_in(seen)
        (exchange,) = desk.site.paths("/token")
        asked = {name: values[0] for name, values in parse_qs(exchange.body.decode()).items()}
        assert len(asked["code_verifier"]) >= 43
        stolen = {**asked, "code_verifier": "b" * 43}  # the thief saw the code, and not the verifier
        http = HttpTransport()
        try:
            desk.site.codes[asked["code"]] = {
                name: found[0] for name, found in parse_qs(urlsplit(desk.pages[0].url).query).items()
            }
            form = {"content-type": "application/x-www-form-urlencoded"}
            body = urlencode(stolen).encode()
            response = await http.send(HttpRequest("POST", f"{desk.site.origin}/token", form, body))
            await response.aclose()
            assert response.status == 400
        finally:
            await http.aclose()


@pytest.mark.parametrize("error", ["access_denied", "<script>"])
async def test_a_login_that_is_refused(tmp_path: Path, error: str) -> None:
    async with oauth_desk(tmp_path) as desk:

        async def refuse(page: LoginPage) -> None:
            assert await answer_with(page, error=error, error_description="no") == 200

        with pytest.raises(McpError, match=f"refused the login: {error} no"):
            await desk.log_in(refuse)


@pytest.mark.parametrize("end", ["cancel", "decline", "time"])
async def test_the_port_is_closed_however_the_login_ends(tmp_path: Path, end: str) -> None:
    asked = asyncio.Event()
    pages: list[LoginPage] = []

    async def ask(page: LoginPage) -> None:
        pages.append(page)
        asked.set()
        if end == "decline":
            raise McpError("you declined")

    async with oauth_desk(tmp_path) as desk:
        task = asyncio.create_task(desk.log_in(ask, seconds=0.1 if end == "time" else AT_ONCE))
        await asyncio.wait_for(asked.wait(), AT_ONCE)
        if end == "cancel":
            task.cancel()
        with contextlib.suppress(McpError, asyncio.CancelledError):
            await task
        redirect = urlsplit(parse_qs(urlsplit(pages[0].url).query)["redirect_uri"][0])
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", redirect.port)
        assert desk.keyring.entries == {}


@pytest.mark.parametrize(
    "sent",
    [b"POST /callback?state=s&code=c HTTP/1.1\r\n\r\n", b"GET /callbac HTTP/1.1\r\n\r\n", b"GET\r\n\r\n", b"\r\n\r\n",
     b"GET /callback?" + b"&" * 200 + b" HTTP/1.1\r\n\r\n", b"GET /" + b"a" * 100_000, b"\x16\x03\x01\r\n\r\n"],
)  # fmt: skip
async def test_requests_that_are_no_answer(sent: bytes) -> None:
    async with RedirectListener() as listener:
        listener.expect("s")
        reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(listener.uri).port)
        writer.write(sent)
        with contextlib.suppress(ConnectionError):
            await asyncio.wait_for(reader.read(), AT_ONCE)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
        with pytest.raises(McpError, match="nobody logged in"):
            await listener.answer(0.01)


async def test_an_unanswered_page_repeats_nothing_of_a_request() -> None:
    async with RedirectListener() as listener:
        reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(listener.uri).port)
        writer.write(b"GET /callback?state=%3Cscript%3E HTTP/1.1\r\nHost: evil.example\r\n\r\n")
        page = (await asyncio.wait_for(reader.read(), AT_ONCE)).decode()
        writer.close()
        await writer.wait_closed()
    assert page.startswith("HTTP/1.1 400 ")
    assert "script" not in page
    assert "default-src 'none'" in page
