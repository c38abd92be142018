"""What protocol.md promises about every message, checked on each one an editor in memory sees."""

from collections.abc import Callable, Mapping
from typing import Any

from tests.editors.capabilities import capability
from tests.editors.connection import Json, Message

NEEDS: Mapping[str, str] = {
    "workspace/applyEdit": "workspace.applyEdit",
    "workspace/configuration": "workspace.configuration",
    "workspace/codeLens/refresh": "workspace.codeLens.refreshSupport",
    "window/showDocument": "window.showDocument.support",
    "window/workDoneProgress/create": "window.workDoneProgress",
    "tark/update": "experimental.tark.updates",
    "tark/session": "experimental.tark.updates",
    "tark/requestPermission": "experimental.tark.permission",
    "tark/requestInput": "experimental.tark.input",
    "tark/clientState": "experimental.tark.clientState",
    "tark/save": "experimental.tark.save",
    "tark/mcp": "experimental.tark.mcp",
}
"""The capability without which the server may not send the method."""

ONE_AT_A_TIME = ("workspace/applyEdit", "window/showMessageRequest")

ANNOTATIONS = "workspace.workspaceEdit.changeAnnotationSupport"

LONGEST_MESSAGE = 300

SESSION = {
    "sessionId", "title", "created", "updated", "folders", "turns", "model", "mode", "approval", "thinking", "agent",
    "effective", "costUsd", "readOnly",
}  # fmt: skip
"""What every session has; `parent` and `heldBy` only where there is one."""
FINAL = {"completed", "failed", "rejected", "cancelled"}


LATE = ("hunks", "undone")
"""The updates that come after the end of a turn, also of one of an earlier server."""


class Contract:
    """Collects `violations` of one connection, each a sentence."""

    def __init__(self, capabilities: Json) -> None:
        self.violations: list[str] = []
        self._capabilities = capabilities
        self._open: dict[Any, str] = {}  # the server's requests that wait for an answer: id -> method
        self._progress: dict[Any, str] = {}  # token -> created, begun or ended
        self._updates: dict[str, int] = {}  # turn -> last seq
        self._ended: set[str] = set()
        self._diffs: dict[str, list[Json]] = {}  # tool call -> what it was said to change
        self._checks: Mapping[str, Callable[[Json], None]] = {
            "workspace/applyEdit": self._apply_edit,
            "window/showMessageRequest": self._message,
            "window/workDoneProgress/create": self._create,
            "$/progress": self._report,
            "tark/update": self._update,
            "tark/session": self._session,
            "client/registerCapability": self._register,
        }

    def see(self, message: Message) -> None:
        body = message.body
        if message.sender == "client":
            if "method" not in body:
                self._open.pop(body.get("id"), None)
            return
        if not message.method:
            return
        if message.method == "$/cancelRequest" and self._open.get(message.params["id"]) == "window/showMessageRequest":
            del self._open[message.params["id"]]  # it is forgotten as it should be; the answer to it comes when it may
        need = NEEDS.get(message.method)
        self._expect(need is None or capability(self._capabilities, need), f"{message.method} without {need}")
        if "id" in body and message.method in ONE_AT_A_TIME and not _is_preview(message):
            self._expect(message.method not in self._open.values(), f"a second {message.method} at the same time")
            self._open[body["id"]] = message.method
        check = self._checks.get(message.method)
        if check is not None:
            check(message.params)

    def _expect(self, true: Any, sentence: str) -> None:
        if not true:
            self.violations.append(sentence)

    def _apply_edit(self, params: Json) -> None:
        edit = params["edit"]
        self._expect(params.get("label"), "an edit without a label")
        self._expect("changes" not in edit and "documentChanges" in edit, f"not documentChanges: {edit}")
        annotations = edit.get("changeAnnotations") or {}
        self._expect(
            not annotations or capability(self._capabilities, ANNOTATIONS), f"annotations without {ANNOTATIONS}"
        )
        for change in edit.get("documentChanges", ()):
            self._expect(change.get("kind") != "create", "CreateFile is never sent")
            if "kind" in change:
                able = capability(self._capabilities, "workspace.workspaceEdit.resourceOperations") or ()
                self._expect(change["kind"] in able, f"a {change['kind']} the editor does not do")
                self._expect(not (change.get("options") or {}).get("overwrite"), "a file is never written over")
            last = (-1, -1)
            for text_edit in change.get("edits", ()):
                start, end = (
                    (text_edit["range"][side]["line"], text_edit["range"][side]["character"])
                    for side in ("start", "end")
                )
                self._expect(last <= start <= end, f"edits out of order: {change['edits']}")
                last = end
                annotation = text_edit.get("annotationId")
                self._expect(annotation is None or annotation in annotations, f"no annotation {annotation}")

    def _message(self, params: Json) -> None:
        self._expect(len(params["message"]) <= LONGEST_MESSAGE, f"a message of {len(params['message'])} characters")
        self._expect("\n" not in params["message"], f"a message of several lines: {params['message']!r}")

    def _create(self, params: Json) -> None:
        self._expect(params["token"] not in self._progress, f"progress {params['token']} made twice")
        self._progress[params["token"]] = "created"

    def _report(self, params: Json) -> None:
        token, value = params["token"], params["value"]
        before = self._progress.get(token, "created" if token == "given" else "unknown")
        wanted = "created" if value["kind"] == "begin" else "begun"
        self._expect(before == wanted, f"progress {value['kind']} of {token}, which is {before}")
        self._progress[token] = "ended" if value["kind"] == "end" else "begun"
        if value["kind"] == "begin":
            self._expect(value["title"].startswith("Tark: "), f"progress called {value['title']!r}")
            self._expect(value.get("cancellable"), "progress that cannot be cancelled")

    def _update(self, params: Json) -> None:
        turn, seq, kind = params["turnId"], params["seq"], params["update"]["kind"]
        last = self._updates.get(turn, 0)
        self._expect(seq == last + 1, f"update {seq} of {turn} after {last}")
        if kind in LATE and seq == 1:  # of a turn of an earlier server, which is over
            self._ended.add(turn)
        else:
            self._expect((kind == "start") == (seq == 1), f"update {seq} of {turn} is {kind}")
        self._expect(turn not in self._ended or kind in LATE, f"{kind} after the end of {turn}")
        self._updates[turn] = seq
        if kind == "end":
            self._ended.add(turn)
        if kind == "toolCall":
            self._tool_call(params["update"])

    def _tool_call(self, call: Json) -> None:
        """Once a call is over, its last update says all of it: what it changed, too."""
        diffs = [part for part in call.get("content", ()) if part["type"] == "diff"]
        call_id = call["toolCallId"]
        if call["status"] in FINAL:
            known = self._diffs.get(call_id, [])
            self._expect(diffs == known, f"the end of {call_id} shows {diffs}, not {known}")
        elif diffs:
            self._diffs[call_id] = diffs

    def _session(self, params: Json) -> None:
        fields = set(params["session"]) - {"parent", "heldBy"}
        self._expect(fields == SESSION, f"a session with {sorted(fields ^ SESSION)} too much or too few")

    def _register(self, params: Json) -> None:
        for registration in params["registrations"]:
            path = registration["method"].replace("/", ".") + ".dynamicRegistration"
            self._expect(capability(self._capabilities, path), f"registers {registration['method']}: no {path}")


def _is_preview(message: Message) -> bool:
    """It is open as long as a person reads it, and no edit in flight."""
    return message.method == "workspace/applyEdit" and "changeAnnotations" in message.params["edit"]
