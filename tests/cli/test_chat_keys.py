"""Keys of the terminal chat as in other programs of a terminal: search of earlier prompts, suspend, the own editor."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.chat_terminal import CTRL_C, CTRL_R, CTRL_X_CTRL_E, CTRL_Z, ENTER, Start, chats
from tests.cli.terminal import environment

pytestmark = pytest.mark.slow  # each test starts a program


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path)


@pytest.fixture
def start(tmp_path: Path, env: dict[str, str]) -> Iterator[Start]:
    folder = tmp_path / "project"
    folder.mkdir()
    with chats(tmp_path, folder, env=env) as start:
        yield start


def test_ctrl_r_finds_an_earlier_prompt_and_ctrl_c_leaves_the_search(start: Start, tmp_path: Path) -> None:
    kept = tmp_path / "state" / "tark"
    kept.mkdir(parents=True)
    (kept / "prompts.history").write_text(
        "\n# one\n+the blue one\n\n# two\n+the red one\n+of two lines\n\n# three\n+green\n"
    )
    terminal = start()
    terminal.send(CTRL_R + "blue")
    terminal.expect("earlier prompts: blue")
    terminal.expect("❯ the blue one")
    terminal.send(CTRL_C)
    terminal.until(lambda: "earlier prompts" not in terminal.shown and "blue" not in terminal.shown)
    terminal.send("my own words" + CTRL_R + "one" + CTRL_R)
    terminal.expect("❯ the blue one")
    terminal.send(ENTER)
    terminal.until(lambda: "earlier prompts" not in terminal.shown)
    assert "You said" not in terminal.shown, "Enter only takes it"
    terminal.send(ENTER)
    terminal.expect("You said: the blue one")


def test_ctrl_x_ctrl_e_edits_the_prompt_and_nothing_is_drawn_over_the_editor(
    start: Start, tmp_path: Path, env: dict[str, str]
) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf "opened ${1##*/}\\n"; read answer; echo "and a line" >> "$1"\n')
    editor.chmod(0o700)
    env["EDITOR"] = str(editor)
    terminal = start()
    terminal.say("talk")
    terminal.expect("This comes in")
    terminal.send("in my editor" + CTRL_X_CTRL_E)
    terminal.expect("opened prompt.md")
    before = terminal.raw
    terminal.rest(1.5)  # the turn goes on, and its clock is drawn every second
    assert terminal.raw == before
    terminal.send("\n")
    terminal.expect("  and a line")
    assert "❯ in my editor" in terminal.shown


def test_ctrl_z_stops_the_chat_but_not_its_turn(start: Start) -> None:
    terminal = start(shell=True)
    terminal.say("talk")
    terminal.expect("This comes in small")
    terminal.send(CTRL_Z)
    terminal.expect("Stopped")
    seen = terminal.shown.rpartition("This comes in small")[2]
    assert "takes a while" not in seen
    terminal.say("sleep 2; echo slept")
    terminal.expect("\nslept")
    terminal.say("fg")
    terminal.until(lambda: "takes a while" in terminal.shown.rpartition("slept")[2], "what waits")
    terminal.until(lambda: "working" in terminal.status, "the status line")
    terminal.expect("end turn")
