"""The result of a run: the result object (docs/scripting.md), and the exit code. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from tark_lsp.errors import TarkError

VERSION = 1
"""The version of the objects. New fields and types do not change it."""


class ExitCode(IntEnum):
    DONE = 0
    REFUSED = 1
    USAGE = 2
    PROVIDER = 3
    LIMIT = 4
    CANCELLED = 130
    HANGUP = 129
    CLOSED = 141
    TERMINATED = 143


STOPS = {
    "end_turn": ExitCode.DONE,
    "max_tokens": ExitCode.LIMIT,
    "max_turn_requests": ExitCode.LIMIT,
    "budget": ExitCode.LIMIT,
    "refusal": ExitCode.PROVIDER,
}
"""The exit code by stop reason. For `error`, it depends on the code of the error; for `cancelled`, on what did it."""

REASONS = {
    "max_tokens": "the answer was cut off at the model's length limit",
    "max_turn_requests": "the run ended at its limit of requests to the model",
    "budget": "the run ended at its limit of cost",
    "refusal": "the model refused to answer",
}
"""The reasons as text, for a user who sees nothing else."""

ERRORS = {
    "settings": ExitCode.USAGE,
    "invalid_params": ExitCode.USAGE,
    "not_found": ExitCode.USAGE,
    "outside_workspace": ExitCode.USAGE,
    "unsupported": ExitCode.USAGE,
    "too_large": ExitCode.USAGE,
    "context_overflow": ExitCode.LIMIT,
    "budget": ExitCode.LIMIT,
    "hook": ExitCode.REFUSED,
    "internal": ExitCode.REFUSED,
    "interrupted": ExitCode.REFUSED,
}
"""The exit code by error code. Every other error code is from the model or its provider."""


@dataclass(slots=True)
class RunResult:
    """`end` is the turn's end (protocol.md). It is empty if no turn began; then `error` says why.

    `refused`: the calls that were needed and refused, and the edits that failed, each with its title and the reason.
    """

    session_id: str | None = None
    turn_id: str | None = None
    model: str | None = None
    mode: str | None = None
    end: Mapping[str, Any] = field(default_factory=dict)
    error: Mapping[str, Any] | None = None
    refused: list[dict[str, str]] = field(default_factory=list)
    rejected_proposal: bool = False
    """Whether the user rejected all edits that the mode ask or plan proposed."""
    patch: str | None = None
    cancelled_code: ExitCode = ExitCode.CANCELLED
    """The exit code if the run was cancelled."""

    @property
    def exit_code(self) -> ExitCode:
        stop = self.end.get("stopReason", "error")
        if stop == "error":
            return ERRORS.get((self.error or {}).get("code", "internal"), ExitCode.PROVIDER)
        if stop == "cancelled":
            return self.cancelled_code
        code = STOPS.get(stop, ExitCode.PROVIDER)
        states = {edit["state"] for edit in self.end.get("edits") or ()}
        refused = self.refused or self.rejected_proposal or not states.isdisjoint({"rejected", "failed"})
        return ExitCode.REFUSED if code is ExitCode.DONE and refused else code

    @property
    def reason(self) -> str:
        """Why the run is not done, if no error says so. Empty if it is done, or the user cancelled it."""
        if self.exit_code is ExitCode.REFUSED:
            calls = [f"{call['title']}: {call['why']}" if call["why"] else call["title"] for call in self.refused]
            return f"not done: {'; '.join(calls)}" if calls else "edits were rejected, or could not be applied"
        return REASONS.get(self.end.get("stopReason", ""), "")

    def to_json(self, edits: Iterable[Mapping[str, Any]], changed: Iterable[str]) -> dict[str, Any]:
        """`edits` and `changed` are from `end`, with paths in place of URIs."""
        usage = self.end.get("usage") or {}
        known = ("inputTokens", "cachedTokens", "outputTokens", "reasoningTokens", "costUsd")
        return {
            "type": "end",
            "version": VERSION,
            "exitCode": int(self.exit_code),
            "stopReason": self.end.get("stopReason", "error"),
            "text": self.end.get("text", ""),
            "sessionId": self.session_id,
            "turnId": self.turn_id,
            "model": self.model,
            "mode": self.mode,
            "edits": list(edits),
            "changedByCommand": list(changed),
            "refused": self.refused,
            "patch": self.patch,
            "usage": {name: usage.get(name) for name in known} if usage else None,
            "error": self.error,
        }


def error_of(error: TarkError | OSError | TimeoutError) -> dict[str, Any]:
    """The `error` of a run that could not begin."""
    if isinstance(error, TarkError):
        return {"code": error.code, "message": error.message, "hint": error.hint}
    if isinstance(error, TimeoutError):
        hint = "try again; tark-lsp doctor shows more"
        return {"code": "internal", "message": "the server did not answer in time", "hint": hint}
    message = f"{error.filename or ''}: {error.strerror or error}".removeprefix(": ")
    return {"code": "internal", "message": message, "hint": ""}
