"""The output of `tark-lsp run`: progress on standard error, and text or JSON on standard output (docs/scripting.md)."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console

from tark_lsp.cli.discard import discard
from tark_lsp.cli.running.options import Format
from tark_lsp.cli.running.result import VERSION, ExitCode, RunResult
from tark_lsp.cli.screen import Screen, reasons
from tark_lsp.cli.visible import visible, whole_line
from tark_lsp.tools import load_tools
from tark_lsp.workspace.uris import path_from_uri

OVER = ("completed", "failed", "rejected", "cancelled")


class RunScreen(Screen):
    """The screen on standard error. It shows the model's text before a tool call. The last text is the answer, which
    goes to standard output. `live`: standard output is the same terminal, so all text is shown as it arrives, and the
    answer is not written again.
    """

    def __init__(self, console: Console, folder: Path, *, live: bool, quiet: bool) -> None:
        super().__init__(console, folder)
        self.live = live
        self._quiet = quiet
        self._text = ""

    def update(self, update: Mapping[str, Any]) -> None:
        if self._quiet:
            return
        match update:
            case {"kind": "text", "delta": delta} if not self.live:
                self._text += delta
                return
            case {"kind": "toolCall"} if self._text:
                self.print_line(visible(self._text.rstrip("\n")))
                self._text = ""
        super().update(update)

    def message(self, text: str, severity: int) -> None:
        if not self._quiet or severity == 1:
            super().message(text, severity)

    def print_error(self, message: str, hint: str = "") -> None:
        """Prints the error, even with `--quiet`."""
        self.console.quiet = False
        super().print_error(message, hint)

    def print_quiet_end(self, reason: str) -> None:
        """Prints why the run is not done. Without `--quiet`, earlier output already says it."""
        if self._quiet:
            self.print_error(reason)

    def show_end(self, end: Mapping[str, Any]) -> None:
        if self._quiet:
            return
        if self._text and end["stopReason"] != "end_turn":  # it is not the answer, so it does not go to standard output
            self.print_line(visible(self._text.rstrip("\n")))
        super().show_end(end)


class RunOutput:
    """Follows a run (`update`), and writes its result (`finish`). Only the output goes to `stdout`."""

    def __init__(
        self,
        kind: Format,
        screen: RunScreen,
        folder: Path,
        stdout: TextIO | None = None,
        *,
        closed: Callable[[], None] = lambda: None,
    ) -> None:
        """`closed` is called if the reader of `stdout` is gone before the end."""
        self.result = RunResult()
        self._closed = closed
        self._kind = kind
        self._screen = screen
        self._folder = folder
        self._stdout = stdout or sys.stdout
        self._calls: dict[str, dict[str, Any]] = {}
        self._hunks: dict[str, str] = {}
        self._refused: list[tuple[dict[str, str], set[str]]] = []
        """The rejected calls, with the files that each would have changed. Empty if the call was denied earlier."""
        self._failed: list[dict[str, str]] = []
        """The edits that failed since the last one that did not. A model tries again after most errors."""
        self._held: list[dict[str, Any]] | None = []
        """Events that arrived before the ids of the turn were known."""

    def update(self, update: Mapping[str, Any]) -> None:
        """Handles one `update` of `tark/update`."""
        match update:
            case {"kind": "start"}:
                self.result.model, self.result.mode = update.get("model"), update.get("mode")
            case {"kind": "text", "delta": delta}:
                self._event("text", text=delta)
            case {"kind": "toolCall"}:
                self._tool_call(update)
            case {"kind": "hunks"}:
                self._edits(update)
            case {"kind": "usage"}:
                figures = {name: value for name, value in update.items() if name != "kind"}
                self._event("usage", **figures)

    def begin(self, session_id: str, turn_id: str) -> None:
        """Sets the ids of the turn, and writes the events that wait for them."""
        self.result.session_id, self.result.turn_id = session_id, turn_id
        if self._held:
            self._write_safely()

    def give_up(self, error: OSError) -> None:
        """The output cannot be written: its reader is gone, which needs no message, or the disk is full."""
        discard(self._stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            self._screen.print_error(f"standard output: {error.strerror or error}")

    def finish(self) -> ExitCode:
        """Writes the result, and returns the exit code."""
        result = self.result
        # If only some hunks of a file were accepted, it does not count as refused, because the user selected them.
        kept = {edit["uri"] for edit in result.end.get("edits") or () if edit["state"] != "rejected"}
        result.refused = [call for call, files in self._refused if not files or files - kept] + self._failed
        if result.error is not None:
            self._screen.print_error(result.error["message"], result.error.get("hint") or "")
        elif result.reason:
            self._screen.print_quiet_end(result.reason)
        if self._kind == "text":
            self._write_text()
        else:
            self._release()
            self._write(self._to_json())
        return result.exit_code

    def _write_text(self) -> None:
        """Writes the answer, or the patch. The text of a turn that did not finish is not an answer, so it is not
        written."""
        result = self.result
        text = str(result.end.get("text", "")) if result.end.get("stopReason") == "end_turn" else ""
        if result.patch is not None:
            if text and not self._screen.live:
                self._screen.print_line(visible(text))
            safe = visible(result.patch) if self._stdout.isatty() else result.patch
            self._stdout.buffer.write(safe.encode("utf-8", "surrogateescape"))
            self._stdout.buffer.flush()
        elif text and not self._screen.live:
            self._stdout.write(visible(text) + ("" if text.endswith("\n") else "\n"))
            self._stdout.flush()

    def _to_json(self) -> dict[str, Any]:
        end = self.result.end
        edits = [{"path": self._path(edit["uri"]), "state": edit["state"]} for edit in end.get("edits") or ()]
        return self.result.to_json(edits, [self._path(uri) for uri in end.get("changedByCommand") or ()])

    def _tool_call(self, update: Mapping[str, Any]) -> None:
        call = self._calls.setdefault(update["toolCallId"], {"title": "", "toolKind": None, "arguments": None})
        call |= {name: update[name] for name in ("name", "title", "toolKind", "arguments") if name in update}
        if update["status"] not in OVER:
            return
        said = reasons(update)
        output = "\n".join(part["text"] for part in update.get("content") or () if part.get("type") == "text")
        ended = {"title": call["title"], "why": "; ".join(said)}
        match update["status"], _facts(call.get("name", "")):
            case "rejected", (edits, runs) if edits or runs:
                files = {part["uri"] for part in update.get("content") or () if part.get("type") == "diff"}
                self._refused.append((ended, files))
            case "failed", (True, _):
                self._failed.append(ended)
            case "completed", (True, _):
                self._failed.clear()
        self._event(
            "toolCall",
            toolCallId=update["toolCallId"],
            name=call.get("name", ""),
            title=call["title"],
            toolKind=call["toolKind"],
            status=update["status"],
            arguments=call["arguments"],
            output=output,
        )

    def _edits(self, update: Mapping[str, Any]) -> None:
        """Writes an event for each hunk that is new or whose state changed."""
        hunks: Sequence[Mapping[str, Any]] = update["hunks"]
        for hunk in hunks:
            state = hunk["state"]
            if hunk["turnId"] not in (self.result.turn_id, None) or self._hunks.get(hunk["hunkId"]) == state:
                continue
            self._hunks[hunk["hunkId"]] = state
            operation = hunk.get("operation") or {}
            self._event(
                "edit",
                hunkId=hunk["hunkId"],
                path=self._path(update["uri"]),
                line=hunk["range"]["start"]["line"] + 1,
                oldText=hunk["oldText"],
                newText=hunk["newText"],
                state=state,
                operation=operation.get("kind"),
                target=self._path(operation["target"]) if "target" in operation else None,
            )

    def _event(self, kind: str, **fields: Any) -> None:
        if self._kind != "stream-json":
            return
        event = {"type": kind, **fields}
        if self._held is not None and self.result.turn_id is None:
            self._held.append(event)
            return
        self._write_safely(event)

    def _write_safely(self, *events: Mapping[str, Any]) -> None:
        """Writes the held events and these. If the output cannot be written, the turn is cancelled."""
        try:
            self._release()
            for event in events:
                self._write(event)
        except OSError as error:
            self.give_up(error)
            self._closed()

    def _release(self) -> None:
        """Writes the start event, and then the held events. The ids and the model are known now."""
        held, self._held = self._held, None
        if held is None or self._kind != "stream-json" or self.result.turn_id is None:
            return
        result = self.result
        start = {"sessionId": result.session_id, "turnId": result.turn_id, "model": result.model, "mode": result.mode}
        for event in ({"type": "start", "version": VERSION, **start}, *held):
            self._write(event)

    def _write(self, event: Mapping[str, Any]) -> None:
        self._stdout.write(json.dumps(event) + "\n")
        self._stdout.flush()

    def _path(self, uri: str) -> str:
        path = path_from_uri(uri)
        if path is None:
            return whole_line(uri)
        return path.relative_to(self._folder).as_posix() if path.is_relative_to(self._folder) else str(path)


def _facts(tool: str) -> tuple[bool, bool]:
    """Whether the tool edits files, and whether it runs programs."""
    known = load_tools().get(tool)
    return (known.facts.edits, known.facts.runs) if known is not None else (False, tool.startswith("mcp__"))
