"""`tark.clipboardImage`: reads an image from the clipboard, with the program that the system has for it."""

import asyncio
import base64
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tark_lsp.context.images import check_images
from tark_lsp.errors import RequestError, TarkError
from tark_lsp.server.commands import Command
from tark_lsp.server.protocol import command_payloads
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.programs import find_program

READERS = (
    ("wl-paste", "--no-newline", "--type", "image/png"),
    ("xclip", "-selection", "clipboard", "-target", "image/png", "-out"),
    ("pngpaste", "-"),
)
"""They write the image to standard output. Each fails if there is no image, or no display that it knows."""
MISSING = "install wl-paste (Wayland), xclip (X11) or pngpaste (macOS), or mention a file: @file:shot.png"
SECONDS = 10


class ClipboardImage:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def commands(self) -> Iterable[Command]:
        yield Command("tark.clipboardImage", command_payloads.Nothing, self.read)

    async def read(self, _: command_payloads.Nothing) -> dict[str, Any]:
        """The image, or `problem`: the client shows it, and nothing is wrong with its request."""
        try:
            return {"image": await clipboard_image(self._workspace.folders)}
        except TarkError as error:
            return {"problem": str(error)}


async def clipboard_image(workspace: Sequence[Path] = ()) -> Mapping[str, Any]:
    """As in `context` of protocol.md. No program of the workspace is run.

    Raises RequestError if there is no image or no program, BadImage if it cannot be sent.
    """
    found = [(program, *reader[1:]) for reader in READERS if (program := find_program(reader[0], workspace))]
    if not found:
        raise RequestError("no program here reads an image from the clipboard", hint=MISSING)
    for command in found:
        content = await _output(command)
        if content:
            data = base64.b64encode(content).decode("ascii")
            check_images([("the image", "image/png", data)])
            return {"type": "image", "mimeType": "image/png", "data": data, "name": "an image from the clipboard"}
    raise RequestError("the clipboard holds no image", hint="take a screenshot, or mention a file: @file:shot.png")


async def _output(command: tuple[str | Path, ...]) -> bytes:
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        content, _ = await asyncio.wait_for(process.communicate(), SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()
        return b""
    return content if process.returncode == 0 else b""
