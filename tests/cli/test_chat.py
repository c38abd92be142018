"""`tark-lsp chat` as a person uses it, in a real terminal with a screen."""

import stat
import time
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tark_lsp.cli.chatting.question_prompt import QUIET_SECONDS
from tests.cli.chat_terminal import ALT_ENTER, CTRL_C, CTRL_D, ENTER, SCENARIO, TAB, UP, ChatTerminal, Start, chats
from tests.cli.terminal import environment

pytestmark = pytest.mark.slow  # each test starts a program

APPLY = "Apply? [y]es, [n]o"
PAUSED = "the machine paused while keys were typed, and a key after a pause is an answer"
WHOLE = next(
    reply["text"] for reply in tomllib.loads(SCENARIO.read_text())["reply"] if "talk" in reply.get("when", "")[-5:]
)


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    lines = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    (folder / "a.txt").write_text("\n".join([*lines, ""]), encoding="utf-8")
    (folder / "b c.txt").write_text("b\n", encoding="utf-8")
    return folder


@pytest.fixture
def start(tmp_path: Path, folder: Path, env: dict[str, str]) -> Iterator[Start]:
    with chats(tmp_path, folder, env=env) as start:
        yield start


def test_the_main_job(start: Start, folder: Path) -> None:
    terminal = start(fresh=True)
    terminal.say("change it")
    terminal.expect(APPLY)
    for words in ("❯ change it", "One word will do.", "I change one word.", "-one", "+ONE"):
        assert words in terminal.shown
    assert b"48;5;22m+" in terminal.raw, "the diff is coloured"
    assert (folder / "a.txt").read_text().startswith("one\n")
    terminal.answer(APPLY, "y")
    terminal.expect("a.txt applied")
    assert (folder / "a.txt").read_text().startswith("ONE\ntwo\n")
    assert ", this turn, [h]unk by hunk, [?]: y" in terminal.shown
    assert "✓ edit_file a.txt" in terminal.shown
    assert "The edit is in place." in terminal.shown
    terminal.until(lambda: "working" not in terminal.status)
    assert terminal.status.startswith(" scripted/m · build · careful · context ")
    terminal.say("/undo")
    terminal.expect("restored  a.txt")
    assert (folder / "a.txt").read_text().startswith("one\ntwo\n")
    terminal.leave()


@pytest.mark.parametrize("columns", [31, 44, 53, 60])
def test_a_question_is_cut_between_words(start: Start, columns: int) -> None:
    terminal = start(size=(columns, 30))
    terminal.say("change it")
    terminal.expect("[?]:")
    rows = [line for line in terminal.screen if line]
    asked = next(number for number, line in enumerate(rows) if line.startswith("Apply?"))
    words = " ".join(rows[asked:]).split()
    assert {"[y]es,", "[n]o,", "[a]ll", "edits", "turn,", "[h]unk", "hunk,", "[?]:"} <= set(words)


def test_hunk_by_hunk(start: Start, folder: Path) -> None:
    terminal = start()
    terminal.say("change both")
    terminal.answer(APPLY, "h")
    terminal.answer("This hunk (1 of 2)?", "n")
    terminal.answer("This hunk (2 of 2)?", "y")
    terminal.expect("a.txt partly")
    text = (folder / "a.txt").read_text()
    assert ("ONE" in text, "NINE" in text) == (False, True)


class Typing:
    """Presses a key again and again. `paused`: a busy machine made a pause, and a key after a pause is an answer."""

    def __init__(self, terminal: ChatTerminal, key: str) -> None:
        self._terminal, self._key = terminal, key
        self._typed = [time.monotonic()]

    def press(self) -> None:
        self._terminal.send(self._key)
        self._typed.append(time.monotonic())
        self._terminal.rest(0.1)

    @property
    def paused(self) -> bool:
        times = [*self._typed, time.monotonic()]
        return max(after - before for before, after in pairwise(times)) >= QUIET_SECONDS


def test_what_is_typed_ahead_answers_nothing(start: Start, folder: Path) -> None:
    before = (folder / "a.txt").read_text()
    terminal = start()
    terminal.say("first talk, then change it")
    terminal.expect("It comes in small pieces")
    asked = "a question waits"

    typing = Typing(terminal, "y")

    def is_asked_while_keys_are_typed() -> bool:
        typing.press()
        return asked in terminal.shown or typing.paused

    terminal.until(is_asked_while_keys_are_typed, asked)
    for _ in range(10):  # goes on typing, with the question there
        typing.press()
    if typing.paused:
        pytest.skip(PAUSED)
    assert APPLY not in terminal.shown
    terminal.expect(APPLY)
    terminal.send("y")  # sent 0.3 s after the question was drawn, or earlier
    terminal.rest(0.1)
    too_early = "this key came too early" in terminal.shown
    terminal.rest()
    assert (folder / "a.txt").read_text() == (before if too_early else before.replace("one", "ONE"))
    terminal.send("y")
    terminal.expect("a.txt applied")
    terminal.until(lambda: terminal.shown.rstrip().split("\n")[-2].startswith("❯ yyy"), "the draft again")


