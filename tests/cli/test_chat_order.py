"""What is typed faster than the server answers: prompts, commands and Ctrl-C take effect in the order of their keys."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.chat_terminal import CTRL_C, CTRL_D, ENTER, ChatTerminal
from tests.cli.terminal import configure, environment
from tests.cli.test_chat import READY

pytestmark = pytest.mark.slow  # each test starts a program

SCENARIO = """\
wire = "anthropic-messages"

[[reply]]
when = 'says:\\s+count'
text = "one two three four five six seven eight nine ten"
chunk = 1
delay_ms = 60

[[reply]]
when = 'steered'
text = "I was steered."

[[reply]]
when = '(?s)says:\\s+(?P<words>.*)'
text = 'You said: \\g<words>'
"""
Start = Callable[..., ChatTerminal]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    (tmp_path / "project").mkdir()
    (tmp_path / "scenario.toml").write_text(SCENARIO, encoding="utf-8")
    configure(tmp_path, f'model = "scripted/m"\n[providers.scripted]\nscenario = "{tmp_path}/scenario.toml"\n')
    started: list[ChatTerminal] = []

    def run(*arguments: str, size: tuple[int, int] = (120, 36)) -> ChatTerminal:
        terminal = ChatTerminal(arguments, tmp_path / "project", environment(tmp_path), size)
        started.append(terminal)
        terminal.see(READY)
        return terminal

    yield run
    for each in started:
        each.close()


def test_two_prompts_at_once_are_one_conversation(start: Start) -> None:
    terminal = start()
    terminal.send("count" + ENTER + "be steered" + ENTER)
    terminal.see("told to the running turn")
    terminal.see("I was steered.")
    assert "four five six" in terminal.shown, "one answer after the other"
    terminal.see("end turn")
    terminal.say("/sessions")
    terminal.see("number to go on with")
    assert "  1  " in terminal.shown
    assert "  2  " not in terminal.shown


@pytest.mark.parametrize("prompt", ["count", "/count"], ids=["prompt", "a prompt whose name is looked up"])
def test_ctrl_c_at_once_cancels_what_was_just_sent(start: Start, tmp_path: Path, prompt: str) -> None:
    prompts = tmp_path / "project" / ".tark" / "prompts"
    prompts.mkdir(parents=True)
    (prompts / "count.md").write_text("---\ndescription: Counts\n---\nsays: count\n", encoding="utf-8")
    terminal = start()
    terminal.send(prompt + ENTER + CTRL_C)
    terminal.see("cancelled")
    assert "again leaves\n" not in terminal.shown
    assert "ten" not in terminal.shown
    terminal.say("still here")
    terminal.see("You said: still here")


def test_what_is_sent_after_ctrl_c_is_a_turn_of_its_own(start: Start) -> None:
    terminal = start()
    terminal.say("count")
    terminal.see("one two")
    terminal.send(CTRL_C + "next" + ENTER)
    terminal.see("You said: next")
    lines = terminal.shown.split("\n")
    assert next(n for n, line in enumerate(lines) if line.startswith("cancelled")) < lines.index("❯ next")
    assert "told to the running turn" not in terminal.shown


def test_ctrl_c_is_no_first_ctrl_d(start: Start) -> None:
    terminal = start()
    terminal.send(CTRL_C)
    terminal.see("Ctrl-C again leaves")
    terminal.say("count")
    terminal.see("one two")
    terminal.send(CTRL_D)
    terminal.see("Ctrl-D again leaves")
    terminal.see("end turn")
    terminal.send(CTRL_D)
    assert terminal.end() == 0


def test_a_prompt_sent_at_once_after_ctrl_d_makes_it_a_first_one_again(start: Start) -> None:
    terminal = start()
    terminal.say("count")
    terminal.see("one two")
    terminal.send(CTRL_D + "more" + ENTER)
    terminal.see("told to the running turn")
    terminal.send(CTRL_D)
    terminal.see("Ctrl-D again leaves", times=2)


def test_a_prompt_waits_for_the_command_before_it(start: Start) -> None:
    terminal = start()
    terminal.send("/model none/such" + ENTER + "hello" + ENTER)
    terminal.see("model: none/such")
    terminal.see("error: ")
    assert "You said: hello" not in terminal.shown
    terminal.see("❯ hello", times=2)


def test_a_command_that_changes_the_session_is_not_refused_for_what_comes_after_it(start: Start) -> None:
    terminal = start()
    terminal.say("first words")
    terminal.see("end turn")
    terminal.send("/new" + ENTER + "second words" + ENTER)
    terminal.see("You said: second words")
    terminal.see("end turn", times=2)
    terminal.say("/sessions")
    terminal.see("first words · 1 turn")
    terminal.see("second words · 1 turn")


def test_a_prompt_waits_for_the_session_that_is_taken_up(start: Start) -> None:
    first = start()
    first.say("first words")
    first.see("You said: first words")
    first.see("end turn")
    first.leave()
    again = start("--continue")
    again.say("second words")
    again.see("You said: second words")
    again.see("end turn")
    again.say("/sessions")
    again.see("first words · 2 turns")


def test_a_session_that_never_had_a_model_goes_on_with_the_one_of_the_settings(start: Start, tmp_path: Path) -> None:
    config = tmp_path / "config" / "tark" / "config.toml"
    set_up = config.read_text(encoding="utf-8")
    config.write_text("", encoding="utf-8")
    first = start()
    first.say("hello")
    first.see("error: ", times=2)
    first.until(lambda: first.status.startswith(" no model yet"))
    first.see("❯ hello", times=2)
    first.send(CTRL_C)  # clears the line, that Ctrl-D leaves
    first.leave()
    config.write_text(set_up, encoding="utf-8")
    again = start("--continue")
    again.see("❯ hello")
    again.until(lambda: again.status.startswith(" scripted/m · "), "the model")
    again.say("and now")
    again.see("You said: and now")
    assert "no provider has a key" not in again.shown


def test_words_that_a_cancelled_turn_did_not_read_come_back(start: Start) -> None:
    terminal = start()
    terminal.say("count")
    terminal.see("one two")
    terminal.say("never mind")
    terminal.see("told to the running turn")
    terminal.send(CTRL_C)
    terminal.see("cancelled")
    terminal.see("❯ never mind", times=2)


def test_a_narrow_terminal_says_first_how_to_cancel(start: Start) -> None:
    terminal = start(size=(60, 20))
    terminal.say("count")
    terminal.see("one two")
    terminal.until(lambda: terminal.status.startswith(" working "), "working")
    assert " s, Ctrl-C cancels · scripted/m · build" in terminal.status
    terminal.see("end turn")
    terminal.until(lambda: terminal.status.startswith(" scripted/m · build · careful"), "idle")


def test_export_refuses_a_format_that_it_does_not_know(start: Start, tmp_path: Path) -> None:
    terminal = start()
    terminal.say("hello")
    terminal.see("You said: hello")
    terminal.see("end turn")
    terminal.say("/export pdf")
    terminal.see("there is no format 'pdf'")
    assert not (tmp_path / "project" / "pdf").exists()
    terminal.say("/export notes.md")
    terminal.see("written: ")
    assert (tmp_path / "project" / "notes.md").exists()
