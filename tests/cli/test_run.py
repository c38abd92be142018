"""`tark-lsp run` on real files, against a provider on loopback that speaks each wire, and what goes wrong."""

import json
import json.decoder
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.llm.scripted.scenario import Reply, ScriptedCall
from tests.cli.terminal import Terminal, configure, environment, without_terminal
from tests.forked import Program
from tests.loopback import Answer, Loopback, Raw

pytestmark = pytest.mark.slow  # each test starts a program

WIRES = {"openai-chat": "/v1", "anthropic-messages": ""}
QUESTION = "Apply? [y]es, [n]o"


def edit(path: str, old: str, new: str) -> Reply:
    return Reply(text="I will.\n", calls=(ScriptedCall("edit_file", {"path": path, "old_text": old, "new_text": new}),))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path, LOCAL_KEY="test-key-1234")


def serve(tmp_path: Path, server: Loopback, wire: str = "openai-chat", more: str = "") -> None:
    configure(
        tmp_path,
        f'model = "local/m"\n{more}\n[providers.local]\nwire = "{wire}"\napiKeyEnv = "LOCAL_KEY"\n'
        f'baseUrl = "{server.url}{WIRES[wire]}"\n',
    )


def playing(*answers: Answer) -> Any:
    return Loopback(answers).in_thread()


@pytest.fixture
def decoder(folder: Path) -> Path:
    """A copy of a real file of 350 lines."""
    file = folder / "decoder.py"
    file.write_bytes(Path(json.decoder.__file__).read_bytes())
    return file


def check_openai(body: dict[str, Any]) -> None:
    *_, called, result = body["messages"]
    assert called["role"] == "assistant"
    [call] = called["tool_calls"]
    assert call["function"]["name"] == "edit_file"
    assert json.loads(call["function"]["arguments"])["path"] == "decoder.py"
    assert result["role"] == "tool"
    assert result["tool_call_id"] == call["id"]
    assert result["content"]


def check_anthropic(body: dict[str, Any]) -> None:
    *_, called, result = body["messages"]
    assert called["role"] == "assistant"
    [call] = [part for part in called["content"] if part["type"] == "tool_use"]
    assert call["name"] == "edit_file"
    assert call["input"]["path"] == "decoder.py"
    assert result["role"] == "user"
    assert result["content"][0]["type"] == "tool_result"
    assert result["content"][0]["tool_use_id"] == call["id"]


CHECKS = {"openai-chat": check_openai, "anthropic-messages": check_anthropic}


@pytest.mark.parametrize("wire", WIRES)
def test_the_main_job_on_a_real_file(tmp_path: Path, decoder: Path, env: dict[str, str], wire: str) -> None:
    before = decoder.read_text(encoding="utf-8")
    old = before.splitlines(keepends=True)[0]
    new = '"""Implementation of JSONDecoder, looked over.\n'
    with playing(edit("decoder.py", old, new), Reply(text="All done.")) as server:
        serve(tmp_path, server, wire)
        terminal = Terminal(["run", "decoder.py:1-2", "look it over"], decoder.parent, env, fresh=wire == "openai-chat")
        terminal.see(QUESTION)
        assert "I will." in terminal.plain
        assert f"-{old.rstrip()}\n+{new.rstrip()}" in terminal.plain
        assert decoder.read_text(encoding="utf-8") == before
        terminal.type("y")
        assert terminal.end() == 0
        assert "All done." in terminal.plain
        assert "decoder.py applied" in terminal.plain
        first, second = server.requests
    assert decoder.read_text(encoding="utf-8") == before.replace(old, new)
    assert "look it over" in json.dumps(first.json["messages"])
    CHECKS[wire](second.json)
    key = first.headers["x-api-key"] if wire == "anthropic-messages" else first.headers["authorization"]
    assert key.removeprefix("Bearer ") == "test-key-1234"
    assert "test-key" not in terminal.plain


