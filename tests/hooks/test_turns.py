"""Hooks in whole turns, as real programs: what they refuse, ask about, add and change, and how they fail."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.agent.events import CallChanged
from tark_lsp.agent.hooking import with_context
from tark_lsp.agent.prompt import USER_SAYS, typed_text
from tark_lsp.agent.rules import Rule
from tark_lsp.agent.user_interface import Rejected
from tark_lsp.messages import ApprovalLevel, Message, StopReason, Text
from tests.agent.script import answer, call
from tests.hooks.commands import TRUSTED, HookDesk

ECHO = Rule.parse("run_command(echo *)")


@pytest.fixture
def desk(tmp_path: Path) -> HookDesk:
    return HookDesk(tmp_path)


def edit(old: str, new: str, path: str = "a.py") -> Any:
    return call("edit_file", path=path, old_text=old, new_text=new)


async def test_a_hook_refuses_a_call_whatever_allows_it(desk: HookDesk) -> None:
    desk.add("beforeTool", "say(decision='deny', reason='not on fridays')", tools=["run_*"])
    desk.allow_everything(ECHO)
    await desk.run(answer(call("run_command", command="echo x")), answer("ok"))
    assert desk.bench.errors() == ["denied"]
    assert "the hook h refused it: not on fridays" in desk.bench.results()[0]
    assert desk.bench.user.asked == []


async def test_exit_code_2_refuses_with_the_reason_on_stderr(desk: HookDesk) -> None:
    desk.add("beforeTool", "print('no', file=sys.stderr)\nsys.exit(2)")
    await desk.run(answer(call("list_directory", path=".")), answer("ok"))
    assert "the hook h refused it: no" in desk.bench.results()[0]


async def test_a_hook_has_an_allowed_call_asked_about_once(desk: HookDesk) -> None:
    desk.add("beforeTool", "say(decision='ask', reason='is it Friday?')")
    await desk.run(answer(call("list_directory", path=".")), answer("ok"), decisions=[Rejected()])
    (asked,) = desk.bench.user.asked
    assert asked.why == "the hook h says: is it Friday?"
    assert asked.grants == ()


async def test_what_is_asked_and_shown_are_the_final_arguments(desk: HookDesk) -> None:
    """Two hooks, each of which sees what the one before it left; each runs once."""
    note = "open(LOG, 'a').write(given['arguments']['command'] + '\\n')\n"
    desk.add("beforeTool", f"{note}say(arguments={{'command': 'echo second'}})", "one")
    desk.add("beforeTool", f"{note}say(arguments={{'command': 'echo third'}})", "two")
    await desk.run(answer(call("run_command", command="echo first")), answer("ok"))
    (asked,) = desk.bench.user.asked
    assert "echo third" in asked.title
    assert asked.command is not None
    assert "echo third" in asked.command.argv[-1]
    shown = [e.arguments for e in desk.bench.heard if isinstance(e, CallChanged) and e.arguments]
    assert [json.loads(text) for text in shown] == [{"command": "echo third"}]
    assert desk.log.read_text().splitlines() == ["echo first", "echo second"]
    assert "third" in desk.bench.results()[0]
    assert 'A hook of the person (two) changed the arguments to {"command": "echo third"}' in desk.bench.results()[0]
    assert "the hook two changed the arguments of run_command" in desk.notices()


async def test_a_hook_that_rewrites_to_something_denied_changes_no_rule(desk: HookDesk) -> None:
    desk.add("beforeTool", "say(arguments={'command': 'echo secret'})")
    desk.bench.rules = replace(TRUSTED, allow=(ECHO,), deny=(Rule.parse("run_command(echo secret)"),))
    end = await desk.run(answer(call("run_command", command="echo x")), answer("ok"))
    assert desk.bench.errors() == ["denied"]
    told = json.loads(desk.bench.results()[0])
    assert "changed the arguments" in told["hooks"][0]
    assert end.stop_reason is StopReason.END_TURN


LOOSER = {
    "it says so": "say(decision='allow')",
    "it says so in other words": "say(permission='allow')",
    "it says nothing": "",
}


@pytest.mark.parametrize("body", LOOSER)
async def test_a_hook_never_turns_a_question_into_a_yes(desk: HookDesk, body: str) -> None:
    desk.add("beforeTool", LOOSER[body])
    desk.bench.level = ApprovalLevel.MANUAL
    await desk.run(answer(call("run_command", command="echo x")), answer("ok"), decisions=[Rejected()])
    assert len(desk.bench.user.asked) == 1
    assert desk.bench.errors() == ["denied"]


FAULTS = {
    "hangs": ("time.sleep(60)", "did not end within 0.5 s"),
    "prints garbage": ("print('ok!')", "printed something that is not JSON on stdout: ok!"),
    "floods": ("\nwhile True: sys.stdout.write('x' * 65536)", "printed more than 8,000,000 bytes"),
    "fails": ("sys.exit('no config')", "ended with exit code 1: no config"),
    "dies": ("os.kill(os.getpid(), 9)", "was ended by signal 9"),
    "answers wrong arguments": (
        "say(arguments={'cmd': 1})",
        "answered wrong arguments: list_directory: path: Field required",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_after_a_hook_that_fails_the_user_is_asked_and_the_turn_goes_on(desk: HookDesk, fault: str) -> None:
    body, told = FAULTS[fault]
    desk.add("beforeTool", body, timeoutSeconds=0.5 if fault == "hangs" else 30.0)
    end = await desk.run(answer(call("list_directory", path=".")), answer("ok"))
    assert any(told in notice for notice in desk.notices()), desk.notices()
    (asked,) = desk.bench.user.asked
    assert (asked.why, asked.grants) == ("the hook h failed", ())
    assert desk.bench.errors() == [None]
    assert end.stop_reason is StopReason.END_TURN


async def test_a_missing_program_is_a_failure_too(desk: HookDesk) -> None:
    desk.add("beforeTool", "", command="no-such-program-of-mine")
    await desk.run(answer(call("list_directory", path=".")), answer("ok"))
    assert "the program no-such-program-of-mine is not installed" in desk.notices()[0]
    assert len(desk.bench.user.asked) == 1


async def test_a_script_that_is_not_executable_is_told_with_the_remedy(desk: HookDesk) -> None:
    script = desk.scripts / "h.sh"
    script.write_text("#!/bin/sh\n")
    desk.add("turnEnd", "", command=str(script), args=[])
    await desk.run(answer("ok"))
    assert "cannot be started: Permission denied (is the file executable? `chmod +x` makes it so)" in desk.notices()[0]


async def test_nothing_runs_in_a_folder_that_is_not_trusted(desk: HookDesk) -> None:
    desk.add("beforeTool", "open(LOG, 'w').write('ran')")
    desk.bench.rules = replace(TRUSTED, trusted=False)
    await desk.run(answer(call("list_directory", path=".")), answer("ok"))
    assert not desk.log.exists()
    assert desk.notices() == ["the hook h (beforeTool) does not run in a folder that you do not trust"]
    assert [asked.why for asked in desk.bench.user.asked] == ["the hook h failed"]


async def test_context_follows_the_result_between_marks(desk: HookDesk) -> None:
    desk.add("beforeTool", "say(context='before')", "b")
    desk.add("afterTool", "say(context=given['status'] + ' </hook> ' + given['tool'])", "a")
    desk.bench.write("x.txt", "")
    await desk.run(answer(call("list_directory", path=".")), answer("ok"))
    (result,) = desk.bench.results()
    assert '<hook name="b">\nbefore\n</hook>' in result
    assert result.endswith('<hook name="a">\ncompleted <\\/hook> list_directory\n</hook>')
    assert desk.bench.context.outside_sources == ["the hook b", "the hook a"]  # they could reach the network


async def test_the_hook_gets_no_secret_that_the_model_does_not_get(desk: HookDesk) -> None:
    desk.add("afterTool", "open(LOG, 'w').write(given['result'])")
    desk.bench.write("a.py", "api_key = 'q8Zr2LmX9vKp4TdW7sYb'\n")
    await desk.run(answer(call("read_file", path="a.py")), answer("ok"))
    assert "[masked-secret" in desk.log.read_text()
    assert "q8Zr2LmX9vKp4TdW7sYb" not in desk.log.read_text()


FORMATTER = "say(text=given['text'].replace('( ', '(').replace(' )', ')'))"


async def test_a_formatter_changes_the_lines_of_the_edit_and_writes_nothing(desk: HookDesk) -> None:
    desk.add("beforeEdit", FORMATTER, files=["*.py"])
    desk.bench.open("a.py", "f( 1 )\n\n\n\n\ng( 2 )\n")
    await desk.run(answer(edit("g( 2 )", "g( 3 )")), answer("ok"))
    (shown,) = [e.edits for e in desk.bench.heard if isinstance(e, CallChanged) and e.edits]
    assert shown[0].after == "f( 1 )\n\n\n\n\ng(3)\n"
    assert desk.bench.text("a.py") == "f( 1 )\n\n\n\n\ng(3)\n"
    (notice,) = desk.notices()
    assert notice.endswith("also changed text of a.py that is not part of the edit (line 1): those changes are dropped")


async def test_a_formatter_does_not_touch_what_it_is_not_for(desk: HookDesk) -> None:
    desk.add("beforeEdit", FORMATTER, files=["*.js"])
    desk.bench.open("a.py", "g( 2 )\n")
    await desk.run(answer(edit("g( 2 )", "g( 3 )")), answer("ok"))
    assert desk.bench.text("a.py") == "g( 3 )\n"


async def test_two_edits_of_a_file_are_formatted_each_within_its_lines(desk: HookDesk) -> None:
    desk.add("beforeEdit", FORMATTER)
    desk.bench.open("a.py", "f( 1 )\n\n\n\n\ng( 2 )\n")
    await desk.run(answer(edit("g( 2 )", "g( 3 )"), edit("f( 1 )", "f( 0 )")), answer("ok"))
    assert desk.bench.text("a.py") == "f(0)\n\n\n\n\ng(3)\n"


async def test_a_hook_refuses_an_edit(desk: HookDesk) -> None:
    desk.add("beforeEdit", "say(decision='deny', reason='generated file') if given['path'] == 'a.py' else 0")
    desk.bench.open("a.py", "a\n")
    desk.bench.open("b.py", "a\n")
    await desk.run(answer(edit("a", "b"), edit("a", "b", "b.py")), answer("ok"))
    assert desk.bench.errors() == ["denied", None]
    assert (desk.bench.text("a.py"), desk.bench.text("b.py")) == ("a\n", "b\n")


async def test_a_hook_for_files_at_any_depth_sees_one_at_the_top(desk: HookDesk) -> None:
    desk.add("beforeEdit", "say(decision='deny', reason='has secrets')", files=["**/secrets.toml"])
    desk.bench.open("secrets.toml", "a\n")
    await desk.run(answer(edit("a", "b", "secrets.toml")), answer("ok"))
    assert desk.bench.errors() == ["denied"]
    assert desk.bench.text("secrets.toml") == "a\n"


async def test_a_hook_for_a_file_sees_it_being_moved_away(desk: HookDesk) -> None:
    desk.add("beforeEdit", "say(decision='deny', reason=f\"{given['from']} stays\")", files=["generated/*"])
    desk.bench.write("generated/a.py", "a\n")
    await desk.run(answer(call("move_file", source="generated/a.py", target="b.py")), answer("ok"))
    assert desk.bench.errors() == ["denied"]
    assert "generated/a.py stays" in desk.bench.results()[0]


async def test_what_a_hook_says_shows_no_secret(desk: HookDesk) -> None:
    secret = "api_key = q8Zr2LmX9vKp4TdW7sYb"
    desk.add("beforeTool", f"say(decision='ask', reason={secret!r})", "one")
    desk.add("afterTool", f"sys.exit({secret!r})", "two")
    await desk.run(answer(call("list_directory", path=".")), answer("ok"), decisions=[Rejected()])
    await desk.run(answer(call("list_directory", path=".")), answer("ok"))
    said = [*desk.notices(), *(asked.why for asked in desk.bench.user.asked)]
    assert len(said) == 3
    assert all("[masked-secret:" in one and "q8Zr2LmX9vKp4TdW7sYb" not in one for one in said)


async def test_an_edit_is_asked_about_if_its_hook_fails(desk: HookDesk) -> None:
    desk.add("beforeEdit", "sys.exit(1)")
    desk.bench.level = ApprovalLevel.BALANCED
    desk.bench.open("a.py", "a\n")
    await desk.run(answer(edit("a", "b")), answer("ok"), decisions=[Rejected()])
    assert [asked.why for asked in desk.bench.user.asked] == ["the hook h failed"]
    assert desk.bench.text("a.py") == "a\n"


async def test_after_an_edit_a_hook_only_observes_and_is_told_so(desk: HookDesk) -> None:
    desk.add("afterEdit", "open(LOG, 'w').write(given['path'] + given['text'])\nsay(context='x', decision='deny')")
    desk.add("turnEnd", "print('hello')", "e")
    desk.bench.open("a.py", "a\n")
    await desk.run(answer(edit("a", "b")), answer("ok"))
    assert desk.log.read_text() == "a.pyb\n"
    assert "<hook" not in desk.bench.results()[0]
    assert desk.notices() == [
        "the hook h (afterEdit) answered 'context', which afterEdit does not have",
        "the hook e (turnEnd) printed something that is not JSON on stdout: hello",
    ]


async def test_a_session_and_a_turn_begin_and_end(desk: HookDesk) -> None:
    note = "open(LOG, 'a').write(given['event'] + '\\n')\n"
    desk.add("sessionStart", f"{note}say(context='the branch is main')", "s")
    desk.add("turnStart", f"{note}say(context=given['kind'])", "t")
    desk.add("turnEnd", f"{note}open(LOG, 'a').write(given['stopReason'] + ' ' + given['text'])", "e")
    await desk.run(answer("hello"))
    prompt = desk.bench.session.messages[0].text
    assert prompt == 'do it\n\n<hook name="s">\nthe branch is main\n</hook>\n\n<hook name="t">\nagent\n</hook>'
    assert desk.log.read_text().splitlines() == ["sessionStart", "turnStart", "turnEnd", "end_turn hello"]
    desk.log.unlink()
    await desk.run(answer("again"))
    assert desk.log.read_text().splitlines()[0] == "turnStart"


def test_the_words_of_the_user_stay_the_last_text() -> None:
    prompt = Message("user", (Text("instructions"), Text(f"{USER_SAYS}do it")))
    made = with_context(prompt, '<hook name="h">\nx\n</hook>')
    assert typed_text(made) == "do it"
    assert made.text == f'instructions<hook name="h">\nx\n</hook>\n\n{USER_SAYS}do it'


async def test_a_hook_refuses_a_turn_before_a_model_is_asked(desk: HookDesk) -> None:
    desk.add("turnStart", "say(decision='deny', reason='a key is in it')")
    end = await desk.run(answer("hello"))
    assert end.stop_reason is StopReason.ERROR
    assert end.error is not None
    assert end.error.message == "the hook h refused this turn: a key is in it"
    assert desk.bench.model.requests == []
    assert desk.bench.session.messages == []


async def test_a_cancellation_ends_a_hook_with_all_its_processes(desk: HookDesk) -> None:
    desk.add("beforeTool", "open(LOG, 'w').write('x')\ntime.sleep(60)")
    desk.add("turnEnd", "open(LOG, 'w').write('ended')", "e")
    running = asyncio.create_task(desk.run(answer(call("list_directory", path=".")), answer("ok")))
    while not (desk.log.exists() and desk.log.read_text()):  # noqa: ASYNC110  # another process writes it
        await asyncio.sleep(0.01)
    running.cancel()
    end = await running
    assert end.stop_reason is StopReason.CANCELLED
    assert desk.log.read_text() == "x"
