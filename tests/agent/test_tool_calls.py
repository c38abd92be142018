"""The calls of one answer: what runs together, what waits, what is refused, and what the model is told."""

import asyncio
from typing import Any

import pytest

from tark_lsp.agent.approval import Policy
from tark_lsp.agent.events import CallChanged
from tark_lsp.agent.rules import Rule
from tark_lsp.agent.user_interface import Permitted, Rejected
from tark_lsp.errors import ToolError
from tark_lsp.llm.events import WireStop
from tark_lsp.messages import ApprovalLevel, Mode
from tark_lsp.settings import Limits
from tark_lsp.tools.tool import Risk
from tests.agent.bench import Bench, error_of
from tests.agent.probe import add, probe
from tests.agent.script import Call, answer, call
from tests.patience import AT_ONCE


class Meeting:
    """`work` goes on only when as many are at it as are expected: so they do run at the same time."""

    def __init__(self, expected: int) -> None:
        self.barrier = asyncio.Barrier(expected)

    async def work(self, n: int) -> str:
        async with asyncio.timeout(AT_ONCE):
            await self.barrier.wait()
        return f"met {n}"


class Log:
    """What begins and ends, in order."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.running = 0

    async def alone(self, n: int) -> str:
        assert self.running == 0
        self.running += 1
        self.lines.append(f"{n}")
        for _ in range(3):
            await asyncio.sleep(0)
        self.running -= 1
        return f"{n}"


async def test_calls_that_read_run_together_and_answer_in_order(bench: Bench) -> None:
    meeting = Meeting(3)

    async def later_first(n: int) -> str:
        result = await meeting.work(n)
        for _ in range(10 - n):
            await asyncio.sleep(0)
        return result

    add(bench.tools, probe("look", Risk.READ_ONLY, later_first))
    await bench.run(answer(*(call("look", n=n) for n in (1, 2, 3))))
    assert bench.results() == ["met 1", "met 2", "met 3"]


async def test_a_failed_call_has_a_title_that_names_its_file(bench: Bench) -> None:
    """Also if it fails before its preview, which makes better titles: those stay."""
    bench.write("a.py", "a\n")
    await bench.run(
        answer(
            call("edit_file", path="a.py", old_text="missing\n", new_text="b\n"),
            call("edit_file", path="a.py", old_text="a\n", new_text="b\n"),
            call("read_file", path="none.py", start_line=3),
            call("read_file", path=["a.py"]),
            call("search_text", query=""),
        ),
        answer("done"),
    )
    titles: dict[str, str | None] = {}
    for event in bench.heard:
        if isinstance(event, CallChanged):
            titles[event.call_id] = event.title or titles.get(event.call_id)
    assert list(titles.values()) == ["edit_file a.py", "edit_file a.py", "read_file none.py:3-", None, None]


async def test_calls_that_change_something_run_alone_in_the_order_of_the_model(bench: Bench) -> None:
    log = Log()
    add(bench.tools, probe("change", Risk.RISKY, log.alone), probe("look", Risk.READ_ONLY, log.alone))
    await bench.run(
        answer(call("change", n=1), call("look", n=2), call("change", n=3), call("change", n=4), call("look", n=5))
    )
    assert log.lines == ["1", "2", "3", "4", "5"]


async def test_an_edit_comes_before_the_command_that_tests_it_and_the_read_after_it(bench: Bench) -> None:
    bench.write("a.txt", "one\n")
    await bench.run(
        answer(
            call("read_file", path="a.txt"),
            call("edit_file", path="a.txt", old_text="one", new_text="two"),
            call("run_command", command="cat a.txt"),
            call("read_file", path="a.txt"),
            call("search_text", pattern="two"),
        )
    )
    read, edited, command, again, found = bench.results()
    assert "one" in read
    assert edited == "Applied to a.txt."
    assert "\ntwo" in command
    assert "two" in again
    assert found == "a.txt:1: two"


async def test_a_command_before_an_edit_sees_the_old_text(bench: Bench) -> None:
    bench.write("a.txt", "one\n")
    edit = call("edit_file", path="a.txt", old_text="one", new_text="two")
    await bench.run(answer(call("run_command", command="cat a.txt"), edit))
    assert "\none" in bench.results()[0]


async def test_questions_come_one_at_a_time(bench: Bench) -> None:
    """Reads outside wait for the person while others run; two of them do not ask at once, nor do two ask_user."""
    bench.editor.answers = ["red", "blue"]
    outside = [bench.root.parent / name for name in ("one.txt", "two.txt")]
    for path in outside:
        path.write_text("outside\n")
    asked: list[int] = []
    bench.user.meanwhile = lambda: asked.append(len(bench.editor.asked))
    await bench.run(
        answer(
            call("read_file", path=str(outside[0])),
            call("ask_user", question="Which?"),
            call("read_file", path=str(outside[1])),
            call("ask_user", question="And then?"),
        )
    )
    assert bench.user.most_open == 1
    assert bench.errors() == [None] * 4
    assert bench.results()[1::2] == ["Answer: red", "Answer: blue"]


async def test_two_tools_that_ask_never_ask_at_once(bench: Bench) -> None:
    log = Log()
    add(bench.tools, probe("ask", Risk.READ_ONLY, log.alone, seconds=float("inf")))
    await bench.run(answer(call("ask", n=1), call("ask", n=2), call("ask", n=3)))
    assert log.lines == ["1", "2", "3"]


BAD: dict[str, tuple[Call, str, str]] = {
    # the call; the code; words of the message or hint
    "unknown tool": (call("reed_file", path="a"), "unknown_tool", "read_file"),
    "a tool of another mode": (call("propose_edit", path="a", old_text="a", new_text="b"), "unknown_tool", "edit_file"),
    "broken JSON": (Call("read_file", '{"path": "a'), "invalid_arguments", "not valid JSON"),
    "no object": (Call("read_file", "[1]"), "invalid_arguments", "not a JSON object"),
    "wrong field": (call("read_file", file="a"), "invalid_arguments", "path: Field required"),
    "no such file": (call("read_file", path="missing"), "not_found", "missing"),
    "never completed": (Call("update_plan", '{"entries": []}', cut=True), "truncated", "shorter"),
    "never begun": (Call("update_plan", "", cut=True), "truncated", "shorter"),
    "no selection": (call("replace_selection", new_text="x"), "unknown_tool", "edit_file"),
}


@pytest.mark.parametrize("name", BAD)
async def test_what_cannot_run_is_told(bench: Bench, name: str) -> None:
    bad, code, words = BAD[name]
    await bench.run(answer(bad, call("update_plan", entries=[]), stop=WireStop.TOOL_CALLS), answer("I see."))
    assert bench.errors() == [code, None]
    error = error_of(bench.results()[0])
    assert words in error["message"] + error["retry_hint"]
    assert sorted(bench.statuses().values()) == ["completed", "failed"]
    assert bench.user.asked == []


@pytest.mark.parametrize("arguments", ["", " ", "{}", '{"entries": [', '{"entries": [{"content": "a"'])
async def test_the_last_call_of_an_answer_that_was_cut_never_runs(bench: Bench, arguments: str) -> None:
    ran: list[int] = []

    async def note(n: int) -> str:
        ran.append(n)
        return "ran"

    add(bench.tools, probe("note", Risk.READ_ONLY, note))
    await bench.run(answer(call("note", n=1), Call("note", arguments), stop=WireStop.MAX_TOKENS))
    assert ran == [1]
    assert bench.errors()[1] in ("truncated", "invalid_arguments")


async def test_no_arguments_are_fine_where_the_answer_is_whole(bench: Bench) -> None:
    add(bench.tools, probe("note", Risk.READ_ONLY, slow))
    await bench.run(answer(Call("note", ""), Call("note", "{}")))
    assert bench.results() == ["done", "done"]


async def slow(n: int) -> str:
    await asyncio.sleep(60 if n else 0)
    return "done"


@pytest.mark.parametrize(
    ("calls", "ran"),
    [
        ((Call("note", '{"n": 1}'), Call("note", "{}")), 2),
        ((Call("note", "", cut=True), Call("note", '{"n"', cut=True), Call("note", "{}")), 1),
    ],
    ids=["complete", "incomplete"],
)
async def test_at_an_end_without_a_reason_the_calls_that_the_wire_completed_run(
    bench: Bench, calls: tuple[Call, ...], ran: int
) -> None:
    """The wire completes no call there unless its arguments are whole, so an empty object is what the model sent."""
    noted: list[int] = []

    async def note(n: int) -> str:
        noted.append(n)
        return "noted"

    add(bench.tools, probe("note", Risk.READ_ONLY, note))
    await bench.run(answer(*calls, stop=WireStop.OTHER))
    assert len(noted) == ran


@pytest.mark.virtual_clock
@pytest.mark.parametrize(("own", "limit"), [(None, 0.05), (0.05, 30.0)], ids=["the default", "its own"])
async def test_a_tool_that_takes_too_long_is_ended(bench: Bench, own: float | None, limit: float) -> None:
    bench.limits = Limits(tool_seconds=limit)
    add(bench.tools, probe("slow", Risk.READ_ONLY, slow, seconds=own))
    await bench.run(answer(call("slow", n=1), call("slow", n=0)))
    assert bench.errors() == ["timeout", None]
    assert "0.05 s" in error_of(bench.results()[0])["message"]


@pytest.mark.virtual_clock
async def test_its_own_time_is_longer_than_the_default(bench: Bench) -> None:
    bench.limits = Limits(tool_seconds=0.01)

    async def takes_a_while(n: int) -> str:
        await asyncio.sleep(0.05)
        return f"{n}"

    add(bench.tools, probe("own", Risk.READ_ONLY, takes_a_while, seconds=10))
    await bench.run(answer(call("own", n=1)))
    assert bench.results() == ["1"]


@pytest.mark.virtual_clock
async def test_waiting_for_the_person_is_never_counted(bench: Bench) -> None:
    bench.limits = Limits(tool_seconds=0.02)
    bench.user.seconds = 0.1
    outside = bench.root.parent / "outside.txt"
    outside.write_text("outside\n")
    add(bench.tools, probe("change", Risk.RISKY, Log().alone))
    await bench.run(answer(call("read_file", path=str(outside)), call("change", n=1)))
    assert bench.errors() == [None, None]


async def test_a_timeout_within_a_tool_is_not_ours(bench: Bench) -> None:
    async def times_out(_: int) -> str:
        raise TimeoutError

    add(bench.tools, probe("inner", Risk.READ_ONLY, times_out))
    await bench.run(answer(call("inner")))
    assert bench.errors() == ["internal"]


async def test_a_defect_in_a_tool_is_told_and_the_others_go_on(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    async def defect(_: int) -> str:
        raise ZeroDivisionError("secret detail")

    add(bench.tools, probe("defect", Risk.READ_ONLY, defect), probe("look", Risk.READ_ONLY, Log().alone))
    await bench.run(answer(call("defect"), call("look", n=1)))
    assert bench.errors() == ["internal", None]
    assert "secret" not in bench.results()[0]
    assert "ZeroDivisionError" in caplog.text


async def test_the_reason_of_a_denial_reaches_the_model(bench: Bench) -> None:
    command = call("run_command", command="touch made")
    await bench.run(answer(command), decisions=[Rejected("use make instead")])
    error = error_of(bench.results()[0])
    assert error["code"] == "denied"
    assert "use make instead" in error["message"]
    assert not (bench.root / "made").exists()
    assert list(bench.statuses().values()) == ["rejected"]


async def test_a_rejected_command_is_rejected_again_without_asking(bench: Bench) -> None:
    command = {"command": "touch made"}
    await bench.run(
        answer(call("run_command", **command)),
        answer(call("run_command", **command)),
        answer(call("run_command", command="touch other")),
        decisions=[Rejected()],
    )
    assert bench.errors() == ["denied", "denied", None]
    assert [request.command.text for request in bench.user.asked if request.command] == ["touch made", "touch other"]
    assert not (bench.root / "made").exists()


async def test_one_rejected_read_does_not_reject_another(bench: Bench) -> None:
    bench.rules = Policy(ApprovalLevel.CAREFUL, ask=(Rule("read_file"),))
    for name in ("a", "b"):
        bench.open(name, name)
    await bench.run(
        answer(call("read_file", path="a")),
        answer(call("read_file", path="b")),
        answer(call("read_file", path="a")),
        decisions=[Rejected()],
    )
    assert bench.errors() == ["denied", None, "denied"]
    assert len({request.digest for request in bench.user.asked}) == 2


async def test_a_new_turn_asks_again(bench: Bench) -> None:
    for _ in range(2):
        await bench.run(answer(call("run_command", command="true")), decisions=[Rejected()])
    assert len(bench.user.asked) == 2


async def test_a_grant_is_kept_and_covers_the_very_command(bench: Bench) -> None:
    def grant(index: int) -> None:
        bench.user.decisions[:] = [Permitted(bench.user.asked[-1].grants[index])]

    bench.user.meanwhile = lambda: grant(0) if len(bench.user.asked) == 1 else None
    await bench.run(
        answer(call("run_command", command="true")),
        answer(call("run_command", command="true")),
        answer(call("run_command", command="true ")),
    )
    assert [request.command.text for request in bench.user.asked if request.command] == ["true", "true "]
    await bench.run(answer(call("run_command", command="true")))
    assert len(bench.user.asked) == 3  # it was for that turn


async def test_a_grant_for_a_command_is_suspended_while_an_edit_since_is_unreviewed(bench: Bench) -> None:
    """Otherwise a model runs what it likes: it edits the script of a command that you allowed."""
    bench.level = ApprovalLevel.BALANCED
    bench.write("test.sh", "true\n")
    bench.write("seen.sh", "true\n")
    command = call("run_command", command="sh test.sh")

    def grant() -> None:
        bench.user.decisions[:] = [Permitted(bench.user.asked[-1].grants[1])]  # for the session

    bench.user.meanwhile = grant
    await bench.run(
        answer(call("edit_file", path="seen.sh", old_text="true", new_text="false")),
        answer(command),  # asked about, the first time
        answer(command),
        answer(call("edit_file", path="test.sh", old_text="true", new_text="echo $HOME")),
        answer(command),  # asked about
        answer(command),
    )
    assert [request.why for request in bench.user.asked] == [
        "it runs a command without a sandbox",
        "it runs a command without a sandbox: test.sh was changed since you allowed it, and is not reviewed yet",
    ]
    bench.user.unasked.clear()  # the user keeps the edits
    await bench.run(answer(command))
    assert len(bench.user.asked) == 2


async def test_what_changed_while_the_person_decided_does_not_run(bench: Bench) -> None:
    (bench.root / "sub").mkdir()
    elsewhere = bench.root / "elsewhere"
    elsewhere.mkdir()
    link = bench.root / "link"
    link.symlink_to(bench.root / "sub")

    def swap() -> None:
        link.unlink()
        link.symlink_to(elsewhere)

    bench.user.meanwhile = swap
    await bench.run(answer(call("run_command", command="touch made", cwd="link")))
    assert bench.errors() == ["stale"]
    assert not (elsewhere / "made").exists()


async def test_a_mode_that_was_switched_holds_for_the_calls_after_it(bench: Bench) -> None:
    bench.write("a.txt", "one\n")
    bench.editor.answers = [["switch"]]
    await bench.run(
        answer(
            call("switch_mode", mode="plan", reason="to think"),
            call("edit_file", path="a.txt", old_text="one", new_text="two"),
            call("run_command", command="touch made"),
            call("read_file", path="a.txt"),
        )
    )
    assert bench.errors() == [None, "denied", "denied", None]
    assert bench.text("a.txt") == "one\n"
    assert bench.user.asked == []
    assert bench.session.mode is Mode.PLAN


async def test_a_level_the_person_sets_holds_at_once(bench: Bench) -> None:
    bench.level = ApprovalLevel.BALANCED
    bench.open("a.txt", "one\n")

    async def careful(_: int) -> str:
        bench.session.approval = ApprovalLevel.CAREFUL
        return "careful"

    add(bench.tools, probe("careful", Risk.READ_ONLY, careful))
    await bench.run(
        answer(call("edit_file", path="a.txt", old_text="one", new_text="two")),
        answer(call("careful"), call("edit_file", path="a.txt", old_text="two", new_text="three")),
    )
    assert len(bench.user.unasked) == 1
    assert len(bench.user.asked) == 1


class Loop:
    """A script that makes the same call, once an answer."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench

    async def play(self, times: int, make: Any, *decisions: Any) -> list[str | None]:
        await self.bench.run(*(answer(make()) for _ in range(times)), decisions=list(decisions))
        return self.bench.errors()


