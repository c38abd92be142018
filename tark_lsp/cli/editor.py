"""Opens a text in the user's editor (`$VISUAL`, `$EDITOR`), and returns the changed text."""

import asyncio
import os
import shlex
import tempfile
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from tark_lsp.errors import RequestError
from tark_lsp.workspace.programs import find_program

EDITORS = ("VISUAL", "EDITOR")
HINT = "set EDITOR to the command of an editor"


async def edit_text(text: str, uri: str, name: str = "hunk") -> str | None:
    """Returns None if the text is unchanged or the editor failed.

    Only the user can read the file. It has the name `name` and the suffix of `uri`, so the editor knows the language.
    Raises RequestError if no editor is set, or it does not start.
    """
    command = next((shlex.split(os.environ[name]) for name in EDITORS if os.environ.get(name)), [])
    if not command:
        raise RequestError("no editor is set", hint="set EDITOR, for example EDITOR=nano")
    program = command[0] if set(command[0]) & set("/\\") else find_program(command[0])
    if program is None:
        raise RequestError(f"{command[0]}: it is not in PATH", hint=HINT)
    suffix = PurePosixPath(unquote(urlsplit(uri).path)).suffix
    with tempfile.TemporaryDirectory(prefix="tark-edit-") as folder:
        file = Path(folder) / f"{name}{suffix}"
        file.write_bytes(text.encode("utf-8"))
        try:
            process = await asyncio.create_subprocess_exec(program, *command[1:], str(file))
        except OSError as error:
            raise RequestError(f"{command[0]}: {error.strerror}", hint=HINT) from error
        if await process.wait():
            return None
        written = file.read_bytes().decode("utf-8", "replace")
    return None if written == text else written