def test_enter_a_wrong_key_and_a_paste_decide_nothing_and_r_asks_for_a_reason(start: Start, folder: Path) -> None:
    before = (folder / "a.txt").read_text()
    terminal = start()
    terminal.say("change it")
    terminal.expect(APPLY)
    for keys in (ENTER, "x", "\x1b[200~y\x1b[201~", UP):
        terminal.rest()
        terminal.send(keys)
    terminal.expect("press one of these keys: y n r a h ?")
    terminal.rest()
    terminal.send("?")
    terminal.expect("  y  apply what is shown above, once")
    assert (folder / "a.txt").read_text() == before
    terminal.expect(APPLY, times=2)
    terminal.rest()
    terminal.send("r")
    terminal.expect("why not (Enter: no reason):")
    terminal.say("it must stay")
    terminal.expect("Then not.")
    assert "why not (Enter: no reason): it must stay" in terminal.shown
    assert (folder / "a.txt").read_text() == before


def test_what_follows_an_answer_at_once_is_no_prompt(start: Start) -> None:
    terminal = start()
    terminal.say("change it")
    terminal.expect(APPLY)
    terminal.rest()
    terminal.send("n" + "and why" + ENTER)
    terminal.expect("Then not.")
    assert "and why" not in terminal.shown


@pytest.mark.parametrize(
    "pause",
    [
        pytest.param(0.0, id="at once", marks=pytest.mark.exhaustive),
        pytest.param(0.2, id="while keys are dropped"),
        pytest.param(0.45, id="after that", marks=pytest.mark.exhaustive),
    ],
)
def test_what_is_typed_ahead_does_not_answer_the_next_question(start: Start, folder: Path, pause: float) -> None:
    terminal = start()
    terminal.say("run two")
    terminal.expect("Allow? [y]es, [n]o")
    terminal.rest()
    terminal.say("n")
    terminal.rest(pause)
    terminal.say("y")
    terminal.expect("Allow? [y]es, [n]o", times=2)
    terminal.rest()
    assert not (folder / "second.txt").exists()
    terminal.answer("Allow? [y]es, [n]o", "n", times=2)
    terminal.expect("end turn")
    assert not (folder / "second.txt").exists()


def test_what_is_typed_right_behind_a_prompt_answers_nothing(start: Start, folder: Path) -> None:
    terminal = start()
    terminal.say("run it")
    typing = Typing(terminal, "y" + ENTER)
    for _ in range(16):
        typing.press()
    if typing.paused:
        pytest.skip(PAUSED)
    assert not (folder / "ran.txt").exists()
    terminal.expect("Allow? [y]es, [n]o")
    terminal.send(CTRL_C)
    terminal.expect("cancelled")
    assert not (folder / "ran.txt").exists()


def test_a_permission_with_ctrl_c_runs_nothing(start: Start, folder: Path) -> None:
    terminal = start()
    terminal.say("run it")
    terminal.expect("Allow? [y]es, [n]o")
    assert "touch ran.txt" in terminal.shown
    terminal.rest()
    terminal.send(CTRL_C)
    terminal.expect("cancelled")
    terminal.rest()
    assert not (folder / "ran.txt").exists()
    assert "the answer is no longer needed" in terminal.shown


def test_a_command_that_is_allowed_runs(start: Start, folder: Path) -> None:
    terminal = start()
    terminal.say("run it")
    terminal.answer("Allow? [y]es, [n]o", "y")
    terminal.expect("The command is over.")
    assert (folder / "ran.txt").exists()


def test_ctrl_c_cancels_and_keeps_what_is_typed_and_twice_leaves(start: Start) -> None:
    terminal = start()
    terminal.say("talk")
    terminal.expect("This comes in small")
    terminal.send("my next words")
    terminal.expect("❯ my next words")
    terminal.send(CTRL_C)
    terminal.expect("cancelled")
    assert "❯ my next words" in terminal.shown
    terminal.send(CTRL_C)
    terminal.until(lambda: "❯ my next words" not in terminal.shown)
    terminal.send(CTRL_C + CTRL_C)
    assert terminal.end() == 0


