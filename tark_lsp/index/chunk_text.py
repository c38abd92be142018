"""The text from which the vector of a chunk is computed, and the key of the vector. Pure."""

import hashlib
from functools import lru_cache
from pathlib import PurePath

PARTS_OF_PATH = 3


def chunk_text(path: str, symbol: str, code: str) -> str:
    """The end of the path, the name of the definition, and the code."""
    return f"{_end_of(path)}\n{symbol}\n{code}"


@lru_cache(maxsize=16)  # consecutive calls are for chunks of the same file
def _end_of(path: str) -> str:
    return "/".join(PurePath(path).parts[-PARTS_OF_PATH:])


def chunk_key(text: str) -> int:
    """The key of the vector of a text: 63 bits, never 0. Equal texts have equal keys."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()) >> 1 or 1
