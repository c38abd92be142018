"""The terminal chat beside other programs: search of earlier prompts, suspend, the own editor, own commands."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tark_lsp.cli.chatting.own_command import MAX_OFFERED, offered_text
from tests.cli.chat_terminal import CTRL_C, CTRL_R, CTRL_V, CTRL_X_CTRL_E, CTRL_Z, ENTER, Start, chats
from tests.cli.terminal import environment
from tests.context.test_images import png
from tests.loopback import Loopback

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


def test_an_own_command_runs_and_its_output_is_sent_only_if_you_say_so(start: Start, env: dict[str, str]) -> None:
    env["SERVICE_TOKEN"] = "correct-horse-battery"
    env["SHELL"] = "/bin/sh"
    terminal = start()
    terminal.say(r"!printf 'the token is %s, a\033[2Jb\n' $SERVICE_TOKEN; pwd; false")
    terminal.expect(r"the token is correct-horse-battery, a\u{1b}[2Jb")
    terminal.expect("exit 1 · ")
    terminal.answer("Add this output to your next prompt (2 lines, keys masked)? [y]es, [n]o:", "n")
    terminal.say("hello")
    terminal.expect("You said: hello")
    terminal.expect("end turn")
    assert "the token is" not in terminal.shown.rpartition("You said: hello")[2]
    terminal.say("!echo the token is $SERVICE_TOKEN")
    terminal.answer("(1 line, keys masked)? [y]es, [n]o:", "y")
    terminal.until(lambda: terminal.status.startswith(" + 1 for your next prompt"))
    terminal.say("what came out")
    terminal.expect("It was sent:")
    terminal.expect("end turn", times=2)
    sent = terminal.shown.rpartition("It was sent:")[2]
    assert "the token is ***" in sent
    assert "battery" not in sent
    assert "for your next prompt" not in terminal.status
    terminal.say("!(trap '' INT; exec sleep 60) & echo waiting; wait")  # one of two does not end with Ctrl-C
    terminal.expect("waiting", times=2)
    terminal.send(CTRL_C)
    terminal.expect("signal 2")


def test_an_image_from_the_clipboard_goes_with_the_next_prompt(
    start: Start, tmp_path: Path, env: dict[str, str]
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    env["PATH"] = f"{programs}:{env['PATH']}"
    terminal = start()
    terminal.send(CTRL_V)
    terminal.expect("install wl-paste (Wayland), xclip (X11) or pngpaste (macOS)")
    (tmp_path / "shot.png").write_bytes(png())
    for name, line in (("wl-paste", "exit 1"), ("xclip", f"cat {tmp_path}/shot.png")):
        (programs / name).write_text(f"#!/bin/sh\n{line}\n")
        (programs / name).chmod(0o700)
    terminal.send(CTRL_V)
    terminal.expect("the image from the clipboard goes with your next prompt")
    terminal.until(lambda: terminal.status.startswith(" + 1 for your next prompt, Ctrl-C drops it"))
    terminal.send(CTRL_C)
    terminal.until(lambda: "for your next prompt" not in terminal.status)
    terminal.send(CTRL_V)
    terminal.until(lambda: terminal.status.startswith(" + 1 for your next prompt"))
    terminal.say("what is it")
    terminal.expect("end turn")
    assert "+ 1" not in terminal.status
    terminal.leave()
    start("--continue").expect("[1 image]")


def test_models_are_listed_filtered_and_picked(start: Start, tmp_path: Path, env: dict[str, str]) -> None:
    env["OPENAI_API_KEY"] = "not-a-key"
    names = ["gpt-5.1", "gpt-5.1-mini", "gpt-4o"]
    with Loopback([], models=names).in_thread() as server:
        with (tmp_path / "config" / "tark" / "config.toml").open("a") as config:
            config.write(f'[providers.openai]\nbaseUrl = "{server.url}/v1"\n')
        terminal = start()
        terminal.say("/model openai gpt")
        terminal.expect("openai/gpt-4o")
        terminal.answer("number, or a part of a name (Enter: no change):", "5.1")
        terminal.expect("openai/gpt-5.1-mini", times=2)
        terminal.answer("(Enter: no change):", "2", times=2)
        terminal.expect("model: openai/gpt-5.1-mini")
        terminal.say("/model gpt-4o")
        terminal.expect("model: openai/gpt-4o")
        terminal.say("/model")
        terminal.until(lambda: any("* openai/gpt-4o" in line for line in terminal.screen), "the current one is marked")
        terminal.answer("(Enter: no change):", "", times=3)
        terminal.say("/model openai/gpt-5.1-mino")
        terminal.expect("openai lists no model gpt-5.1-mino")
        terminal.expect("use openai/gpt-5.1-mino anyway")
        terminal.answer("(Enter: no change):", "3", times=4)
        terminal.expect("model: openai/gpt-5.1-mino")
        terminal.say("/model nobody/gpt")
        terminal.expect("there is no provider 'nobody'")
        terminal.leave()
        with pytest.raises(AssertionError, match=r"did you mean openai/gpt-5\.1"):
            start("--model", "openai/gpt-5.2")  # it ends at once


def test_no_color_is_complete(start: Start, env: dict[str, str]) -> None:
    env["NO_COLOR"] = "1"
    terminal = start()
    terminal.say("draw")
    terminal.expect("end turn")
    terminal.send("/he")
    terminal.expect("this list")
    terminal.send(CTRL_C)
    terminal.say("be evil")
    terminal.expect("end turn", times=2)
    styles = {code for found in re.findall(rb"\x1b\[([0-9;]*)m", terminal.raw) for code in found.split(b";")}
    colours = [code for code in styles if code.isdigit() and 30 <= int(code) <= 107 and code != b"39"]
    assert not colours


def test_of_a_long_output_whole_last_lines_are_offered() -> None:
    lines = [f"{number:05}" for number in range(10_000)]
    text = offered_text(lines, ("00001",))
    head, *kept = text.split("\n")
    assert head == "[5,000 lines before these are left out]"
    assert kept == lines[5_000:]
    assert offered_text(["a", "x" * MAX_OFFERED], ()) == "[2 lines before these are left out]\n"
    assert offered_text(["a key", "b"], ("key",)) == "a ***\nb"
