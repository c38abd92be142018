"""Logins at a server over HTTP: what a user sees, what is sent where, and what is stored."""

import asyncio
import logging
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tark_lsp.agent.approval import Policy
from tark_lsp.errors import McpError
from tark_lsp.mcp.challenges import NeedsLogin, challenge_field, scopes_of
from tark_lsp.mcp.client import Call
from tark_lsp.mcp.launching import Surroundings
from tark_lsp.mcp.oauth.clients import Client
from tark_lsp.mcp.server import McpServer, ServerState
from tark_lsp.mcp.token_store import StoredLogin, TokenStore, entry_of
from tark_lsp.mcp.transport import HttpRefusal
from tark_lsp.messages import ApprovalLevel
from tark_lsp.tools.mcp_tool import mcp_tool
from tests.agent.bench import Bench
from tests.agent.script import answer
from tests.agent.script import call as turn_call
from tests.loopback import Raw, Request
from tests.mcp.memory_keyring import MemoryKeyring
from tests.mcp.oauth_desk import OAuthDesk, oauth_desk
from tests.mcp.oauth_server import Faults, as_json, error

COMMAND = "tark-lsp mcp login notes"
SECRETS = ("acce55-", "refre5h-", "c0de-")


async def call(server: McpServer) -> str:
    tool = server.approved().find("add")
    assert tool is not None
    return (await server.call_tool(Call(tool, {}))).text


async def approved(desk: OAuthDesk) -> McpServer:
    """Logged in, approved, and running in this process."""
    await desk.log_in()
    await desk.approve(desk.notes)
    server = desk.server_of(desk.notes)
    await server.ready()
    return server


async def test_a_login_is_used_and_its_tokens_go_nowhere_else(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with oauth_desk(tmp_path) as desk:
        server = await approved(desk)
        assert await call(server) == "3"
        (page,) = desk.pages
        query = parse_qs(urlsplit(page.url).query)
        assert (page.issuer, page.scopes) == (desk.site.origin, ())
        assert (query["code_challenge_method"], query["resource"]) == (["S256"], [desk.site.url])
        assert query["redirect_uri"][0].startswith("http://127.0.0.1:")
        with_token = {
            request.path for request in desk.site.asked if "acce55" in request.headers.get("authorization", "")
        }
        assert with_token == {"/mcp"}
        assert list(desk.keyring.entries) == ["mcp/notes"]
    assert not [secret for secret in SECRETS if secret in caplog.text]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if any(secret.encode() in path.read_bytes() for secret in SECRETS)]


async def test_a_server_that_needs_a_login_says_so_and_opens_nothing(tmp_path: Path) -> None:
    async with oauth_desk(tmp_path) as desk:
        server = await approved(desk)
        await desk.servers.aclose()
        desk.keyring.entries.clear()  # as `tark-lsp mcp logout` does
        desk.site.asked.clear()
        server = desk.server_of(desk.notes)
        for _ in range(2):
            with pytest.raises(NeedsLogin, match=COMMAND):
                await call(server)
            assert server.state is ServerState.NEEDS_LOGIN
        assert {request.path for request in desk.site.asked} == {"/mcp"}
        assert len(desk.site.asked) == 2
        assert any(COMMAND in notice for notice in desk.servers.notices())
        pin = desk.pins.find("notes")
        assert pin is not None
        assert pin.needs_login
        await desk.log_in()  # in a terminal, while the server of the editor runs
        assert await call(server) == "3"
        assert server.state is ServerState.READY


@pytest.mark.parametrize("taken", ["switched off", "removed"])
async def test_an_approval_that_is_taken_back_while_a_login_is_refused_stays_so(tmp_path: Path, taken: str) -> None:
    async with oauth_desk(tmp_path) as desk:
        await approved(desk)
        await desk.servers.aclose()
        pin = desk.pins.find("notes")
        assert pin is not None

        def refuse(_: Request) -> Raw:
            if taken == "removed":
                desk.pins.remove("notes")
            else:
                desk.pins.write(replace(pin, disabled=True))
            return as_json({}, 401)

        desk.site.faults.answers["/mcp"] = refuse
        with pytest.raises(McpError):
            await desk.server_of(desk.notes).ready()
        now = desk.pins.find("notes")
        assert now is None if taken == "removed" else now is not None and now.disabled


async def test_a_call_in_a_turn_names_the_command(tmp_path: Path) -> None:
    async with oauth_desk(tmp_path) as desk:
        await approved(desk)
        await desk.servers.aclose()
        desk.keyring.entries.clear()
        desk.server_of(desk.notes)
        bench = Bench(desk.folder, rules=Policy(ApprovalLevel.CAREFUL, trusted=True))
        bench.tools |= {offered.name: mcp_tool(offered) for offered in desk.servers.tools()}
        await bench.run(answer(turn_call("mcp__notes__add")), answer("You have to log in."))
        (result,) = bench.results()
        assert COMMAND in result
        assert len(desk.pages) == 1  # that of the login before


