"""Builds the response object: when it begins, when it ends, and when it fails."""

from collections.abc import Mapping, Sequence
from typing import Any

from tark_lsp.gateway.problems import FAILED_CODES, Problem
from tark_lsp.llm.events import COMPLETE_STOPS, WireStop
from tark_lsp.messages import Usage

INCOMPLETE: Mapping[WireStop, str | None] = {
    WireStop.MAX_TOKENS: "max_output_tokens",
    WireStop.REFUSAL: "content_filter",
    WireStop.OTHER: None,
}
"""Why an answer is incomplete. OTHER: the provider gave no reason for the end, or an unknown one."""


def new_response(response_id: str, created_at: int, model: str, repeated: Mapping[str, Any]) -> dict[str, Any]:
    """A response that has just begun. `created_at`: seconds since 1970. `repeated`: fields of the request."""
    return {
        "id": response_id,
        "object": "response",
        "created_at": created_at,
        "status": "in_progress",
        "background": False,
        "completed_at": None,
        "error": None,
        "incomplete_details": None,
        "model": model,
        "output": [],
        "previous_response_id": None,
        "truncation": "disabled",
        "usage": None,
        **repeated,
    }


def ended(
    response: Mapping[str, Any], output: Sequence[Any], usage: Usage, stop: WireStop, raw: str, now: int
) -> dict[str, Any]:
    """`raw`: the provider's stop reason. A refusal written by the model is complete; one by a filter is incomplete.

    `now`: seconds since 1970.
    """
    complete = stop in COMPLETE_STOPS or (stop is WireStop.REFUSAL and raw == "completed")
    details = None if complete else {"reason": INCOMPLETE[stop]}
    return {
        **response,
        "status": "completed" if complete else "incomplete",
        "completed_at": now if complete else None,
        "incomplete_details": details,
        "output": list(output),
        "usage": usage_json(usage),
    }


def failed(response: Mapping[str, Any], output: Sequence[Any], usage: Usage | None, problem: Problem) -> dict[str, Any]:
    """`output`: the items that were complete before the failure."""
    code = problem.code if problem.code in FAILED_CODES else "server_error"
    message = problem.message if code == problem.code else f"{problem.message} [{problem.code}]"
    return {
        **response,
        "status": "failed",
        "error": {"code": code, "message": message},
        "output": list(output),
        "usage": None if usage is None else usage_json(usage),
    }


def usage_json(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens, "cache_write_tokens": usage.cache_write_tokens},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }
