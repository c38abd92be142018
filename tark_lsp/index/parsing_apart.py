"""Definitions of texts, read in a process of its own: `python -P -m tark_lsp.index.parsing_apart`.

A grammar is native code that can take all memory in one step, which no time limit stops, and then the process ends
(`a=>` 10,000 times in Java). So the server never parses by itself.
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
"""Variables that the process gets. None holds a key."""
PROGRAM = (sys.executable, "-P", "-m", "tark_lsp.index.parsing_apart")
MOST_MEMORY = 300_000_000
"""Bytes of this process. A text of 1 MB needs about 100 MB."""
SECONDS = 10.0
"""For all texts. A grammar has a limit of its own (grammars.py)."""

Outline: TypeAlias = Sequence[Definition] | None
"""None if the text cannot be parsed: there is no grammar for it, or it takes too much time or memory."""


def definitions_apart(path: str, texts: Sequence[str]) -> list[Outline]:
    """The definitions of each text. `path` decides about the language. Blocks while they are parsed."""
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
    """The same in this process."""
    from tark_lsp.index.parsing import parse_file  # loads a parser

    parsed = [parse_file(path, text) for text in texts]
    return [one.definitions if one.language else None for one in parsed]


def limit_memory(most: int) -> None:
    """Of this process, where the system can. If it is reached, the process ends, and writes no core."""
    if sys.platform != "win32":
        import resource

        with contextlib.suppress(OSError, ValueError):  # a lower limit is set already
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    limit_memory(MOST_MEMORY)
    path, texts = json.load(sys.stdin)
    sys.stdout.write(json.dumps([to_json(outline) for outline in definitions_in(path, texts)]))


if __name__ == "__main__":
    main()
