"""run_turn(): how a turn ends, what stays in the history, steering, cancelling."""

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tark_lsp.agent import history
from tark_lsp.agent.events import (
    Answered,
    CallStatus,
    MessageAdded,
    Notice,
    Requested,
    Step,
    TextChunk,
    ThinkingChunk,
    UsageChanged,
)
from tark_lsp.agent.kinds import KINDS
from tark_lsp.agent.state import edit_state
from tark_lsp.agent.turn import run_turn
from tark_lsp.agent.user_interface import HunkState
from tark_lsp.errors import AuthenticationFailed, StreamCut
from tark_lsp.llm.events import Done, Echo, Retry, Stall, StreamEvent, ThinkingDelta, UsageUpdate, WireStop
from tark_lsp.messages import Message, Mode, StopReason, Text, Usage
from tark_lsp.settings import Limits
from tark_lsp.tools.editor import Option
from tark_lsp.tools.tool import Risk
from tests.agent.bench import Bench
from tests.agent.probe import add, probe
from tests.agent.script import Answer, answer, call
from tests.agent.scripted_user import Some
from tests.memory import MemoryEditor
from tests.patience import AT_ONCE, HANGS


def roles(bench: Bench) -> str:
    return " ".join(message.role for message in bench.session.messages)


async def test_a_turn_from_prompt_to_answer(bench: Bench) -> None:
    bench.open("a.py", "x = 1\n")
    end = await bench.run(
        answer("I look. ", call("read_file", path="a.py")),
        answer("Now I edit.", call("edit_file", path="a.py", old_text="x = 1", new_text="x = 2")),
        answer("Done."),
    )
    assert (end.stop_reason, end.text, end.error) == (StopReason.END_TURN, "Done.", None)
    assert end.edits == {bench.root / "a.py": "applied"}
    assert bench.text("a.py") == "x = 2\n"
    assert roles(bench) == "user assistant tool assistant tool assistant"
    assert [len(request.messages) for request in bench.model.requests] == [1, 3, 5]
    assert [request.starts_turn for request in bench.model.requests] == [True, False, False]
    await bench.run(answer("And again."))
    assert bench.model.requests[-1].starts_turn
    assert set(bench.statuses().values()) == {CallStatus.COMPLETED}