@pytest.mark.parametrize(
    ("answer", "code", "changed"), [("y", 0, True), ("n", 1, False), ("a", 0, True)], ids=["yes", "no", "all"]
)
def test_each_answer(tmp_path: Path, decoder: Path, env: dict[str, str], answer: str, code: int, changed: bool) -> None:
    before = decoder.read_bytes()
    with playing(edit("decoder.py", "import re\n", "import re  # !\n"), Reply(text="So be it.")) as server:
        serve(tmp_path, server)
        terminal = Terminal(["run", "decoder.py", "change it"], decoder.parent, env)
        terminal.see(QUESTION)
        terminal.type(answer)
        assert terminal.end() == code
    assert (decoder.read_bytes() != before) == changed
    assert terminal.plain.count("So be it.") == 1, "at a terminal the answer is shown while it streams, and not again"


def test_hunk_by_hunk(tmp_path: Path, folder: Path, env: dict[str, str]) -> None:
    file = folder / "a.txt"
    file.write_bytes(b"".join(b"%d\r\n" % number for number in range(1, 30)))
    calls = (
        ScriptedCall("edit_file", {"path": "a.txt", "old_text": "3\n", "new_text": "three\n", "line_hint": 3}),
        ScriptedCall("edit_file", {"path": "a.txt", "old_text": "25\n", "new_text": "twenty-five\n"}),
    )
    with playing(Reply(calls=calls), Reply(text="Half of it.")) as server:
        serve(tmp_path, server)
        terminal = Terminal(["run", "a.txt", "spell it"], folder, env)
        terminal.see("[h]unk by hunk")
        terminal.type("h")
        terminal.see("(1 of 2)")
        terminal.type("n")
        terminal.see("(2 of 2)")
        terminal.type("y")
        assert terminal.end() == 0
    lines = file.read_bytes().split(b"\r\n")
    assert (lines[2], lines[24]) == (b"3", b"twenty-five")
    assert len(lines) == 30


BYTES: list[tuple[str, bytes, bytes]] = [
    ("CRLF and no final newline", b"a\r\nb\r\nc", b"a\r\nB\r\nc"),
    ("byte order mark", b"\xef\xbb\xbfa\r\nb\r\n", b"\xef\xbb\xbfa\r\nB\r\n"),
    ("UTF-16", "\ufeffa\nb\nü\n".encode("utf-16-le"), "\ufeffa\nB\nü\n".encode("utf-16-le")),
]


@pytest.mark.parametrize(("before", "after"), [row[1:] for row in BYTES], ids=[row[0] for row in BYTES])
def test_yes_for_scripts_keeps_other_bytes(
    tmp_path: Path, folder: Path, env: dict[str, str], before: bytes, after: bytes
) -> None:
    (folder / "a.txt").write_bytes(before)
    with playing(edit("a.txt", "b\n", "B\n"), Reply(text="Done.")) as server:
        serve(tmp_path, server)
        done = without_terminal(["run", "a.txt", "change it", "--yes"], folder, env)
    assert (done.returncode, done.stdout) == (0, "Done.\n")
    assert (folder / "a.txt").read_bytes() == after


def test_without_a_terminal_nothing_is_written_unasked(tmp_path: Path, decoder: Path, env: dict[str, str]) -> None:
    before = decoder.read_bytes()
    with playing(edit("decoder.py", "import re\n", ""), Reply(text="Then not.")) as server:
        serve(tmp_path, server)
        done = without_terminal(["run", "decoder.py", "change it"], decoder.parent, env)
    assert done.returncode == 1
    assert "nobody can be asked" in done.stderr
    assert "--yes would allow it" in done.stderr
    assert "rejected it" not in done.stderr
    assert done.stdout == "Then not.\n"
    assert decoder.read_bytes() == before


@pytest.mark.parametrize(("typed", "code", "changed"), [("y", 0, True), ("n", 1, False), ("Ctrl-C", 130, False)])
def test_mode_plan_asks_at_the_end(
    tmp_path: Path, decoder: Path, env: dict[str, str], typed: str, code: int, changed: bool
) -> None:
    before = decoder.read_bytes()
    proposal = {"path": "decoder.py", "old_text": "import re\n", "new_text": "import re  # !\n"}
    with playing(Reply(calls=(ScriptedCall("propose_edit", proposal),)), Reply(text="That is my plan.")) as server:
        serve(tmp_path, server)
        terminal = Terminal(["run", "decoder.py", "plan it", "--mode", "plan"], decoder.parent, env)
        terminal.see("This hunk (1 of 1)?")
        assert "That is my plan." in terminal.plain
        if typed == "Ctrl-C":
            terminal.press_ctrl_c()
        else:
            terminal.type(typed)
        assert terminal.end() == code
    assert (decoder.read_bytes() != before) == changed


