"""What 200 pending hunks in a document of 50,000 lines cost while a person types, against the plain way to do it.

`python -m tests.benchmarks.bench_review [KEYS]`. In process, the parts as `create_server` puts them together, before an
editor that applies at once. Goals: code action and lens answers p99 under 50 ms, following all hunks per keystroke
under 10 ms, an accept under 100 ms. The peer: stock pygls keeps the text, and difflib says anew at each keystroke what
of the proposal is where. Goals are held against CPU time: on a machine with nothing else to do both are the same.
"""

import asyncio
import difflib
import gc
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from lsprotocol.types import Position, Range, TextDocumentContentChangePartial
from pygls.workspace import PositionCodec, TextDocument

from tark_lsp.review.events import HunksChanged
from tark_lsp.review.hunk import ReviewHunk
from tark_lsp.server.documents.sync import DocumentSync
from tark_lsp.server.protocol import lsp_params
from tark_lsp.workspace.edits import ProposedEdit
from tests.server.desk import Desk
from tests.server.scripted import Json

LINES, HUNKS = 50_000, 200
STEP = LINES // HUNKS
TEXT = "".join(
    f"    line_{n} = some(code, of_this_length)\n" if n % 10 else f"def function_{n}(some, code):\n"
    for n in range(LINES)
)
PEER_KEYS = 3
"""The peer's keystrokes take so long that more of them would tell nothing new."""
GOALS = {"keystroke": 10, "code actions": 50, "lenses": 50, "hover": 50, "redraw": 50, "accept": 100, "reject": 100}
"""In milliseconds."""


def proposed() -> str:
    lines = TEXT.splitlines(keepends=True)
    for n in range(0, LINES, STEP):
        lines[n + 4 : n + 6] = [f"    changed_{n} = other(code)\n", "    added = 1\n", "    and_more = 2\n"]
    return "".join(lines)


class Moment:
    """When something began."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def elapsed(self) -> tuple[float, float]:
        """Milliseconds until now, of the clock on the wall and of this process."""
        return (time.perf_counter() - self._wall) * 1e3, (time.process_time() - self._cpu) * 1e3


class Bench:
    """A person who types anywhere, each key followed by what editors then ask for."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.desk = Desk(folder, monkeypatch, "textDocument.codeAction.codeActionLiteralSupport", tark=())
        self.desk.connection.answers["workspace/applyEdit"] = self.apply
        self.path = self.desk.editor.open("big.py", TEXT)
        self.random = random.Random(4)
        self.version = 1
        self.took: dict[str, list[tuple[float, float]]] = {}
        base = self.desk.app.parts.documents.find_document(self.path.as_uri())
        assert base is not None
        edit = ProposedEdit.between(base.snapshot(), proposed())
        self.desk.app.parts.reviews.add_proposal("turn", [(edit, ())])
        assert len(self.hunks) == HUNKS

    @property
    def hunks(self) -> list[ReviewHunk]:
        return self.desk.app.parts.reviews.hunks.find_hunks()

    async def run(self, keys: int) -> None:
        document = lsp_params.DocumentParams.model_validate({"textDocument": {"uri": self.path.as_uri()}})
        for _ in range(keys):
            with self.timed("keystroke"):
                self.type()
            hunk = self.random.choice(self.hunks)
            with self.timed("code actions"):
                actions = await self.desk.actions(self.path, hunk.start)
            assert any(action["title"].startswith("Accept (") for action in actions)
            with self.timed("lenses"):
                lenses = await self.desk.app.lenses(document)
            assert len(lenses) >= 2 * HUNKS
            with self.timed("hover"):
                found = await self.desk.app.hover(_hover(self.path, hunk.start))
            assert found is not None
        for _ in range(10):
            self.type()
            with self.timed("redraw"):
                self.desk.app.parts.reviews.events.emit(HunksChanged(self.path))
        for decision in ("accept", "reject"):
            for _ in range(HUNKS // 4):
                self.type()
                hunk = self.random.choice([item for item in self.hunks if item.pending])
                with self.timed(decision):
                    answer = await self.desk.command(f"tark.hunk.{decision}", {"hunkIds": [hunk.id]})
                assert answer["hunks"] == [hunk.id]

    def type(self) -> None:
        """One character at the end of a line that is no hunk's; each eighth time a new line."""
        document = self.desk.app.parts.documents.find_document(self.path.as_uri())
        assert document is not None
        line = self.random.choice(self.hunks).start + STEP // 2
        character = len(document.lines[line]) - 1
        place = {"line": line, "character": character}
        self.change([{"range": {"start": place, "end": place}, "text": self.random.choice("abcdefg\n")}])

    def change(self, changes: list[Json]) -> None:
        self.version += 1
        identity = {"uri": self.path.as_uri(), "version": self.version}
        DocumentSync(self.desk.app.parts.documents).did_change({"textDocument": identity, "contentChanges": changes})

    def apply(self, params: Json) -> Json:
        """At once, and told before the answer; keeps no text of its own, which would be measured, too."""
        (change,) = params["edit"]["documentChanges"]
        if change["textDocument"]["version"] != self.version:
            return {"applied": False}
        self.change([{"range": edit["range"], "text": edit["newText"]} for edit in reversed(change["edits"])])
        return {"applied": True}

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        start = Moment()
        yield
        self.took.setdefault(name, []).append(start.elapsed())


def _hover(path: Path, line: int) -> lsp_params.HoverParams:
    return lsp_params.HoverParams.model_validate(
        {"textDocument": {"uri": path.as_uri()}, "position": {"line": line, "character": 0}}
    )


def peer() -> list[tuple[float, float]]:
    """What took each keystroke of who diffs the proposal anew."""
    document = TextDocument("untitled:big", TEXT, position_codec=PositionCodec())
    after = proposed().splitlines(keepends=True)
    took = []
    for n in range(PEER_KEYS):
        place = Position(LINES // 2 + STEP // 2, n)
        start = Moment()
        document.apply_change(TextDocumentContentChangePartial(text="x", range=Range(place, place)))
        hunks = difflib.SequenceMatcher(None, document.lines, after, autojunk=False).get_opcodes()
        took.append(start.elapsed())
        assert sum(tag != "equal" for tag, *_ in hunks) >= HUNKS
    return took


def row(name: str, took: list[tuple[float, float]], goal: int | None = None) -> str:
    walls, processes = (sorted(item) for item in zip(*took, strict=True))
    last = min(len(took) - 1, int(len(took) * 0.99))
    end = "" if goal is None else f"{goal:8} {'met' if processes[last] < goal else 'MISSED'}"
    figures = (statistics.median(walls), walls[last], statistics.median(processes), processes[last])
    return f"{name:28}{len(took):6}{''.join(f'{figure:10.2f}' for figure in figures)}{end}"


def main(keys: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as monkeypatch:

        async def measured() -> Bench:
            gc.collect()
            gc.freeze()  # as the server does once all is imported (handshake.py)
            bench = Bench(Path(folder), monkeypatch)
            await bench.run(keys)
            await bench.desk.stop()
            return bench

        bench = asyncio.run(measured())
    print(f"{HUNKS} hunks, {LINES:,} lines; ms{'n':>10}{'median':>10}{'p99':>10}{'cpu':>10}{'cpu p99':>10}{'goal':>8}")
    for name, goal in GOALS.items():
        print(row(name, bench.took[name], goal))
    print(row("keystroke: pygls and difflib", peer()))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
