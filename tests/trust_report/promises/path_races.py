"""No file tool leaves the workspace while a folder in its path is swapped with a link out, again and again."""

import asyncio
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tark_lsp.errors import FailureForModel
from tark_lsp.tools.results import result_text
from tark_lsp.tools.tool import ToolContext
from tark_lsp.trust_report.promise import Ground, NotMeasured, Outcome, Promise
from tark_lsp.workspace.files import Workspace
from tests.agent.scripted_user import ScriptedUser
from tests.memory import MemoryBuffers, MemoryEditor
from tests.tools.conftest import Bench

SECONDS, ALL_SECONDS = 1.5, 10.0
AT_CWD, EXCHANGE = -100, 2
SECRET = "outside-secret"
"""In each file of the folder outside, and in its name."""
CALLS = (
    ("read_file", {"path": "dir/file.txt"}),
    ("read_file", {"path": "dir/deep/file.txt"}),
    ("search_text", {"pattern": "secret", "path": "dir"}),
    ("search_text", {"pattern": "secret"}),
    ("list_directory", {"path": "dir", "depth": 3}),
    ("find_files", {"pattern": "dir/**"}),
    ("write_file", {"path": "dir/file.txt", "content": "new\n"}),
    ("write_file", {"path": "dir/made.txt", "content": "new\n"}),
    ("edit_file", {"path": "dir/deep/file.txt", "old_text": "inside secret\n", "new_text": "changed secret\n"}),
    ("apply_patch", {"patch": "*** Begin Patch\n*** Add File: dir/deep/added.txt\n+new\n*** End Patch\n"}),
    ("delete_file", {"path": "dir/victim.txt"}),
    ("move_file", {"source": "loose.txt", "target": "dir/moved.txt"}),
)


def make_places(root: Path) -> None:
    for top, text in (("project/dir", "inside secret\n"), ("outside", f"{SECRET}\ninside secret\n")):
        for name in ("file.txt", "deep/file.txt", "victim.txt"):
            (root / top / name).parent.mkdir(parents=True, exist_ok=True)
            (root / top / name).write_text(text)
    (root / "outside" / f"{SECRET}.txt").touch()
    (root / "project" / "loose.txt").write_text("loose\n")
    (root / "project" / "link").symlink_to(root / "outside")


SWAPPING = f"""\
import ctypes, sys
libc, (first, second) = ctypes.CDLL(None), [name.encode() for name in sys.argv[1:]]
print("ready", flush=True)
while libc.renameat2({AT_CWD}, first, {AT_CWD}, second, {EXCHANGE}) == 0:
    pass
"""
"""A program of its own, because a thread would wait for the tools."""


@contextmanager
def swapping(project: Path) -> Iterator[None]:
    """While the block is open, `dir` and `link` change places again and again, each time at once."""
    names = [str(project / name) for name in ("dir", "link")]
    with subprocess.Popen([sys.executable, "-c", SWAPPING, *names], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
            assert process.poll() is None, "the folders were no longer swapped"
        finally:
            process.kill()


def read_naively(project: Path) -> str:
    """As most programs do it: resolve, check, open."""
    path = project / "dir" / "file.txt"
    try:
        if not Path(os.path.realpath(path)).is_relative_to(project):
            return ""
        return path.read_text()
    except OSError:
        return ""


async def call_tool(bench: Bench, user: ScriptedUser, name: str, arguments: dict[str, object]) -> str:
    """What the model reads; what would be asked or denied because it leads out is not done."""
    tool = bench.tools[name]
    try:
        valid = tool.arguments(**arguments)
        preview = await tool.preview(valid, bench.ctx)
        written = [path for edit in preview.edits for path in edit.paths]
        if preview.outside or not all(bench.ctx.workspace.is_inside(path) for path in written):
            return ""
        if tool.run is not None:
            return result_text(await tool.run(valid, bench.ctx, preview))
        for edit in preview.edits:
            await user._apply(edit)
    except (FailureForModel, OSError) as error:  # OSError: a link that is none any more, while its path is resolved
        return str(error)
    return ""


def outside_of(root: Path) -> dict[str, str]:
    files = (path for path in (root / "outside").rglob("*") if path.is_file())
    return {str(path): path.read_text() for path in files}


async def measure(ground: Ground) -> Outcome:
    root, project = ground.folder, ground.folder / "project"
    make_places(root)
    before = outside_of(root)
    buffers = MemoryBuffers()
    editor, workspace = MemoryEditor(buffers), Workspace([project], buffers)
    bench, user = Bench(project, buffers, editor, ToolContext(workspace, editor)), ScriptedUser(workspace)
    calls, failures, naive = Counter[str](), [], 0
    end = time.monotonic() + (ALL_SECONDS if ground.thorough else SECONDS)
    with swapping(project):
        while time.monotonic() < end:
            for name, arguments in CALLS:
                told = await call_tool(bench, user, name, dict(arguments))
                calls[name] += 1
                if SECRET in told:
                    failures.append(f"{name} {arguments} shows {told[:200]!r}")
                naive += sum(SECRET in read_naively(project) for _ in range(20))
                if outside_of(root) != before:
                    failures.append(f"{name} {arguments} changed a file outside")
                    before = outside_of(root)
            bench.ctx.seen.clear()
            await asyncio.sleep(0)
    if not naive:
        raise NotMeasured("no race was won here, not even against the naive way to open a file")
    tried = f"calls of {len(calls)} file tools in {ALL_SECONDS if ground.thorough else SECONDS} s"
    note = f"the naive way was escaped {naive} times"
    return Outcome(tried, calls.total(), tuple(failures), note=note)


PROMISE = Promise(61, "No file tool leaves the workspace, even in a race", measure)
