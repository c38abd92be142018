"""Shows a turn in the terminal: streamed text, tool calls, the plan, notices, diffs, and how it ended."""

import contextlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from tark_lsp.cli.diff import draw_hunk
from tark_lsp.cli.visible import one_line, visible, whole_line
from tark_lsp.server.client_documents import Documents
from tark_lsp.sessions.usage import cost_text
from tark_lsp.workspace.lines import split_lines
from tark_lsp.workspace.uris import path_from_uri

MESSAGE_STYLES = {1: "bold red", 2: "yellow", 3: "none", 4: "dim"}
NOTICE_STYLES = {"error": "bold red", "warning": "yellow"}
PLAN_MARKS = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}
MOST_PLACES = 5
"""The most places of failures, or changed files, that are listed."""
NOBODY = "this is not a terminal, so nobody can be asked"
ENDED_BADLY = ("failed", "rejected", "cancelled")


class Screen:
    """`documents` is set when the client runs. Without it, diffs of open documents have no context lines."""

    wraps = False
    """Whether long lines are wrapped between words. If not, the terminal wraps them, and a file has them whole."""

    def __init__(self, console: Console, folder: Path) -> None:
        self.console = console
        self.documents: Documents | None = None
        self._folder = folder
        self._within_line = ""
        self._titles: dict[str, str] = {}
        self._shown_calls: set[str] = set()

    def print_line(self, text: str, style: str = "none", *, exact: bool = False) -> None:
        """Prints a line of Tark's text. Foreign text in it must already be `visible`. `exact`: never wrap it."""
        self._end_line()
        self.console.print(Text(text, style=style, overflow="fold"), soft_wrap=exact or not self.wraps)

    def update(self, update: Mapping[str, Any]) -> None:
        """Shows one `update` of `tark/update`. Unknown kinds are ignored."""
        match update:
            case {"kind": "text", "delta": delta}:
                self._stream(delta, "text")
            case {"kind": "thinking", "delta": delta}:
                self._stream(delta, "thinking")
            case {"kind": "toolCall"}:
                self._tool_call(update)
            case {"kind": "plan", "entries": entries}:
                for entry in entries:
                    self.print_line(f"{PLAN_MARKS.get(entry['status'], '[?]')} {one_line(entry['content'])}")
            case {"kind": "notice", "level": level, "message": message}:
                self.print_line(visible(message), NOTICE_STYLES.get(level, "dim"))

    def message(self, text: str, severity: int) -> None:
        self.print_line(visible(text), MESSAGE_STYLES.get(severity, "none"))

    def print_error(self, message: str, hint: str = "") -> None:
        self.print_line(f"error: {visible(message)}", "bold red")
        if hint:
            self.print_line(visible(hint))

    def show_edits(self, edits: Sequence[Mapping[str, Any]]) -> None:
        """Shows all `edits` of a permission request."""
        for edit in edits:
            self.print_line(self.file_name(edit["uri"]), "bold")
            for hunk in edit["hunks"]:
                self._draw(edit["uri"], hunk)

    def show_hunk(self, uri: str, hunk: Mapping[str, Any]) -> None:
        self.print_line(self.file_name(uri), "bold")
        self._draw(uri, hunk)

    def file_name(self, uri: str) -> str:
        """The file's path, relative to the folder if it is inside."""
        path = path_from_uri(uri)
        if path is None:
            return whole_line(uri)
        inside = path.is_relative_to(self._folder)
        return whole_line(path.relative_to(self._folder).as_posix() if inside else str(path))

    def show_failures(self, update: Mapping[str, Any]) -> None:
        """Shows the first failures of a test run or a check. `update` is the last update of the call."""
        places = list(update.get("locations") or ()) if "counts" in (update.get("outcome") or {}) else []
        for place in places[:MOST_PLACES]:
            line = f":{place['range']['start']['line'] + 1}" if "range" in place else ""
            self.print_line(f"  {self.file_name(place['uri'])}{line}", "dim")
        if len(places) > MOST_PLACES:
            self.print_line(f"  and {len(places) - MOST_PLACES} more", "dim")

    def show_end(self, end: Mapping[str, Any]) -> None:
        """Shows how the turn ended (protocol.md)."""
        edits = [f"{self.file_name(edit['uri'])} {edit['state']}" for edit in end.get("edits") or ()]
        by_command = list(end.get("changedByCommand") or ())
        changed = [f"{self.file_name(uri)} changed by a command" for uri in by_command[:MOST_PLACES]]
        if len(by_command) > MOST_PLACES:
            changed.append(f"{len(by_command) - MOST_PLACES} more files changed by commands")
        usage = end.get("usage") or {}
        tokens = usage.get("inputTokens", 0) + usage.get("outputTokens", 0)
        spent = [f"{tokens:,} tokens"] if tokens else []
        if usage.get("costUsd"):
            spent.append(cost_text(usage["costUsd"]))
        error = end.get("error")
        stopped = [] if end["stopReason"] == "error" else [end["stopReason"].replace("_", " ")]
        if parts := [*stopped, *edits, *changed, *spent]:
            self.print_line(" · ".join(parts), "dim")
        if error:
            self.print_error(error["message"], error.get("hint") or "")

    def _draw(self, uri: str, hunk: Mapping[str, Any]) -> None:
        self.console.print(draw_hunk(hunk, self._lines(uri), self.file_name(uri)), end="", soft_wrap=True)

    def _tool_call(self, update: Mapping[str, Any]) -> None:
        call = update["toolCallId"]
        title = update.get("title") or update.get("name")
        if title:
            self._titles[call] = one_line(title)
        status = update["status"]
        if status != "pending" and call not in self._shown_calls:
            self._shown_calls.add(call)
            self.print_line(f"● {self._titles.get(call, '')}", "cyan")
        if words := outcome_text(update.get("outcome") or {}):
            self.print_line(f"  {words}", "dim")
            self.show_failures(update)
        if status in ENDED_BADLY:
            self.print_line(f"  ✗ {': '.join([status, *reasons(update)])}", "red")

    def _stream(self, delta: str, kind: str) -> None:
        if self._within_line != kind:
            self._end_line()
        style = "dim italic" if kind == "thinking" else "none"
        self.console.print(Text(visible(delta), style=style), end="", soft_wrap=True)
        self._within_line = "" if delta.endswith("\n") else kind

    def _end_line(self) -> None:
        if self._within_line:
            self.console.print()
        self._within_line = ""

    def _lines(self, uri: str) -> list[str]:
        document = self.documents.get(uri) if self.documents else None
        if document:
            return document.lines
        path = path_from_uri(uri)
        try:
            return split_lines(path.read_text(encoding="utf-8")) if path else []
        except (OSError, UnicodeDecodeError):
            return []  # the diff is shown without context lines