async def test_tokens_are_refreshed_once_for_all_calls(tmp_path: Path) -> None:
    async with oauth_desk(tmp_path) as desk:
        server = await approved(desk)
        await call(server)
        desk.site.expire()
        assert await asyncio.gather(*(call(server) for _ in range(5))) == ["3"] * 5
        assert len(desk.site.paths("/token")) == 2
        stored = await desk.stored()
        assert stored is not None
        assert stored.refresh_token.startswith("refre5h-2")
        assert len(desk.pages) == 1


async def test_a_token_that_expired_by_the_clock_is_refreshed_before_it_is_sent(tmp_path: Path) -> None:
    async with oauth_desk(tmp_path, Faults(lifetime=1)) as desk:
        server = await approved(desk)
        await call(server)
        sent = [request.headers.get("authorization", "") for request in desk.site.paths("/mcp")]
        assert "Bearer acce55-1-very-secret" not in sent


async def test_a_login_of_another_process_is_used_before_a_refresh(tmp_path: Path) -> None:
    async with oauth_desk(tmp_path) as desk:
        server = await approved(desk)
        await desk.log_in()
        desk.site.valid.pop("acce55-1-very-secret")
        assert await call(server) == "3"
        assert all(b"refresh_token" not in request.body for request in desk.site.paths("/token"))


async def test_two_processes_refresh_one_after_the_other(tmp_path: Path) -> None:
    async with oauth_desk(tmp_path) as desk:
        servers = [await approved(desk)]
        other = desk.server(desk.notes)  # with the same keyring, as in another process
        other._around = Surroundings(lambda: [desk.folder], {}, tokens=desk.new_tokens())
        servers.append(other)
        try:
            await other.ready()
            desk.site.expire()
            assert await asyncio.gather(*map(call, servers)) == ["3", "3"]
            assert [request.body.count(b"refresh_token=") for request in desk.site.paths("/token")] == [0, 1]
        finally:
            await other.aclose()


async def test_a_refresh_token_that_expired_ends_the_login_without_a_loop(tmp_path: Path) -> None:
    async with oauth_desk(tmp_path) as desk:
        server = await approved(desk)
        desk.site.expire()
        desk.site.refreshable.clear()
        for _ in range(3):
            with pytest.raises(NeedsLogin, match=COMMAND):
                await call(server)
        assert len(desk.site.paths("/token")) == 2  # the login, and one refresh
        assert server.state is ServerState.NEEDS_LOGIN
        assert desk.keyring.entries == {}


async def test_a_refresh_that_fails_for_now_keeps_the_login(tmp_path: Path) -> None:
    async with oauth_desk(tmp_path) as desk:
        server = await approved(desk)
        desk.site.expire()
        desk.site.faults.answers["/token"] = error("temporarily_unavailable", 503)
        with pytest.raises(McpError, match="could not be refreshed") as caught:
            await call(server)
        assert not isinstance(caught.value, NeedsLogin)
        assert "secret-of-the-server" not in str(caught.value)
        del desk.site.faults.answers["/token"]
        assert await call(server) == "3"


async def test_a_server_that_refuses_every_token_is_asked_twice(tmp_path: Path) -> None:
    async with oauth_desk(tmp_path) as desk:
        server = await approved(desk)
        desk.site.faults.answers["/mcp"] = as_json({}, 401)
        desk.site.asked.clear()
        with pytest.raises(NeedsLogin, match="it refuses your login"):
            await call(server)
        assert [request.path for request in desk.site.asked] == ["/mcp", "/token", "/mcp"]


async def test_rights_that_lack_are_asked_for_at_the_next_login(tmp_path: Path) -> None:
    async with oauth_desk(tmp_path, Faults(metadata={"scopes_supported": ["read"]})) as desk:
        server = await approved(desk)
        desk.site.needed_for_calls = "write"
        for _ in range(2):
            with pytest.raises(HttpRefusal, match=f"rights for this: write .*{COMMAND}"):
                await call(server)
        assert server.state is ServerState.READY
        await desk.log_in()
        assert desk.pages[-1].scopes == ("read", "write")
        assert await call(server) == "3"


