"""A scripted editor in this process: what it was asked and told, what it answers, and what it does with edits."""

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from tark_lsp.server.connection.editors import ClientInfo
from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.server.documents.sync import DocumentSync
from tark_lsp.server.editing.apply import EditorBuffers
from tark_lsp.workspace.documents import Documents
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.uris import path_from_uri, uri_from_path
from tests.patience import AT_ONCE

Json = dict[str, Any]
UNITS: dict[str, Callable[[str], int]] = {
    "utf-8": lambda text: len(text.encode()),
    "utf-16": lambda text: len(text.encode("utf-16-le")) // 2,
    "utf-32": len,
}


def capabilities(*paths: str, tark: Sequence[str] = ()) -> Json:
    """The client capabilities at these dotted paths, and the flags under `experimental.tark`."""
    found: Json = {"experimental": {"tark": {"protocol": 1, **dict.fromkeys(tark, True)}}}
    for path in paths:
        place = found
        *parents, last = path.split(".")
        for name in parents:
            place = place.setdefault(name, {})
        place[last] = True
    return found


class ScriptedConnection(Connection):
    """`answers`: by method, a function of the params that gives the result or raises; without one nobody answers."""

    def __init__(self, client: Json | None = None, name: str = "", folders: Sequence[Path] = (), **more: Any) -> None:
        super().__init__()
        open_ones = [{"uri": uri_from_path(folder), "name": folder.name} for folder in folders]
        described = {"capabilities": client or {}, "clientInfo": {"name": name}, "workspaceFolders": open_ones, **more}
        self.client = ClientInfo.from_params(described)
        self.answers: dict[str, Callable[[Any], Any]] = {}
        self.asked: list[tuple[str, Any]] = []
        self.withdrawn: list[str] = []
        self.changed = asyncio.Event()
        self.told: list[tuple[str, Any]] = []
        self.slow = False

    @property
    def backlogged(self) -> bool:
        return self.slow

    def notify(self, method: str, params: object = None) -> None:
        self.told.append((method, params))
        self.changed.set()

    async def request(self, method: str, params: object = None) -> Any:
        self.asked.append((method, params))
        self.changed.set()
        try:
            handler: Callable[[Any], Any] = self.answers.get(method, never)
            answer = handler(params)
            return await answer if isinstance(answer, Awaitable) else answer
        except asyncio.CancelledError:
            self.withdrawn.append(method)
            raise

    def notes(self) -> list[str]:
        return [params["message"] for method, params in self.told if method == "window/showMessage"]

    async def noting(self) -> str:
        """The first message for the user, once it came. Raises TimeoutError."""
        async with asyncio.timeout(AT_ONCE):
            while not (notes := self.notes()):
                self.changed.clear()
                await self.changed.wait()
        return notes[0]

    async def asking(self, method: str, count: int = 1) -> Any:
        """The params of the `count`th request with this method, once it came. Raises TimeoutError."""
        async with asyncio.timeout(AT_ONCE):
            while len(found := [params for asked, params in self.asked if asked == method]) < count:
                self.changed.clear()
                await self.changed.wait()
        return found[count - 1]


def never(_: object) -> "asyncio.Future[Any]":
    return asyncio.get_running_loop().create_future()


def refuse(_: object) -> Any:
    raise RequestFailed(-32603, "the editor failed")


@dataclass(slots=True)
class Buffer:
    """One document as the editor has it."""

    uri: str
    text: str
    version: int = 1


