"""`tark-lsp login`, `logout` and `status` as a person runs them: typed unseen, piped, checked, refused, offline."""

import json
import stat
import subprocess
from pathlib import Path

import pytest

from tests import forked
from tests.cli.terminal import Terminal, configure, environment, without_terminal
from tests.llm.keys.loopback_github import (
    CLIENT_ID,
    DENIED,
    GRANTED,
    LOGIN_TOKEN,
    NO_COPILOT,
    PENDING,
    SECRETS,
    USER_CODE,
    LoopbackGitHub,
    told,
)
from tests.loopback import Loopback, Raw

pytestmark = pytest.mark.slow  # each test starts programs

KEY = "sk-typed-s3cret"
REPEATED = told({"message": f"bad token {LOGIN_TOKEN}"}, 401)


def tark(home: Path, *arguments: str, given: str | bytes = "", **environ: str) -> "subprocess.CompletedProcess[str]":
    given = given if isinstance(given, bytes) else given.encode()
    done = forked.run(arguments, home, environment(home, **environ), given)
    out, err = done.stdout.decode(), done.stderr.decode()
    for secret in (KEY, *SECRETS):
        assert secret not in out + err
    assert err == ""
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def key_file(home: Path, name: str) -> Path:
    return home / "state" / "tark" / "keys" / f"{name}.json"


def openai_at(home: Path, url: str) -> None:
    configure(home, f'[providers.openai]\nbaseUrl = "{url}/v1"\n')


def test_typed_unseen_kept_used_and_deleted(tmp_path: Path) -> None:
    with Loopback([], models=["gpt-a", "gpt-b"]).in_thread() as server:
        openai_at(tmp_path, server.url)
        terminal = Terminal(["login", "openai"], tmp_path, environment(tmp_path), fresh=True)
        terminal.see("the key for openai (it is not shown): ")
        terminal.type(f"  {KEY} ")
        assert terminal.end() == 0
        assert KEY not in terminal.shown
        assert "stored in the file" in terminal.plain
        assert server.url in terminal.plain
        assert "openai lists 2 models" in terminal.plain
        file = key_file(tmp_path, "openai")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert json.loads(file.read_text())["secret"] == KEY

        status = tark(tmp_path, "status", "openai", "--check")
        assert f"openai       a key from the file {file}; it lists 2 models" in status.stdout
        assert status.returncode == 0
        assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}

        both = tark(tmp_path, "logout", "openai", OPENAI_API_KEY=KEY)
        assert f"deleted from the file {file}" in both.stdout
        assert "OPENAI_API_KEY is set and still provides a key" in both.stdout
        assert both.returncode == 0
        again = tark(tmp_path, "logout", "openai")
        assert "nothing is stored for openai" in again.stdout
        assert again.returncode == 1
        assert tark(tmp_path, "status", "openai").returncode == 1


@pytest.mark.parametrize("given", [f"{KEY}\n", f"\ufeff{KEY}\r\n"])
def test_piped(tmp_path: Path, given: str) -> None:
    done = tark(tmp_path, "login", "groq", "--no-check", given=given, GROQ_API_KEY="gsk-other")
    assert done.returncode == 0
    assert "stored in" in done.stdout
    assert "https://api.groq.com" in done.stdout
    assert "GROQ_API_KEY is set, and overrides it" in done.stdout
    assert json.loads(key_file(tmp_path, "groq").read_text())["secret"] == KEY


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (b"", "no key was entered"),
        (b" \n", "no key was entered"),
        (f"{KEY} and more".encode(), "characters that are not allowed in a key"),
        (f"{KEY}\nx".encode(), "characters that are not allowed in a key"),
        (b"x" * 2_000_000, "longer than 16 KiB"),
        (f"OPENAI_API_KEY={KEY}".encode(), "not only a key"),
        (f'"{KEY}"'.encode(), "not only a key"),
        (b"\xff\xfe", "characters that are not allowed in a key"),
    ],
)
def test_input_that_is_not_a_key(tmp_path: Path, given: bytes, words: str) -> None:
    done = tark(tmp_path, "login", "openai", "--no-check", given=given)
    assert done.returncode == 1
    assert words in done.stdout
    assert not key_file(tmp_path, "openai").exists()


def test_a_key_that_is_refused_is_not_stored(tmp_path: Path) -> None:
    refusal = told({"error": {"message": f"Incorrect API key provided: {KEY}"}}, 401)
    with Loopback([], listing=refusal).in_thread() as server:
        openai_at(tmp_path, server.url)
        done = tark(tmp_path, "login", "openai", given=KEY)
    assert done.returncode == 1
    assert "Incorrect API key provided: ***" in done.stdout
    assert "nothing was stored" in done.stdout
    assert not key_file(tmp_path, "openai").exists()


@pytest.mark.parametrize("listing", [None, Raw([b"<html>"], 502), Raw([b"not found"], 404)], ids=["off", "502", "404"])
def test_a_key_that_cannot_be_checked_is_stored_with_a_message(tmp_path: Path, listing: Raw | None) -> None:
    with Loopback([], listing=listing).in_thread() as server:
        openai_at(tmp_path, server.url)
        if listing is not None:
            done = tark(tmp_path, "login", "openai", given=KEY)
    if listing is None:
        done = tark(tmp_path, "login", "openai", given=KEY)
    assert done.returncode == 0
    assert "the key could not be checked: " in done.stdout
    assert key_file(tmp_path, "openai").exists()


def test_settings_that_cannot_be_used_send_and_store_no_key(tmp_path: Path) -> None:
    configure(tmp_path, '[providers.openai]\nbaseUrl = "localhost"\n')
    done = tark(tmp_path, "login", "openai", given=KEY)
    assert (done.returncode, "baseUrl must be a URL" in done.stdout) == (1, True)
    assert not key_file(tmp_path, "openai").exists()