async def test_no_token_for_another_url_and_none_beside_a_header_of_the_user(tmp_path: Path) -> None:
    async with oauth_desk(tmp_path) as desk:
        await desk.log_in()
        moved = desk.config({"url": f"{desk.site.origin}/mcp?a=1"}, "notes")
        with pytest.raises(NeedsLogin):
            await desk.approve(moved)
        own = desk.config({"url": desk.site.url, "headers": {"Authorization": "Bearer wrong"}}, "notes")
        with pytest.raises(HttpRefusal, match="check its headers"):
            await desk.approve(own)
        assert all("acce55" not in request.headers.get("authorization", "") for request in desk.site.asked)
        assert not desk.has_login(desk.config({"url": "http://10.0.0.5/mcp"}))


async def test_a_client_that_the_user_registered(tmp_path: Path) -> None:
    async with oauth_desk(tmp_path, Faults(metadata={"registration_endpoint": None})) as desk:
        with pytest.raises(McpError, match=r"does not register clients by itself .*--client-id"):
            await desk.log_in()
        await desk.log_in(client=Client("mine", "s3cret"))
        assert desk.site.paths("/token")[-1].headers["authorization"].startswith("Basic ")
        again = await desk.log_in()
        assert (again.client_id, again.client_secret) == ("mine", "s3cret")
        assert desk.site.paths("/register") == []


async def test_without_the_extra_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with oauth_desk(tmp_path) as desk:
        server = await approved(desk)
        monkeypatch.setattr("tark_lsp.mcp.login.has_extra", lambda: False)
        monkeypatch.setitem(sys.modules, "tark_lsp.mcp.oauth.flow", None)
        assert await call(server) == "3"  # a token that is valid needs nothing
        desk.site.expire()
        with pytest.raises(McpError, match=r"not installed.* \(pip install 'tark_lsp\[mcp-oauth\]'\)"):
            await call(server)
        desk.keyring.entries.clear()
        with pytest.raises(NeedsLogin, match=rf"pip install 'tark_lsp\[mcp-oauth\]', then run `{COMMAND}`"):
            await call(server)


async def test_a_keyring_that_fails_is_told_and_nothing_is_written_elsewhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with oauth_desk(tmp_path) as desk:
        server = await approved(desk)
        desk.site.expire()
        stored, ask = await desk.stored(), desk.keyring.ask

        def read_only(question: dict[str, str], seconds: float) -> object:
            if question["action"] == "store":
                desk.keyring.problem = "is locked"
            try:
                return ask(question, seconds)
            finally:
                desk.keyring.problem = ""

        desk.around.tokens._ask_keyring = read_only
        assert await call(server) == "3"
        assert "kept in memory only, until this process ends: the keyring is locked" in caplog.text
        assert await desk.stored() == stored
        desk.site.expire()
        assert await call(server) == "3"  # with the refresh token that is only in memory


async def test_a_keyring_that_is_locked_or_off() -> None:
    keyring = MemoryKeyring()
    keyring.problem = "did not answer within 5 s"
    with pytest.raises(McpError, match="the keyring did not answer within 5 s"):
        await TokenStore({}, keyring.ask).read("mcp/notes")
    off = TokenStore({"TARK_KEYRING": "off"}, keyring.ask)
    assert not await off.has_keyring()
    assert not await off.write("mcp/notes", StoredLogin("https://a.example", "t"))
    assert await off.read("mcp/notes") == StoredLogin("https://a.example", "t")
    assert await off.delete("mcp/notes")
    assert await off.read("mcp/notes") is None


@pytest.mark.parametrize("text", ["", "7", "[]", "{}", '{"url": 7}', "[" * 100_000, '{"secret": "k", "origin": "o"}'])
async def test_an_entry_that_is_no_login_is_none(text: str) -> None:
    keyring = MemoryKeyring()
    keyring.entries["mcp/notes"] = text
    assert await TokenStore({}, keyring.ask).read("mcp/notes") is None


def test_entries_and_challenges() -> None:
    assert entry_of("notes", "") == "mcp/notes"
    assert entry_of("notes", "/a/.mcp.json") != entry_of("notes", "/b/.mcp.json")
    challenge = 'Bearer realm="a", error="insufficient_scope", scope="a b",resource_metadata=https://x/y'
    assert challenge_field(challenge, "scope") == "a b"
    assert challenge_field(challenge, "resource_metadata") == "https://x/y"
    assert challenge_field('Bearer error_description="scope=x"', "scope") == ""
    assert challenge_field("", "scope") == ""
    assert scopes_of('a "b c\x00 \u202e d') == ["a", "d"]
    assert "acce55" not in repr(StoredLogin("https://a.example", "acce55", "refre5h", client_secret="acce55"))


def test_nothing_is_imported_before_it_is_needed() -> None:
    program = (
        "import sys, tark_lsp.mcp.servers, tark_lsp.mcp.streamable_http, tark_lsp.mcp.login, tark_lsp.cli.mcp;"
        "print([name for name in ('mcp', 'httpx2', 'keyring', 'webbrowser') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
