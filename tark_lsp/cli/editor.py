"""Lets the person change a text in their own editor (`$VISUAL`, `$EDITOR`), and gives back what they wrote."""

import asyncio
import os
import shlex
import tempfile
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from tark_lsp.errors import RequestError

EDITORS = ("VISUAL", "EDITOR")


async def edit_text(text: str, uri: str) -> str | None:
    """None: unchanged, or the editor ended badly. The file is the person's alone, named as `uri` ends, so that their
    editor knows the language. Raises RequestError where no editor is set, or it does not start."""
    command = next((shlex.split(os.environ[name]) for name in EDITORS if os.environ.get(name)), [])
    if not command:
        raise RequestError("no editor is set", hint="set EDITOR, as in EDITOR=nano")
    suffix = PurePosixPath(unquote(urlsplit(uri).path)).suffix
    with tempfile.TemporaryDirectory(prefix="tark-edit-") as folder:
        file = Path(folder) / f"hunk{suffix}"
        file.write_bytes(text.encode("utf-8"))
        try:
            process = await asyncio.create_subprocess_exec(*command, str(file))
        except OSError as error:
            raise RequestError(f"{command[0]}: {error.strerror}", hint="set EDITOR to an editor") from error
        if await process.wait():
            return None
        written = file.read_bytes().decode("utf-8", "replace")
    return None if written == text else written
