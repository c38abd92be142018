"""Which wire has which option, in one table; and `fit_options`, which makes a request sendable or refuses it. Pure.

docs/providers.md, "Options of a request", documents the same table. The rules about thinking are Anthropic's:
platform.claude.com, "Extended thinking" and "Define tools".
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from tark_lsp.errors import UnsupportedOption
from tark_lsp.llm.events import Dropped
from tark_lsp.llm.options import NO_OPTIONS, OneTool
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.wire.gemini_version import is_since_3
from tark_lsp.llm.wire.wire import TargetModel

LEAST_TOP_P_WITH_THINKING = 0.95
"""Anthropic's limit."""

Check: TypeAlias = Callable[[ChatRequest, TargetModel], bool]


def _never(_request: ChatRequest, _target: TargetModel) -> bool:
    return False


def _always(_request: ChatRequest, _target: TargetModel) -> bool:
    return True


def _claude_thinks(request: ChatRequest, target: TargetModel) -> bool:
    from tark_lsp.llm.wire.anthropic_messages import thinks

    return thinks(request, target)


@dataclass(frozen=True, slots=True)
class WireOptions:
    """What a wire can say. `field_for_none`: `tool_choice: none` has a field; if not, the tools are left out.

    `forced_calls`: `required`, or one tool. `one_call`: a switch against parallel calls. `json_object`: JSON without a
    schema. `format_with_tools`: a format does not exclude tools. `constrained`: whether the model thinks, so that it
    cannot be forced to call and cannot be sampled freely. `highest_temperature`: others are refused.
    `both_samplings`: it accepts `temperature` and `top_p` in one request. `strict_tools`: it can be told to enforce the
    schema of a tool.
    """

    field_for_none: bool = True
    forced_calls: bool = True
    one_call: bool = True
    json_object: bool = True
    format_with_tools: Check = _always
    constrained: Check = _never
    highest_temperature: float = 2.0
    both_samplings: bool = True
    strict_tools: bool = True


OPTIONS_OF = {
    "openai-responses": WireOptions(),
    "openai-chat": WireOptions(),
    "anthropic-messages": WireOptions(
        json_object=False, constrained=_claude_thinks, highest_temperature=1.0, both_samplings=False
    ),
    "gemini-content": WireOptions(
        one_call=False, format_with_tools=lambda _, target: is_since_3(target), strict_tools=False
    ),
    "ollama-chat": WireOptions(
        field_for_none=False, forced_calls=False, one_call=False, format_with_tools=_never, strict_tools=False
    ),
}


def fit_options(request: ChatRequest, target: TargetModel, wire: str) -> tuple[ChatRequest, tuple[Dropped, ...]]:
    """The request in a form that this wire and model accept, and what was left out. Raises UnsupportedOption."""
    if request.options == NO_OPTIONS:
        return request, ()
    row = OPTIONS_OF[wire]
    request, relaxed = _fit_tool_choice(request, target, row)
    _check_format(request, target, row)
    request, loose = _fit_strictness(request, target, row)
    dropped = tuple(_unsendable(request, target, row))
    if dropped and not request.options.may_drop:
        raise UnsupportedOption(dropped[0].option, dropped[0].reason, hint=f"leave out {dropped[0].option}")
    left_out: dict[str, Any] = {drop.option: None for drop in dropped}
    request = replace(request, options=replace(request.options, **left_out))
    if request.max_output_tokens and not target.quirks.max_tokens_field:
        relaxed = (*relaxed, Dropped("max_output_tokens", f"{target.ref} accepts no limit for its answers"))
    return request, (*relaxed, *loose, *dropped)


def _fit_strictness(
    request: ChatRequest, target: TargetModel, row: WireOptions
) -> tuple[ChatRequest, tuple[Dropped, ...]]:
    if (row.strict_tools and not target.text_calls) or not any(tool.strict for tool in request.tools):
        return request, ()
    tools = tuple(replace(tool, strict=False) for tool in request.tools)
    return replace(request, tools=tools), (Dropped("tools.strict", f"{target.ref} enforces no schema of a tool"),)


def _fit_tool_choice(
    request: ChatRequest, target: TargetModel, row: WireOptions
) -> tuple[ChatRequest, tuple[Dropped, ...]]:
    """On some wires, a model that must call a tool cannot think. Then thinking by default is turned off, but not
    thinking that was requested.
    """
    choice = request.options.tool_choice
    if choice == "auto":
        return request, ()
    if choice == "none":
        keeps = row.field_for_none and not target.text_calls
        return (request if keeps else replace(request, tools=())), ()
    if not request.tools:
        raise UnsupportedOption("tool_choice", "a call is required, but the request has no tools", hint="add the tools")
    if isinstance(choice, OneTool) and choice.name not in {tool.name for tool in request.tools}:
        raise UnsupportedOption(
            "tool_choice", f"{choice.name} is required, but it is not among the tools", hint="name one of the tools"
        )
    if target.text_calls or not row.forced_calls:
        raise UnsupportedOption(
            "tool_choice",
            f"{target.ref} cannot be forced to call a tool",
            hint="use auto, or choose another model",
        )
    if not row.constrained(request, target):
        return request, ()
    if request.thinking == "auto" and target.off not in ("never", "between_tools"):
        return replace(request, thinking="off"), (Dropped("thinking", f"{target.ref} cannot think if it must call"),)
    raise UnsupportedOption(
        "tool_choice",
        f"{target.ref} cannot be forced to call a tool while it thinks",
        hint="use auto, turn its thinking off, or choose another model",
    )


def _check_format(request: ChatRequest, target: TargetModel, row: WireOptions) -> None:
    wanted = request.options.answer_format
    if wanted is None:
        return
    if wanted.kind == "json_object" and not row.json_object:
        raise UnsupportedOption(
            "answer_format", f"{target.ref} supports JSON only with a schema", hint="use json_schema, or text"
        )
    if request.tools and (target.text_calls or not row.format_with_tools(request, target)):
        raise UnsupportedOption(
            "answer_format",
            f"{target.ref} cannot have a format and tools in one request",
            hint="leave out the tools or the format, or choose another model",
        )


def _unsendable(request: ChatRequest, target: TargetModel, row: WireOptions) -> Iterator[Dropped]:
    options = request.options
    one_call = row.one_call and target.quirks.parallel_calls and not target.text_calls
    if request.tools and options.parallel_tool_calls is False and not one_call:
        yield Dropped("parallel_tool_calls", f"{target.ref} cannot be limited to one call at a time")
    temperature, top_p = options.temperature, options.top_p
    if temperature is None and top_p is None:
        return
    thinks = row.constrained(request, target)
    if temperature is not None and (why := _wrong_temperature(temperature, target, row, thinks)):
        temperature = None
        yield Dropped("temperature", why)
    if top_p is None:
        return
    if target.sampling is False:
        yield Dropped("top_p", f"{target.ref} has no top_p")
    elif thinks and top_p < LEAST_TOP_P_WITH_THINKING:
        yield Dropped("top_p", f"{target.ref} has no top_p under {LEAST_TOP_P_WITH_THINKING} while it thinks")
    elif temperature is not None and not row.both_samplings:
        yield Dropped("top_p", f"{target.ref} has either a temperature or a top_p")


def _wrong_temperature(temperature: float, target: TargetModel, row: WireOptions, thinks: bool) -> str:
    if target.sampling is False:
        return f"{target.ref} has no temperature"
    if temperature > row.highest_temperature:
        return f"{target.ref} has temperatures from 0 to {row.highest_temperature:g}"
    return f"{target.ref} supports only temperature 1 while it thinks" if thinks and temperature != 1 else ""
