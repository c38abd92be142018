"""Reads an image from the clipboard, with the program that the system has for it."""

import asyncio
import base64
from collections.abc import Mapping
from typing import Any

from tark_lsp.context.images import check_images
from tark_lsp.errors import RequestError
from tark_lsp.tools.programs import find_program

READERS = (
    ("wl-paste", "--no-newline", "--type", "image/png"),
    ("xclip", "-selection", "clipboard", "-target", "image/png", "-out"),
    ("pngpaste", "-"),
)
"""They write the image to standard output. Each fails if there is no image, or no display that it knows."""
MISSING = "install wl-paste (Wayland), xclip (X11) or pngpaste (macOS), or mention a file: @file:shot.png"
SECONDS = 10


async def clipboard_image() -> Mapping[str, Any]:
    """As in `context` of protocol.md. Raises RequestError if there is no image or no program, BadImage if it cannot be
    sent.
    """
    found = [(program, *reader[1:]) for reader in READERS if (program := find_program(reader[0]))]
    if not found:
        raise RequestError("no program here reads an image from the clipboard", hint=MISSING)
    for command in found:
        content = await _output(command)
        if content:
            data = base64.b64encode(content).decode("ascii")
            check_images([("the image", "image/png", data)])
            return {"type": "image", "mimeType": "image/png", "data": data, "name": "an image from the clipboard"}
    raise RequestError("the clipboard holds no image", hint="take a screenshot, or mention a file: @file:shot.png")


async def _output(command: tuple[str, ...]) -> bytes:
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
