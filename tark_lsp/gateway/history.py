"""Converts the items of `input` into messages, with one table of item types. Pure. Each error has its item's index.

The output of an earlier answer is read back as the events of that answer, so that the same message is built again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tark_lsp.gateway.content import read_content, text_of
from tark_lsp.gateway.problems import invalid
from tark_lsp.gateway.reading import check_depth, optional, read, read_list_or_text, short
from tark_lsp.gateway.reading import field as required
from tark_lsp.gateway.reasoning_state import read_state
from tark_lsp.gateway.tools import SEARCH, read_tools, sent_name
from tark_lsp.llm.events import Echo, MessageBuilder, TextDelta, ThinkingDelta, ToolCallComplete, ToolCallStart
from tark_lsp.llm.wire.json_values import encode_json
from tark_lsp.messages import Image, Message, Text, ToolResult

MAX_ITEMS = 10_000
MAX_ID = 256

CALLS = ("function_call", "custom_tool_call", "tool_search_call")
OUTPUTS = ("function_call_output", "custom_tool_call_output", "tool_search_output")
SYSTEM_ROLES = ("system", "developer")


@dataclass(frozen=True, slots=True)
class History:
    """`loaded`: lists of tools from items, each with its place. `foreign`: how many reasoning items were left out
    because they are from another model or gateway.
    """

    system: tuple[str, ...]
    messages: tuple[Message, ...]
    loaded: tuple[tuple[str, Sequence[Any]], ...] = ()
    foreign: int = 0


@dataclass(slots=True)
class _Reader:
    """`results` by call id. `answer`: the assistant message being built. `call_ids`: the ids of its calls. `waiting`:
    echoes by the id of the call that they belong to, until that call is read.
    """

    model: str
    results: Mapping[str, ToolResult]
    system: list[str] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    loaded: list[tuple[str, Sequence[Any]]] = field(default_factory=list)
    answer: MessageBuilder | None = None
    call_ids: list[str] = field(default_factory=list)
    waiting: dict[str, Echo] = field(default_factory=dict)
    foreign: int = 0

    def builder(self) -> MessageBuilder:
        self.answer = self.answer or MessageBuilder()
        return self.answer

    def end_answer(self) -> None:
        """Complete the assistant message. The results of its calls follow directly, in the order of the calls."""
        if self.answer is not None:
            self.messages.append(self.answer.build_message(self.model))
            if self.call_ids:
                self.messages.append(Message("tool", tuple(self.results[call_id] for call_id in self.call_ids)))
        self.answer, self.call_ids = None, []

    def add_call(self, call_id: str, name: str, arguments: str) -> None:
        builder = self.builder()
        builder.add_event(ToolCallStart(call_id, name))
        builder.add_event(ToolCallComplete(call_id, arguments))
        self.call_ids.append(call_id)
        if (echo := self.waiting.pop(call_id, None)) is not None:
            builder.add_event(echo)


def read_history(value: Any, model: str) -> History:
    """`model` is the requested `<provider>/<model>`. Reasoning of other models is left out. Raises Problem."""
    items = read_list_or_text(value, "input")
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    if len(items) > MAX_ITEMS:
        raise invalid(f"input has {len(items)} items; at most {MAX_ITEMS} are read", "input", "array_above_max_length")
    kinds = [_kind(item, f"input[{index}]") for index, item in enumerate(items)]
    reader = _Reader(model, _pair(items, kinds))
    for index, (item, kind) in enumerate(zip(items, kinds, strict=True)):
        ITEMS[kind](reader, item, f"input[{index}]")
    reader.end_answer()
    if not reader.messages:
        raise invalid("input has no message; send at least one", "input", "missing_required_parameter")
    return History(tuple(reader.system), tuple(reader.messages), tuple(reader.loaded), reader.foreign)


def _kind(item: Any, where: str) -> str:
    kind = read(item, dict, where).get("type")
    if kind is None:
        kind = "item_reference" if item.keys() - {"type"} == {"id"} else "message"
    kind = str(read(kind, str, f"{where}.type"))
    if kind == "item_reference":
        raise invalid(f"{where} refers to a stored item, but nothing is stored here; send the item itself", where)
    if kind not in ITEMS:
        raise invalid(f"{where} has the unknown type {short(kind)}", f"{where}.type")
    return kind


def _pair(items: Sequence[Mapping[str, Any]], kinds: Sequence[str]) -> dict[str, ToolResult]:
    """The result of each call. Each call must have exactly one later result, and each result must have a call."""
    calls: dict[str, str] = {}
    results: dict[str, ToolResult] = {}
    for index, (item, kind) in enumerate(zip(items, kinds, strict=True)):
        where = f"input[{index}]"
        if kind not in CALLS and kind not in OUTPUTS:
            continue
        call_id = str(required(item, "call_id", str, where))
        at = f"{where}.call_id"
        if not 0 < len(call_id) <= MAX_ID:
            raise invalid(f"{at} must have 1 to {MAX_ID} characters", at)
        if kind in CALLS:
            if call_id in calls:
                raise invalid(f"{at}: {calls[call_id]} has the same id {short(call_id)}", at, "duplicate_call_id")
            calls[call_id] = where
        elif call_id not in calls:
            raise invalid(f"{at}: no call before it has the id {short(call_id)}", at, "orphan_output")
        elif call_id in results:
            raise invalid(f"{at}: the call {short(call_id)} has an output already", at, "duplicate_output")
        else:
            results[call_id] = _result(item, kind, call_id, where)
    for call_id, where in calls.items():
        if call_id not in results:
            message = f"{where}: the call {short(call_id)} has no output; send one, even if it did not run"
            raise invalid(message, where, "missing_output")
    return results


def _result(item: Mapping[str, Any], kind: str, call_id: str, where: str) -> ToolResult:
    if kind == "tool_search_output":
        tools = read_tools(required(item, "tools", list, where), f"{where}.tools").tools.values()
        found = [{"name": tool.definition.name, "description": tool.definition.description} for tool in tools]
        return ToolResult(call_id, encode_json({"tools": found}).decode())
    parts = read_content(item.get("output"), f"{where}.output")
    text = "\n".join(part.text for part in parts if isinstance(part, Text))
    return ToolResult(call_id, text, images=tuple(part for part in parts if isinstance(part, Image)))


def _message(reader: _Reader, item: Mapping[str, Any], where: str) -> None:
    role, at = required(item, "role", str, where), f"{where}.content"
    if role in SYSTEM_ROLES:
        reader.system.append(text_of(item.get("content"), at))
    elif role == "user":
        reader.end_answer()
        reader.messages.append(Message("user", tuple(read_content(item.get("content"), at))))
    elif role == "assistant":
        reader.builder().add_event(TextDelta(text_of(item.get("content"), at)))
        if phase := optional(item, "phase", str, where):
            reader.builder().add_event(Echo("text", {"phase": phase}))
    else:
        raise invalid(f"{where}.role is {short(role)}; use user, assistant, system or developer", f"{where}.role")


def _reasoning(reader: _Reader, item: Mapping[str, Any], where: str) -> None:
    """Read a reasoning item. Without its state, or with the state of another model, it is useless to this model."""
    state = read_state(optional(item, "encrypted_content", str, where, ""))
    if state is None or state.model != reader.model:
        reader.foreign += 1
        return
    summary = optional(item, "summary", list, where, [])
    if text := "".join(part.text for part in read_content(summary, f"{where}.summary") if isinstance(part, Text)):
        reader.builder().add_event(ThinkingDelta(text))
    for echo in state.echoes:
        if echo.of != "call" or echo.call_id in reader.call_ids:
            reader.builder().add_event(echo)
        else:
            reader.waiting[echo.call_id] = echo


def _function_call(reader: _Reader, item: Mapping[str, Any], where: str) -> None:
    arguments = required(item, "arguments", str, where)
    reader.add_call(item["call_id"], _sent_name(item, where), arguments)


def _custom_call(reader: _Reader, item: Mapping[str, Any], where: str) -> None:
    text = required(item, "input", str, where)
    reader.add_call(item["call_id"], _sent_name(item, where), encode_json({"input": text}).decode())


def _search_call(reader: _Reader, item: Mapping[str, Any], where: str) -> None:
    if "arguments" not in item:
        raise invalid(f"{where}.arguments is missing", f"{where}.arguments", "missing_required_parameter")
    arguments = item["arguments"]  # any type: malformed JSON of a model is a string
    check_depth(arguments, f"{where}.arguments")
    text = arguments if isinstance(arguments, str) else encode_json(arguments).decode()
    reader.add_call(item["call_id"], SEARCH, text)


def _sent_name(item: Mapping[str, Any], where: str) -> str:
    name = required(item, "name", str, where)
    if not name:
        raise invalid(f"{where}.name is empty", f"{where}.name")
    return sent_name(name, optional(item, "namespace", str, where, ""))


def _output(reader: _Reader, item: Mapping[str, Any], where: str) -> None:
    """End the answer: a call's output closes it. `_pair` has already read the output's content."""
    reader.end_answer()
    if item["type"] == "tool_search_output":
        _additional_tools(reader, item, where)


def _additional_tools(reader: _Reader, item: Mapping[str, Any], where: str) -> None:
    reader.loaded.append((f"{where}.tools", required(item, "tools", list, where)))


ITEMS: Mapping[str, Callable[[_Reader, Mapping[str, Any], str], None]] = {
    "message": _message,
    "reasoning": _reasoning,
    "function_call": _function_call,
    "custom_tool_call": _custom_call,
    "tool_search_call": _search_call,
    "function_call_output": _output,
    "custom_tool_call_output": _output,
    "tool_search_output": _output,
    "additional_tools": _additional_tools,
}
"""All item types that the input can contain."""