ENDS: dict[str, tuple[Answer, StopReason, str, str]] = {
    # the answer; why the turn stops; its text; the roles of the history
    "end_turn": (answer("Yes."), StopReason.END_TURN, "Yes.", "user assistant"),
    "other": (answer("Yes.", stop=WireStop.OTHER), StopReason.END_TURN, "Yes.", "user assistant"),
    "calls, but none": (answer("Yes.", stop=WireStop.TOOL_CALLS), StopReason.END_TURN, "Yes.", "user assistant"),
    "max_tokens": (answer("Ye", stop=WireStop.MAX_TOKENS), StopReason.MAX_TOKENS, "Ye", "user assistant"),
    "refusal": (answer("No.", stop=WireStop.REFUSAL), StopReason.REFUSAL, "No.", "user assistant"),
    "nothing at all": (answer(), StopReason.END_TURN, "", "user"),
    "cut": (answer("Ye", StreamCut("cut"), stop=None), StopReason.ERROR, "Ye", "user assistant"),
    "no terminal event": (answer("Ye", stop=None), StopReason.ERROR, "Ye", "user assistant"),
    "no answer at all": (answer(AuthenticationFailed("401"), stop=None), StopReason.ERROR, "", "user assistant"),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
async def test_ends(bench: Bench, name: str) -> None:
    script, stop_reason, text, wanted = ENDS[name]
    end = await bench.run(script)
    assert (end.stop_reason, end.text) == (stop_reason, text)
    assert (end.error is not None) == (stop_reason is StopReason.ERROR)
    assert roles(bench) == wanted
    assert (await bench.run(answer("And again."))).text == "And again."


async def test_words_that_were_shown_stay_marked_and_half_a_call_does_not(bench: Bench) -> None:
    await bench.run(answer(ThinkingDelta("hm"), "I will", call("read_file", path="a"), StreamCut("cut"), stop=None))
    assert bench.session.messages[-1] == Message("assistant", (Text("I will\n\n[interrupted]"),), "scripted/test")
    assert set(bench.statuses().values()) == {CallStatus.CANCELLED}


async def test_calls_run_because_they_are_there_whatever_the_finish_reason(bench: Bench) -> None:
    for stop in (WireStop.END_TURN, WireStop.OTHER, WireStop.TOOL_CALLS):
        await bench.run(answer(call("update_plan", entries=[]), stop=stop))
    assert bench.results() == ["The plan is cleared."] * 2 + bench.results()[2:]
    assert len(bench.results()) == 3


async def test_what_the_listener_hears(bench: Bench) -> None:
    usage = Usage(10, output_tokens=5, cost_usd=0.25)
    await bench.run(
        answer(
            Retry(4, "429"),
            Stall(20),
            ThinkingDelta("hm"),
            Echo("thinking", {"signature": "s"}),
            "Yes",
            UsageUpdate(Usage(10)),
            UsageUpdate(usage),
        )
    )
    prompt, request, *heard, answered, said = bench.heard
    assert request == Requested(1, bench.model.name)
    assert isinstance(answered, Answered)
    assert (answered.number, answered.usage, answered.stop) == (1, usage, "end_turn")
    assert [item.message for item in (prompt, said) if isinstance(item, MessageAdded)] == bench.session.messages
    assert heard == [
        Step("retrying in 4 s (429)"),
        Notice("info", "retrying in 4 s (429)"),
        Step("no data for 20 s"),
        ThinkingChunk("hm"),
        TextChunk("Yes"),
        UsageChanged(usage, 15, 100_000),
    ]
    assert bench.session.usage == usage


async def test_usage_adds_up_and_counts_what_broke_off(bench: Bench) -> None:
    usage = UsageUpdate(Usage(10, output_tokens=5))
    end = await bench.run(answer(call("update_plan", entries=[]), usage), answer(usage, StreamCut("cut"), stop=None))
    assert end.usage == bench.session.usage == Usage(20, output_tokens=10)


async def test_steering_comes_after_the_tool_results(bench: Bench) -> None:
    async def steer(n: int) -> str:
        assert bench.turn is not None
        bench.turn.steering += ["wait", f"not {n}"]
        return "done"

    add(bench.tools, probe("probe", Risk.READ_ONLY, steer))
    await bench.run(answer(call("probe", n=3), call("update_plan", entries=[])), answer("All right."))
    assert roles(bench) == "user assistant tool user user assistant"
    assert [message.text for message in bench.session.messages[3:5]] == ["wait", "not 3"]
    assert bench.turn is not None
    assert bench.turn.steering == []


async def test_steering_that_comes_with_the_last_answer_is_not_lost(bench: Bench) -> None:
    turn = bench.make(answer("I am done."), answer("Oh, that too."))
    turn.steering.append("and the other file")
    end = await run_turn(turn)
    assert end.text == "Oh, that too."
    assert roles(bench) == "user assistant user assistant"
    assert bench.model.requests[1].messages[-1].text == "and the other file"


async def test_a_turn_the_provider_paused_goes_on(bench: Bench) -> None:
    end = await bench.run(answer("One", stop=WireStop.PAUSED), answer("two."))
    assert end.text == "two."
    assert len(bench.model.requests) == 2


@pytest.mark.parametrize(
    ("parts", "stop", "said"),
    [
        (("Fine.",), WireStop.END_TURN, []),
        (("Half of", Done(WireStop.OTHER, "odd")), None, ["the model stopped for an unknown reason: odd"]),
        (("Half of",), WireStop.OTHER, ["the provider did not say why the answer ended, so it may be cut off"]),
        ((), WireStop.OTHER, ["the model gave an empty answer"]),
        ((" \n",), WireStop.END_TURN, ["the model gave an empty answer"]),
        ((), WireStop.END_TURN, ["the model gave an empty answer"]),
        ((), WireStop.REFUSAL, []),
    ],
)
async def test_an_odd_end_is_said(
    bench: Bench, parts: tuple[str | StreamEvent, ...], stop: WireStop | None, said: list[str]
) -> None:
    await bench.run(answer(*parts, stop=stop))
    assert [event.message for event in bench.heard if isinstance(event, Notice)] == said


async def test_a_limit_asks_goes_on_and_stops(bench: Bench) -> None:
    bench.limits = Limits(turn_requests=2)
    bench.editor.answers = [["go-on"], ["stop"]]
    endless = [answer(call("probe", n=n)) for n in range(10)]

    async def nothing(n: int) -> str:
        return f"{n}"

    add(bench.tools, probe("probe", Risk.READ_ONLY, nothing))
    end = await bench.run(*endless)
    assert end.stop_reason is StopReason.MAX_TURN_REQUESTS
    assert len(bench.model.requests) == 4
    assert roles(bench).endswith("assistant tool")
    assert bench.heard[-1] == Notice("warning", "Stopped: this turn made 4 requests to the model.")


async def test_the_cost_of_the_turn_is_a_limit(bench: Bench) -> None:
    bench.limits = Limits(turn_usd=0.5)
    end = await bench.run(answer(call("update_plan", entries=[]), UsageUpdate(Usage(1, cost_usd=0.6))))
    assert end.stop_reason is StopReason.BUDGET
    assert len(bench.model.requests) == 1


async def test_a_history_that_cannot_be_sent_is_not_sent(bench: Bench) -> None:
    bench.session.messages.append(Message("tool", (Text("nobody asked"),)))
    turn = bench.make(answer("Hello."))
    end = await run_turn(turn)
    assert end.stop_reason is StopReason.ERROR
    assert isinstance(end.error, history.InvalidHistory)
    assert bench.model.requests == []


async def test_the_tools_are_those_of_the_mode_of_the_moment(bench: Bench) -> None:
    bench.mode = Mode.PLAN
    bench.editor.answers = [["switch"]]
    await bench.run(answer(call("switch_mode", mode="build", reason="to do it")), answer("Done."))
    assert "edit_file" not in bench.offered(0)
    assert "propose_edit" in bench.offered(0)
    assert "edit_file" in bench.offered(1)
    assert "propose_edit" not in bench.offered(1)


async def test_what_was_changed_by_edits_is_told_at_the_end(bench: Bench) -> None:
    for name in ("a", "b", "c"):
        bench.open(name, "1\n" + "same\n" * 9 + "2\n")
    end = await bench.run(
        answer(
            call("edit_file", path="a", old_text="1", new_text="one"),
            call("write_file", path="b", content="one\n" + "same\n" * 9 + "two\n"),
            call("edit_file", path="c", old_text="2", new_text="two"),
        ),
        decisions=[Some(lambda hunk: hunk.start == 0)],
    )
    assert end.edits == {bench.root / "a": "applied", bench.root / "b": "partly", bench.root / "c": "rejected"}


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ("applied", "applied"),
        ("applied applied", "applied"),
        ("applied rejected", "partly"),
        ("applied conflict", "partly"),
        ("rejected", "rejected"),
        ("rejected conflict", "failed"),
        ("conflict", "failed"),
        ("failed", "failed"),
        ("pending", "pending"),
    ],
)
def test_edit_state(states: str, expected: str) -> None:
    assert edit_state([HunkState(state) for state in states.split()]) == expected


async def hang(n: int) -> str:
    await asyncio.sleep(HANGS)
    return f"{n}"


async def cancel(bench: Bench, *answers: Answer, when: Callable[[], object]) -> None:
    """Once `when` holds. The turn is over at once."""
    task = asyncio.create_task(run_turn(bench.make(*answers)))
    async with asyncio.timeout(AT_ONCE):
        while not when():  # noqa: ASYNC110  # not all that is waited for has an event
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        task.cancel()
        end = await task
    assert end.stop_reason is StopReason.CANCELLED
    history.check_history(bench.session.messages)


async def test_cancel_while_tools_run(bench: Bench) -> None:
    started = asyncio.Event()
    later: list[int] = []

    async def slow(n: int) -> str:
        started.set()
        return await hang(n)

    async def note(n: int) -> str:
        later.append(n)
        return "noted"

    add(bench.tools, probe("slow", Risk.READ_ONLY, slow), probe("note", Risk.RISKY, note))
    calls = [call("update_plan", entries=[]), call("slow", n=1), call("slow", n=2), call("note", n=3)]
    await cancel(bench, answer(*calls), answer("never"), when=started.is_set)
    assert bench.errors() == [None, "cancelled", "cancelled", "cancelled"]
    await asyncio.sleep(0.02)
    assert later == []
    assert len(bench.model.requests) == 1
    assert sorted(bench.statuses().values()) == ["cancelled", "cancelled", "cancelled", "completed"]