async def test_the_same_call_with_the_same_result_is_a_loop_and_then_the_person_is_asked(bench: Bench) -> None:
    bench.open("a", "1\n")
    errors = await Loop(bench).play(6, lambda: call("read_file", path="a"), Permitted(), Rejected("enough"))
    assert errors == [None, None, "repeated", None, None, "repeated"]
    (request,) = bench.user.asked
    assert "repeated with the same result" in request.why
    assert request.grants == ()


async def test_a_no_to_a_loop_holds(bench: Bench) -> None:
    bench.open("a", "1\n")
    errors = await Loop(bench).play(6, lambda: call("read_file", path="a"), Rejected("enough"))
    assert errors == [None, None, "repeated", "denied", "denied", "denied"]
    assert len(bench.user.asked) == 1


@pytest.mark.parametrize(
    "bad",
    [
        call("read_file", path="missing"),
        call("no_such_tool"),
        Call("read_file", "{"),
        call("edit_file", path="missing", old_text="a", new_text="b"),
    ],
    ids=["fails", "unknown", "broken", "an edit that cannot be placed"],
)
async def test_the_same_failure_again_and_again_is_a_loop(bench: Bench, bad: Call) -> None:
    errors = await Loop(bench).play(3, lambda: Call(bad.name, bad.arguments))
    assert errors[0] == errors[1] != "repeated"
    assert errors[2] == "repeated"


