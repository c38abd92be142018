"""What is left out of a request after a server refused it by name. The user gets a notice, and it is remembered.

Compatible servers accept different fields, and so do models of one vendor; no table is ever complete. So Tark reacts to
a refusal that names a field: once, and only for fields that a request does not need.
"""

import re
from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from typing import Any

from tark_lsp.llm.wire.thinking import EFFORT_SCALE
from tark_lsp.llm.wire.wire import TargetModel


@dataclass(frozen=True, slots=True)
class Fallback:
    """`refused` is searched for in the provider's message; `notice` is for the user."""

    refused: str
    change: Callable[[TargetModel, str], TargetModel]
    notice: str


def _quirk(**changes: Any) -> Callable[[TargetModel, str], TargetModel]:
    return lambda target, _: replace(target, quirks=replace(target.quirks, **changes))


def _target(**changes: Any) -> Callable[[TargetModel, str], TargetModel]:
    return lambda target, _: replace(target, **changes)


def _efforts(target: TargetModel, message: str) -> TargetModel:
    """Keeps the efforts that the refusal lists. If it lists none, no effort is sent any more."""
    listed = set(re.findall(r"[a-z]+", re.split(r"supported (?:values|levels|efforts)", message, flags=re.I)[-1]))
    efforts = tuple(effort for effort in EFFORT_SCALE if effort in listed)
    stated = bool(re.search(r"supported (values|levels|efforts)", message, re.I)) and efforts
    return replace(target, efforts=efforts) if stated else replace(target, thinking="none")


FALLBACKS = (
    Fallback("stream_options", _quirk(stream_usage=False), "this server does not report token counts while it streams"),
    Fallback(r"'max_tokens'[^\n]{0,200}max_completion_tokens", _quirk(max_tokens_field="max_completion_tokens"), ""),
    Fallback(
        r"(unknown|unrecognized|unsupported)[^.]{0,200}max_completion_tokens", _quirk(max_tokens_field="max_tokens"), ""
    ),
    Fallback(r"role[^\n]{0,200}'developer'", _quirk(system_role="system"), ""),
    Fallback(r"role[^\n]{0,200}'system'", _quirk(system_role="developer"), ""),
    Fallback(
        r"reasoning[._ ]summar",
        _quirk(reasoning_summary=False),
        "this account does not get summaries of the model's thinking",
    ),
    Fallback(
        r"invalid_encrypted_content|encrypted content[^\n]{0,200}(could not|cannot) be (verified|decrypted)",
        _quirk(signatures=False),
        "the model's earlier thinking was encrypted for another key, so it is left out",
    ),
    Fallback(
        r"thinking[^\n]{0,80}between_tools",
        _target(off="between_tools"),
        "thinking cannot be turned off completely for this model: it still thinks between tool calls",
    ),
    Fallback(
        r"is mandatory|cannot be disabled|works in thinking mode|thinking\.type\.(disabled|between_tools)",
        _target(off="never"),
        "thinking cannot be turned off for this model",
    ),
    Fallback(
        r"(temperature|top_p)\b[^\n]{0,80}(not support|unsupported|deprecated|not compatible|isn't compatible)|"
        r"(not support|unsupported)[^\n]{0,40}\b(temperature|top_p)\b",
        _target(sampling=False),
        "",
    ),
    Fallback(r"parallel_tool_calls", _quirk(parallel_calls=False), ""),
    Fallback(r"encrypted.content[^.]{0,200}not supported", _quirk(encrypted_reasoning=False), ""),
    Fallback(
        r"thought[ _]?signature",
        _quirk(signatures=False),
        "the provider rejects the signatures of the model's earlier thinking, so that thinking is left out",
    ),
    Fallback(
        r"defer_loading|tool_search|tool_reference",
        _quirk(tool_search=False),
        "this server does not load tools on demand, so the model finds and calls them by two tools of Tark",
    ),
    Fallback(r"prompt_cache_key", _quirk(cache_key=False), "this server does not cache by session"),
    Fallback(r"cache_control", _quirk(cache_control=False, cache_field=""), "this server does not cache prompts"),
    Fallback(r"adaptive thinking is not supported", _target(thinking="budget"), ""),
    Fallback(r"thinking\.type\.enabled[^\n]{0,100}adaptive", _target(thinking="adaptive"), ""),
    Fallback(r"call id [^\n]{0,200}length of 9", _quirk(call_id_length=9), ""),
    Fallback(r"role '?user'? after role '?tool", _quirk(bridge_results=True), ""),
    Fallback(
        r"reasoning_content[^\n]{0,200}passed back|reasoning_content is missing",
        _quirk(reasoning_field="reasoning_content"),
        "",
    ),
    Fallback(
        r"reasoning[_.]?effort|effort level|support (thinking|reasoning)|think value|"
        r"thinking[ _]?(level|budget|config)|chat_template_kwargs",
        _efforts,
        "this model does not support the requested thinking level; it uses one that it has",
    ),
    Fallback(
        r"support (tools|tool use|function calling)|tool choice requires|tools param requires|unsupported param: tools|"
        r"(\btools|tool (calling|use|calls)|function calling)`? (is |are )?not (support|enabled)",
        _target(text_calls=True),
        "this model has no native tool calls here, so it writes them as text",
    ),
    Fallback(
        r"(not|n't) support (the )?(image|vision)|found that support image|missing data required for image|"
        r"(image(s| input)?|vision) (is|are) not (supported|enabled)|image_url[^\n]{0,200} not supported|"
        r"unknown variant .?image_url|at most 0 image|is not a multimodal model|"
        # Only images make the content of a message a list.
        r"content'?( : value)? must be a string|invalid type: sequence, expected a string",
        _quirk(images=False),
        "this model does not accept images; they are left out",
    ),
)


def find_fallback(
    target: TargetModel, message: str, used: Container[Fallback] = ()
) -> tuple[TargetModel, Fallback] | None:
    """Returns the changed target and the row that changed it; None if nothing can be left out. Rows in `used` are
    skipped: two rows could otherwise undo each other forever.
    """
    for fallback in FALLBACKS:
        if fallback not in used and re.search(fallback.refused, message, re.IGNORECASE):
            changed = fallback.change(target, message)
            if changed != target:
                return changed, fallback
    return None
