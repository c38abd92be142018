"""Sessions in the terminal chat: resumed after everything, listed, renamed, copied, deleted, written to a file."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.chat_terminal import CTRL_C, ENTER, Start, chats

pytestmark = pytest.mark.slow  # each test starts programs


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    return tmp_path / "project"


@pytest.fixture
def start(tmp_path: Path, folder: Path) -> Iterator[Start]:
    with chats(tmp_path, folder) as start:
        yield start


def test_it_goes_on_after_it_was_left(start: Start) -> None:
    first = start()
    first.say("the first words")
    first.expect("You said: the first words")
    first.expect("end turn")
    first.send("\x04")
    assert first.end() == 0
    found = re.search(r"tark-lsp chat --resume (session-\w+) continues", first.shown)
    assert found
    for arguments in (
        ["--continue"],
        ["--resume", found[1]],
        ["--resume", found[1][8:14]],
        ["--resume", "FIRST words"],
    ):
        again = start(*arguments)
        again.expect("You said: the first words")
        assert "❯ the first words" in again.shown
        again.close()


def test_without_a_session_there_is_a_word(start: Start) -> None:
    terminal = start("--continue")
    terminal.expect("no session in this folder yet: this is a new one")
    terminal.say("/resume nonsense")
    terminal.expect("there is no session 'nonsense'")


def test_after_the_terminal_is_killed_in_the_middle(start: Start) -> None:
    first = start()
    first.say("say one thing")
    first.expect("end turn")
    first.say("talk")
    first.expect("This comes in small")
    first.kill()
    again = start("--continue")
    again.expect("You said: say one thing")
    again.expect("❯ talk")
    again.expect("This comes in")
    again.say("and now")
    again.expect("You said: and now")


def test_after_the_server_is_killed_in_the_middle(start: Start) -> None:
    terminal = start(fresh=True)
    terminal.say("say one thing")
    terminal.expect("end turn")
    terminal.say("talk")
    terminal.expect("This comes in small")
    terminal.kill(terminal.server())
    terminal.expect("error: the server ended unexpectedly")
    terminal.expect("your next prompt or command restarts it")
    terminal.until(lambda: "working" not in terminal.status)
    terminal.say("and now")
    terminal.expect("You said: and now")
    terminal.expect("end turn", times=2)
    terminal.say("/sessions")
    terminal.expect("say one thing · 3 turns")


def test_a_server_killed_while_it_asks(start: Start, folder: Path) -> None:
    terminal = start()
    terminal.say("change it")
    terminal.expect("Apply? [y]es")
    terminal.rest()
    terminal.kill(terminal.server())
    terminal.expect("the server ended unexpectedly")
    terminal.rest()
    terminal.say("still here")
    terminal.expect("end turn")
    assert "was interrupted" not in terminal.shown, "what ended is said once"
    assert (folder / "a.txt").read_text() == "one\ntwo\n"


def test_list_pick_rename_copy_and_delete(start: Start) -> None:
    terminal = start()
    terminal.say("first")
    terminal.expect("You said: first")
    terminal.expect("end turn")
    terminal.say("/rename A good name")
    terminal.expect("the title of this session is now A good name")
    terminal.say("/fork A copy")
    terminal.expect("this is a copy")
    terminal.say("/new")
    terminal.expect("a new session: it starts with your next prompt")
    terminal.say("second")
    terminal.expect("You said: second")
    terminal.expect("end turn", times=2)
    terminal.say("/sessions")
    terminal.expect("number of the session to continue")
    assert "A copy · 1 turn" in terminal.shown
    row = next(line for line in terminal.shown.split("\n") if "A good name · 1 turn" in line)
    terminal.answer("number of the session to continue", row.split()[0])
    terminal.expect("session: A good name")
    terminal.expect("You said: first", times=2)
    terminal.say("/delete A copy")
    terminal.answer("Type yes:", "y")
    terminal.expect("not deleted")
    terminal.say("/delete A copy")
    terminal.answer("Type yes:", "yes", times=2)
    terminal.expect("deleted", times=2)
    terminal.say("/resume copy")
    terminal.expect("there is no session 'copy'")


def test_what_must_wait_for_the_turn_says_so(start: Start) -> None:
    terminal = start()
    terminal.say("talk")
    terminal.expect("This comes in")
    terminal.say("/new")
    terminal.expect("/new cannot run during a turn")
    terminal.send(CTRL_C)
    terminal.expect("cancelled")


def test_export_context_and_usage(start: Start, folder: Path) -> None:
    terminal = start()
    terminal.say("first")
    terminal.expect("You said: first")
    terminal.expect("end turn")
    terminal.say("/export markdown out.md")
    terminal.expect("written to ")
    assert "You said: first" in (folder / "out.md").read_text(encoding="utf-8")
    terminal.say("/context")
    terminal.expect("tokens in the next prompt")
    terminal.say("/usage")
    terminal.expect("scripted/m")


def test_a_session_that_is_open_elsewhere_can_be_read_and_copied(start: Start) -> None:
    first = start()
    first.say("mine")
    first.expect("You said: mine")
    first.expect("end turn")
    second = start("--continue")
    second.expect("You said: mine")
    second.expect("has this session open: you can read it, or /fork it")
    second.say("let me in")
    second.expect("this session is open in another process")
    second.expect("❯ let me in")
    second.send(CTRL_C)
    second.say("/fork")
    second.expect("this is a copy")
    second.say("now then")
    second.expect("You said: now then")
    first.send("still" + ENTER)
    first.expect("You said: still")


def test_undo_redo_and_back_to_an_earlier_prompt(start: Start, folder: Path) -> None:
    terminal = start()
    terminal.say("the first words")
    terminal.expect("end turn")
    terminal.say("change it")
    terminal.answer("Apply?", "y")
    terminal.expect("a.txt applied")
    terminal.expect("end turn", times=2)
    terminal.say("/undo")
    terminal.expect("restored  a.txt")
    assert (folder / "a.txt").read_text() == "one\ntwo\n"
    terminal.say("/redo")
    terminal.expect("redone    a.txt")
    assert (folder / "a.txt").read_text() == "ONE\ntwo\n"
    terminal.say("/redo")
    terminal.expect("the last turn has nothing to redo")
    terminal.say("more words")
    terminal.expect("end turn", times=3)
    terminal.say("/undo")
    terminal.expect("the last turn changed no file, or is undone already")
    terminal.expect("  1  change it  (a.txt)")
    terminal.answer("number of the turn to undo (Enter: none):", "1")
    terminal.expect("restored  a.txt", times=2)
    assert (folder / "a.txt").read_text() == "one\ntwo\n"
    terminal.say("/redo")
    terminal.expect("redone    a.txt", times=2)
    terminal.say("/restore")
    terminal.expect("1  the first words")
    terminal.answer("number of the prompt to go back to", "2")
    terminal.answer("Undo these changes too?", "y")
    terminal.expect("the original session is unchanged")
    assert (folder / "a.txt").read_text() == "one\ntwo\n"
    terminal.until(lambda: any("❯ change it" in line for line in terminal.screen[-8:]))
    terminal.send(ENTER)
    terminal.answer("Apply?", "y")
    terminal.expect("a.txt applied")


def test_a_plan_is_approved(start: Start) -> None:
    terminal = start("--mode", "plan")
    terminal.say("say one thing")
    terminal.expect("end turn")
    terminal.say("/approve")
    terminal.expect("❯ I approve the plan. Carry it out.")
    terminal.expect("You said: I approve the plan.")
    terminal.expect("end turn", times=2)
    terminal.until(lambda: "build" in terminal.status, "the status line")
    terminal.say("/approve")
    terminal.expect("the mode is not plan")
