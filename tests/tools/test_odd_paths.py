"""Every tool with a path gets names that no file system takes, pipes and devices: it ends, with an error of its own."""

import asyncio
import os
from typing import Any

import pytest

from tark_lsp.errors import FailureForModel
from tark_lsp.tools import load_tools
from tark_lsp.tools.tool import Tool
from tests.patience import AT_ONCE
from tests.tools.conftest import Bench

PATHS = {
    "a long name": "x" * 300,
    "many letters": "ü" * 150,
    "a very long name": "x" * 5000,
    "a long path": "a/" * 3000,
    "a pipe": "pipe",
    "below a pipe": "pipe/x",
    "a link to a pipe": "link",
    "a link to an endless file": "zero",
}
REQUIRED: dict[str, Any] = {"old_text": "a", "new_text": "b", "line": 1}
"""Values of required fields; the others get \"x\"."""


def calls(tool: Tool[Any], path: str) -> list[dict[str, Any]]:
    """Arguments with the path in each field that takes one, and the simplest value in the other required fields."""
    fields = tool.arguments.model_fields
    needed = {name: REQUIRED.get(name, "x") for name, field in fields.items() if field.is_required()}
    places = [name for name in fields if name in ("path", "source", "target", "new_path", "cwd")]
    found = [{**needed, name: path} for name in places]
    return found + ([{**needed, "paths": [path]}] if "paths" in fields else [])


TOOLS = [name for name, tool in load_tools().items() if calls(tool, "x")]


def test_the_tools_are_found() -> None:
    assert {"read_file", "read_files", "search_text", "edit_file", "run_command", "move_file"} <= set(TOOLS)


@pytest.mark.parametrize("name", TOOLS)
async def test_odd_paths(bench: Bench, name: str) -> None:
    os.mkfifo(bench.root / "pipe")
    (bench.root / "link").symlink_to(bench.root / "pipe")
    (bench.root / "zero").symlink_to("/dev/zero")
    tool = load_tools()[name]
    for path in PATHS.values():
        for arguments in calls(tool, path):
            valid = tool.arguments(**arguments)
            try:
                async with asyncio.timeout(AT_ONCE):
                    preview = await tool.preview(valid, bench.ctx)
                    if tool.run is not None:
                        await tool.run(valid, bench.ctx, preview)
            except FailureForModel:
                pass  # anything else fails the test
