"""`tark.demo`: a temporary copy of the demo project, with the settings that play its script instead of a model."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tark_lsp.demo import FILE, MODEL, PROMPT, copy_demo, hold_demo, new_demo_folder
from tark_lsp.server.commands import Command
from tark_lsp.server.protocol import command_payloads


class Demo:
    def __init__(self, folders: Iterable[Path]) -> None:
        """`folders`: those that are open. If one is a demo, it is not removed while this server runs."""
        self._held = [hold_demo(folder) for folder in folders]

    def commands(self) -> Iterable[Command]:
        yield Command("tark.demo", command_payloads.Nothing, self.demo)

    async def demo(self, _: command_payloads.Nothing) -> dict[str, Any]:
        """The client opens the folder, and starts the server of that window with the settings."""
        folder = await asyncio.to_thread(new_demo_folder)
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
