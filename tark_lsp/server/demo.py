"""`tark.demo`: a temporary copy of the demo project, with the settings that play its script instead of a model."""

import asyncio
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tark_lsp.demo import FILE, MODEL, PROMPT, copy_demo
from tark_lsp.server.commands import Command
from tark_lsp.server.protocol import incoming


class Demo:
    def commands(self) -> Iterable[Command]:
        yield Command("tark.demo", incoming.Nothing, self.demo)

    async def demo(self, _: incoming.Nothing) -> dict[str, Any]:
        """The client opens the folder, and starts the server of that window with the settings."""
        folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="tark-demo-")).resolve()
        copied = await asyncio.to_thread(copy_demo, folder)
        return {
            "folder": str(copied.project),
            "file": str(copied.project / FILE),
            "prompt": PROMPT,
            "settings": {
                "model": MODEL,
                "mode": "build",
                "approval": "careful",
                "providers": {"scripted": {"scenario": str(copied.scenario)}},
            },
        }