def test_a_command_is_asked_about_even_with_yes(tmp_path: Path, folder: Path, env: dict[str, str]) -> None:
    (folder / "a.txt").write_bytes(b"a\n")
    call = ScriptedCall("run_command", {"command": "echo pwned > a.txt"})
    with playing(Reply(calls=(call,)), Reply(text="Then not.")) as server:
        serve(tmp_path, server)
        done = without_terminal(["run", "a.txt", "run it", "--yes"], folder, env)
    assert "echo pwned > a.txt" in done.stderr
    assert "refused" in done.stderr
    assert (done.returncode, done.stdout) == (1, "Then not.\n")
    assert (folder / "a.txt").read_bytes() == b"a\n"


OUTSIDE = ScriptedCall("write_file", {"path": "../x.txt", "content": "x"})
NOT_THERE = ScriptedCall("edit_file", {"path": "a.txt", "old_text": "no such line\n", "new_text": "x\n"})
GOOD = ScriptedCall("write_file", {"path": "b.txt", "content": "x"})


@pytest.mark.parametrize(
    ("calls", "code", "refused"),
    [((OUTSIDE,), 1, 1), ((NOT_THERE,), 1, 1), ((NOT_THERE, GOOD), 0, 0), ((GOOD, NOT_THERE), 1, 1)],
    ids=["outside", "not there", "tried again", "the last one"],
)
def test_an_edit_that_fails(
    tmp_path: Path, folder: Path, env: dict[str, str], calls: tuple[ScriptedCall, ...], code: int, refused: int
) -> None:
    (folder / "a.txt").write_bytes(b"a\n")
    with playing(*(Reply(calls=(call,)) for call in calls), Reply(text="Done.")) as server:
        serve(tmp_path, server)
        done = without_terminal(["run", "change it", "--yes", "--output", "json"], folder, env)
    end = json.loads(done.stdout)
    assert (done.returncode, end["exitCode"], len(end["refused"])) == (code, code, refused)
    assert all(call["title"] and call["why"] for call in end["refused"])


def test_a_new_file(tmp_path: Path, decoder: Path, env: dict[str, str]) -> None:
    call = ScriptedCall("write_file", {"path": "new/b.py", "content": "print(1)\n"})
    with playing(Reply(calls=(call,)), Reply(text="There.")) as server:
        serve(tmp_path, server)
        terminal = Terminal(["run", "decoder.py", "add a file"], decoder.parent, env)
        terminal.see(QUESTION)
        assert "+print(1)" in terminal.plain
        terminal.type("y")
        assert terminal.end() == 0
    assert (decoder.parent / "new" / "b.py").read_bytes() == b"print(1)\n"


HTML = Raw([b"<html>Bad gateway</html>"], 200, {"content-type": "text/html"})
DENIED = Raw([b'{"error": {"message": "bad key"}}'], 401, {"content-type": "application/json"})
CUT = Raw([b'data: {"choices": [{"delta": {"content": "half"}}]}\n\n'])


@pytest.mark.parametrize(
    ("answer", "words"),
    [(HTML, "a web page"), (DENIED, "LOCAL_KEY"), (CUT, "half")],
    ids=["HTML", "401", "cut stream"],
)
def test_a_provider_that_fails(tmp_path: Path, decoder: Path, env: dict[str, str], answer: Answer, words: str) -> None:
    before = decoder.read_bytes()
    with playing(answer) as server:
        serve(tmp_path, server)
        done = without_terminal(["run", "decoder.py", "change it"], decoder.parent, env)
    assert (done.returncode, done.stdout) == (3, "")
    assert "error: " in done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert "test-key" not in done.stderr
    assert decoder.read_bytes() == before


