"""An interrupted turn gets a history that can be sent, and an end that says what happened."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.agent import history
from tark_lsp.messages import Message, Text, ToolResult
from tark_lsp.sessions.hunks import HunkRows, KeptHunk, KeptText
from tark_lsp.sessions.repair import valid_history
from tests.sessions.stores import HOME, Stores, answer, begun, call, calling, row, shown, text, told, turn, user

CUT = "[interrupted]"
SAID = {"type": "text", "text": "what it gave"}


def interrupted(words: str) -> str:
    return answer(f"{words}\n\n{CUT}".strip()).text


@pytest.mark.parametrize(
    ("messages", "updates", "added"),
    [
        ([], [], []),
        ([], [{"kind": "start"}], []),
        ([user("a")], [], [CUT]),
        ([user("a")], [text("I am"), {"kind": "thinking", "delta": "hm"}, text(" here")], [interrupted("I am here")]),
        ([user("a"), answer("b")], [], []),
        ([user("a"), calling("1"), told("1")], [], [CUT]),
        ([user("a"), calling("1"), told("1")], [text("so")], [interrupted("so")]),
        ([user("a"), answer("b"), user("steer")], [text("c")], [interrupted("c")]),
    ],
)
def test_words_that_were_shown_stay(
    stores: Stores, messages: list[Message], updates: list[dict[str, Any]], added: list[str]
) -> None:
    store = stores.open()
    begun(store, "s1", "t1", *messages)
    shown(store, "t1", *updates)
    store.release_leases()
    other = stores.open()
    assert other.acquire_lease("s1") is None
    (ended,) = other.log.repair_turns("s1")
    assert other.log.history("s1").messages == (*messages, *(answer(words) for words in added))
    history.check_history(other.log.history("s1").messages)
    assert ended.end is not None
    assert (ended.end["stopReason"], ended.end["error"]["code"]) == ("error", "interrupted")
    assert (
        ended.end["text"]
        == (added or [message.text for message in messages if message.role == "assistant"] or [""])[-1]
        .removesuffix(CUT)
        .rstrip()
    )
    assert other.log.updates("t1")[-1][1] == {"kind": "end", **ended.end}
    assert (other.log.unended_turns("s1"), other.log.repair_turns("s1")) == ([], [])


def test_words_before_a_message_are_not_told_again(stores: Stores) -> None:
    store = stores.open()
    begun(store, "s1", "t1", user("a"))
    shown(store, "t1", text("let me look"))
    store.log.add_message("s1", "t1", calling("1"), {"1": "call-1"})
    store.log.add_message("s1", "t1", told("1"))
    shown(store, "t1", text("it is"), begin=2)
    store.log.repair_turns("s1")
    assert store.log.history("s1").messages[-1] == answer(f"it is\n\n{CUT}")


@pytest.mark.parametrize(
    ("states", "result", "words", "status"),
    [
        ([], "error", "before it was run", None),
        ([call("call-1", "pending")], "error", "before it was run", "cancelled"),
        ([call("call-1", "waiting")], "error", "before it was run", "cancelled"),
        ([call("call-1", "in_progress")], "error", "whether it was done is not known", "cancelled"),
        ([call("call-1", "in_progress"), call("call-1", "completed")], "error", "its result is lost", "completed"),
        ([call("call-1", "completed", content=[{"type": "diff"}, SAID])], "ok", "what it gave", "completed"),
        ([call("call-1", "failed", content=[SAID])], "error", "what it gave", "failed"),
        ([call("call-1", "rejected", content=[SAID])], "error", "what it gave", "rejected"),
        ([call("call-1", "rejected")], "error", "the person said no", "rejected"),
    ],
)
def test_calls_get_their_results(
    stores: Stores, states: list[dict[str, Any]], result: str, words: str, status: str | None
) -> None:
    store = stores.open()
    begun(store, "s1", "t1", user("a"), calling("1", "2"))
    shown(store, "t1", *states, call("call-2", "completed", content=[SAID]))
    store.log.repair_turns("s1")
    messages = store.log.history("s1").messages
    history.check_history(messages)
    first, second = messages[-1].parts
    assert isinstance(first, ToolResult)
    assert (first.is_error, words in first.content) == (result == "error", True)
    assert second == ToolResult("2", "what it gave")
    found = [update["status"] for _, update in store.log.updates("t1") if update.get("toolCallId") == "call-1"]
    assert found == ([] if status is None else [status])


@pytest.mark.parametrize(
    ("status", "name", "last", "words"),
    [
        ("waiting", "a b.py", "completed", "waits for your review"),
        ("in_progress", "a b.py", "completed", "waits for your review"),
        ("in_progress", "other.py", "failed", "look whether the file has it"),
        ("waiting", "other.py", "cancelled", "before it was run"),
    ],
)
def test_an_edit_whose_hunks_wait_is_not_cancelled(
    stores: Stores, status: str, name: str, last: str, words: str
) -> None:
    """The next server has these hunks again, asked about or applied. Editors spell the URI in their own way."""
    store = stores.open()
    begun(store, "s1", "t1", user("a"), calling("1"))
    hunk = KeptHunk("h", "t1", 0, 1, ("x",), ("y",), "pending", "", True, False, False, False, "", "", "", None)
    HunkRows(store, lambda: stores.folder / "mark").replace_rows(HOME / "a b.py", [KeptText(HOME, "d", "x", (hunk,))])
    diff = {"type": "diff", "uri": f"file:///W/{name.replace(' ', '%20')}", "hunks": []}
    shown(store, "t1", call("call-1", status, content=[diff]))
    store.log.repair_turns("s1")
    ((_, update),) = [each for each in store.log.updates("t1") if each[1].get("toolCallId") == "call-1"]
    assert update["status"] == last
    assert update["content"][0] == diff
    (part,) = store.log.history("s1").messages[-1].parts
    assert isinstance(part, ToolResult)
    assert words in part.content


def test_one_whose_end_was_told_ended_so(stores: Stores) -> None:
    store = stores.open()
    begun(store, "s1", "t1", user("a"))
    shown(store, "t1", text("b"), {"kind": "end", "stopReason": "budget"})
    (ended,) = store.log.repair_turns("s1")
    assert ended.end == {"stopReason": "budget"}
    assert store.log.history("s1").messages == (user("a"),)
    assert store.log.updates("t1") == [(2, {"kind": "end", "stopReason": "budget"})]


def test_all_that_waited_end_with_it(stores: Stores) -> None:
    store = stores.open()
    begun(store, "s1", "t1", user("a"))
    shown(store, "t1", {"kind": "usage", "inputTokens": 7, "costUsd": 0.5, "contextUsed": 9})
    store.log.begin_turn(turn("t2", "s1"))
    assert [turn.id for turn in store.log.repair_turns("s1")] == ["t1", "t2"]
    first, second = (turn.end for turn in store.log.turns("s1"))
    assert first is not None
    assert second is not None
    assert first["usage"] == {
        "inputTokens": 7, "cachedTokens": 0, "outputTokens": 0, "reasoningTokens": 0, "costUsd": 0.5,
    }  # fmt: skip
    assert second["usage"]["costUsd"] is None
    assert store.log.history("s1").messages == (user("a"), answer(CUT))


PIECES = st.sampled_from(
    [user("u"), answer("a"), calling("1"), calling("1", "2"), calling("1", "1"), told("1"), told("2", "1"),
     Message("user", ()), Message("assistant", ()), Message("tool", (Text("x"),))]
)  # fmt: skip


@given(st.lists(PIECES, max_size=6))
def test_whatever_a_file_holds_can_be_sent(messages: list[Message]) -> None:
    right = valid_history(messages)
    history.check_history(right)
    texts = [message for message in messages if message.parts and message.role != "tool" and not message.tool_calls]
    assert [message for message in right if message in texts] == texts, "no words are lost"
    assert tuple(valid_history(right)) == tuple(right)


def test_a_history_that_somebody_changed_is_told_so_that_it_can_be_sent(stores: Stores) -> None:
    store = stores.open()
    store.create_session(row("s1"), [user("a"), calling("1"), user("b")])
    told_now = store.log.history("s1").messages
    history.check_history(told_now)
    assert [message.role for message in told_now] == ["user", "assistant", "tool", "user"]
