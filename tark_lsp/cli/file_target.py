"""The argument `FILE[:START-END]` of the command line: a file, and some of its lines."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tark_lsp.errors import OutsideWorkspace, RequestError


@dataclass(frozen=True, slots=True)
class FileTarget:
    """Lines count from 1, and `end` is included. If `start` and `end` are None, it is the whole file. `glob`: the glob
    that matched it; empty if the file was named.
    """

    path: Path
    start: int | None = None
    end: int | None = None
    glob: str = field(default="", compare=False)

    def range_in(self, lines: Sequence[str]) -> dict[str, dict[str, int]] | None:
        """The LSP range in `lines` (which have their line endings), in code points. None if no lines were named.

        Raises RequestError if the file does not have these lines.
        """
        if self.start is None or self.end is None:
            return None
        if self.end > len(lines):
            count = "1 line" if len(lines) == 1 else f"{len(lines)} lines"
            named = f"line {self.end} is" if self.start == self.end else f"lines {self.start}-{self.end} are"
            raise RequestError(
                f"{self.path.name} has {count}, so {named} past its end",
                hint=f"name lines from 1 to {len(lines)}" if lines else "do not name lines",
            )
        last = lines[self.end - 1].rstrip("\r\n")
        return {
            "start": {"line": self.start - 1, "character": 0},
            "end": {"line": self.end - 1, "character": len(last)},
        }


def parse_file_target(text: str, folder: Path) -> FileTarget:
    """`text` is relative to `folder`, and must be inside it. Raises RequestError, OutsideWorkspace."""
    found = re.fullmatch(r"(.+?):(\d+)(?:-(\d+))?", text)
    # A file name can be "notes:3".
    if found is None or os.path.lexists(folder / text):
        return FileTarget(_inside(text, folder))
    start, end = int(found[2]), int(found[3] or found[2])
    if not 1 <= start <= end:
        raise RequestError(f"{text}: invalid lines", hint="the first line is 1, and START must not be after END")
    return FileTarget(_inside(found[1], folder), start, end)


def _inside(name: str, folder: Path) -> Path:
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise OutsideWorkspace(
            f"{name} is outside {folder}", hint="start tark-lsp run in the folder of the file's project"
        )
    return path
