"""Usage, models, errors and ranges as JSON for clients (protocol.md)."""

import math
from typing import TYPE_CHECKING, Any

from tark_lsp.errors import ModelError, TarkError
from tark_lsp.messages import Usage
from tark_lsp.tools.problem import Problem
from tark_lsp.tools.tool import CallFacts
from tark_lsp.workspace.positions import line_length, to_client

if TYPE_CHECKING:  # imported when models are listed
    from tark_lsp.llm.catalog.facts import ModelInfo, Price


def usage_json(usage: Usage, context_used: int = 0, context_window: int | None = None) -> dict[str, Any]:
    return {
        "inputTokens": usage.input_tokens,
        "cachedTokens": usage.cached_tokens,
        "outputTokens": usage.output_tokens,
        "reasoningTokens": usage.reasoning_tokens,
        "costUsd": usage.cost_usd,
        "contextUsed": context_used,
        "contextWindow": context_window,
    }


def model_json(model: "ModelInfo") -> dict[str, Any]:
    """`price` is in dollars for a million tokens. Null means unknown."""
    known = model.facts
    styled = None if known.thinking == "unknown" else known.thinking != "none" or known.off == "never"
    return {
        "id": model.id,
        "name": model.name,
        "contextWindow": known.context_window,
        "maxOutputTokens": known.max_output,
        "price": None if known.price is None else price_json(known.price),
        "tools": known.tools,
        "images": known.images,
        "thinking": styled if model.thinking is None else model.thinking,
        "efforts": list(known.efforts),
    }


def outcome_json(facts: CallFacts) -> dict[str, Any]:
    """Contains only what was counted."""
    optional = {
        "exitCode": facts.exit_code,
        "seconds": facts.seconds,
        "matches": facts.matches,
        "files": facts.files,
        "more": facts.more or None,
        "counts": facts.counts or None,
    }
    return {key: value for key, value in optional.items() if value is not None}


def price_json(price: "Price") -> dict[str, Any]:
    """`above`: the prices for all tokens of a prompt with more than this many tokens."""
    return {
        "input": price.input,
        "output": price.output,
        "cached": price.cached,
        "cacheWrite": price.cache_write,
        "above": [{"tokens": tokens, **price_json(more)} for tokens, more in price.above],
    }


def error_json(error: TarkError) -> dict[str, Any]:
    """`retryAfter`: seconds after which a new attempt makes sense, if that is known."""
    after = error.retry_after if isinstance(error, ModelError) else None
    waits = {} if after is None else {"retryAfter": math.ceil(after)}
    return {"code": error.code, "message": error.message, "hint": error.hint, **waits}


def range_json(start_line: int, start_character: int, end_line: int, end_character: int) -> dict[str, Any]:
    return {
        "start": {"line": start_line, "character": start_character},
        "end": {"line": end_line, "character": end_character},
    }


def problem_range(problem: Problem, encoding: str) -> dict[str, Any]:
    """From the first non-blank character of its first line to the end of its last line."""
    first, last = problem.lines[0], problem.lines[-1]
    start = to_client(first, len(first) - len(first.lstrip()), encoding)
    return range_json(problem.start, start, problem.end - 1, to_client(last, line_length(last), encoding))