async def test_cancel_ends_a_command_and_all_it_started(bench: Bench, tmp_path: Path) -> None:
    """Each of its processes holds the pipe open, so that its end is read once the last of them is gone."""
    marker, pipe = tmp_path / "marker", tmp_path / "pipe"
    os.mkfifo(pipe)
    command = f"exec 3>{pipe}; echo >&3; (sleep {HANGS}; touch {marker}) & sleep {HANGS}; touch {marker}"
    calls = [call("run_command", command=command), call("run_command", command=f"touch {marker}")]
    running, reader = asyncio.Event(), os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    loop = asyncio.get_running_loop()
    loop.add_reader(reader, running.set)
    try:
        await cancel(bench, answer(*calls), when=running.is_set)
        loop.remove_reader(reader)
        os.set_blocking(reader, True)
        assert await asyncio.to_thread(os.read, reader, 10) == b"\n"
        async with asyncio.timeout(AT_ONCE):
            assert await asyncio.to_thread(os.read, reader, 10) == b""
    finally:
        os.close(reader)
    assert not marker.exists()
    assert bench.errors() == ["cancelled", "cancelled"]


async def test_cancel_while_the_person_is_asked(bench: Bench) -> None:
    bench.open("a", "1\n")
    asked = asyncio.Event()
    bench.user.seconds, bench.user.meanwhile = HANGS, asked.set
    edit = call("edit_file", path="a", old_text="1", new_text="2")
    await cancel(bench, answer(edit, call("read_file", path="a")), when=asked.is_set)
    assert bench.text("a") == "1\n"
    assert bench.errors() == ["cancelled", "cancelled"]
    assert bench.context.drafts == {}


async def test_cancel_while_the_model_answers(bench: Bench) -> None:
    await cancel(bench, answer("I think", call("read_file", path="a"), HANGS), when=bench.statuses)
    assert bench.model.closed == 1
    assert bench.session.messages[-1].text == "I think\n\n[interrupted]"
    assert set(bench.statuses().values()) == {"cancelled"}


class SilentEditor(MemoryEditor):
    """Its person never answers."""

    waits = False

    async def ask_user(
        self,
        question: str,
        options: Sequence[Option] = (),
        *,
        multiple: bool = False,
        free_text: bool = True,
        by_model: bool = False,
    ) -> str | list[str] | None:
        self.waits = True
        await asyncio.sleep(HANGS)
        return await super().ask_user(question, options, multiple=multiple, free_text=free_text, by_model=by_model)


async def test_cancel_while_a_limit_is_asked_about(bench: Bench) -> None:
    bench.limits = Limits(turn_requests=1)
    bench.context.editor = editor = SilentEditor()
    await cancel(bench, answer(call("update_plan", entries=[])), when=lambda: editor.waits)
    assert roles(bench) == "user assistant tool"


async def test_every_kind_runs(bench: Bench) -> None:
    for kind in KINDS:
        bench.kind = kind
        assert (await bench.run(answer("Yes."))).stop_reason is StopReason.END_TURN
