"""`Project`: the files in a workspace folder that show which test runners and checkers are used there."""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tark_lsp.errors import TarkError
from tark_lsp.tools.tool import ToolContext

MOST_MATCHES = 50
"""How many files are checked for one pattern."""
RULE = re.compile(r"^([A-Za-z0-9][\w.-]*)\s*:(?!=)", re.MULTILINE)
"""A rule of a makefile with one plain target."""
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")


@dataclass(frozen=True, slots=True)
class Mark:
    """A file that shows that a runner is used: a path or a glob pattern, relative to the folder.

    `key`: the file is JSON or TOML and has this key (`a.b`). `text`: the file has text that matches this pattern. With
    both, the value of the key must match.
    """

    file: str
    key: str = ""
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file} ({self.key})" if self.key else self.file


@dataclass(slots=True)
class Project:
    """One folder. Files are read through the workspace. Files outside of it, and files that a rule for reading denies
    or asks about, do not count."""

    folder: Path
    ctx: ToolContext
    _texts: dict[Path, str] = field(default_factory=dict)

    def has(self, mark: Mark) -> bool:
        return any(self._fits(path, mark) for path in self._paths(mark.file))

    def make_targets(self) -> tuple[str, ...]:
        """The plain targets of the makefile that make would use."""
        text = next((text for name in MAKEFILES if (text := self.text(self.folder / name))), "")
        return tuple(dict.fromkeys(name for name in RULE.findall(text) if not name.startswith(".")))

    def value(self, file: str, key: str) -> Any:
        """The value of `a.b` in a JSON or TOML file; None if there is none."""
        return self._value(self.folder / file, key)

    def text(self, path: Path) -> str:
        """The text of a file; empty if it cannot be read."""
        if path not in self._texts:
            try:
                hidden = self.ctx.is_read_denied(path) or self.ctx.is_read_asked(path) or not path.is_file()
                self._texts[path] = "" if hidden else self.ctx.workspace.read(path).text
            except TarkError:
                self._texts[path] = ""
        return self._texts[path]

    def _paths(self, pattern: str) -> list[Path]:
        if "*" not in pattern:
            return [self.folder / pattern]
        found = []
        for path in self.folder.glob(pattern):
            found.append(path)
            if len(found) == MOST_MATCHES:
                break
        return found

    def _fits(self, path: Path, mark: Mark) -> bool:
        if not path.exists() or not self.ctx.workspace.is_inside(Path(path).resolve()):
            return False
        if not mark.key:
            return not mark.text or re.search(mark.text, self.text(path), re.MULTILINE) is not None
        value = self._value(path, mark.key)
        if value is None:
            return False
        return not mark.text or re.search(mark.text, json.dumps(value, default=str)) is not None

    def _value(self, path: Path, key: str) -> Any:
        try:
            value: Any = (tomllib.loads if path.suffix == ".toml" else json.loads)(self.text(path) or "{}")
        except (ValueError, RecursionError):
            return None
        for name in key.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        return value