def outcome_text(outcome: Mapping[str, Any]) -> str:
    """`2 failed, 1 passed · exit 1 · 2.3 s`, `12 matches in 3 files`, `7 files`. Neovim and VS Code show the same."""
    code, seconds = outcome.get("exitCode"), outcome.get("seconds")
    matches, files = outcome.get("matches"), outcome.get("files")
    more = "+" if outcome.get("more") else ""
    found = f"{files}{more} file{'' if files == 1 and not more else 's'}" if files else "no files" if files == 0 else ""
    if matches is not None:
        hits = f"{matches}{more} match{'' if matches == 1 and not more else 'es'}"
        found = f"{hits} in {found}" if matches else "no matches"
    ended = "" if code is None else f"exit {code}" if code >= 0 else f"signal {-code}"
    counts = one_line(str(outcome.get("counts") or ""))
    lasted = "" if seconds is None else f"{seconds:.1f} s"
    return " · ".join(part for part in (found, counts, ended, lasted) if part)


def reasons(update: Mapping[str, Any]) -> list[str]:
    """Why a tool call ended as it did, for the user: one line for each reason."""
    return [_reason(part["text"]) for part in update.get("content") or () if part.get("type") == "text"]


def _reason(text: str) -> str:
    """The message in the result of a failed call, which is a line of JSON for the model (tools.md)."""
    with contextlib.suppress(ValueError, KeyError, TypeError):
        text = str(json.loads(text)["error"]["message"])
    return NOBODY if text.endswith(NOBODY) else one_line(text)  # the model is told that the user rejected the call
