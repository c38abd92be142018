"""A workspace in a temporary folder with an editor in memory, and a way to call tools as the agent does."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.errors import FailureForModel
from tark_lsp.tools import load_tools
from tark_lsp.tools.results import result_text
from tark_lsp.tools.tool import CallFacts, Preview, Tool, ToolContext
from tark_lsp.workspace.files import Workspace
from tests.memory import MemoryBuffers, MemoryEditor


@dataclass
class Bench:
    """`call` gives the result for the model; `edit` gives the file's text as the edit would leave it."""

    root: Path
    buffers: MemoryBuffers
    editor: MemoryEditor
    ctx: ToolContext
    tools: Mapping[str, Tool[Any]] = field(default_factory=load_tools)

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    async def preview(self, name: str, /, **arguments: Any) -> Preview:
        tool = self.tools[name]
        return await tool.preview(tool.arguments(**arguments), self.ctx)

    async def call(self, name: str, /, **arguments: Any) -> str:
        tool = self.tools[name]
        assert tool.run is not None
        valid = tool.arguments(**arguments)
        return result_text(await tool.run(valid, self.ctx, await tool.preview(valid, self.ctx)))

    async def facts(self, name: str, /, **arguments: Any) -> CallFacts:
        """The figures of a call."""
        tool = self.tools[name]
        assert tool.run is not None
        valid = tool.arguments(**arguments)
        result = await tool.run(valid, self.ctx, await tool.preview(valid, self.ctx))
        assert not isinstance(result, str)
        return result.facts

    async def edit(self, name: str, /, **arguments: Any) -> str:
        """Previews an edit and drafts it, as the agent does within one answer."""
        preview = await self.preview(name, **arguments)
        (edit,) = preview.edits
        self.ctx.drafts[edit.path] = edit
        return edit.after

    async def failure(self, name: str, /, **arguments: Any) -> FailureForModel:
        with pytest.raises(FailureForModel) as caught:
            await (self.preview if self.tools[name].run is None else self.call)(name, **arguments)
        return caught.value


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    root = (tmp_path / "project").resolve()
    root.mkdir()
    buffers = MemoryBuffers()
    editor = MemoryEditor(buffers)
    return Bench(root, buffers, editor, ToolContext(Workspace([root], buffers), editor))
