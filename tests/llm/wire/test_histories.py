"""Every history on every wire: the body is valid for the vendor's own types, and has the content of the history."""

import base64
import json
import re
from dataclasses import replace
from itertools import pairwise
from typing import Any, get_args

import pytest

from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.wire.text_tools import tools_as_text
from tark_lsp.llm.wire.wire import WIRES, TargetModel, ThinkingStyle, load_wire
from tark_lsp.messages import Image, Message, Opaque, Text, ToolCall, ToolResult
from tests.cases import every
from tests.llm.wire.histories import ASKED, HISTORIES, TOOLS, ref_of, user
from tests.llm.wire.read_bodies import Said, read_body
from tests.llm.wire.sdk_types import TYPES
from tests.llm.wire.wire_answers import MARKS, OWN_MARKS, answer_of, with_results

pytestmark = pytest.mark.slow  # the vendors' SDKs take seconds to import

SYSTEM = "Be brief."
ID = re.compile(r"[a-zA-Z0-9_-]{1,40}")
NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
ALTERNATING = ("anthropic-messages", "gemini-content")
IDS_REQUIRED = ("openai-chat", "openai-responses", "anthropic-messages")


def target_of(wire: str, thinking: ThinkingStyle = "unknown", **more: Any) -> TargetModel:
    return TargetModel(ref_of(wire), f"model-of-{wire}", thinking=thinking, **more)


def encoded(wire: str, *history: Message, target: TargetModel | None = None, **request: Any) -> bytes:
    request = {"tools": TOOLS, "session_id": "s1", **request}
    return load_wire(wire).encode(ChatRequest(SYSTEM, history, **request), target or target_of(wire))


def asked(wire: str, history: tuple[Message, ...]) -> tuple[Message, ...]:
    return tuple(replace(message, model=ref_of(wire)) if message.model == ASKED else message for message in history)


def check_body(wire: str, history: tuple[Message, ...], body: bytes) -> list[Said]:
    assert TYPES[wire](json.loads(body)) == []
    said = read_body(wire, body)
    check_pairs(wire, said)
    check_roles(wire, said)
    check_words(said, history)
    return said


def check_pairs(wire: str, said: list[Said]) -> None:
    """Each call has one result, right after the message it is in, in the calls' order; ids and names are valid."""
    waiting: list[Said] = []
    seen: list[str | None] = []
    answering = False
    for item in said:
        match item.kind:
            case "call":
                assert not answering, "a call among results"
                assert NAME.fullmatch(item.name), item.name
                waiting.append(item)
                seen.append(item.id)
            case "result":
                assert waiting, f"a result for no call: {item}"
                asked = waiting.pop(0)
                assert item.id == asked.id
                assert not item.name or item.name == asked.name
                answering = bool(waiting)
            case "image" if item.id is not None:
                pass  # in the result
            case "user" | "system" | "image":
                assert not waiting, f"{item} stands between a call and its result"
            case _:
                assert not answering, f"{item} stands between results"
    assert not waiting, f"calls without results: {waiting}"
    given = [call_id for call_id in seen if call_id is not None]
    assert len(set(given)) == len(given)
    assert all(ID.fullmatch(call_id) for call_id in given), given
    assert wire not in IDS_REQUIRED or len(given) == len(seen)


def check_roles(wire: str, said: list[Said]) -> None:
    talk = [item for item in said if item.kind != "system"]
    assert not any(item.kind in ("user", "assistant") and not item.text for item in talk)
    if wire in ALTERNATING:
        theirs = {item.turn: item.kind in ("assistant", "thinking", "call", "opaque") for item in talk}
        speakers = [theirs[turn] for turn in sorted(theirs)]
        assert all(one != other for one, other in pairwise(speakers))
        assert not speakers[0], "the wire wants the user to begin"
    if wire == "anthropic-messages":
        assert not any(item.kind in ("user", "assistant") and not item.text.strip() for item in talk)


def sendable_text(text: str) -> str:
    """Lone surrogates cannot be in UTF-8."""
    return text.encode("utf-8", "replace").decode()


def check_words(said: list[Said], history: tuple[Message, ...]) -> None:
    """The body has all content in order. White space at the end can be missing."""
    assert [item.text for item in said if item.kind == "system"] == [SYSTEM]
    for role in ("user", "assistant"):
        spoken = "".join(item.text for item in said if item.kind == role)
        place = 0
        for message in history:
            for part in message.parts:
                if message.role == role and isinstance(part, Text) and part.text.strip():
                    words = sendable_text(part.text).rstrip()
                    assert words in spoken[place:]
                    place = spoken.index(words, place) + len(words)
    pictures = [part for message in history for part in message.parts if isinstance(part, Image)]
    for message in history:
        pictures += [image for part in message.parts if isinstance(part, ToolResult) for image in part.images]
    assert sorted(item.text for item in said if item.kind == "image") == sorted(image.data for image in pictures)


