"""What a tool's result says to a person: what the model is told of it, without the forms that are for the model. Pure.

A failure is a line of JSON to the model (tools.md, "Failures"), and code has its path and lines around it.
"""

import json

from tark_lsp.server.turns.answers import with_links

LONGEST_FAILURE = 100_000
"""Characters; no tool says as much of why it failed, and more is not read as JSON."""


def spoken(text: str, *, failed: bool) -> str:
    return (failed and _reason(text)) or with_links(text)


def _reason(text: str) -> str:
    """Empty where the text is no failure line; with what was done all the same, where something was."""
    if len(text) > LONGEST_FAILURE or not text.startswith("{"):
        return ""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):  # it may come from a file
        return ""
    match told:
        case {"ok": False, "error": {"message": str(message), "result": str(done)}}:
            return f"{done} ({message})"
        case {"ok": False, "error": {"message": str(message)}}:
            return message
    return ""