async def test_reading_again_after_each_edit_is_no_loop(bench: Bench) -> None:
    bench.level = ApprovalLevel.BALANCED
    bench.open("a", "0\n")
    script = [
        answer(
            call("edit_file", path="a", old_text=f"{n}\n", new_text=f"{n + 1}\n"),
            call("read_diagnostics", path="a"),
        )
        for n in range(6)
    ]
    await bench.run(*script)
    assert bench.errors() == [None] * 12


async def test_what_a_loop_changed_is_told_all_the_same(bench: Bench) -> None:
    bench.level = ApprovalLevel.BALANCED
    bench.open("a", "1\n")
    there, back = ({"path": "a", "old_text": x, "new_text": y} for x, y in (("1", "2"), ("2", "1")))
    script = [answer(call("edit_file", **arguments)) for arguments in [there, back] * 5]
    await bench.run(*script[:7])
    assert bench.errors() == [None] * 6 + ["repeated"]
    assert error_of(bench.results()[-1])["result"] == "Applied to a."
    assert bench.text("a") == "2\n"
    assert bench.user.asked == []
    await bench.run(*script[7:8])


async def test_an_edit_that_loops_is_asked_about(bench: Bench) -> None:
    bench.level = ApprovalLevel.BALANCED
    bench.open("a", "1\n")
    there, back = ({"path": "a", "old_text": x, "new_text": y} for x, y in (("1", "2"), ("2", "1")))
    await bench.run(*(answer(call("edit_file", **arguments)) for arguments in [there, back] * 5))
    assert bench.user.asked != []
    assert all("repeated with the same result" in request.why for request in bench.user.asked)


