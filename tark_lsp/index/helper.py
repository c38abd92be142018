"""A process that prepares files for the index (prepared.py): `python -P -m tark_lsp.index.helper`.

A grammar is native code that can exhaust the memory in one step, or crash. Then this process ends, and only the current
file is lost. It reads JSON lines, `[path, known hash]`, and writes the length of each answer, then the answer.
"""

import json
import os
import sys
from typing import BinaryIO

from tark_lsp.index.parsing_apart import MOST_MEMORY, limit_memory
from tark_lsp.index.prepared import LENGTH_BYTES, prepare, to_bytes
from tark_lsp.index.priority import lower_priority


def serve(questions: BinaryIO, answers: BinaryIO) -> None:
    for line in questions:
        path, known = json.loads(line)
        answer = to_bytes(prepare(path, bytes.fromhex(known)))
        answers.write(len(answer).to_bytes(LENGTH_BYTES) + answer)
        answers.flush()


if __name__ == "__main__":
    lower_priority()
    os.umask(0o077)
    limit_memory(MOST_MEMORY)
    serve(sys.stdin.buffer, sys.stdout.buffer)
