"""`Problem`: a finding of a review, at lines of a file."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Problem:
    """`start`: its first line, from 0. `lines`: the text of its lines, without line endings. `severity`: LSP's values,
    1 error, 2 warning, 3 information. `id`: empty until the problem is stored."""

    path: Path
    start: int
    lines: tuple[str, ...]
    severity: int
    message: str
    id: str = ""

    @property
    def end(self) -> int:
        """The line after its last one."""
        return self.start + len(self.lines)
