"""An editor as one of the five client models, with latency: what it tells is late, what it is asked comes late."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

from tark_lsp.server.connection.editors import ClientInfo
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.documents.sync import DocumentSync
from tark_lsp.workspace.documents import Documents
from tark_lsp.workspace.lines import common_prefix, common_suffix
from tark_lsp.workspace.uris import uri_from_path
from tests.editors.behaviour import Behaviour, Stale
from tests.editors.property.marked_text import Mark, MarkedText
from tests.editors.property.positions import lines_of, place_in, position
from tests.server.scripted import capabilities

Json = dict[str, Any]
NAMES = {
    "honest": "Visual Studio Code",
    "skips": "Neovim",
    "busy": "Neovim",
    "applies": "kak-lsp",
    "idle": "Emacs (eglot)",
}
"""So that the server knows of each model what it knows of such an editor; the unversioned one it has never seen."""

LATE = (0, 0, 0, 0.3, 2, 8)
"""By how many seconds the timer of a busy editor can be late."""


class Telling(StrEnum):
    """How an editor tells what an edit changed."""

    WHOLE = "whole"
    SHRUNK = "shrunk"
    """Only the characters that differ (Neovim's diff of what it told last and what is)."""
    LINE_BY_LINE = "line by line"


@dataclass(slots=True, eq=False)
class Buffer:
    path: Path
    text: MarkedText
    version: int = 1
    unsent: list[Json] = field(default_factory=list)
    timer: asyncio.TimerHandle | None = None
    sent_at: float = -1.0
    """The time of the loop at which changes were sent last."""

    @property
    def uri(self) -> str:
        return uri_from_path(self.path)


class ModelEditor(Connection):
    """Everything it sends goes one way, in order, `latency` seconds behind; so does what it is asked."""

    def __init__(self, behaviour: Behaviour, telling: Telling, latency: float, random: Random) -> None:
        super().__init__()
        name = NAMES.get(behaviour.name, "")
        tark = capabilities("workspace.applyEdit", tark=("permission", "updates"))
        self.client = ClientInfo.from_params({"capabilities": tark, "clientInfo": {"name": name}})
        self.documents: Documents
        self.behaviour = behaviour
        self.telling = telling
        self.latency = latency
        self.random = random
        self.fresh = count()
        self.buffers: dict[Path, Buffer] = {}
        self.known: dict[Path, Buffer] = {}
        """The buffer that the server knows at each path."""
        self.told: dict[Path, list[Mark]] = {}
        """The lines of the text that the server knows."""
        self.questions: list[tuple[Json, asyncio.Future[Json]]] = []
        self.typing: Callable[[Path], None] = lambda _: None
        """The person, who types at that very moment."""
        self.announces = False
        """It says when a save begins, before its formatters run."""
        self.overtaken: Callable[[Path], None] = lambda _: None
        """The server wrote to the file before it knew that it was opened again; editors then ask what to do."""
        self.arrived: Callable[[Buffer, Json, bool], list[list[Mark]] | None] = lambda *_: None
        """Looks at an edit that is about to be made (and whether to newer text); the marks of its new lines."""
        self._out: deque[Callable[[], None]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()

    # The person

    def open(self, path: Path, before: MarkedText | None = None) -> None:
        """`before`: what it was when it was closed; the lines are the same ones where it still is."""
        text = path.read_bytes().decode()
        # Not the numbers of a buffer closed before, as in Neovim, where they count on.
        buffer = self.buffers[path] = Buffer(path, MarkedText.of(text, self.fresh), version=next(self.fresh) * 1000)
        if before is not None and before.text == text:
            buffer.text.marks = [*before.marks]
        version = buffer.version if self.behaviour.versions else None
        item = {"uri": buffer.uri, "languageId": "text", "version": version, "text": text}
        marks = [*buffer.text.marks]

        def deliver() -> None:
            self.told[path] = marks
            self.known[path] = buffer
            if path.read_bytes().decode() != text:
                self.overtaken(path)
            DocumentSync(self.documents).did_open({"textDocument": item})

        self._send(deliver)

    def close(self, path: Path) -> None:
        self.flush(self.buffers[path])
        uri = self.buffers.pop(path).uri
        self._send(lambda: DocumentSync(self.documents).did_close({"textDocument": {"uri": uri}}))

    def will_save(self, path: Path) -> None:
        if self.announces:
            uri = self.buffers[path].uri
            self.flush(self.buffers[path])
            self._send(lambda: DocumentSync(self.documents).will_save({"textDocument": {"uri": uri}}))

    def save(self, path: Path) -> None:
        buffer = self.buffers[path]
        self.flush(buffer)
        path.write_bytes(buffer.text.text.encode())
        self._send(lambda: DocumentSync(self.documents).did_save({"textDocument": {"uri": buffer.uri}}))

    def type(self, path: Path, start: int, end: int, new: str) -> set[Mark]:
        """The marks of lines that are not what they were."""
        buffer = self.buffers[path]
        self._note(buffer, start, end, new)
        changed = buffer.text.type(start, end, new)
        self._changed(buffer)
        return changed

    def replace_all(self, path: Path, lines: Sequence[str]) -> set[Mark]:
        """As a formatter does that gives the whole text; line n stays line n. The marks of those that changed."""
        buffer = self.buffers[path]
        old, text = [*buffer.text.lines], buffer.text
        kept = dict(zip(range(len(old)), text.marks, strict=True))
        text.lines = [*lines]
        text.marks = [kept.get(n, -1) for n in range(len(lines))]
        buffer.unsent.append({"text": text.text})
        self._changed(buffer)
        return {kept[n] for n in kept if n >= len(lines) or lines[n] != old[n]}

    # Telling

    def flush(self, buffer: Buffer) -> None:
        if buffer.timer is not None:
            buffer.timer.cancel()
            buffer.timer = None
        if not buffer.unsent:
            return
        buffer.sent_at = asyncio.get_running_loop().time()
        version = buffer.version if self.behaviour.versions else None
        params = {"textDocument": {"uri": buffer.uri, "version": version}, "contentChanges": buffer.unsent}
        buffer.unsent = []
        marks = [*buffer.text.marks]

        def deliver() -> None:
            self.told[buffer.path] = marks
            DocumentSync(self.documents).did_change(params)

        self._send(deliver)

    def flush_all(self) -> None:
        for buffer in self.buffers.values():
            self.flush(buffer)

    def _note(self, buffer: Buffer, start: int, end: int, new: str) -> None:
        """A change of the text as it is, which is about to be made."""
        text = buffer.text.text
        span = {"start": position(text, start), "end": position(text, end)}
        buffer.unsent.append({"range": span, "text": new})

    def _changed(self, buffer: Buffer) -> None:
        buffer.version += 1
        delay = self.behaviour.did_change_delay
        if delay is None:
            self.flush(buffer)
            return
        loop = asyncio.get_running_loop()
        if self.behaviour.first_at_once:
            if loop.time() >= buffer.sent_at + delay:
                self.flush(buffer)
                return
            delay = max(0, buffer.sent_at + delay - loop.time()) + self.random.choice(LATE)
        if buffer.timer is not None:
            buffer.timer.cancel()
        buffer.timer = loop.call_later(delay, self.flush, buffer)

    def _send(self, deliver: Callable[[], None]) -> None:
        self._out.append(deliver)
        asyncio.get_running_loop().call_later(self.latency, lambda: self._out.popleft()())

    # The server

    def notify(self, method: str, params: object = None) -> None:
        """Nothing it says needs doing."""

    async def request(self, method: str, params: Any = None) -> Any:
        """What was asked goes on where the server waits no longer."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if method == "workspace/applyEdit":
            document = self.documents.find_document(params["edit"]["documentChanges"][0]["textDocument"]["uri"])
            base = "" if document is None else document.text
            buffer = None if document is None or document.path is None else self.known.get(document.path)
            task = asyncio.ensure_future(self._apply(params, buffer, base, answer))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        elif method == "tark/requestPermission":
            self.questions.append((params, answer))
        return await answer

    def answer(self, future: asyncio.Future[Any], result: Any, arrived: Callable[[], None] = lambda: None) -> None:
        """`arrived`: while somebody still waited for it."""

        def deliver() -> None:
            if not future.done():
                arrived()
                future.set_result(result)

        self._send(deliver)

    async def _apply(self, params: Json, buffer: Buffer | None, base: str, answer: asyncio.Future[Any]) -> None:
        """`base`: the text that the edit was made for. A buffer closed meanwhile is another one when opened again."""
        random = self.random
        await asyncio.sleep(self.latency + random.choice([0, 0, 0, 0.02, 0.3, 2]))
        (change,) = params["edit"]["documentChanges"]
        version = change["textDocument"]["version"]
        if buffer is not None and self.buffers.get(buffer.path) is not buffer:
            buffer = None
        if buffer is not None and random.random() < 0.2:
            self.typing(buffer.path)
        result: Json = {"applied": True}
        if buffer is None:
            result = {"applied": False, "failureReason": "it is not open"}
        elif random.random() < 0.02:
            result = {"applied": False, "failureReason": "not now"}
        else:
            newer = buffer.version != version if self.behaviour.versions else buffer.text.text != base
            if newer and self.behaviour.stale is Stale.REFUSE:
                result = {"applied": False, "failureReason": "stale"}
            elif not newer or self.behaviour.stale is Stale.APPLY:
                self._make(buffer, change["edits"], params["label"], newer=newer)
        await asyncio.sleep(random.choice([0, 0, 0, 0, 0.02, 0.4]))
        if buffer is not None and random.random() < 0.2 and buffer.path in self.buffers:
            self.typing(buffer.path)
        self.answer(answer, result)

    def _make(self, buffer: Buffer, edits: Sequence[Json], label: str, *, newer: bool) -> None:
        lines = buffer.text.lines
        ranges = [[place_in(lines, edit["range"][side]) for side in ("start", "end")] for edit in edits]
        made = [(start, end, edit["newText"]) for (start, end), edit in zip(ranges, edits, strict=True)]
        spans = [lines_of(lines, *item) for item in made]
        marks = self.arrived(buffer, {"edits": spans, "label": label}, newer)
        for index in reversed(range(len(spans))):
            first, last, new = lines_of(buffer.text.lines, *made[index])  # two edits can be in one line of newer text
            self._tell(buffer, first, last, new, made[index][2])
            same = spans[index] == (first, last, new)
            buffer.text.put(first, last, new, marks[index] if marks is not None and same else None)
            self._changed(buffer)

    def _tell(self, buffer: Buffer, first: int, last: int, new: list[str], written: str) -> None:
        """`written`: what the edit writes; if that has no ending at its end, `new` has more."""
        text = buffer.text
        start, end = text.offset(first), text.offset(last)
        ended = all(line.endswith(("\n", "\r")) for line in (*text.lines[first:last], written or "\n", *new))
        if self.telling is Telling.WHOLE or (self.telling is Telling.LINE_BY_LINE and not ended):
            self._note(buffer, start, end, "".join(new))
        elif self.telling is Telling.SHRUNK:
            before, after = text.text[start:end], "".join(new)
            head = common_prefix(before, after)
            tail = common_suffix(before, after, min(len(before), len(after)) - head)
            if "\r" not in before + after:
                start, end, after = start + head, end - tail, after[head : len(after) - tail]
            self._note(buffer, start, end, after)
        else:
            self._line_by_line(buffer, first, last, new)

    def _line_by_line(self, buffer: Buffer, first: int, last: int, new: list[str]) -> None:
        """Lines in place of lines, then those that are more, or fewer."""
        shadow = Buffer(buffer.path, MarkedText([*buffer.text.lines], [*buffer.text.marks], self.fresh))
        both = min(last - first, len(new))
        steps = [(first + n, first + n + 1, [new[n]]) for n in range(both)]
        if (last - first, len(new)) != (both, both):
            steps.append((first + both, last, new[both:]))
        for index, (start, end, lines) in enumerate(steps):
            shadow.unsent = []
            self._note(shadow, shadow.text.offset(start), shadow.text.offset(end), "".join(lines))
            buffer.unsent += shadow.unsent
            shadow.text.put(start, end, lines)
            if self.behaviour.did_change_delay is None and index < len(steps) - 1 and self.random.random() < 0.5:
                # Told one after the other; the text is already what it comes to be.
                buffer.version += 1
                version = buffer.version if self.behaviour.versions else None
                params = {"textDocument": {"uri": buffer.uri, "version": version}, "contentChanges": buffer.unsent}
                buffer.unsent = []
                marks = [*shadow.text.marks]

                def deliver(params: Json = params, marks: list[Mark] = marks) -> None:
                    self.told[buffer.path] = marks
                    DocumentSync(self.documents).did_change(params)

                self._send(deliver)
