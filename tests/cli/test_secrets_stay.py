"""Canaries in files, in variables and in the provider's key: none of them leaves, and none is stored where it could.

A whole session with a real server, and a provider on loopback whose model calls every tool that reads or edits.
"""

import json
import subprocess
from pathlib import Path

import pytest

from tark_lsp.llm.scripted.scenario import Reply, ScriptedCall
from tark_lsp.secrets.tokens import TOKEN
from tests.cli.terminal import configure, environment, without_terminal
from tests.loopback import Loopback, Request
from tests.secrets.keys import anthropic_key, body_of, github_token, letters_and_digits, private_key

pytestmark = pytest.mark.slow  # it starts programs

TOKENS = {name: github_token(name) for name in ("read", "edited", "selected", "instructions", "searched", "command")}
PASSWORD, ENVIRONMENT_VALUE = "corr3ct-h0rse!bat", "plain words of a variable 42"
PROVIDER_KEY = "provider-" + letters_and_digits(30, "provider")
PEM = private_key(seed="canary")
CANARIES = (*TOKENS.values(), PASSWORD, ENVIRONMENT_VALUE, PROVIDER_KEY, *body_of(PEM), anthropic_key("canary"))

NOT_SEARCHED = {"checkpoints.sqlite3": "undo needs the files as they were", "mask-key": "random bytes"}
SETTINGS = f'"""Settings."""\nTOKEN = "{TOKENS["edited"]}"\nNAME = "first"\n'


def call(name: str, **arguments: object) -> ScriptedCall:
    return ScriptedCall(name, arguments)


def project(folder: Path) -> None:
    (folder / "settings.py").write_text(SETTINGS)
    (folder / "read.py").write_text(f'key = "{TOKENS["read"]}"\nother = "{anthropic_key("canary")}"\n')
    (folder / "searched.txt").write_text(f"needle {TOKENS['searched']}\n")
    (folder / "key.pem").write_text(PEM)
    (folder / ".env").write_text(f"DB_PASSWORD={PASSWORD}\n")
    (folder / "AGENTS.md").write_text(f"Use the token {TOKENS['instructions']}.\n")
    (folder / "command.txt").write_text(f"{TOKENS['command']}\n")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)


def replies(token: str) -> tuple[Reply, ...]:
    line = body_of(PEM)[3][:24].replace("+", "\\+")
    reading = (
        call("read_file", path="settings.py"),
        call("read_file", path=".env"),
        call("read_file", path="key.pem", start_line=4, end_line=6),
        call("read_files", paths=["read.py", "key.pem"]),
        call("search_text", pattern="needle"),
        call("search_text", pattern=line),
        call("search_text", pattern="PASSWORD", glob=".env"),
        call("list_directory", path=".", include_hidden=True),
        call("read_diagnostics"),
    )
    old = f'TOKEN = "{token}"\nNAME = "first"'
    new = f'API_TOKEN = "{token}"\nNAME = "second"'
    return (
        Reply(text="I read.", calls=reading),
        Reply(text="I run.", calls=(call("run_command", command="cat command.txt key.pem"), call("read_changes"))),
        Reply(calls=(call("run_command", command="printenv"),)),
        Reply(calls=(call("edit_file", path="settings.py", old_text=old, new_text=new),)),
        Reply(calls=(call("edit_file", path="settings.py", old_text="no such text", new_text="x"),)),
        Reply(calls=(call("write_file", path="copy.py", content=f'x = "{token}"\n'),)),
        Reply(text="Done."),
    )


def token_of_settings(request: Request) -> str:
    """As the model saw it, in the selection."""
    found = TOKEN.search(json.dumps(request.json).partition("TOKEN = ")[2])
    assert found is not None
    return found[0]


def found_in(data: bytes, canaries: tuple[str, ...] = CANARIES) -> list[str]:
    return [one for one in canaries if one.encode() in data or json.dumps(one)[1:-1].encode() in data]


def run(folder: Path, env: dict[str, str], prompt: str) -> str:
    allowed = [word for tool in ("run_command(cat *)", "run_command(printenv)") for word in ("--allow", tool)]
    ended = without_terminal(
        ["run", "--yes", *allowed, "--model", "openai/gpt-5", "settings.py:1-3", prompt], folder, env
    )
    return ended.stdout + ended.stderr


def test_no_canary_leaves_or_is_stored(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    project(folder)
    env = environment(tmp_path, OPENAI_API_KEY=PROVIDER_KEY, MY_SERVICE_TOKEN=ENVIRONMENT_VALUE, TARK_LOG_LEVEL="debug")
    with Loopback((Reply(text="Hi."),)).in_thread() as server:
        configure(tmp_path, f'[providers.openai]\nbaseUrl = "{server.url}/v1"\n')
        run(folder, env, "look at @file:read.py")
        token = token_of_settings(next(one for one in server.requests if one.method == "POST"))
        server.then(*replies(token))
        shown = run(folder, env, "work with every tool")
        requests = list(server.requests)
    assert (folder / "settings.py").read_text() == SETTINGS.replace("first", "second").replace("TOKEN =", "API_TOKEN =")
    assert not (folder / "copy.py").exists()
    assert found_in(shown.encode()) == [TOKENS["edited"]], "in the diff, which shows what is written"
    for request in requests:
        assert found_in(request.body) == []
        assert found_in(request.path.encode()) == []
        assert [name for name, value in request.headers.items() if found_in(value.encode())] in ([], ["authorization"])
    last = json.dumps([request.json for request in requests if request.method == "POST"][-1])
    assert last.count("exit code 0") == 2
    assert len(set(TOKEN.findall(last))) >= 4 + len(body_of(PEM))
    state = tmp_path / "state" / "tark"
    looked_at = [path for path in state.rglob("*") if path.is_file() and path.name.split("-wal")[0] not in NOT_SEARCHED]
    assert {"sessions.sqlite3", "receipts.sqlite3"} <= {path.name for path in looked_at}
    for path in looked_at:
        assert found_in(path.read_bytes()) == [], path.name
    listed = without_terminal(["sessions", "list", "--json"], folder, env)
    sessions = [session["sessionId"] for session in json.loads(listed.stdout)]
    assert len(sessions) == 2
    for session in sessions:
        for form in ("json", "markdown"):
            file = tmp_path / f"{session}.{form}"
            without_terminal(["sessions", "export", session, "--format", form, "--output", str(file)], folder, env)
            assert found_in(file.read_bytes()) == []
