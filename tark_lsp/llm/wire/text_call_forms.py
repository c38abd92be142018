"""The forms in which models write tool calls as text. Each form is read from its opening marker to its close.

    <tool_call>{"name": "read_file", "arguments": {"path": "a.py"}}</tool_call>
    <function=read_file><parameter=path>a.py</parameter></function>
    <function=read_file>{"path": "a.py"}</function>

Hermes and Qwen write the first form, Qwen Coder the second, Llama the third. A form is read repeatedly as more text
arrives, and examines each character a fixed number of times: models can write a lot of text before the close.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tark_lsp.llm.wire.json_values import encode_json
from tark_lsp.llm.wire.text_call_values import json_values, skip_spaces, value_for_schema
from tark_lsp.messages import ToolDefinition

TOOL_CALL, TOOL_CALL_ENDS = "<tool_call>", "</tool_call>"
PARAMETER_ENDS, FUNCTION_ENDS = "</parameter>", "</function>"
PARAMETER_BEGINS = "<parameter="
FOLLOWING = (PARAMETER_BEGINS, FUNCTION_ENDS)
"""What can follow a parameter, or a function's marker."""

PARAMETER = re.compile(r"<parameter=([^<>\n]{1,100})>")
TOKEN = re.compile(r"<parameter=[^<>\n]{1,100}>|</parameter>|</function>")
SPACE = re.compile(r"\s{0,1000}")
"""White space between the marks of a call. With more than this it is not a call, so that the search is bounded."""

NOTHING_MORE = re.compile(r"\s*(?:</tool_call>\s*)?")
MAX_TOKEN_LENGTH = len(PARAMETER_BEGINS) + 101
STRING_EDGE = re.compile(r'\\.|"', re.DOTALL)

Tools = Mapping[str, ToolDefinition]


@dataclass(frozen=True, slots=True)
class TextCall:
    """`arguments` is JSON text."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class CallBlock:
    """The text from the marker up to `end`: calls, or if there are none, plain text."""

    end: int
    calls: tuple[TextCall, ...] = ()
    closed: bool = True


class JsonForm:
    """JSON from the marker's end at `start` to `closer`. `name`: the function, if its name is outside the JSON."""

    def __init__(self, tools: Tools, start: int, closer: str, name: str = "") -> None:
        self._tools = tools
        self._start = start
        self._closer = closer
        self._name = name
        self._scanned = start
        self._in_string = False

    def read_block(self, text: str, final: bool) -> CallBlock | None:
        """None: more text is needed. A closer inside a JSON string does not count."""
        while (place := text.find(self._closer, self._scanned)) >= 0:
            self._track_strings(text, place)
            end = place + len(self._closer)
            if not self._in_string:
                return CallBlock(end, self._calls(text[self._start : place]))
            self._scanned = place + 1
        if final:
            return CallBlock(len(text), closed=False)
        self._track_strings(text, max(self._scanned, len(text) - len(self._closer)))
        return None

    def _track_strings(self, text: str, end: int) -> None:
        place = self._scanned
        while (edge := STRING_EDGE.search(text, place, end)) is not None:
            self._in_string ^= edge[0] == '"'
            place = edge.end()
        # A backslash at the end waits for the character that it escapes.
        self._scanned = max(place, end - 1 if text[end - 1 : end] == "\\" else end)

    def _calls(self, body: str) -> tuple[TextCall, ...]:
        """Empty if one of the values is not a call."""
        values = json_values(body)
        if self._name:
            one = values is not None and len(values) == 1 and isinstance(values[0], dict)
            return (TextCall(self._name, _json(values[0])),) if one and values else ()
        calls = [_call(value, self._tools) for value in values or ()]
        return tuple(call for call in calls if call is not None) if None not in calls else ()


def _call(value: object, tools: Tools) -> TextCall | None:
    if isinstance(value, dict) and isinstance(inner := value.get("function"), dict):
        value = inner
    if not isinstance(value, dict) or not isinstance(name := value.get("name"), str) or name not in tools:
        return None
    arguments = value.get("arguments", value.get("parameters"))
    if isinstance(arguments, str):
        inside = json_values(arguments)
        arguments = inside[0] if inside and len(inside) == 1 else (None if not arguments.strip() else arguments)
    arguments = {} if arguments is None else arguments
    return TextCall(name, _json(arguments)) if isinstance(arguments, dict) else None


class ParameterForm:
    """Parameters between the marker of `tool`, which ends at `start`, and the matching close.

    A value ends at `</parameter>` only if another parameter or the function's end follows. Parameters that are opened
    inside a value (a text about this format) are counted, so that their closes belong to the value. With `counting`
    False they are not counted, for values that open a parameter and never close it. That is only tried at the end of
    an answer, and only accepted if the call ends there: otherwise the close can be a quotation inside the value.
    """

    def __init__(self, tool: ToolDefinition, start: int, counting: bool = True) -> None:
        self._tool = tool
        self._start = start
        self._counting = counting
        self._place = start  # the end of the last token
        self._scanned = start
        self._key = ""
        self._value = 0
        self._open = 0  # parameters that are open inside the value
        self._values: dict[str, str] = {}

    def read_block(self, text: str, final: bool) -> CallBlock | None:
        """None: more text is needed."""
        while (token := TOKEN.search(text, self._scanned)) is not None:
            if self._key:
                if token[0] == PARAMETER_ENDS and not self._open:
                    place = skip_spaces(SPACE, text, token.end())
                    if text.startswith(FOLLOWING, place):
                        self._values[self._key] = _unwrapped(text[self._value : token.start()])
                        self._key = ""
                    elif not final and any(word.startswith(text[place : place + len(word)]) for word in FOLLOWING):
                        return None
                elif token[0] == PARAMETER_ENDS:
                    self._open -= 1
                elif self._counting and token[0].startswith(PARAMETER_BEGINS):
                    self._open += 1
            elif text[self._place : token.start()].strip():
                return CallBlock(token.start())
            elif parameter := PARAMETER.fullmatch(token[0]):
                self._key, self._value = parameter[1].strip(), token.end()
                self._open = 0
            elif token[0] == FUNCTION_ENDS:
                return CallBlock(token.end(), (TextCall(self._tool.name, self._arguments()),))
            else:
                return CallBlock(token.start())
            self._place = self._scanned = token.end()
        if final and self._counting:
            block = ParameterForm(self._tool, self._start, counting=False).read_block(text, final=True)
            if block is not None and block.calls and NOTHING_MORE.fullmatch(text, block.end):
                return block
        self._scanned = max(self._scanned, len(text) - MAX_TOKEN_LENGTH)
        return CallBlock(len(text), closed=False) if final else None

    def _arguments(self) -> str:
        root = self._tool.parameters
        properties = root.get("properties") or {}
        return _json(
            {key: value_for_schema(value, properties.get(key) or {}, root) for key, value in self._values.items()}
        )


def _unwrapped(value: str) -> str:
    """Removes one line end on either side, which belongs to the format."""
    value = re.sub(r"\A\r?\n", "", value)
    return re.sub(r"\r?\n\Z", "", value)


def _json(value: Any) -> str:
    return encode_json(value).decode()
