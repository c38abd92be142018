"""What every wire does to a history first. test_histories.py tests it on all wires."""

import json

import pytest

from tark_lsp.llm.wire.json_values import MAX_DEPTH, read_object
from tark_lsp.llm.wire.sendable_history import sendable_history
from tark_lsp.messages import Image, Message, Opaque, Text, Thinking, ToolCall

NAMES = [
    ("read_file", "read_file"),
    ("functions.read_file", "functions_read_file"),
    ("read file(1)", "read_file_1_"),
    ("7up", "_7up"),
    ("-", "_-"),
    ("", "_"),
    ("datei_öffnen", "datei__ffnen"),
    ("ö", "_"),
    ("x" * 65, "x" * 64),
]


def sent(call: ToolCall) -> ToolCall:
    [message, _] = sendable_history([Message("assistant", (call,))], "p/m")
    return message.tool_calls[0]


@pytest.mark.parametrize(("name", "expected"), NAMES)
def test_names(name: str, expected: str) -> None:
    assert sent(ToolCall("c", name, "{}")).name == expected


@pytest.mark.parametrize("text", ['{"a": 1}', '{ "b":[ {} ] }', '{"a": 1e999}'])
def test_valid_arguments_are_unchanged(text: str) -> None:
    assert sent(ToolCall("c", "f", text)).arguments == text


@pytest.mark.parametrize("text", ["", " \n"])
def test_no_arguments_are_an_empty_object(text: str) -> None:
    assert sent(ToolCall("c", "f", text)).arguments == "{}"


@pytest.mark.parametrize(
    "text", ["{", "[1]", "null", '{"a": NaN}', '{"a":' * 300 + "1" + "}" * 300, "[" * 200_000, '{"a":' * 100_000]
)
def test_other_arguments_are_shown_as_text(text: str) -> None:
    assert json.loads(sent(ToolCall("c", "f", text)).arguments) == {"invalid_arguments": text}


def test_how_deep_an_object_may_be() -> None:
    deepest = '{"a":' * MAX_DEPTH + "1" + "}" * MAX_DEPTH
    assert read_object(deepest) is not None
    assert read_object(f'{{"a":{deepest}}}') is None
    assert read_object('{"a": "' + "[{" * 1000 + '"}') is not None


def test_empty_messages_are_dropped() -> None:
    blank = Message("user", (Text(""), Text(" \n")))
    kept = Message("assistant", (Text("", {"sign": "x"}),), "p/m")
    assert sendable_history([blank, Message("assistant", (), "p/m"), kept], "p/m") == [kept]


@pytest.mark.parametrize("model", ["", "p/m", "p/other"])
def test_user_messages_have_no_opaque_parts(model: str) -> None:
    """An imported file can contain such parts, and a provider's block can name a document to fetch."""
    image = Image("image/png", "AAAA")
    parts = Text("hi", {"type": "x"}), Opaque({"type": "document"}), Thinking("hm", {}), image
    assert sendable_history([Message("user", parts, model)], "p/m") == [Message("user", (Text("hi"), image), model)]
    assert sendable_history([Message("user", (Opaque({"type": "document"}),), model)], "p/m") == []