def calls_of(history: tuple[Message, ...]) -> list[ToolCall]:
    return [call for message in history for call in message.tool_calls]


def results_of(history: tuple[Message, ...]) -> list[ToolResult | None]:
    """For each call, in order: the first result in the messages right after it."""
    found: list[ToolResult | None] = []
    for index, message in enumerate(history):
        after: dict[str, ToolResult] = {}
        for following in history[index + 1 :]:
            if following.role != "tool":
                break
            for part in following.parts:
                if isinstance(part, ToolResult):
                    after.setdefault(part.call_id, part)
        found += [after.get(call.id) for call in message.tool_calls]
    return found


def is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


WIRE = pytest.mark.parametrize("wire", list(WIRES))


@WIRE
@every("name", HISTORIES)
def test_history(wire: str, name: str) -> None:
    history = asked(wire, HISTORIES[name])
    body = encoded(wire, *history)
    said = check_body(wire, history, body)
    calls = [item for item in said if item.kind == "call"]
    for made, call in zip(calls, calls_of(history), strict=True):
        if NAME.fullmatch(call.name):
            assert made.name == call.name
        if not call.arguments.strip():
            assert made.arguments == {}
        elif not is_object(call.arguments):
            assert call.arguments in str(made.arguments), "the model should see what it wrote"
    results = [item for item in said if item.kind == "result"]
    for shown, result in zip(results, results_of(history), strict=True):
        if result is None:
            assert shown.error, "a call that never ran must not look as if it had"
        else:
            assert sendable_text(result.content).strip() in shown.text
            assert shown.error == result.is_error
    assert encoded(wire, *history) == body


@WIRE
@pytest.mark.parametrize("name", ["text", "parallel calls", "images in results"])
def test_without_system_and_tools(wire: str, name: str) -> None:
    body = load_wire(wire).encode(ChatRequest("", HISTORIES[name]), target_of(wire))
    assert TYPES[wire](json.loads(body)) == []
    assert not any(item.kind == "system" for item in read_body(wire, body))
    assert not json.loads(body).get("tools")


@WIRE
def test_tools(wire: str) -> None:
    """Whole schemas, in one order whatever the caller's."""
    one, other = encoded(wire, user("Hi")), encoded(wire, user("Hi"), tools=TOOLS[::-1])
    assert one == other
    assert b'"$defs"' in one
    for tool in TOOLS:
        assert one.count(f'"name":"{tool.name}"'.encode()) == 1


@WIRE
@every("name", HISTORIES)
def test_history_for_a_model_without_calls(wire: str, name: str) -> None:
    """Calls and results are words, and nothing else of theirs is left: such models' servers refuse it."""
    history = asked(wire, HISTORIES[name])
    request = tools_as_text(ChatRequest(SYSTEM, history, TOOLS), ref_of(wire))
    body = load_wire(wire).encode(request, target_of(wire))
    assert TYPES[wire](json.loads(body)) == []
    said = read_body(wire, body)
    assert not {item.kind for item in said} & {"call", "result"}
    assert not json.loads(body).get("tools")
    check_roles(wire, said)
    spoken = "".join(item.text for item in said)
    for call, result in zip(calls_of(history), results_of(history), strict=True):
        assert NAME.fullmatch(call.name) is None or call.name in spoken
        assert result is None or sendable_text(result.content).strip() in spoken


# --- going on with one's own answer, and with another's -------------------------------------------------------------


def marks_in(body: bytes, wire: str) -> list[str]:
    return [mark for mark in MARKS[wire] if mark.encode() in body]


def conversation(*origins: str) -> tuple[Message, ...]:
    history: list[Message] = []
    for origin in origins:
        history += [user("Do it."), *with_results(answer_of(origin))]
    return (*history, user("Go on."))


@WIRE
def test_own_thinking_is_sent_back_unchanged(wire: str) -> None:
    history = conversation(wire)
    body = encoded(wire, *history)
    said = check_body(wire, history, body)
    assert [item.text for item in said if item.kind == "result"] == ["result 1", "result 2"]
    places = [body.find(mark.encode()) for mark in OWN_MARKS[wire]]
    assert -1 not in places
    assert places == sorted(places)
    check_own(wire, json.loads(body))


