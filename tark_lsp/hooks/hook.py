"""Hook: one configured command, the events that it runs for, and the answers that it can give. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tark_lsp.errors import HookError, ToolError
from tark_lsp.hook_settings import HookEvent, HookSettings
from tark_lsp.workspace.globs import Glob, folded

LONGEST_ANSWER = 8_000_000
"""The most bytes of stdout; a command that prints more is stopped. An answer can contain a whole file."""
LONGEST_CONTEXT = 10_000
"""The most characters of context that one hook can add."""
LONGEST_QUOTE = 2_000
"""The most characters of an answer that is not valid in an error. The error is shortened after secrets are masked."""
NOT_EXECUTABLE = 126
"""The exit code of a shell and of the sandbox for a file that cannot be executed."""
REFUSED = 2
"""The exit code by which a hook refuses, as in other agents."""

CHMOD = " (is the file executable? `chmod +x` makes it so)"

CAN_ANSWER: Mapping[HookEvent, frozenset[str]] = {
    "sessionStart": frozenset({"context"}),
    "turnStart": frozenset({"deny", "context"}),
    "beforeTool": frozenset({"deny", "ask", "context", "arguments"}),
    "afterTool": frozenset({"context"}),
    "beforeEdit": frozenset({"deny", "ask", "context", "text"}),
    "afterEdit": frozenset(),
    "turnEnd": frozenset(),
}
"""The possible parts of an answer, by event (docs/hooks.md). None of them can allow more."""


@dataclass(frozen=True, slots=True)
class Hook:
    """`source`: the file of an offer; None for the user's own hook."""

    settings: HookSettings
    source: Path | None = None

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def reaches_network(self) -> bool:
        """Whether the hook can reach the network, so that the context it adds can come from outside."""
        return self.settings.network or not self.settings.sandbox

    def listens(self, event: HookEvent, tool: str = "", path: str = "") -> bool:
        """Whether the hook runs for this event. `path`: one name of the edited file (`is_for_file`); empty if the
        event has none."""
        settings = self.settings
        if not settings.enabled or settings.on != event:
            return False
        if tool and settings.tools and not any(fnmatchcase(tool, glob) for glob in settings.tools):
            return False
        return not path or not settings.files or any(is_for_file(glob, path) for glob in settings.files)


def is_for_file(glob: str, name: str) -> bool:
    """Whether a glob in `files` matches one name of a file: relative to its workspace folder, or absolute.

    The globs mean the same as in the project's rules (context/rules.py), but ignore case and Unicode form, as deny
    rules do: a hook can only restrict, so too many matches are safe. So a glob that is too long to be used matches
    every file. Only a glob that begins with `/` can match an absolute name.
    """
    if name.startswith("/"):
        if not glob.startswith("/"):
            return False
        name = name[1:]
    try:
        return Glob.parse(glob).matches(name) or Glob.parse(folded(glob)).matches(folded(name))
    except ToolError:
        return True


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """`deny` and `ask`: the reason; None if the hook did not answer that. `arguments` and `text` replace the proposed
    ones."""

    deny: str | None = None
    ask: str | None = None
    context: str = ""
    arguments: Mapping[str, Any] | None = field(default=None)
    text: str | None = None


def read_answer(event: HookEvent, code: int | None, stdout: bytes, stderr: str) -> HookAnswer:
    """The answer of a command that ended with this exit code. Raises HookError if it is not valid for this event."""
    if code == REFUSED and "deny" in CAN_ANSWER[event]:
        return HookAnswer(deny=stderr or "it gave no reason")
    if code != 0:
        said = f": {stderr}" if stderr else ""
        ended = f"was ended by signal {-code}" if code is not None and code < 0 else f"ended with exit code {code}"
        raise HookError(f"{ended}{said}{CHMOD if code == NOT_EXECUTABLE else ''}")
    if not stdout.strip():
        return HookAnswer()
    try:
        value = json.loads(stdout.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise HookError(f"printed something that is not JSON on stdout{_quoted(stdout, stderr)}") from error
    if not isinstance(value, dict):
        raise HookError(f"printed JSON that is not an object{_quoted(stdout, stderr)}")
    return _checked(event, value)


def _quoted(stdout: bytes, stderr: str) -> str:
    """What the command printed. Stderr comes first, because it usually says more."""
    printed = " ".join(stdout.decode("utf-8", "replace").split())[:LONGEST_QUOTE]
    return f" (on stderr: {stderr}): {printed}" if stderr else f": {printed}"


def _checked(event: HookEvent, value: Mapping[str, Any]) -> HookAnswer:
    can = CAN_ANSWER[event]
    fields = {"context", "arguments", "text"} & can
    if "deny" in can:
        fields |= {"decision", "reason"}
    if unknown := sorted(value.keys() - fields):
        raise HookError(f"answered {unknown[0][:40]!r}, which {event} does not have")
    decision, reason = value.get("decision"), value.get("reason") or "it gave no reason"
    if decision is not None and not (isinstance(decision, str) and decision in {"deny", "ask"} & can):
        allowed = " or ".join(f'"{word}"' for word in ("deny", "ask") if word in can)
        raise HookError(f"answered a decision that is not {allowed}: a hook cannot allow anything")
    texts = {"reason": reason, "context": value.get("context") or "", "text": value.get("text", "")}
    if wrong := [name for name, text in texts.items() if text is not None and not _is_text(text)]:
        raise HookError(f"answered {wrong[0]} that is not a text")
    arguments = value.get("arguments")
    if arguments is not None and not isinstance(arguments, dict):
        raise HookError("answered arguments that are not an object")
    return HookAnswer(
        deny=reason if decision == "deny" else None,
        ask=reason if decision == "ask" else None,
        context=texts["context"],
        arguments=arguments,
        text=value.get("text"),
    )


def _is_text(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True