SETTINGS: list[tuple[str, str, list[str], str, int]] = [
    ("missing key", 'model = "anthropic/claude-x"', [], "ANTHROPIC_API_KEY", 3),
    ("no such provider", "", ["--model", "nobody/x"], "nobody", 2),
    (
        "unreachable",
        'model = "local/m"\n[providers.local]\nwire = "openai-chat"\nbaseUrl = "http://127.0.0.1:9/v1"',
        [],
        "127.0.0.1:9",
        3,
    ),
    ("broken settings", "model = ", [], "config.toml cannot be read as TOML", 2),
    ("a rule of the wrong type", '[permissions]\ndeny = "edit_file(vendor/**)"', [], "permissions.deny is", 2),
    (
        "a missing scenario",
        'model = "scripted/x"\n[providers.scripted]\nscenario = "/nowhere.toml"',
        [],
        "/nowhere.toml",
        2,
    ),
]


@pytest.mark.slow
def test_a_model_that_is_none_is_wrong_usage(decoder: Path, env: dict[str, str]) -> None:
    done = without_terminal(["run", "decoder.py", "change it", "--model", "gpt"], decoder.parent, env)
    assert (done.returncode, done.stdout) == (2, "")
    assert "'gpt' is not written as PROVIDER/MODEL" in done.stderr


def test_a_model_that_its_provider_does_not_list(tmp_path: Path, decoder: Path, env: dict[str, str]) -> None:
    with Loopback([Reply(text="Done.")], models=["big", "small"]).in_thread() as server:
        serve(tmp_path, server)
        arguments = ["run", "look", "--model", "local/bigg"]
        done = without_terminal(arguments, decoder.parent, env)
        assert (done.returncode, done.stdout) == (2, "")
        assert "local lists no model bigg" in done.stderr
        assert "did you mean local/big? --force-model uses it nevertheless" in done.stderr
        assert [request.body for request in server.requests if request.body] == [], "no turn began"
        chat = without_terminal(["chat", "--model", "local/bigg"], decoder.parent, env, "look")
        assert chat.returncode == 1
        assert "did you mean local/big? --force-model uses it nevertheless" in chat.stdout
        forced = without_terminal([*arguments, "--force-model"], decoder.parent, env)
        assert (forced.returncode, forced.stdout) == (0, "Done.\n")


def test_a_model_that_cannot_be_checked(tmp_path: Path, decoder: Path, env: dict[str, str]) -> None:
    with playing(Reply(text="Done.")) as server:
        serve(tmp_path, server)
        done = without_terminal(["run", "look", "--model", "local/m2"], decoder.parent, env)
    assert (done.returncode, done.stdout) == (0, "Done.\n")
    assert "m2 is not checked, since local lists no models" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("toml", "arguments", "words", "code"), [row[1:] for row in SETTINGS], ids=[row[0] for row in SETTINGS]
)
def test_settings_that_cannot_work_name_their_fix(
    tmp_path: Path, decoder: Path, env: dict[str, str], toml: str, arguments: list[str], words: str, code: int
) -> None:
    configure(tmp_path, toml)
    done = without_terminal(["run", "decoder.py", "change it", *arguments], decoder.parent, env)
    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr
    assert "error: " in done.stderr
    assert "error" not in done.stderr.splitlines()
    assert "Traceback" not in done.stderr


def test_a_broken_file_of_the_folder_starts_nothing(tmp_path: Path, folder: Path, env: dict[str, str]) -> None:
    (folder / ".tark").mkdir()
    (folder / ".tark" / "config.toml").write_text('[permissions]\ndeny = "write_file(vendor/**)"\n')
    with playing(Reply(text="Done.")) as server:
        serve(tmp_path, server)
        done = without_terminal(["run", "--yes", "--quiet", "change it"], folder, env)
        assert (done.returncode, done.stdout, server.requests) == (2, "", [])
    assert "permissions.deny is" in done.stderr


SLOW = Raw([b'data: {"choices": [{"delta": {"content": "thinking it over"}}]}\n\n'], stall=True)


