"""How long the event loop stands still in whole turns that edit long files: from the answer of the model to the undo.

    uv run python -m tests.benchmarks.bench_stalls_turns [SECONDS] [WORDS OF THE ROW]

In process, the parts as `create_server` puts them together, before an editor that applies at once. Each turn is
previewed, divided, asked about, applied, checked and undone again and again for so many seconds. The rows and columns
are those of `bench_stalls.py`; the last columns are what ran on the loop itself.
"""

import asyncio
import gc
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.server.documents.sync import DocumentSync
from tark_lsp.server.handshake import SWITCH_SECONDS
from tests.benchmarks.bench_stalls import BIG, SOURCE, gaps_of, patch_of, row
from tests.server.desk import Desk
from tests.server.scripted import Json

LINES = [
    f"    line_{n} = some(code, of_this_length)\n" if n % 10 else f"def function_{n}(some, code):\n"
    for n in range(50_000)
]
TEXT = "".join(LINES)
NAME = "big.py"
Calls = list[tuple[str, dict[str, Any]]]


def changed(*numbers: int) -> Calls:
    """One call for each of these lines."""
    return [("edit_file", {"path": NAME, "old_text": LINES[at], "new_text": f"    changed_{at}()\n"}) for at in numbers]


def value(number: int) -> tuple[str, dict[str, Any]]:
    old = f"    value_{number % 9999} = call_{number % 700}({number})\n"
    return "edit_file", {"path": NAME, "old_text": old, "new_text": f"    other_{number}()\n"}


SCATTERED = patch_of(*(f" {LINES[at]}-{LINES[at + 1]}+    new_{at}\n {LINES[at + 2]}" for at in range(1, 49_990, 240)))
EQUAL = {"path": NAME, "old_text": "    return None\n", "new_text": "    return 1\n", "replace_all": True}
TURNS: dict[str, tuple[str, Calls]] = {
    "a file of 1,000 lines": ("".join(LINES[:1000]), changed(499)),
    "50,000 lines, one call": (TEXT, changed(25_001)),
    "50,000 lines, five calls": (TEXT, changed(11, 10_001, 20_001, 30_001, 49_999)),
    "50,000 lines, five calls side by side": (TEXT, changed(11, 12, 13, 14, 15)),
    "50,000 lines, a patch of 200 chunks": (TEXT, [("apply_patch", {"patch": SCATTERED.replace("a.py", NAME)})]),
    "20,000 lines, 500 equal ones": (SOURCE, [("edit_file", EQUAL)]),
    "5 MB, one call": (BIG, [value(70_000)]),
    "5 MB, two calls": (BIG, [value(20_000), value(120_000)]),
}


def scenario(calls: Calls) -> str:
    """The model makes the calls, and ends after their results."""
    written = ", ".join(f"{{ name = {toml(name)}, arguments = {toml(arguments)} }}" for name, arguments in calls)
    ends = "".join(f'[[reply]]\ntool = "{name}"\ntext = "Done."\n' for name, _ in dict(calls).items())
    return f'wire = "anthropic-messages"\n{ends}[[reply]]\ncalls = [{written}]\n'


def toml(part: object) -> str:
    if isinstance(part, dict):
        return "{ " + ", ".join(f"{name} = {toml(each)}" for name, each in part.items()) + " }"
    return json.dumps(part)


class BenchedDesk:
    """A desk with one document, before an editor without a text of its own, which would be measured, too."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, calls: Calls) -> None:
        self.desk = Desk(folder, monkeypatch, tark=("updates", "permission", "input", "review"))
        (folder / "home" / "scenario.toml").write_text(scenario(calls))
        self.path = self.desk.editor.open(NAME, text)
        self.version = 1
        self.desk.connection.answers["workspace/applyEdit"] = self.apply
        self.desk.connection.answers["tark/requestPermission"] = lambda _: {"outcome": "allow"}

    def change(self, changes: list[Json]) -> None:
        self.version += 1
        identity = {"uri": self.path.as_uri(), "version": self.version}
        documents = self.desk.app.parts.documents
        DocumentSync(documents).did_change({"textDocument": identity, "contentChanges": changes})

    def apply(self, params: Json) -> Json:
        (change,) = params["edit"]["documentChanges"]
        if change["textDocument"]["version"] != self.version:
            return {"applied": False}
        self.change([{"range": edit["range"], "text": edit["newText"]} for edit in reversed(change["edits"])])
        return {"applied": True}

    async def turn(self) -> None:
        """A turn that is accepted, with a key typed meanwhile, and undone."""
        turn_id = await self.desk.start("go", self.path)
        top = {"line": 0, "character": 0}
        self.change([{"range": {"start": top, "end": top}, "text": "x"}])
        end = await self.desk.end(turn_id)
        assert end["stopReason"] == "end_turn", end
        undone = await self.desk.command("tark.turn.undo", {"turnId": turn_id})
        assert undone["restored"], undone


async def main(seconds: float, only: str) -> None:
    print(f"{'ms, p50 p99 max':40}{'ticks':>7} {'by the clock':>21}  {'processor':>21}  {'of it the loop':>21}")
    for name, (text, calls) in TURNS.items():
        if only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as monkeypatch:
            benched = BenchedDesk(Path(folder), monkeypatch, text, calls)
            await benched.turn()  # imports modules and opens databases
            gc.collect()
            gc.freeze()  # as the server does
            print(row(name, await gaps_of(benched.turn, seconds)), flush=True)
            await benched.desk.stop()
            gc.unfreeze()


if __name__ == "__main__":
    sys.setswitchinterval(SWITCH_SECONDS)
    asyncio.run(main(float(sys.argv[1]) if len(sys.argv) > 1 else 5.0, sys.argv[2] if len(sys.argv) > 2 else ""))
