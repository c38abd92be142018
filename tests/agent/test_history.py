"""Each call has exactly one result right after it, in order, after every way a turn can end."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tark_lsp.agent import history
from tark_lsp.agent.events import CallStatus
from tark_lsp.agent.history import InvalidHistory, check_history, results_message
from tark_lsp.agent.turn import run_turn
from tark_lsp.agent.user_interface import Permitted, Rejected
from tark_lsp.errors import RateLimited, StreamCut
from tark_lsp.llm.events import WireStop
from tark_lsp.messages import ApprovalLevel, Message, Mode, StopReason, Text, Thinking, ToolCall, ToolResult
from tark_lsp.tools.tool import Risk
from tests.agent.bench import Bench
from tests.agent.probe import add, probe
from tests.agent.script import Answer, Call, Part, answer
from tests.agent.scripted_user import Decision, Some
from tests.exhaustive import examples

USER = Message("user", (Text("hi"),))
SAYS = Message("assistant", (Text("yes"),))


def calls(*ids: str) -> Message:
    return Message("assistant", tuple(ToolCall(item, "tool", "{}") for item in ids))


def results(*ids: str) -> Message:
    return Message("tool", tuple(ToolResult(item, "done") for item in ids))


VALID: dict[str, list[Message]] = {
    "empty": [],
    "words": [USER, SAYS, USER, SAYS],
    "two from the person": [USER, USER],
    "calls": [USER, calls("1", "2"), results("1", "2"), SAYS],
    "calls, then calls with the same ids": [USER, calls("1"), results("1"), calls("1"), results("1")],
    "only thinking": [USER, Message("assistant", (Thinking("hm"),))],
}

INVALID: dict[str, list[Message]] = {
    "no results": [USER, calls("1")],
    "no results yet": [USER, calls("1"), USER, results("1")],
    "one is missing": [USER, calls("1", "2"), results("1")],
    "one too many": [USER, calls("1"), results("1", "2")],
    "one twice": [USER, calls("1"), results("1", "1")],
    "another order": [USER, calls("1", "2"), results("2", "1")],
    "two calls with one id": [USER, calls("1", "1"), results("1", "1")],
    "results without calls": [USER, results("1")],
    "results twice": [USER, calls("1"), results("1"), results("1")],
    "results first": [results("1")],
    "an empty message": [USER, Message("assistant", ())],
}


@pytest.mark.parametrize("name", VALID)
def test_valid(name: str) -> None:
    check_history(VALID[name])


@pytest.mark.parametrize("name", INVALID)
def test_invalid(name: str) -> None:
    with pytest.raises(InvalidHistory):
        check_history(INVALID[name])


def test_results_come_in_the_order_of_the_calls_and_none_is_missing() -> None:
    done = {"2": ToolResult("2", "two"), "1": ToolResult("1", "one")}
    message = results_message(calls("1", "2", "3").tool_calls, done, "missing")
    assert message.parts == (done["1"], done["2"], ToolResult("3", "missing", is_error=True))


def raw(name: str, arguments: str) -> st.SearchStrategy[Call]:
    return st.builds(lambda cut: Call(name, arguments, cut), st.sampled_from([False, False, False, True]))


def tool(name: str, **arguments: object) -> st.SearchStrategy[Call]:
    return raw(name, json.dumps(arguments))


CALLS = st.one_of(
    tool("read_file", path="a.py"),
    tool("read_file", path="missing.py"),
    tool("read_file", path="/etc/hostname"),
    tool("edit_file", path="a.py", old_text="line 3", new_text="line three"),
    tool("edit_file", path="a.py", old_text="line 3", new_text="another three"),
    tool("edit_file", path="a.py", old_text="line 17", new_text=""),
    tool("edit_file", path="a.py", old_text="nowhere", new_text="x"),
    tool("write_file", path="b.py", content="new\n"),
    tool("write_file", path="../outside.py", content="new\n"),
    tool("replace_selection", new_text="selected\n"),
    tool("propose_edit", path="a.py", old_text="line 5", new_text="line five"),
    tool("update_plan", entries=[]),
    tool("ask_user", question="Which?"),
    tool("switch_mode", mode="plan", reason="to think"),
    tool("pause", n=1),
    tool("change", n=1),
    tool("break", n=1),
    tool("stop", n=1),
    tool("no_such_tool"),
    raw("read_file", '{"path": "a.p'),
    raw("read_file", ""),
    raw("edit_file", "[]"),
)
ENDINGS = st.sampled_from([*WireStop, None])
BREAKS = st.sampled_from([StreamCut("cut"), RateLimited("429")])


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    parts: list[Part] = []
    if draw(st.booleans()):
        parts.append("Some words.")
    parts += draw(st.lists(CALLS, max_size=5))
    if draw(st.integers(0, 9)) == 0:
        return answer(*parts, draw(BREAKS), stop=None)
    stop = draw(st.integers(0, 9))
    return answer(*parts, stop=draw(ENDINGS) if stop == 0 else WireStop.TOOL_CALLS)


DECISIONS: st.SearchStrategy[list[Decision]] = st.lists(
    st.sampled_from([Permitted(), Rejected("no"), Rejected(), Permitted(None)]), max_size=6
)
EDITOR_ANSWERS = st.lists(st.sampled_from([None, ["switch"], ["stay"], ["go-on"]]), max_size=4)


async def pause(n: int) -> str:
    for _ in range(5):
        await asyncio.sleep(0)
    return f"{n}"


async def defect(_: int) -> str:
    raise ZeroDivisionError


async def gives_up(_: int) -> str:
    raise asyncio.CancelledError


def make_bench(root: Path) -> Bench:
    bench = Bench(root)
    add(
        bench.tools,
        probe("pause", Risk.READ_ONLY, pause),
        probe("change", Risk.RISKY, pause),
        probe("break", Risk.WRITE, defect),
        probe("stop", Risk.READ_ONLY, gives_up),
    )
    bench.buffers.open(root / "a.py", "".join(f"line {number}\n" for number in range(1, 21)))
    bench.buffers.open(root / "b.py", "old\n")
    return bench


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("project").resolve()


@settings(max_examples=examples(100))
@given(
    st.lists(answers(), max_size=4),
    DECISIONS,
    EDITOR_ANSWERS,
    st.sampled_from(Mode),
    st.sampled_from(ApprovalLevel),
    st.none() | st.integers(0, 80),
)
def test_every_end_leaves_a_history_that_can_be_sent(
    root: Path,
    script: Sequence[Answer],
    decisions: list[Decision],
    editor_answers: list[str | list[str] | None],
    mode: Mode,
    level: ApprovalLevel,
    cancel_after: int | None,
) -> None:
    """`cancel_after`: that many turns of the event loop, so that it comes at any await."""

    async def play() -> None:
        bench = make_bench(root)
        bench.mode, bench.level = mode, level
        bench.editor.answers = list(editor_answers)
        bench.select(root / "b.py", 0, 3)
        task = asyncio.create_task(run_turn(bench.make(*script, decisions=[*decisions])))
        if cancel_after is not None:
            for _ in range(cancel_after):
                await asyncio.sleep(0)
            task.cancel()
        try:
            end = await task
        except asyncio.CancelledError:
            assert cancel_after == 0  # before its first step a task cannot know
            return
        assert_sendable(bench.session.messages)
        assert set(bench.statuses().values()) <= FINAL
        assert bench.context.drafts == {}
        if cancel_after is None and end.stop_reason is StopReason.ERROR:
            assert end.error is not None
        bench.model.answers.clear()
        assert (await bench.run(answer("The next turn."))).text == "The next turn."
        assert_sendable(bench.model.requests[-1].messages)

    asyncio.run(play())


FINAL = {CallStatus.COMPLETED, CallStatus.FAILED, CallStatus.REJECTED, CallStatus.CANCELLED}


def assert_sendable(messages: Sequence[Message]) -> None:
    history.check_history(messages)
    for index, message in enumerate(messages):
        wanted = [call.id for call in message.tool_calls]
        if wanted:
            given = [part.call_id for part in messages[index + 1].parts if isinstance(part, ToolResult)]
            assert given == wanted
        assert (message.role == "tool") == any(isinstance(part, ToolResult) for part in message.parts)


def test_the_person_may_take_some_hunks(root: Path) -> None:
    async def play() -> None:
        bench = make_bench(root)
        edits = [
            Call("edit_file", json.dumps({"path": "a.py", "old_text": f"line {n}\n", "new_text": f"{n}\n"}))
            for n in (2, 12)
        ]
        await bench.run(answer(*edits), decisions=[Some(lambda hunk: hunk.start > 5)])
        assert_sendable(bench.session.messages)
        assert bench.errors() == ["denied", None]

    asyncio.run(play())