async def test_a_tool_that_refuses_by_itself_is_rejected(bench: Bench) -> None:
    async def refuses(_: int) -> str:
        raise ToolError("denied", "the person does not want it", hint="do without it", details={"more": 1})

    add(bench.tools, probe("refuses", Risk.READ_ONLY, refuses))
    await bench.run(answer(call("refuses")))
    assert error_of(bench.results()[0]) == {
        "code": "denied",
        "message": "the person does not want it",
        "retry_hint": "do without it",
        "more": 1,
    }
    assert list(bench.statuses().values()) == ["rejected"]


SECRET = "the key is 12345\n"


@pytest.mark.parametrize("rule", ["read_file(secrets/**)", "read_files(secrets/**)", "search_text(secrets/**)"])
async def test_a_file_that_a_rule_denies_is_shown_by_no_sibling(bench: Bench, rule: str) -> None:
    bench.rules = Policy(ApprovalLevel.CAREFUL, deny=(Rule.parse(rule),))
    bench.open("secrets/key", SECRET)
    bench.write("secrets/other", SECRET)
    bench.write("open", "the key is not here\n")
    await bench.run(
        answer(
            call("read_file", path="secrets/key"),
            call("read_files", paths=["open", "secrets/key"]),
            call("search_text", pattern="key"),
            call("search_text", pattern="key", path="secrets"),
            call("search_text", pattern="key", path="secrets/other"),
            call("search_text", pattern="key", context_lines=3, glob="secrets/*"),
            call("edit_file", path="secrets/key", old_text="nowhere", new_text="x"),
            call("edit_file", path="secrets/key", old_text=SECRET, new_text="x"),
            call("write_file", path="secrets/key", content="x"),
        )
    )
    assert not any("12345" in result for result in bench.results())
    assert bench.errors() == ["denied", "denied", None, "denied", "denied", None, "denied", "denied", "denied"]
    assert "open:1: the key is not here" in bench.results()[2]
    assert "not searched" in bench.results()[2]
    assert bench.text("secrets/key") == SECRET


async def test_a_search_that_reaches_files_to_be_asked_for_is_asked_about(bench: Bench) -> None:
    bench.rules = Policy(ApprovalLevel.CAREFUL, ask=(Rule.parse("read_file(secrets/**)"),))
    bench.write("secrets/key", SECRET)
    bench.write("src/a", "the key is not here\n")
    await bench.run(
        answer(call("search_text", pattern="key", path="src"), call("search_text", pattern="key")),
        decisions=[Rejected("not there")],
    )
    assert bench.errors() == [None, "denied"]
    assert [request.why for request in bench.user.asked] == ["the rule read_file(secrets/**) asks"]