@dataclass
class ScriptedEditor:
    """Real documents, workspace and buffers over a scripted connection; honest unless a test says otherwise."""

    folder: Path
    client: Json = field(default_factory=dict)
    encoding: str = "utf-16"
    versions: bool = True
    name: str = "Visual Studio Code"

    def __post_init__(self) -> None:
        self.connection = ScriptedConnection(self.client, self.name)
        self.connection.answers["workspace/applyEdit"] = self.apply
        self.documents = Documents(self.encoding)
        self.buffers = EditorBuffers(self.connection, self.documents)
        self.workspace = Workspace([self.folder], self.buffers)
        self.open_buffers: dict[Path, Buffer] = {}

    def open(self, name: str, text: str, *, on_disk: bool = True, language: str = "python") -> Path:
        path = self.folder / name
        if on_disk:
            path.write_bytes(text.encode())
        buffer = self.open_buffers[path] = Buffer(uri_from_path(path), text)
        item = {"uri": buffer.uri, "languageId": language, "version": self._version(buffer), "text": text}
        DocumentSync(self.documents).did_open({"textDocument": item})
        return path

    def close(self, path: Path) -> None:
        DocumentSync(self.documents).did_close({"textDocument": {"uri": self.open_buffers.pop(path).uri}})

    def save(self, path: Path, *, reason: int | None = None) -> None:
        """`reason`: a TextDocumentSaveReason, as our client for VS Code says it."""
        buffer = self.open_buffers[path]
        path.write_bytes(buffer.text.encode())
        DocumentSync(self.documents).did_save(
            {"textDocument": {"uri": buffer.uri}, **({"reason": reason} if reason else {})}
        )

    def will_save(self, path: Path) -> None:
        """Formatters can change it from now on, until `save`."""
        DocumentSync(self.documents).will_save({"textDocument": {"uri": self.open_buffers[path].uri}, "reason": 1})

    def text(self, path: Path) -> str:
        return self.open_buffers[path].text

    def type(self, path: Path, *edits: tuple[int, int, str], tell: bool = True) -> list[Json]:
        """Replace text[start:end], one edit after the other, in one notification. Returns its changes."""
        buffer = self.open_buffers[path]
        changes = []
        for start, end, text in edits:
            span = {"start": self.position(buffer.text, start), "end": self.position(buffer.text, end)}
            changes.append({"range": span, "text": text})
            buffer.text = buffer.text[:start] + text + buffer.text[end:]
        buffer.version += 1
        if tell:
            self.tell(path, changes)
        return changes

    def tell(self, path: Path, changes: list[Json]) -> None:
        buffer = self.open_buffers[path]
        identity = {"uri": buffer.uri, "version": self._version(buffer)}
        DocumentSync(self.documents).did_change({"textDocument": identity, "contentChanges": changes})

    def replace(self, path: Path, text: str) -> None:
        """The whole document in one change without a range."""
        buffer = self.open_buffers[path]
        buffer.text, buffer.version = text, buffer.version + 1
        self.tell(path, [{"text": text}])

    def apply(self, params: Json, *, tell: bool = True, check: bool = True) -> Json:
        """What an honest editor answers to `workspace/applyEdit`."""
        for change in params["edit"]["documentChanges"]:
            if "kind" in change:
                self.operate(change)
                continue
            path = next((path for path, item in self.open_buffers.items() if item.uri == change["textDocument"]["uri"]))
            if check and self.versions and change["textDocument"]["version"] != self.open_buffers[path].version:
                return {"applied": False, "failureReason": "stale"}
            self.type(path, *self.spans(path, change["edits"]), tell=tell)
        return {"applied": True}

    def operate(self, change: Json) -> None:
        """RenameFile and DeleteFile, as an honest editor carries them out: on disk, and with the open document."""
        if change["kind"] == "delete":
            path = uri_path(change["uri"])
            path.unlink()
            if path in self.open_buffers:
                self.close(path)
            return
        assert change["kind"] == "rename", "CreateFile is never sent"
        old, new = uri_path(change["oldUri"]), uri_path(change["newUri"])
        new.parent.mkdir(parents=True, exist_ok=True)
        os.link(old, new)
        old.unlink()
        if old in self.open_buffers:
            text = self.text(old)
            self.close(old)
            self.open(new.relative_to(self.folder).as_posix(), text, on_disk=False)

    def spans(self, path: Path, edits: list[Json]) -> list[tuple[int, int, str]]:
        """TextEdits as offsets, the last first."""
        text = self.text(path)
        spans = [
            (self.offset(text, edit["range"]["start"]), self.offset(text, edit["range"]["end"]), edit["newText"])
            for edit in edits
        ]
        assert all(one[1] <= other[0] for one, other in pairwise(spans)), f"not in order: {spans}"
        return spans[::-1]

    def position(self, text: str, offset: int) -> Json:
        starts = line_starts(text)
        line = max(index for index, start in enumerate(starts) if start <= offset)
        return {"line": line, "character": UNITS[self.encoding](text[starts[line] : offset])}

    def offset(self, text: str, position: Json) -> int:
        """A line past the end is the end: the text can be shorter than that which an edit was made for."""
        starts = line_starts(text)
        if position["line"] >= len(starts):
            return len(text)
        start = starts[position["line"]]
        end = start + len(re.split(r"\r\n|\r|\n", text[start:], maxsplit=1)[0])
        at = start
        while at < end and UNITS[self.encoding](text[start:at]) < position["character"]:
            at += 1
        return at

    def _version(self, buffer: Buffer) -> int | None:
        return buffer.version if self.versions else None


def uri_path(uri: str) -> Path:
    path = path_from_uri(uri)
    assert path is not None
    return path


def line_starts(text: str) -> list[int]:
    """By a rule of its own, so that it can check the server's."""
    return [0, *(found.end() for found in re.finditer(r"\r\n|\r|\n", text))]