def test_steering(start: Start) -> None:
    terminal = start()
    terminal.say("talk")
    terminal.expect("This comes in")
    terminal.say("be steered")
    terminal.expect("sent to the running turn")
    terminal.expect("I was steered.")
    terminal.expect("end turn")
    assert terminal.shown.count("end turn") == 1


def test_calls_in_parallel_and_a_failure(start: Start) -> None:
    terminal = start()
    terminal.say("read three")
    terminal.expect("All are read.")
    for words in ("✓ read_file a.txt", "✓ read_file b c.txt", "✗ read_file nothing.txt: failed"):
        assert words in terminal.shown


@pytest.mark.parametrize(("typed", "answer"), [("2", "Chosen: green"), ("blue", "Answer: blue")])
def test_a_question_of_the_model(start: Start, typed: str, answer: str) -> None:
    terminal = start()
    terminal.say("ask me")
    terminal.expect("Which colour?")
    terminal.answer("number, or your own words", typed)
    terminal.expect(answer)


def test_markdown_is_drawn(start: Start) -> None:
    terminal = start()
    terminal.say("draw")
    terminal.expect("end turn")
    for words in ("Head", "A link (http://there.example) and words.", " • one", " x = 1"):
        assert words in terminal.shown
    for marks in ("```", "# Head", "- one", "*words*"):
        assert marks not in terminal.shown


def test_a_model_cannot_steer_the_terminal(start: Start) -> None:
    terminal = start()
    terminal.say("be evil")
    terminal.expect("end turn")
    assert (
        "a\\u{1b}[2J\\u{1b}]0;title\\u{7}\\u{1b}]8;;http://b\\u{7}good (http://evil.example)\\u{202e} &#27;[31m"
        in terminal.shown
    )
    assert "\\u{1b}[31mred" in terminal.shown
    for sequence in (b"\x1b[2J", b"\x1b]0;title", b"\x1b]8;;", "\u202e".encode()):
        assert sequence not in terminal.raw


def test_slash_commands_and_their_completion(start: Start) -> None:
    terminal = start()
    terminal.say("/help")
    terminal.expect("/approval [LEVEL]")
    terminal.send("/mo")
    terminal.expect("list the models", times=2)
    terminal.send("de pl")
    terminal.expect("proposes edits")
    terminal.send(TAB + ENTER + ENTER)
    terminal.expect("mode: plan (proposes edits")
    terminal.until(lambda: " · plan · " in terminal.status, "the status line")
    terminal.say("/mode nonsense")
    terminal.expect("mode cannot be 'nonsense'")
    terminal.say("/rename x")
    terminal.expect("this session has not started yet")
    terminal.say("/rezume x")
    terminal.expect("there is no command or prompt /rezume")
    terminal.expect("did you mean /resume?")
    terminal.expect("❯ /rezume x")
    terminal.send(CTRL_C)
    terminal.say("/nosrv:hello x")
    terminal.expect("there is no MCP server nosrv")
    terminal.expect("❯ /nosrv:hello x")
    terminal.send(CTRL_C)
    terminal.say("/etc/hosts is a file")
    terminal.expect("You said: /etc/hosts is a file")
    terminal.expect("end turn")
    terminal.say("/model none/such")
    terminal.expect("there is no provider 'none'")


def test_mode_plan_asks_in_the_end_and_diff_asks_again(start: Start, folder: Path) -> None:
    terminal = start("--mode", "plan")
    terminal.say("/diff")
    terminal.expect("no changes wait for your decision")
    terminal.say("plan it")
    terminal.expect("This hunk (1 of 1)?")
    assert "That is my plan." in terminal.shown
    terminal.rest()
    terminal.send(CTRL_D)
    terminal.expect("not decided: nothing is written")
    assert (folder / "a.txt").read_text().startswith("one\n")
    terminal.rest()
    terminal.say("/diff")
    terminal.answer("This hunk (1 of 1)?", "y", times=2)
    terminal.expect("1 of 1 hunks applied")
    assert (folder / "a.txt").read_text().startswith("ONE\n")


def test_a_hunk_is_edited_in_the_persons_editor(
    start: Start, folder: Path, tmp_path: Path, env: dict[str, str]
) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf "opened\\n"; read answer; sed -i "s/ONE/MINE/" "$1"\n')
    editor.chmod(0o700)
    env["EDITOR"] = str(editor)
    terminal = start()
    terminal.say("change it")
    terminal.answer("Apply? [y]es", "h")
    terminal.answer("This hunk (1 of 1)?", "e")
    terminal.expect("opened")
    terminal.send("\n")
    terminal.expect("+MINE")
    terminal.answer("This hunk (1 of 1)?", "y", times=2)
    terminal.expect("a.txt applied")
    assert (folder / "a.txt").read_text().startswith("MINE\ntwo\n")
    terminal.expect("❯")


