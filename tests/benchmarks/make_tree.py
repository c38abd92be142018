"""Writes a large tree of Python files for bench_index.py.

    uv run python -m tests.benchmarks.make_tree FOLDER FILES [SOURCE]

SOURCE: a folder with Python files (by default `site-packages` of this Python). Each file is one top-level function or
class of a file there. When all are used up, they come again with other names; `quantum_lever_regulator` is there once.
"""

import ast
import re
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from itertools import count, islice
from pathlib import Path

IN_FOLDER = 100
FEWEST_LINES = 15
NAME = re.compile(r"\b(def|class) (\w+)")


def definitions(source: Path) -> Iterator[str]:
    for path in sorted(source.rglob("*.py")):
        with suppress(OSError, ValueError, SyntaxError, RecursionError, MemoryError):
            text = path.read_text("utf-8")
            lines = text.splitlines(keepends=True)
            for node in ast.parse(text).body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    piece = lines[node.lineno - 1 : node.end_lineno]
                    if len(piece) >= FEWEST_LINES:
                        yield "".join(piece)


def pieces(source: Path) -> Iterator[str]:
    found = [*definitions(source)]
    for again in count():
        ending = f"_{again}" if again else ""
        yield from (NAME.sub(rf"\1 \2{ending}", piece) for piece in found)


def main(folder: str, files: str, source: str = sysconfig.get_paths()["purelib"]) -> None:
    root = Path(folder)
    for number, piece in enumerate(islice(pieces(Path(source)), int(files))):
        path = root / f"part{number // IN_FOLDER // IN_FOLDER:03}/folder{number // IN_FOLDER:05}/module{number:06}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(piece, "utf-8")
    known = root / "part001/deep/er/levers.py"
    known.parent.mkdir(parents=True, exist_ok=True)
    known.write_text('def quantum_lever_regulator(bars):\n    """Bring a lever to its level."""\n    return bars * 2\n')


if __name__ == "__main__":
    main(*sys.argv[1:])
