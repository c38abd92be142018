"""The corpus of text_calls/: texts of models with calls, and the expected result of each."""

import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from hypothesis import strategies as st

from tark_lsp.llm.events import Done, StreamEvent, TextDelta, ToolCallComplete, ToolCallStart, WireStop
from tark_lsp.llm.wire.text_calls import TextCalls
from tark_lsp.messages import ToolDefinition
from tests.cases import every

FOLDER = Path(__file__).parent / "text_calls"
DONE = Done(WireStop.END_TURN)
OPENS = re.compile("<(?:tool_call>|function=)")
CLOSES = re.compile("</(?:tool_call|function)>")
"""How a call begins and ends in the text, or several with nothing between."""

Call: TypeAlias = tuple[str, dict[str, Any]]
Part: TypeAlias = str | Call
"""Texts are never empty and never stand side by side: what came between two calls is one text."""


def tool(_name: str, /, **properties: dict[str, Any]) -> ToolDefinition:
    return ToolDefinition(_name, "A tool.", {"type": "object", "properties": properties})


STRING = {"type": "string"}
TOOLS = (
    ToolDefinition("list_files", "A tool that declares nothing."),
    tool("read", url=STRING),
    tool("read_file", path=STRING, line={"type": "integer"}),
    tool("write_file", path=STRING, content=STRING),
    tool("edit_file", path=STRING, edits={"type": "array", "items": {"type": "object"}}),
    tool("run_command", command=STRING),
    tool("mcp__git-hub__list_issues", state=STRING),
    ToolDefinition(
        "shape",
        "A tool that declares everything.",
        {
            "type": "object",
            "$defs": {"Place": {"type": "object", "properties": {"line": {"type": "integer"}}}},
            "properties": {
                "text": STRING,
                "count": {"type": "integer"},
                "ratio": {"type": "number"},
                "on": {"type": "boolean"},
                "nothing": {"type": "null"},
                "items": {"type": "array"},
                "options": {"type": "object"},
                "maybe": {"type": ["integer", "null"]},
                "any": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
                "one": {"oneOf": [{"type": "boolean"}, {"type": "object"}]},
                "either": {"type": ["string", "integer", "object", "null"]},
                "place": {"$ref": "#/$defs/Place"},
                "places": {"type": "array", "items": {"$ref": "#/$defs/Place"}},
                "level": {"enum": [1, 2, 3]},
                "word": {"enum": ["null", "true"]},
                "always": {"const": True},
            },
        },
    ),
)


LIST_FILES = '<tool_call>{"name": "list_files"}</tool_call>'
"""The shortest call."""

OPENERS = ("<tool_call>", *(f"<function={tool.name}>" for tool in TOOLS))

FRAGMENTS = (
    *("<tool_call>", "</tool_call>", "<function=read_file>", "<function=write_file>", "<function=list_files>"),
    *("</function>", "<parameter=path>", "<parameter=content>", "</parameter>", "<function=other>", "<tool_", "<", ">"),
    *(
        '{"name": "read_file", "arguments": {"path": "a"}}',
        '{"name": "list_files"}',
        '{"name": "other"}',
        '{"path": 1}',
    ),
    *(
        "{",
        "}",
        "[",
        "]",
        '"',
        "\\",
        "\\n",
        ",",
        "null",
        "1",
        "`",
        "``",
        "```",
        "~~~",
        "\n",
        "\r\n",
        "\n\n",
        " ",
        "\t",
        "x",
    ),
    *("\x00", "é", "\u2028", "\x85", LIST_FILES, "<function=list_files></function>"),
)
MADE = st.lists(st.sampled_from(FRAGMENTS), max_size=24).map("".join)
"""Texts made of pieces of calls, of code and of others."""


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    text: str
    parts: tuple[Part, ...]


def _case(theme: str, row: dict[str, Any]) -> Case:
    parts = row.get("parts", [row["text"]])
    read = (part if isinstance(part, str) else (part["name"], json.loads(part["arguments"])) for part in parts)
    return Case(f"{theme}: {row['name']}", row["text"], tuple(read))


CASES = tuple(
    _case(path.stem, row)
    for path in sorted(FOLDER.glob("*.toml"))
    for row in tomllib.loads(path.read_text("utf-8"))["case"]
)

EACH = every("case", CASES, lambda case: case.name)


def parts_of(events: Iterable[StreamEvent]) -> tuple[Part, ...]:
    """The answer's texts and calls. Asserts what holds of all calls: whole, told apart by ids, arguments of JSON."""
    parts: list[Part] = []
    started: dict[str, str] = {}
    open_id = ""
    for event in events:
        match event:
            case TextDelta(text):
                assert text, "an empty delta says nothing"
                assert not open_id, "text in the midst of a call"
                if parts and isinstance(parts[-1], str):
                    parts[-1] += text
                else:
                    parts.append(text)
            case ToolCallStart(id, name):
                assert not open_id
                assert id not in started
                assert id == f"call_text_{len(started) + 1}"
                started[id] = name
                open_id = id
            case ToolCallComplete(id, arguments):
                assert id == open_id
                parts.append((started[id], read_arguments(arguments)))
                open_id = ""
            case Done():
                pass
            case _:
                raise AssertionError(f"nobody sent {event}")
    assert not open_id, "a call without its arguments"
    return tuple(parts)


def read_arguments(text: str) -> dict[str, Any]:
    """As strict as any server: an object, in UTF-8, no NaN."""

    def refuse(name: str) -> NoReturn:
        raise AssertionError(f"{name} is not JSON")

    text.encode("utf-8")
    value = json.loads(text, parse_constant=refuse)
    assert isinstance(value, dict)
    return value


def read(pieces: Iterable[str], tools: Sequence[ToolDefinition] = TOOLS) -> tuple[Part, ...]:
    """What an answer in these pieces comes to; `Done` is the last thing that comes out."""
    calls = TextCalls(tools)
    events: list[StreamEvent] = []
    for piece in pieces:
        events += calls.feed_events([TextDelta(piece)])
    events += calls.feed_events([DONE])
    assert events[-1] == DONE
    assert calls.close() == [], "something was still held after the answer's end"
    return parts_of(events)


def cut(text: str, places: Iterable[int]) -> list[str]:
    """No piece is empty: no wire's parser sends an empty delta."""
    ends = sorted({place for place in places if 0 < place < len(text)})
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True) if start < end]


def assert_kept(text: str, parts: Sequence[Part]) -> None:
    """`text` is these texts in this order; what lies between them begins and ends as calls do.

    A pattern of all of it would say the same, but it takes seconds to compile one of a megabyte.
    """
    closed = list(CLOSES.finditer(text))
    places = {0}  # where the next part can begin
    for kind, run in groupby(parts, type):
        if kind is tuple:
            opened = min((found.end() for place in places if (found := OPENS.match(text, place))), default=len(text))
            places = {close.end() for close in closed if close.start() >= opened}
        else:
            kept = "".join(part for part in run if isinstance(part, str))
            places = {place + len(kept) for place in places if text.startswith(kept, place)}
    assert len(text) in places, f"{parts} is not what {text!r} was"