def test_mentions_are_completed(start: Start) -> None:
    terminal = start()
    terminal.send("look at @fi")
    terminal.expect("@file:")
    terminal.send(TAB + "b")
    terminal.expect("b c.txt")
    terminal.send(TAB)
    terminal.expect('❯ look at @file:"b c.txt"')
    terminal.send(ENTER + ENTER)
    terminal.expect('You said: look at @file:"b c.txt"')


def test_a_named_prompt_is_completed_and_sent(start: Start, folder: Path) -> None:
    (folder / ".tark" / "prompts").mkdir(parents=True)
    (folder / ".tark" / "prompts" / "greet.md").write_text("---\ndescription: Says hello\n---\nhello to $ARGUMENTS\n")
    terminal = start()
    terminal.send("/gr")
    terminal.expect("Says hello")
    terminal.send(TAB + " the team" + ENTER)
    terminal.expect("end turn")
    assert "❯ /greet the team" in terminal.shown
    assert "hello to the team" in terminal.shown


def test_several_lines(start: Start) -> None:
    terminal = start()
    terminal.send("one" + ALT_ENTER + "two\\" + ENTER + "three")
    terminal.expect("  three")
    assert "You said" not in terminal.shown
    terminal.send(ENTER)
    terminal.expect("You said: one")
    assert "❯ one\n❯ two\n❯ three\n" in terminal.shown


def test_a_paste_is_text_and_a_huge_one_is_refused(start: Start) -> None:
    terminal = start()
    terminal.send("\x1b[200~" + "0123456789\n" * 950_000 + "\x1b[201~")
    terminal.expect("the pasted text is longer than 100,000 characters, so it is ignored")
    terminal.send("\x1b[200~first\r\nsecond\n\x1b[201~")
    terminal.expect("  second")
    assert "You said" not in terminal.shown
    terminal.send(ENTER)
    terminal.expect("You said: first")


SIZES = [(60, 20), (44, 12), (120, 40), (100, 34), (33, 34), (80, 8), (24, 60), (200, 10), (61, 19), (100, 30)]


@pytest.mark.parametrize("wraps", [False, True], ids=["cuts", "wraps"])
def test_nothing_is_left_behind_by_a_resize_while_text_streams(start: Start, wraps: bool) -> None:
    terminal = start(size=(100, 30))
    for line in ("first words", "second words"):
        terminal.say(line)
        terminal.expect(f"You said: {line}")
    terminal.expect("end turn", times=2)
    terminal.say("talk")
    terminal.expect("This comes in small")
    terminal.send("my draft")
    terminal.expect("❯ my draft")
    for columns, rows in SIZES:
        terminal.resize(columns, rows, wraps=wraps)
        terminal.until(lambda: is_tidy(terminal.screen), f"a tidy screen of {columns}x{rows}")
    terminal.expect("end turn", times=3)
    terminal.until(lambda: is_tidy(terminal.screen), "a tidy screen at the end")


def is_tidy(screen: list[str]) -> bool:
    """Each thing is there at most once, and what streams is there without gaps."""
    seen = "\n".join(screen)
    drawn = [line for line in screen if line]
    text = " ".join(" ".join(drawn[:-2]).split()).rpartition("❯ talk ")[2].partition(" end turn")[0]
    return (
        len(drawn) > 2
        and drawn[-1].startswith((" working ", " scripted/m"))
        and drawn[-2] == "❯ my draft"
        and all(seen.count(words) <= 1 for words in ("❯ my", " working ", "You said: second", "This comes", "❯ talk"))
        and text in WHOLE
    )


def test_earlier_prompts_come_back_and_are_private(start: Start, tmp_path: Path) -> None:
    terminal = start()
    terminal.say("remember this")
    terminal.expect("You said: remember this")
    terminal.expect("end turn")
    terminal.leave()
    [kept] = (tmp_path / "state" / "tark").glob("prompts.history")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    again = start()
    again.send(UP)
    again.expect("❯ remember this")


def test_ctrl_d_asks_again_while_a_turn_runs(start: Start) -> None:
    terminal = start()
    terminal.say("talk")
    terminal.expect("This comes in")
    terminal.send(CTRL_D)
    terminal.expect("press Ctrl-D again")
    terminal.send(CTRL_D)
    assert terminal.end() == 0