def test_a_base_url_that_changed_does_not_get_the_key(tmp_path: Path) -> None:
    with Loopback([], models=["gpt-a"]).in_thread() as server, Loopback([]).in_thread() as other:
        openai_at(tmp_path, server.url)
        assert tark(tmp_path, "login", "openai", given=KEY).returncode == 0
        (tmp_path / "config" / "tark" / "config.toml").write_text(f'[providers.openai]\nbaseUrl = "{other.url}/v1"\n')
        done = tark(tmp_path, "status", "openai", "--check")
        assert done.returncode == 1
        assert f"is for {server.url}, not for {other.url}" in done.stdout
        assert other.requests == []


def copilot_at(home: Path, github: LoopbackGitHub) -> None:
    configure(home, f'[providers.copilot]\nclientId = "{CLIENT_ID}"\nloginUrl = "{github.url}"\n')


def test_copilot(tmp_path: Path) -> None:
    github = LoopbackGitHub([PENDING, GRANTED], interval=0.1)
    with github.in_thread():
        copilot_at(tmp_path, github)
        done = tark(tmp_path, "login", "copilot")
        assert f"open  {github.url}/login/device" in done.stdout
        assert f"type  {USER_CODE}" in done.stdout
        assert f"for {github.url}" in done.stdout
        assert "copilot lists 1 models for you" in done.stdout
        assert done.returncode == 0
        assert json.loads(key_file(tmp_path, "copilot").read_text())["secret"] == LOGIN_TOKEN
        assert tark(tmp_path, "status", "copilot", "--check").returncode == 0
        assert tark(tmp_path, "logout", "copilot").returncode == 0


@pytest.mark.parametrize(
    ("github", "words", "stored"),
    [
        (LoopbackGitHub([PENDING, DENIED], interval=0.1), "refused on the web page", False),
        (LoopbackGitHub([PENDING], interval=0.1, expires_in=0.3), "the code expired", False),
        (LoopbackGitHub(exchanges=[NO_COPILOT], interval=0.1), "No access to GitHub Copilot", True),
        (LoopbackGitHub(exchanges=[REPEATED], interval=0.1), "bad token ***", True),
    ],
    ids=["denied", "expired", "no Copilot", "repeated"],
)
def test_copilot_logins_that_fail(tmp_path: Path, github: LoopbackGitHub, words: str, stored: bool) -> None:
    with github.in_thread():
        copilot_at(tmp_path, github)
        done = tark(tmp_path, "login", "copilot")
    assert words in done.stdout
    assert done.returncode == 1
    assert key_file(tmp_path, "copilot").exists() is stored


def test_ctrl_c(tmp_path: Path) -> None:
    github = LoopbackGitHub([PENDING])
    with github.in_thread():
        copilot_at(tmp_path, github)
        for arguments, waits_for in ((["login", "copilot"], "waiting at most"), (["login", "openai"], "not shown")):
            terminal = Terminal(arguments, tmp_path, environment(tmp_path))
            terminal.see(waits_for)
            terminal.press_ctrl_c()
            assert terminal.end() == 1
            assert "cancelled" in terminal.plain
            assert "Traceback" not in terminal.plain
    assert not key_file(tmp_path, "copilot").exists()


def test_status_of_all(tmp_path: Path) -> None:
    configure(
        tmp_path, '[providers.mine]\nwire = "openai-chat"\nbaseUrl = "http://127.0.0.1:1"\napiKeyEnv = "MY_KEY"\n'
    )
    nothing = tark(tmp_path, "status")
    assert nothing.returncode == 1
    assert "openai       no key: run `tark-lsp login openai`, or set OPENAI_API_KEY" in nothing.stdout
    assert "ollama       needs no key" in nothing.stdout
    assert "because there is no keyring" in nothing.stdout
    assert "scripted" not in nothing.stdout
    some = tark(tmp_path, "status", MY_KEY=KEY, ANTHROPIC_API_KEY="sk-\u201d")
    assert some.returncode == 0
    assert "mine         a key from MY_KEY" in some.stdout
    assert "ANTHROPIC_API_KEY contains characters that are not allowed in a key" in some.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["login"], 2, "PROVIDER"),
        (["login", "nobody"], 1, "there is no provider 'nobody'"),
        (["login", "scripted"], 1, "scripted plays scenarios"),
        (["login", "copilot"], 1, "providers.copilot.clientId"),
        (["login", "--help"], 0, "Exit codes"),
        (["logout"], 2, "PROVIDER"),
        (["logout", "nobody"], 1, "nothing is stored for nobody"),
        (["status", "nobody"], 1, "there is no provider 'nobody'"),
        (["status", "--help"], 0, "--check"),
    ],
)
def test_usage(tmp_path: Path, arguments: list[str], code: int, words: str) -> None:
    done = without_terminal(arguments, tmp_path, environment(tmp_path))
    assert done.returncode == code
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_the_doctor_shows_where_keys_come_from(tmp_path: Path) -> None:
    tark(tmp_path, "login", "openai", "--no-check", given=KEY)
    done = tark(tmp_path, "doctor")
    assert f"ok   keys: openai (the file {key_file(tmp_path, 'openai')})" in done.stdout
    assert "tark-lsp login stores keys in files in" in done.stdout
    key_file(tmp_path, "openai").chmod(0o644)
    done = tark(tmp_path, "doctor")
    assert "BAD " in done.stdout
    assert "can be read by others" in done.stdout
    assert done.returncode == 1
