"""Changes of files as one unified diff that `git apply` takes. Pure."""

import re
from collections.abc import Iterable, Iterator
from difflib import unified_diff
from pathlib import Path

from tark_lsp.workspace.disk.memory_folder import MemoryChange, MemoryFile

NO_NEWLINE = "\\ No newline at end of file\n"
ODD = re.compile(r'["\\\x00-\x1f\x7f]')
ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def git_patch(changes: Iterable[MemoryChange], root: Path) -> str:
    """The texts are UTF-8. `root`: the folder that paths start at. Git expects the top folder of the repository."""
    return "".join(line for change in changes for line in _file(change, change.path.relative_to(root).as_posix()))


def _file(change: MemoryChange, name: str) -> Iterator[str]:
    old, new = _quoted(f"a/{name}"), _quoted(f"b/{name}")
    yield f"diff --git {old} {new}\n"
    if change.before is None and change.after is not None:
        yield f"new file mode {_mode(change.after)}\n"
    elif change.before is not None and change.after is None:
        yield f"deleted file mode {_mode(change.before)}\n"
    elif change.before is not None and change.after is not None and _mode(change.before) != _mode(change.after):
        yield f"old mode {_mode(change.before)}\nnew mode {_mode(change.after)}\n"
    before, after = _lines(change.before), _lines(change.after)
    if before == after:
        return
    # A name with a space ends with a tab, as git writes it. Other programs would take the rest for a date.
    names = ("/dev/null" if change.before is None else old, "/dev/null" if change.after is None else new)
    yield from (f"{sign} {one}{chr(9) * (' ' in one)}\n" for sign, one in zip(("---", "+++"), names, strict=True))
    for line in list(unified_diff(before, after))[2:]:
        yield line if line.endswith("\n") else f"{line}\n{NO_NEWLINE}"


def _lines(file: MemoryFile | None) -> list[str]:
    """The lines with their endings. For git, only LF ends a line."""
    text = "" if file is None else file.data.decode("utf-8")
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop().removesuffix("\n")
    return [*lines, last] if last else lines


def _mode(file: MemoryFile) -> str:
    return "100755" if file.mode & 0o100 else "100644"


def _quoted(name: str) -> str:
    if not ODD.search(name):
        return name
    return f'"{ODD.sub(lambda found: ESCAPES.get(found[0]) or f"{chr(92)}{ord(found[0]):03o}", name)}"'