def check_own(wire: str, body: Any) -> None:
    """The parts that providers compare with what they sent."""
    thought, *signed = MARKS[wire]
    match wire:
        case "openai-chat":
            [sent] = [message for message in body["messages"] if message["role"] == "assistant"]
            detail = {"type": "reasoning.text", "index": 0, "format": "x", "text": thought, "signature": signed[0]}
            assert sent["reasoning_details"] == [detail]
        case "openai-responses":
            kinds = [item.get("type") for item in body["input"]]
            first = kinds.index("reasoning")
            assert body["input"][first]["encrypted_content"] == signed[0]
            assert body["input"][first]["summary"] == [{"type": "summary_text", "text": thought}]
            assert kinds[first + 1] in (None, "message", "function_call"), "the item that it belongs to must follow"
            assert body["store"] is False
            assert "previous_response_id" not in body
        case "anthropic-messages":
            [sent] = [message for message in body["messages"] if message["role"] == "assistant"]
            assert sent["content"][:2] == [
                {"type": "thinking", "thinking": thought, "signature": signed[0]},
                {"type": "redacted_thinking", "data": signed[1]},
            ]
        case "gemini-content":
            [sent] = [content for content in body["contents"] if content["role"] == "model"]
            called = [part for part in sent["parts"] if "functionCall" in part]
            assert [part.get("thoughtSignature") for part in called] == [signed[0], None]
        case "ollama-chat":
            [sent] = [message for message in body["messages"] if message["role"] == "assistant"]
            assert sent["thinking"] == thought


@WIRE
@pytest.mark.parametrize("origin", list(WIRES))
def test_another_models_thinking_is_dropped(wire: str, origin: str) -> None:
    history = conversation(origin)
    if origin == wire:  # the same wire, but a model of another name
        target = replace(target_of(wire), ref="maker/another")
        body = encoded(wire, *history, target=target)
    else:
        body = encoded(wire, *history)
    check_body(wire, history, body)
    assert marks_in(body, origin) == []
    assert json.loads(body).get("model", f"model-of-{wire}") == f"model-of-{wire}"


CHAINS = (
    ("anthropic-messages", "openai-responses", "gemini-content", "ollama-chat", "openai-chat"),
    ("openai-chat", "ollama-chat", "gemini-content", "openai-responses", "anthropic-messages"),
    ("gemini-content", "anthropic-messages", "gemini-content", "openai-chat", "gemini-content"),
)


@WIRE
@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: chain[0])
def test_all_models_in_one_session(wire: str, chain: tuple[str, ...]) -> None:
    """Each model gets its own thinking back, and no other model's."""
    history = conversation(*chain)
    body = encoded(wire, *history)
    said = check_body(wire, history, body)
    assert len([item for item in said if item.kind == "call"]) == 2 * len(chain)
    for other in set(WIRES) - {wire}:
        assert marks_in(body, other) == []
    wanted = [mark for mark in OWN_MARKS[wire] if wire in chain]
    assert [mark for mark in OWN_MARKS[wire] if mark.encode() in body] == wanted


@WIRE
@pytest.mark.parametrize("origin", list(WIRES))
def test_a_model_that_now_uses_another_wire(wire: str, origin: str) -> None:
    """Its name is the same, what it wants back is not: settings may name another wire.

    Whole blocks of the old wire are left out here: no wire can tell them from its own that it does not know yet.
    """
    answer, results = with_results(answer_of(origin, ref_of(wire)))
    known = tuple(part for part in answer.parts if not isinstance(part, Opaque))
    history = (user("Do it."), replace(answer, parts=known), results, user("Go on."))
    body = encoded(wire, *history)
    check_body(wire, history, body)
    if origin != wire:
        assert not set(marks_in(body, origin)) & set(MARKS[origin][1:]), "a signature that this wire cannot check"


@WIRE
def test_a_model_switched_between_calls_and_results(wire: str) -> None:
    """The new model is asked with the results of calls that the old one made, thinking asked for."""
    for origin in set(WIRES) - {wire}:
        history = (user("Do it."), *with_results(answer_of(origin)))
        for style in get_args(ThinkingStyle):
            target = target_of(wire, style, max_output_tokens=20_000)
            body = encoded(wire, *history, target=target, thinking="high")
            check_body(wire, history, body)
            if wire == "anthropic-messages":
                assert json.loads(body).get("thinking", {}).get("type") != "enabled", "its loop began without thinking"
            if wire == "gemini-content":
                contents = json.loads(body)["contents"]
                [first, *_] = [part for content in contents for part in content["parts"] if "functionCall" in part]
                dummy = "skip_thought_signature_validator"
                assert first["thoughtSignature"] in (dummy, base64.b64encode(dummy.encode()).decode())


@WIRE
def test_encoding_changes_nothing(wire: str) -> None:
    history = conversation(*WIRES)
    before = repr(history)
    encoded(wire, *history)
    assert repr(history) == before
