"""`FILE[:START-END]` of the command line: which file, and which of its lines."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tark_lsp.errors import OutsideWorkspace, RequestError


@dataclass(frozen=True, slots=True)
class Target:
    """Lines count from 1, `end` included; both None: the whole file."""

    path: Path
    start: int | None = None
    end: int | None = None

    def range_in(self, lines: Sequence[str]) -> dict[str, dict[str, int]] | None:
        """The LSP range of these lines (with their endings), in code points; None: no lines were named.

        Raises RequestError where the file has no such lines.
        """
        if self.start is None or self.end is None:
            return None
        if self.end > len(lines):
            raise RequestError(
                f"{self.path.name} has {len(lines)} lines, so {self.start}-{self.end} is past its end",
                hint=f"name lines from 1 to {len(lines)}" if lines else "leave the lines out",
            )
        last = lines[self.end - 1].rstrip("\r\n")
        return {
            "start": {"line": self.start - 1, "character": 0},
            "end": {"line": self.end - 1, "character": len(last)},
        }


def parse_target(text: str, folder: Path) -> Target:
    """`text` relative to `folder`, which holds it. Raises RequestError, OutsideWorkspace."""
    found = re.fullmatch(r"(.+?):(\d+)(?:-(\d+))?", text)
    # A file may really be called "notes:3".
    if found is None or (folder / text).exists():
        return Target(_inside(text, folder))
    start, end = int(found[2]), int(found[3] or found[2])
    if not 1 <= start <= end:
        raise RequestError(f"{text}: no such lines", hint="lines count from 1, START is not after END")
    return Target(_inside(found[1], folder), start, end)


def _inside(name: str, folder: Path) -> Path:
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise OutsideWorkspace(f"{name} is outside {folder}", hint="start tark-lsp run in the folder of its project")
    return path
