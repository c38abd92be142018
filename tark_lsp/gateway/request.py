"""Converts the body of `POST /v1/responses` into a `ChatRequest` and the warnings for its client. Pure."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tark_lsp.gateway.history import read_history
from tark_lsp.gateway.problems import invalid
from tark_lsp.gateway.reading import check_depth, field, number, optional, read, short, word
from tark_lsp.gateway.tools import ToolSet, flat, read_tools
from tark_lsp.llm.options import AnswerFormat, ChatOptions, OneTool, ToolChoice
from tark_lsp.llm.request import ChatRequest

MAX_TOKENS = 10_000_000
MAX_KEY = 256

STATELESS: Mapping[str, str] = {
    "previous_response_id": "nothing is stored here; send the whole conversation as input",
    "conversation": "nothing is stored here; send the whole conversation as input",
    "background": "a response ends with its connection; leave it out",
    "prompt": "prompts are stored at OpenAI; send the text as instructions or input",
}
"""Fields that need a stateful server, and why they are refused."""

USED = frozenset(
    {
        *("model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "temperature", "top_p"),
        *("max_output_tokens", "text", "reasoning", "stream", "prompt_cache_key", "metadata"),
    }
)
"""Fields that have an effect."""

QUIET: Mapping[str, Callable[[Any], bool]] = {
    "store": lambda value: value is False,
    "include": lambda value: value in ([], ["reasoning.encrypted_content"]),
    "truncation": lambda value: value == "disabled",
    "stream_options": lambda value: isinstance(value, dict) and value.keys() <= {"include_obfuscation"},
    "service_tier": lambda value: value in ("auto", "default"),
    "background": lambda value: value is False,
}
"""Fields without an effect that need no warning if the value matches what the gateway does anyway."""

QUIET_PARTS: Mapping[str, Callable[[Any], bool]] = {
    "text.format": lambda _: True,
    "reasoning.effort": lambda _: True,
    "reasoning.summary": lambda value: value == "auto",
}
"""The same for the fields of two objects."""

FORMAT_FIELDS = ("type", "name", "description", "schema", "strict")

EFFORTS: Mapping[str, str] = {
    "none": "off",
    **{effort: effort for effort in ("minimal", "low", "medium", "high", "xhigh", "max")},
}
"""Values of the API, and Tark's names for them."""


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """`model` is `<provider>/<model>`. `repeated`: the fields that the response repeats. `warnings`: for the header."""

    model: str
    chat: ChatRequest
    tools: ToolSet
    stream: bool
    repeated: Mapping[str, Any]
    warnings: tuple[str, ...]


def read_request(body: Mapping[str, Any], find_model: Callable[[str], str]) -> ParsedRequest:
    """`find_model` maps the client's name of a model ("" if there is none) to Tark's. Raises Problem."""
    for name, why in STATELESS.items():
        if body.get(name):
            raise invalid(f"{name} is not supported: {why}", name, "unsupported_parameter")
    if "input" not in body:
        raise invalid("input is missing", "input", "missing_required_parameter")
    model = find_model(optional(body, "model", str, "", ""))
    history = read_history(body["input"], model)
    tools = read_tools(optional(body, "tools", list, "", []), "tools", history.loaded)
    choice, tools = _tool_choice(body.get("tool_choice"), tools)
    instructions = optional(body, "instructions", str, "", "")
    options = ChatOptions(
        tool_choice=choice,
        parallel_tool_calls=optional(body, "parallel_tool_calls", bool, ""),
        temperature=number(body, "temperature", 0, 2),
        top_p=number(body, "top_p", 0, 1),
        answer_format=_format(body),
        may_drop=True,
    )
    chat = ChatRequest(
        system="\n\n".join(filter(None, [instructions, *history.system])),
        messages=history.messages,
        tools=tools.visible,
        max_output_tokens=_max_tokens(body),
        thinking=_thinking(body),
        options=options,
        session_id=_cache_key(body),
    )
    repeated = _repeated(body, tools)
    return ParsedRequest(
        model, chat, tools, optional(body, "stream", bool, "", False), repeated, _warnings(body, tools, history.foreign)
    )


def _warnings(body: Mapping[str, Any], tools: ToolSet, foreign: int) -> tuple[str, ...]:
    rest = {name: value for name, value in body.items() if name not in USED}
    ignored = [short(name)[1:-1] for name in _without_effect(rest, QUIET)]
    for outer in ("text", "reasoning"):
        parts = {f"{outer}.{name}": value for name, value in optional(body, outer, dict, "", {}).items()}
        ignored += [short(name)[1:-1] for name in _without_effect(parts, QUIET_PARTS)]
    warnings = [f"ignored: {', '.join(sorted(ignored))}"] if ignored else []
    if tools.left_out:
        names = ", ".join(short(kind)[1:-1] for kind in tools.left_out)
        warnings.append(f"tools left out, since only OpenAI's models have them: {names}")
    if foreign:
        warnings.append(f"reasoning left out, since it is not of this model: {foreign} items")
    return tuple(warnings)


