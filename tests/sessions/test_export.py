"""Exports: JSON has the whole session, and only such files are imported; Markdown is for people."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tark_lsp.agent import history
from tark_lsp.errors import RequestError
from tark_lsp.messages import Image, Message, Text, Thinking, ToolCall, ToolResult
from tark_lsp.sessions.export import from_json, to_json
from tark_lsp.sessions.markdown import to_markdown
from tark_lsp.sessions.message_json import without_echoes
from tark_lsp.sessions.store import SessionStore
from tests.sessions.stores import Stores, answer, begun, call, calling, row, shown, text, told, user

RICH = (
    Message("user", (Text("around \ud800"), Image("image/png", "AAAA"))),
    Message(
        "assistant", (Thinking("hm ```", {"signature": "s"}), Text("I look."), ToolCall("1", "run<b>", "{}")), "p/m"
    ),
    Message("tool", (ToolResult("1", "```\nfailed", is_error=True),)),
    answer("It *failed*."),
)


@pytest.fixture
def store(stores: Stores) -> SessionStore:
    store = stores.open()
    store.create_session(row("s1", "A\n title"), [user("brought along")])
    begun(store, "s1", "t1", *RICH)
    shown(store, "t1", {"kind": "start"}, call("call-1", "failed"), {"kind": "end", "turnId": "t1", "sessionId": "s1"})
    store.log.end_turn(
        "t1", {"stopReason": "error", "error": {"message": "no more"}, "sessionId": "s1", "turnId": "t1"}
    )
    begun(store, "s1", "t2", user("again"))
    shown(store, "t2", text("it was "))
    return store


def exported(store: SessionStore, session_id: str = "s1") -> str:
    found = store.find_session(session_id)
    assert found is not None
    return to_json(found, store.log.messages(session_id), store.log.turns(session_id), store.log.updates)


def test_it_is_taken_in_as_it_was(store: SessionStore) -> None:
    file = exported(store)
    assert file.isascii()
    value = from_json(file)
    assert value.title == "A\n title"
    store.import_session(row("s2", value.title), value)
    messages = store.log.messages("s2")
    before = store.log.messages("s1")
    assert [stored.message for stored in messages[:-1]] == [without_echoes(stored.message) for stored in before]
    assert before[2].message.parts[0] == Thinking("hm ```", {"signature": "s"})
    assert messages[2].message.parts[0] == Thinking("hm ```"), "nobody can look at what a provider alone reads"
    assert [(stored.time, stored.seq, stored.call_ids) for stored in messages[:-1]] == [
        (stored.time, stored.seq, stored.call_ids) for stored in before
    ]
    assert messages[-1].message == answer("it was \n\n[interrupted]"), "the turn that ran is over there"
    history.check_history(store.log.history("s2").messages)
    first, second = store.log.turns("s2")
    assert {first.id, second.id}.isdisjoint({"t1", "t2"})
    assert [stored.turn_id for stored in messages] == ["", *[first.id] * 4, *[second.id] * 2]
    known = store.log.find_turn("t1")
    assert known is not None
    assert known.end is not None
    assert first == replace(
        known, id=first.id, session_id="s2", end={**known.end, "sessionId": "s2", "turnId": first.id}
    )
    assert store.log.updates(first.id)[-1] == (3, {"kind": "end", "sessionId": "s2", "turnId": first.id})
    assert store.log.unended_turns("s2") == []
    assert [turn.id for turn in store.log.unended_turns("s1")] == ["t2"]
    again = from_json(exported(store, "s2"))
    assert [stored.message for stored in again.messages] == [stored.message for stored in messages]
    store.log.add_message("s2", "", user("it is ours"))


def _without(key: str) -> Callable[[dict[str, Any]], object]:
    return lambda value: value.pop(key)


def _with(**fields: Any) -> Callable[[dict[str, Any]], object]:
    return lambda value: value.update(fields)


def _update(**update: Any) -> Callable[[dict[str, Any]], object]:
    return lambda value: value["turns"][0].update(updates=[[1, update]])


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_with(version=2), "newer tark-lsp (version 2 of the format, this one reads 1)"),
        (_with(version="1"), "does not say its version"),
        (_with(version=0), "does not say its version"),
        (_with(format="chat"), "not an exported session"),
        (_without("format"), "not an exported session"),
        (_without("messages"), "damaged (KeyError: 'messages')"),
        (_with(messages={}), "damaged"),
        (_with(messages=[{}]), "damaged"),
        (_with(title=None), "damaged"),
        (_with(created=float("nan")), "damaged"),
        (_with(turns=[1]), "damaged"),
        (lambda value: value["turns"].append(value["turns"][0]), "two turns have the same id"),
        (lambda value: value["turns"][0]["updates"].append([1, {}]), "two updates have the same number"),
        (lambda value: value["turns"][0].update(updates=[[-1, {}]]), "damaged"),
        (lambda value: value["turns"][0].update(updates=[[1, "x"]]), "damaged"),
        (lambda value: value["turns"][0].update(end=3), "damaged"),
        (lambda value: value["messages"][0].update(parts=[{"type": "video"}]), "damaged"),
        (lambda value: value["messages"][0].update(callIds={"a": 1}), "damaged"),
        (
            lambda value: value["messages"][0].update(parts=[{"type": "opaque", "echo": {}}]),
            "Opaque in one of the role",
        ),
        (_update(kind="text"), "damaged"),
        (_update(kind="text", delta=1), "damaged"),
        (_update(kind="toolCall"), "damaged"),
        (_update(kind="toolCall", toolCallId=1), "damaged"),
        (_update(kind="toolCall", toolCallId="c", status=["failed"]), "damaged"),
        (_update(kind="toolCall", toolCallId="c", status="lost"), "damaged"),
        (_update(kind="toolCall", toolCallId="c", content=[1]), "damaged"),
        (_update(kind="toolCall", toolCallId="c", content=[{"type": "text"}]), "damaged"),
        (_update(kind="toolCall", toolCallId="c", locations={}), "damaged"),
        (_update(kind="toolCall", toolCallId="c", arguments={}), "damaged"),
        (_update(kind=["text"]), "damaged"),
        (_update(kind="\ud800"), "damaged"),
        (_update(kind="usage", costUsd=float("nan")), "NaN is not JSON"),
        (_update(kind="usage", costUsd=float("-inf")), "-Infinity is not JSON"),
        (_update(kind="end", stopReason={}), "damaged"),
        (lambda value: value["turns"][0].update(end={"stopReason": {}}), "damaged"),
        (lambda value: value["turns"][0].update(end={"error": "no"}), "damaged"),
        (lambda value: value["turns"][0].update(end={"error": {"message": {}}}), "damaged"),
        (lambda value: value["turns"][0].update(kind="\ud800"), "damaged"),
        (lambda value: value["turns"][0].update(model="\ud800"), "damaged"),
        (lambda value: value["messages"][0].update(seq=2**70), "damaged"),
    ],
)
def test_nothing_else_is_taken_in(store: SessionStore, spoil: Callable[[dict[str, Any]], object], words: str) -> None:
    value = json.loads(exported(store))
    spoil(value)
    with pytest.raises(RequestError) as refused:
        from_json(json.dumps(value))
    assert words in refused.value.message
    assert refused.value.hint


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "[" * 100_000, "# A session", '{"format": "tark-lsp session"}']
)
def test_no_json(text: str) -> None:
    with pytest.raises(RequestError, match="import: the file cannot be imported"):
        from_json(text)


def test_half_a_file(store: SessionStore) -> None:
    file = exported(store)
    for length in range(0, len(file) - 2, 97):
        with pytest.raises(RequestError):
            from_json(file[:length])


def test_turns_that_are_not_there(store: SessionStore) -> None:
    value = json.loads(exported(store))
    value["turns"] = []
    store.import_session(row("s2"), from_json(json.dumps(value)))
    assert {stored.turn_id for stored in store.log.messages("s2")} == {""}


def test_for_people(store: SessionStore) -> None:
    found = store.find_session("s1")
    assert found is not None
    words = to_markdown(found, store.log.messages("s1"), store.log.turns("s1"))
    assert words.startswith("# A title\n\n- Created: ")
    assert "> brought along\n" in words
    assert words.count("> do it\n") == 2, "prompts as they were typed"
    assert "around" not in words, "not what was told with them"
    assert "<details><summary>run&lt;b> (failed)</summary>" in words
    assert "````text\n{}\n\n```\nfailed\n````" in words, "a fence that the text does not end"
    assert "I look." in words
    assert "It *failed*." in words
    assert "ended with an error: no more" in words
    words.encode("utf-8")


def test_long_results_are_cut_for_people(store: SessionStore) -> None:
    begun(store, "s3", "t3", calling("1"), Message("tool", (ToolResult("1", "x" * 100_000),)), told("2"))
    found = store.find_session("s3")
    assert found is not None
    words = to_markdown(replace(found, created=1e300), store.log.messages("s3"), store.log.turns("s3"))
    assert "[98,000 more characters]" in words
    assert "Created: at an unknown time" in words
    assert len(words) < 3_000
