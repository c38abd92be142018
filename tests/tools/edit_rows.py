"""Rows of what models send to the edit tools, and what must come of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from tark_lsp.tools.results import failure_line
from tark_lsp.tools.tool import Selection
from tark_lsp.workspace.edits import ProposedEdit
from tests.tools.conftest import Bench

Texts: TypeAlias = dict[str, str | None]
Refusal: TypeAlias = tuple[str, ...]
"""A code, then words that stand in the line the model reads."""


@dataclass(frozen=True)
class Row:
    """`expected`: the changed files as the edits would leave them (None: gone), or a code and words of a failure."""

    tool: str
    arguments: Mapping[str, Any]
    expected: Texts | Refusal
    files: Mapping[str, str | bytes | Path] = field(default_factory=dict)
    """A path is where a link of that name leads."""
    read: tuple[str, ...] = ()
    """Files the model read before `typed`."""
    typed: Mapping[str, str | None] = field(default_factory=dict)
    """What stands in files since: typed into the open document; None: deleted meanwhile."""
    select: tuple[str, str] = ("", "")


METHODS = "class A:\n    def run(self):\n        return 1\n\n    def stop(self):\n        return 1\n"
CODE = METHODS + "\n\nclass B:\n    def run(self):\n        return 1\n"
A = {"a.py": CODE}
STOPPED = CODE.replace("stop(self):\n        return 1", "stop(self):\n        return 2")


def outcome(bench: Bench, edits: tuple[ProposedEdit, ...]) -> Texts:
    """The files as the edits would leave them; each edit is of the file as it is now."""
    left: Texts = {}
    for edit in edits:
        if edit.base.exists:
            assert bench.ctx.workspace.read(edit.path) == edit.base
        if edit.base.exists and (edit.removes or edit.target):
            left[bench.ctx.workspace.display(edit.path)] = None
        if edit.drafted.exists:
            left[bench.ctx.workspace.display(edit.drafted.path)] = edit.after
    return left


async def prepare(bench: Bench, row: Row) -> None:
    for name, content in row.files.items():
        if isinstance(content, Path):
            (bench.root / name).symlink_to(content)
        else:
            bench.write(name, content)
    for name in row.read:
        await bench.call("read_file", path=name)
    if row.select[0]:
        snapshot = bench.ctx.workspace.read(bench.root / row.select[0])
        start = snapshot.text.index(row.select[1])
        bench.ctx.selection = Selection(snapshot, start, start + len(row.select[1]))
    for name, text in row.typed.items():
        if text is None:
            (bench.root / name).unlink()
        else:
            bench.buffers.open(bench.root / name)
            bench.buffers.type(bench.root / name, text)


def tree(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


async def check(bench: Bench, row: Row) -> None:
    """Previews the call of the row, which must leave the disk as it is."""
    await prepare(bench, row)
    before = tree(bench.root)
    if isinstance(row.expected, dict):
        preview = await bench.preview(row.tool, **row.arguments)
        assert outcome(bench, preview.edits) == row.expected
        assert preview.atomic is (row.tool == "apply_patch")
    else:
        code, *words = row.expected
        failure = await bench.failure(row.tool, **row.arguments)
        line = failure_line(failure).replace("\\n", "\n").replace('\\"', '"')
        assert (failure.code, [word for word in words if word not in line]) == (code, []), line
        assert "\n" not in failure_line(failure)
        assert failure.hint
    assert bench.ctx.drafts == {}
    assert tree(bench.root) == before  # a preview only reads