@pytest.fixture
def slow_model(tmp_path: Path) -> Iterator[Loopback]:
    with playing(SLOW) as server:
        serve(tmp_path, server)
        yield server


def test_ctrl_c_cancels_the_turn(slow_model: Loopback, decoder: Path, env: dict[str, str]) -> None:
    terminal = Terminal(["run", "decoder.py", "take your time"], decoder.parent, env, fresh=True)
    terminal.see("thinking it over")
    terminal.press_ctrl_c()
    assert terminal.end() == 130
    assert "cancelling" in terminal.plain
    assert "Traceback" not in terminal.plain
    assert slow_model.requests[0].closed.is_set()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=["TERM", "HUP"])
def test_other_signals_cancel_the_turn_too(
    slow_model: Loopback, decoder: Path, env: dict[str, str], number: int, code: int
) -> None:
    terminal = Terminal(["run", "--json", "--no-session", "decoder.py", "take your time"], decoder.parent, env)
    terminal.see('"text": "thinking it over"')
    for _ in range(2):  # a terminal that closes sends SIGHUP twice
        os.kill(terminal.pid, number)
    assert terminal.end() == code
    assert "Traceback" not in terminal.plain
    assert (f'"exitCode": {code}' in terminal.plain) == (number == signal.SIGTERM), "SIGHUP: the terminal is gone"
    assert slow_model.requests[0].closed.is_set()
    left = without_terminal(["sessions", "list", "--json"], decoder.parent, env)
    assert json.loads(left.stdout) == []


@pytest.mark.parametrize("closed", ["output", "errors"])
def test_a_closed_pipe_cancels_the_turn_and_stores_it(
    tmp_path: Path, decoder: Path, env: dict[str, str], closed: str
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    nothing = os.open(os.devnull, os.O_RDWR)
    streams = [nothing, writing, nothing] if closed == "output" else [nothing, nothing, writing]
    look = Reply(calls=(ScriptedCall("list_directory", {"path": "."}),))
    with playing(look, SLOW) as server:
        serve(tmp_path, server)
        program = Program(["run", "--json", "decoder.py", "take your time"], decoder.parent, env, streams)
        for descriptor in (nothing, writing):
            os.close(descriptor)
        assert program.wait() == 141
    [session] = json.loads(without_terminal(["sessions", "list", "--json"], decoder.parent, env).stdout)
    assert "local/m" in without_terminal(["usage", f"--session={session['sessionId']}"], decoder.parent, env).stdout


def test_the_agent_asks_and_is_answered(tmp_path: Path, decoder: Path, env: dict[str, str]) -> None:
    question = {"question": "Which style?", "options": ["numpy", "google"]}
    with playing(Reply(calls=(ScriptedCall("ask_user", question),)), Reply(text="Thanks.")) as server:
        serve(tmp_path, server)
        terminal = Terminal(["run", "decoder.py", "document it"], decoder.parent, env)
        terminal.see("2. google")
        terminal.see("Enter: no answer")
        terminal.type("2")
        assert terminal.end() == 0
        assert "google" in server.requests[1].json["messages"][-1]["content"]


def test_without_a_model_one_is_offered_and_remembered(tmp_path: Path, decoder: Path, env: dict[str, str]) -> None:
    with Loopback([Reply(text="Hello.")], models=["gpt-5"]).in_thread() as server:
        configure(tmp_path, f'[providers.openai]\nbaseUrl = "{server.url}/v1"')
        env = {**env, "OPENAI_API_KEY": "test-key-1234"}
        terminal = Terminal(["run", "decoder.py", "say hello"], decoder.parent, env)
        terminal.see("Use openai/gpt-5?")
        terminal.see("number (Enter: no answer)")
        terminal.type("7")
        terminal.see("7 is not one of these numbers")
        terminal.type("1")
        assert terminal.end() == 0
        assert "Hello." in terminal.plain
        again = without_terminal(["run", "decoder.py", "say hello"], decoder.parent, env)
        assert (again.returncode, again.stdout.startswith("Hello.")) == (0, True)
