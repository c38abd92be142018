"""Images on every wire, from the user and in results; models without image input get a note instead."""

import json
from typing import Any

import pytest

from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.wire.wire import WIRES, Quirks, TargetModel, load_wire
from tark_lsp.messages import Message
from tests.llm.wire.histories import PICTURE, SECOND_PICTURE, assistant, call, ok, tool, user
from tests.llm.wire.read_bodies import read_body
from tests.llm.wire.sdk_types import TYPES

pytestmark = pytest.mark.slow  # the vendors' SDKs take seconds to import

WIRE = pytest.mark.parametrize("wire", list(WIRES))
HISTORY = (
    user("Before", PICTURE, "after"),
    assistant(call("call_1"), call("call_2")),
    tool(ok("call_1", "a plot", SECOND_PICTURE), ok("call_2", "words")),
    user(PICTURE),
)


def encoded(wire: str, history: tuple[Message, ...] = HISTORY, model: str = "m", **quirks: Any) -> bytes:
    return load_wire(wire).encode(ChatRequest("", history), TargetModel("p/m", model, Quirks(**quirks)))


@WIRE
def test_in_their_order(wire: str) -> None:
    body = encoded(wire)
    assert TYPES[wire](json.loads(body)) == []
    shown = [item.text for item in read_body(wire, body) if item.kind == "image"]
    assert shown == [PICTURE.data, SECOND_PICTURE.data, PICTURE.data]
    assert b"image/png" in body or wire == "ollama-chat"  # which looks at the bytes
    assert b"left out" not in body


@WIRE
def test_images_are_left_out_with_a_note(wire: str) -> None:
    body = encoded(wire, images=False)
    assert TYPES[wire](json.loads(body)) == []
    said = read_body(wire, body)
    assert not any(item.kind == "image" for item in said)
    assert PICTURE.data.encode() not in body
    assert SECOND_PICTURE.data.encode() not in body
    assert body.count(b"left out: this model does not accept images") == 3
    results = [item for item in said if item.kind == "result"]
    assert [item.text[:6] for item in results] == ["a plot", "words"]


@WIRE
def test_a_result_with_only_an_image(wire: str) -> None:
    history = (user("Look."), assistant(call("call_1")), tool(ok("call_1", "", PICTURE)))
    for images in (True, False):
        body = encoded(wire, history, images=images)
        assert TYPES[wire](json.loads(body)) == []
        said = read_body(wire, body)
        assert [item.text for item in said if item.kind == "image"] == [PICTURE.data] * images
        assert len([item for item in said if item.kind == "result"]) == 1


@pytest.mark.parametrize(("model", "inside"), [("gemini-2.5-flash", False), ("gemini-3-pro", True)])
def test_gemini_3_has_images_in_the_result(model: str, inside: bool) -> None:
    contents = json.loads(encoded("gemini-content", model=model))["contents"]
    [response] = [
        part["functionResponse"]
        for content in contents
        for part in content["parts"]
        if part.get("functionResponse", {}).get("response") == {"output": "a plot"}
    ]
    blob = {"inlineData": {"mimeType": "image/jpeg", "data": SECOND_PICTURE.data}}
    assert response.get("parts") == ([blob] if inside else None)


def test_responses_has_images_in_the_output_and_chat_after_all_results() -> None:
    items = json.loads(encoded("openai-responses"))["input"]
    [output] = [item["output"] for item in items if item.get("call_id") == "call_1" and "output" in item]
    assert [part["type"] for part in output] == ["input_text", "input_image"]
    roles = [message["role"] for message in json.loads(encoded("openai-chat"))["messages"]]
    assert roles == ["user", "assistant", "tool", "tool", "user", "user"]
