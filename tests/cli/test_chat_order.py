"""Typing faster than the server answers: prompts, commands and Ctrl-C take effect in the order of the keys."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.chat_terminal import CTRL_C, CTRL_D, ENTER, Start, chats

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


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    (tmp_path / "project").mkdir()
    (tmp_path / "scenario.toml").write_text(SCENARIO, encoding="utf-8")
    with chats(tmp_path, tmp_path / "project", tmp_path / "scenario.toml") as start:
        yield start


def test_two_prompts_at_once_are_one_conversation(start: Start) -> None:
    terminal = start()
    terminal.send("count" + ENTER + "be steered" + ENTER)
    terminal.expect("sent to the running turn")
    terminal.expect("I was steered.")
    assert "four five six" in terminal.shown, "one answer after the other"
    terminal.expect("end turn")
    terminal.say("/sessions")
    terminal.expect("number of the session to continue")
    assert "  1  " in terminal.shown
    assert "  2  " not in terminal.shown


@pytest.mark.parametrize("prompt", ["count", "/count"], ids=["prompt", "a prompt whose name is looked up"])
def test_ctrl_c_at_once_cancels_what_was_just_sent(start: Start, tmp_path: Path, prompt: str) -> None:
    prompts = tmp_path / "project" / ".tark" / "prompts"
    prompts.mkdir(parents=True)
    (prompts / "count.md").write_text("---\ndescription: Counts\n---\nsays: count\n", encoding="utf-8")
    terminal = start()
    terminal.send(prompt + ENTER + CTRL_C)
    terminal.expect("cancelled")
    assert "again leaves\n" not in terminal.shown
    assert "ten" not in terminal.shown
    terminal.say("still here")
    terminal.expect("You said: still here")


def test_what_is_sent_after_ctrl_c_is_a_turn_of_its_own(start: Start) -> None:
    terminal = start()
    terminal.say("count")
    terminal.expect("one two")
    terminal.send(CTRL_C + "next" + ENTER)
    terminal.expect("You said: next")
    lines = terminal.shown.split("\n")
    assert next(n for n, line in enumerate(lines) if line.startswith("cancelled")) < lines.index("❯ next")
    assert "sent to the running turn" not in terminal.shown


def test_ctrl_c_is_no_first_ctrl_d(start: Start) -> None:
    terminal = start()
    terminal.send(CTRL_C)
    terminal.expect("press Ctrl-C again to leave")
    terminal.say("count")
    terminal.expect("one two")
    terminal.send(CTRL_D)
    terminal.expect("press Ctrl-D again")
    terminal.expect("end turn")
    terminal.send(CTRL_D)
    assert terminal.end() == 0


def test_a_prompt_sent_at_once_after_ctrl_d_makes_it_a_first_one_again(start: Start) -> None:
    terminal = start()
    terminal.say("count")
    terminal.expect("one two")
    terminal.send(CTRL_D + "more" + ENTER)
    terminal.expect("sent to the running turn")
    terminal.send(CTRL_D)
    terminal.expect("press Ctrl-D again", times=2)


def test_a_prompt_waits_for_the_command_before_it(start: Start) -> None:
    terminal = start()
    terminal.send("/model openai/none" + ENTER + "hello" + ENTER)  # no key is set, so the turn fails
    terminal.expect("model: openai/none")
    terminal.expect("error: ")
    assert "You said: hello" not in terminal.shown
    terminal.expect("❯ hello", times=2)


def test_a_command_that_changes_the_session_is_not_refused_for_what_comes_after_it(start: Start) -> None:
    terminal = start()
    terminal.say("first words")
    terminal.expect("end turn")
    terminal.send("/new" + ENTER + "second words" + ENTER)
    terminal.expect("You said: second words")
    terminal.expect("end turn", times=2)
    terminal.say("/sessions")
    terminal.expect("first words · 1 turn")
    terminal.expect("second words · 1 turn")


def test_a_prompt_waits_for_the_session_that_is_taken_up(start: Start) -> None:
    first = start()
    first.say("first words")
    first.expect("You said: first words")
    first.expect("end turn")
    first.leave()
    again = start("--continue")
    again.say("second words")
    again.expect("You said: second words")
    again.expect("end turn")
    again.say("/sessions")
    again.expect("first words · 2 turns")


def test_a_session_that_never_had_a_model_goes_on_with_the_one_of_the_settings(start: Start, tmp_path: Path) -> None:
    config = tmp_path / "config" / "tark" / "config.toml"
    set_up = config.read_text(encoding="utf-8")
    config.write_text("", encoding="utf-8")
    first = start()
    first.say("hello")
    first.expect("error: ", times=2)
    first.until(lambda: first.status.startswith(" no model yet"))
    first.expect("❯ hello", times=2)
    first.send(CTRL_C)  # clears the line, that Ctrl-D leaves
    first.leave()
    config.write_text(set_up, encoding="utf-8")
    again = start("--continue")
    again.expect("❯ hello")
    again.until(lambda: again.status.startswith(" scripted/m · "), "the model")
    again.say("and now")
    again.expect("You said: and now")
    assert "no provider has a key" not in again.shown


def test_words_that_a_cancelled_turn_did_not_read_come_back(start: Start) -> None:
    terminal = start()
    terminal.say("count")
    terminal.expect("one two")
    terminal.say("never mind")
    terminal.expect("sent to the running turn")
    terminal.send(CTRL_C)
    terminal.expect("cancelled")
    terminal.expect("❯ never mind", times=2)


def test_a_narrow_terminal_says_first_how_to_cancel(start: Start) -> None:
    terminal = start(size=(60, 20))
    terminal.say("count")
    terminal.expect("one two")
    terminal.until(lambda: terminal.status.startswith(" working "), "working")
    assert " s, Ctrl-C cancels · scripted/m · build" in terminal.status
    terminal.expect("end turn")
    terminal.until(lambda: terminal.status.startswith(" scripted/m · build · careful"), "idle")


def test_export_refuses_a_format_that_it_does_not_know(start: Start, tmp_path: Path) -> None:
    terminal = start()
    terminal.say("hello")
    terminal.expect("You said: hello")
    terminal.expect("end turn")
    terminal.say("/export pdf")
    terminal.expect("there is no format 'pdf'")
    assert not (tmp_path / "project" / "pdf").exists()
    terminal.say("/export notes.md")
    terminal.expect("written to ")
    assert (tmp_path / "project" / "notes.md").exists()
