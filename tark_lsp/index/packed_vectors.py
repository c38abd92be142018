"""Vectors as text, for messages between the server and the index process: 32-bit floats, one after another. Pure."""

import base64
import sys
from array import array
from collections.abc import Sequence


def pack_vectors(vectors: Sequence[Sequence[float]]) -> str:
    numbers = array("f")
    for vector in vectors:
        numbers.extend(vector)
    if sys.byteorder == "big":
        numbers.byteswap()
    return base64.b64encode(numbers.tobytes()).decode()


def unpack_vectors(packed: str, count: int) -> list[Sequence[float]]:
    """Raises ValueError unless `packed` contains `count` vectors of the same length."""
    numbers = array("f", base64.b64decode(packed, validate=True))
    if sys.byteorder == "big":
        numbers.byteswap()
    if (count == 0) != (len(numbers) == 0) or (count and len(numbers) % count):
        raise ValueError(f"{len(numbers)} numbers are not {count} vectors")
    length = len(numbers) // count if count else 0
    return [numbers[at * length : (at + 1) * length] for at in range(count)]
