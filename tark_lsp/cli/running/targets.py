"""The context that `tark-lsp run` sends with the prompt: files, ranges, globs, and the text on standard input."""

import asyncio
import os
import re
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from tark_lsp.cli.file_target import FileTarget, parse_file_target
from tark_lsp.errors import RequestError, ToolError, WorkspaceError
from tark_lsp.server.client_documents import read_text
from tark_lsp.workspace.lines import split_lines
from tark_lsp.workspace.search.ripgrep import SearchScope, list_files
from tark_lsp.workspace.search.search_program import SearchProgram
from tark_lsp.workspace.uris import uri_from_path

MOST_FILES = 100
LONGEST_INPUT = 10_000_000
PATIENCE_SECONDS = 3.0
GLOB = re.compile(r"[*?\[{]")


def find_targets(words: Iterable[str], folder: Path) -> list[FileTarget]:
    """The files that the words name, in order, each once. Raises TarkError for an invalid path or an empty glob."""
    found: dict[FileTarget, None] = {}
    for word in words:
        if GLOB.search(word) and not os.path.lexists(folder / word):
            found |= dict.fromkeys(FileTarget(path, glob=word) for path in _matching(word, folder))
        else:
            found[parse_file_target(word, folder)] = None
    if len(found) > MOST_FILES:
        raise RequestError(f"{len(found):,} files are too many", hint=f"name at most {MOST_FILES}")
    return list(found)


def turn_fields(targets: Sequence[FileTarget]) -> dict[str, Any]:
    """The fields for `tark.turn.start`. The document of the turn is the only file, or the first file with a range. The
    other files are attached. Raises TarkError if a file cannot be read or does not have the lines.
    """
    ranges = [target.range_in(split_lines(_read(target))) for target in targets]
    named = [at for at, lines in enumerate(ranges) if lines is not None]
    subject = named[0] if named else 0 if len(targets) == 1 else None
    attached = [
        {"type": "file", "uri": uri_from_path(target.path), **({"range": lines} if lines else {})}
        for at, (target, lines) in enumerate(zip(targets, ranges, strict=True))
        if at != subject
    ]
    fields: dict[str, Any] = {"context": attached}
    if subject is None:
        return {**fields, "noDocument": True}
    fields["textDocument"] = {"uri": uri_from_path(targets[subject].path)}
    return fields if ranges[subject] is None else {**fields, "range": ranges[subject]}


def read_standard_input(waiting: Callable[[], None]) -> str:
    """The whole text on standard input; empty at a terminal. `waiting` is called in another thread if it does not end
    soon.

    Raises RequestError if it is too long.
    """
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    timer = threading.Timer(PATIENCE_SECONDS, waiting)
    timer.daemon = True
    timer.start()
    try:
        data = sys.stdin.buffer.read(LONGEST_INPUT + 1)
    finally:
        timer.cancel()
    if len(data) > LONGEST_INPUT:
        raise RequestError("standard input is longer than 10 MB", hint="send less, or name files instead")
    return data.decode("utf-8", "replace")


def _read(target: FileTarget) -> str:
    try:
        return read_text(target.path)
    except WorkspaceError as error:
        if not target.glob:
            raise
        hint = f"{target.glob} matches this file: use a narrower glob, or add the file to .gitignore"
        raise RequestError(error.message, hint=hint) from error


def _matching(glob: str, folder: Path) -> list[Path]:
    """The files that match the glob. Raises RequestError if there are none, or the glob is invalid."""
    try:
        names, _ = asyncio.run(list_files(SearchProgram.find_installed([folder]), SearchScope((folder,), glob=glob)))
    except ToolError as error:
        raise RequestError(error.message, hint=error.hint) from error
    if not names:
        raise RequestError(
            f"no file matches {glob}", hint="a glob with / starts at the current folder; ignored files are left out"
        )
    return [Path(name) for name in names]