def _without_effect(values: Mapping[str, Any], quiet: Mapping[str, Callable[[Any], bool]]) -> Iterator[str]:
    for name, value in values.items():
        if value is not None and not (name in quiet and quiet[name](value)):
            yield name


def _repeated(body: Mapping[str, Any], tools: ToolSet) -> Mapping[str, Any]:
    metadata = optional(body, "metadata", dict, "", {})
    for name, value in metadata.items():
        read(value, str, f"metadata.{short(name)[1:-1]}")
    reasoning = optional(body, "reasoning", dict, "", {})
    choice = body.get("tool_choice") or "auto"
    check_depth(choice, "tool_choice")
    format_ = optional(body, "text", dict, "", {}).get("format") or {"type": "text"}
    return {
        "instructions": body.get("instructions"),
        "metadata": metadata,
        "parallel_tool_calls": body.get("parallel_tool_calls") is not False,
        "temperature": body.get("temperature"),
        "top_p": body.get("top_p"),
        "max_output_tokens": body.get("max_output_tokens"),
        "reasoning": {"effort": reasoning.get("effort"), "summary": optional(reasoning, "summary", str, "reasoning")},
        "text": {"format": {name: format_[name] for name in FORMAT_FIELDS if name in format_}},
        "tool_choice": flat(choice) if isinstance(choice, dict) else choice,
        "tools": [dict(tool) for tool in tools.given],
    }


def _max_tokens(body: Mapping[str, Any]) -> int | None:
    value = optional(body, "max_output_tokens", int, "")
    if value is not None and not 1 <= value <= MAX_TOKENS:
        raise invalid(f"max_output_tokens must be from 1 to {MAX_TOKENS}", "max_output_tokens")
    return int(value) if value is not None else None


def _cache_key(body: Mapping[str, Any]) -> str:
    key = str(optional(body, "prompt_cache_key", str, "", ""))
    if len(key) > MAX_KEY:
        raise invalid(f"prompt_cache_key has more than {MAX_KEY} characters", "prompt_cache_key")
    return key


def _thinking(body: Mapping[str, Any]) -> str:
    effort = optional(body, "reasoning", dict, "", {}).get("effort")
    return "auto" if effort is None else EFFORTS[word(effort, EFFORTS, "reasoning.effort")]


def _format(body: Mapping[str, Any]) -> AnswerFormat | None:
    wanted = optional(optional(body, "text", dict, "", {}), "format", dict, "text")
    if wanted is None:
        return None
    where = "text.format"
    kind = word(field(wanted, "type", str, where), ("text", "json_object", "json_schema"), f"{where}.type")
    if kind == "text":
        return None
    if kind == "json_object":
        return AnswerFormat("json_object")
    schema = field(wanted, "schema", dict, where)
    check_depth(schema, f"{where}.schema")
    return AnswerFormat(
        "json_schema",
        field(wanted, "name", str, where),
        schema,
        optional(wanted, "description", str, where, ""),
        optional(wanted, "strict", bool, where),
    )


def _tool_choice(value: Any, tools: ToolSet) -> tuple[ToolChoice, ToolSet]:
    """The choice, and the tools that remain with it."""
    where = "tool_choice"
    if value is None:
        return "auto", tools
    if isinstance(value, str):
        if value not in ("auto", "none", "required"):
            word(value, ("auto", "none", "required"), where)
        return value, tools  # type: ignore[return-value]  # one of the three literals
    kind = field(read(value, dict, where), "type", str, where)
    if kind == "allowed_tools":
        mode = word(field(value, "mode", str, where), ("auto", "required"), f"{where}.mode")
        allowed = [
            _named(tool, tools, f"{where}.tools[{index}]")
            for index, tool in enumerate(field(value, "tools", list, where))
            if not (isinstance(tool, dict) and tool.get("type") in tools.left_out)  # the header says so
        ]
        kept = {name: tool for name, tool in tools.tools.items() if name in allowed}
        return mode, ToolSet(kept, tools.left_out, tools.given)  # type: ignore[return-value]  # as above
    return OneTool(_named(value, tools, where)), tools


def _named(value: Any, tools: ToolSet, where: str) -> str:
    """The name under which the model knows the chosen tool."""
    kind = field(read(value, dict, where), "type", str, where)
    if kind not in ("function", "custom", "tool_search"):
        raise invalid(
            f"{where}: only OpenAI's models have {short(kind)} tools, so none can be chosen here",
            where,
            "unsupported_value",
        )
    nested = value.get("function")
    name = (
        "tool_search"
        if kind == "tool_search"
        else field(nested if isinstance(nested, dict) else value, "name", str, where)
    )
    tool = tools.find(name, optional(value, "namespace", str, where))
    if tool is None:
        raise invalid(f"{where}: there is no tool {short(name)} in tools", f"{where}.name")
    return tool.definition.name
