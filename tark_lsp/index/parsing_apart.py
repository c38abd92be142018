"""Reads the definitions of texts in a separate process: `python -P -m tark_lsp.index.parsing_apart`.

A grammar is native code that can exhaust the memory in one step, which no time limit stops (`a=>` 10,000 times in
Java). Then the process ends. So the server never parses in its own process.
"""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import TypeAlias

from tark_lsp.index.json_values import from_json, to_json
from tark_lsp.index.model import Definition

KEPT = ("HOME", "LANG", "LC_ALL", "SYSTEMROOT")
"""Environment variables that the process gets. None contains a key."""
PROGRAM = (sys.executable, "-P", "-m", "tark_lsp.index.parsing_apart")
MOST_MEMORY = 300_000_000
"""Memory limit of the process, in bytes. A text of 1 MB needs about 100 MB."""
SECONDS = 10.0
"""Time limit for all texts together. Each text has its own limit (grammars.py)."""

Outline: TypeAlias = Sequence[Definition] | None
"""None if the text cannot be parsed: it has no grammar, or takes too much time or memory."""


def definitions_apart(path: str, texts: Sequence[str]) -> list[Outline]:
    """The definitions of each text. `path` decides the language. Blocks until the texts are parsed."""
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    question = json.dumps([path, [*texts]]).encode()
    try:
        ran = subprocess.run(
            PROGRAM,
            input=question,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=os.sep,
            env=environment,
            timeout=SECONDS,
            check=True,
        )
        answer = json.loads(ran.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return [None] * len(texts)
    return [None if outline is None else from_json(tuple[Definition, ...], outline) for outline in answer]


def definitions_in(path: str, texts: Sequence[str]) -> list[Outline]:
    """Like `definitions_apart`, but in this process."""
    from tark_lsp.index.parsing import parse_file  # loads a parser

    parsed = [parse_file(path, text) for text in texts]
    return [one.definitions if one.language else None for one in parsed]


def limit_memory(most: int) -> None:
    """Limit the memory of this process, except on Windows. At the limit, the process ends without a core dump."""
    if sys.platform != "win32":
        import resource

        with contextlib.suppress(OSError, ValueError):  # a lower limit is already set
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    limit_memory(MOST_MEMORY)
    path, texts = json.load(sys.stdin)
    sys.stdout.write(json.dumps([to_json(outline) for outline in definitions_in(path, texts)]))


if __name__ == "__main__":
    main()
