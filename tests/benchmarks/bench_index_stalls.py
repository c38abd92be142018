"""How long the server's event loop stands still while a workspace is indexed: the gaps between a coroutine's ticks.

    uv run python -m tests.benchmarks.bench_index_stalls [FOLDER]

The folder (default: a copy of the Python files of all installed packages) is indexed from nothing, as the server does
it: with no rules, with rules that must be compared with every file, and while a document of 3,000 lines is typed in
and questions are asked. The columns are those of bench_stalls.py.
"""

import asyncio
import gc
import os
import shutil
import statistics
import sys
import sysconfig
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from unittest.mock import patch

from tark_lsp.errors import ToolError
from tark_lsp.index.questions import Search
from tark_lsp.index.status import IndexState
from tark_lsp.server.app import App
from tark_lsp.server.handshake import SWITCH_SECONDS
from tark_lsp.server.indexing.workspace_index import WorkspaceIndex
from tests.benchmarks.bench_stalls import PAUSE, Ticks, row
from tests.server.scripted import ScriptedConnection, capabilities

TRUSTED = "workspaceTrusted = true\n"
RULES = (
    '[permissions]\ndeny = ["read_file(**/*.sql)", "read_file(**/generated_*)"]\nask = ["read_file(**/private/**)"]\n'
)
LARGE = "".join(f"value_{number} = call({number})\n" for number in range(3_000))
Work = Callable[[App, Path], Awaitable[None]]


async def nothing(_app: App, _folder: Path) -> None:
    await asyncio.sleep(0.1)


async def type_and_ask(app: App, folder: Path) -> None:
    """One key, and now and then a question."""
    documents, index = app.parts.documents, app.parts.indexing.index
    uri = (folder / "typed_in.py").as_uri()
    if documents.find_document(uri) is None:
        documents.open_document(uri, "python", 1, LARGE)
    for number in range(20):
        app.parts.document_sync.did_change(
            {
                "textDocument": {"uri": uri, "version": number},
                "contentChanges": [{"range": {"start": PLACE, "end": PLACE}, "text": "x"}],
            }
        )
        await asyncio.sleep(0.02)
    try:
        await index.ask(Search("parse the header of a request", 20))
    except ToolError as error:
        print(f"a question: {error}")


PLACE = {"line": 2_000, "character": 0}
CASES: dict[str, tuple[str, Work]] = {
    "indexing": (TRUSTED, nothing),
    "indexing, with rules about every file": (TRUSTED + RULES, nothing),
    "indexing, while typing and asking": (TRUSTED, type_and_ask),
}


async def gaps_while_indexing(folder: Path, config: str, work: Work) -> tuple[list[tuple[float, float, float]], str]:
    """The gaps from the start to the end of the build, and what was built."""
    with tempfile.TemporaryDirectory() as home:
        names = ("CONFIG", "STATE", "CACHE", "DATA")
        with patch.dict(os.environ, {f"XDG_{name}_HOME": str(Path(home) / name) for name in names}):
            file = Path(home) / "CONFIG" / "tark" / "config.toml"
            file.parent.mkdir(parents=True)
            file.write_text(config)
            app = App(ScriptedConnection(capabilities(tark=("updates",)), folders=[folder]))
            app.begin()
            index = app.parts.indexing.index
            gc.collect()
            gc.freeze()
            ticks = Ticks()
            began = time.monotonic()
            index.need()
            while index.process.last_status.state is IndexState.OFF:  # noqa: ASYNC110  # it starts in milliseconds
                await asyncio.sleep(PAUSE)
            ticking = asyncio.ensure_future(ticks.run())
            while index.process.last_status.state is IndexState.BUILDING:
                await work(app, folder)
            ticking.cancel()
            built = await described(index, time.monotonic() - began)
            await app.stop()
    return ticks.gaps, built


async def described(index: WorkspaceIndex, seconds: float) -> str:
    status = await index.status()
    return f"{status.state}, {status.indexed:,} of {status.files:,} files in {seconds:.0f} s {status.reason}"


async def idle_gaps(seconds: float) -> list[tuple[float, float, float]]:
    ticks = Ticks()
    ticking = asyncio.ensure_future(ticks.run())
    await asyncio.sleep(seconds)
    ticking.cancel()
    return ticks.gaps


async def main(folder: Path) -> None:
    print(
        f"{folder}\n{'ms, p50 p99 max':40}{'ticks':>7} {'by the clock':>21}  {'processor':>21}  {'of it the loop':>21}"
    )
    print(row("nothing", await idle_gaps(5)))
    for name, (config, work) in CASES.items():
        gaps, built = await gaps_while_indexing(folder, config, work)
        p99 = statistics.quantiles([gap for gap, _, _ in gaps], n=100)[98]
        print(row(name, gaps), "ok" if p99 < 20 else "TOO LONG", built, flush=True)


def copy_packages(folder: Path) -> None:
    """Ignore files of a virtual environment would hide them where they are."""
    packages = Path(sysconfig.get_path("purelib"))
    for file in packages.rglob("*.py*"):
        if file.suffix in (".py", ".pyi"):
            target = folder / file.relative_to(packages)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)


if __name__ == "__main__":
    sys.setswitchinterval(SWITCH_SECONDS)
    with tempfile.TemporaryDirectory() as copied:
        if len(sys.argv) < 2:
            copy_packages(Path(copied))
        asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else copied).resolve()))
