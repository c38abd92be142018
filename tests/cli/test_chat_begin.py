"""Problems at the start of the terminal chat: no model, no key, no terminal, a read-only home."""

import subprocess
from pathlib import Path

import pytest

from tests.cli.chat_terminal import READY, SCENARIO, ChatTerminal
from tests.cli.terminal import configure, environment, without_terminal

pytestmark = pytest.mark.slow  # each test starts a program

MODEL = f'model = "scripted/m"\n[providers.scripted]\nscenario = "{SCENARIO}"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.txt").write_text("one\n", encoding="utf-8")
    return tmp_path / "project"


def piped(
    arguments: list[str], prompt: str, folder: Path, env: dict[str, str], *, fresh: bool = False
) -> "subprocess.CompletedProcess[str]":
    return without_terminal(["chat", *arguments], folder, env, prompt, fresh=fresh)


@pytest.mark.parametrize(
    ("toml", "arguments", "words", "fix"),
    [
        ('model = "x', [], "no model is set, and no provider has a key", "tark-lsp login PROVIDER"),
        ("", ["--model", "anthropic/claude-x"], "anthropic/claude-x has no usable key", "ANTHROPIC_API_KEY"),
    ],
    ids=["no model, and settings that cannot be read", "no key"],
)
def test_what_is_missing_is_said_first_and_the_prompt_is_not_lost(
    tmp_path: Path, folder: Path, toml: str, arguments: list[str], words: str, fix: str
) -> None:
    configure(tmp_path, toml)
    terminal = ChatTerminal(arguments, folder, environment(tmp_path))
    try:
        terminal.expect(words)
        terminal.expect(fix)
        terminal.say("my long prompt")
        terminal.expect("error: ", times=2)
        terminal.until(lambda: terminal.shown.count("❯ my long prompt") == 2, "the prompt, to be sent again")
        assert "Traceback" not in terminal.shown
        assert "".join(terminal.shown.split()).count("cannotbereadasTOML") == (toml != "")  # it can be on two lines
    finally:
        terminal.close()


def test_what_is_typed_before_it_is_ready_is_sent(tmp_path: Path, folder: Path) -> None:
    """Until the program has the terminal, the terminal makes a line feed of Enter."""
    configure(tmp_path, MODEL)
    terminal = ChatTerminal([], folder, environment(tmp_path), fresh=True)
    try:
        terminal.say("hello there")
        terminal.expect("You said: hello there")
        terminal.send("one\ntwo")  # Ctrl-J
        terminal.expect("❯ one")
        terminal.say("")
        terminal.expect("You said: one")
        assert "You said: two" not in terminal.shown
    finally:
        terminal.close()


def test_a_pipe_is_answered_plainly_and_goes_on(tmp_path: Path, folder: Path) -> None:
    configure(tmp_path, MODEL)
    env = environment(tmp_path)
    done = piped([], "hello there\n", folder, env, fresh=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "You said: hello there" in done.stdout
    assert "\x1b" not in done.stdout
    again = piped(["--continue"], "more", folder, env)
    assert again.returncode == 0
    second = piped([], "other words", folder, env)
    assert second.returncode == 0
    by_title = piped(["--resume", "HELLO"], "even more", folder, env)
    assert by_title.returncode == 0
    several = piped(["--resume", "session-"], "whose?", folder, env)
    assert (several.returncode, "matches several sessions" in several.stdout) == (1, True)
    listed = piped(["--resume", "session-nonsense"], "more", folder, env)
    assert (listed.returncode, "there is no session 'session-nonsense'" in listed.stdout) == (1, True)


def test_a_pipe_is_refused_what_must_be_asked(tmp_path: Path, folder: Path) -> None:
    configure(tmp_path, MODEL)
    done = piped([], "change it", folder, environment(tmp_path))
    assert "refused: this is not a terminal" in done.stdout
    assert (folder / "a.txt").read_text() == "one\n"


@pytest.mark.parametrize(
    ("prompt", "words"), [("", "no prompt"), ("  \n", "no prompt"), ("x" * 200_000, "longer than 100,000 characters")]
)
def test_a_pipe_without_a_prompt_that_can_be_sent(tmp_path: Path, folder: Path, prompt: str, words: str) -> None:
    configure(tmp_path, MODEL)
    done = piped([], prompt, folder, environment(tmp_path))
    assert (done.returncode, words in done.stdout) == (1, True)


def test_a_state_folder_that_cannot_be_made(tmp_path: Path, folder: Path) -> None:
    configure(tmp_path, MODEL)
    (tmp_path / "state").write_text("a file is in the way")
    terminal = ChatTerminal([], folder, environment(tmp_path))
    try:
        terminal.expect(READY)
        terminal.say("hello")
        terminal.expect("You said: hello")
        assert "earlier prompts are not stored" in terminal.shown
    finally:
        terminal.close()
