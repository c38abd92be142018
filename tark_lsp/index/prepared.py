"""Makes the data that is stored about a file from its text: the part of the work that needs no index (helpers.py).

The data can be sent as bytes, so that another process can do this work. The format is JSON, because that process runs
a grammar on untrusted text: the worst that its answer can be is wrong.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from tark_lsp.index.chunk_fields import Fields, chunk_fields
from tark_lsp.index.packing import PackedFile, pack
from tark_lsp.index.parsing import parse_file
from tark_lsp.index.reading import read_for_index

LENGTH_BYTES = 4
"""The size of the length field before the JSON."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """`reason`: why the file is skipped, or empty. `packed`: None if the file is skipped or has the known hash.

    `mtime`: in nanoseconds. `characters`: the length of the text.
    """

    digest: bytes
    mtime: int
    size: int
    reason: str = ""
    characters: int = 0
    packed: PackedFile | None = None
    chunks: Sequence[Fields] = ()


def prepare(path: str, known: bytes) -> Prepared | None:
    """`known`: a hash; a file with this hash is not parsed. Returns None if there is no such file."""
    read = read_for_index(path)
    if read is None:
        return None
    if read.reason or read.digest == known:
        return Prepared(read.digest, read.mtime, read.size, read.reason)
    parsed = parse_file(path, read.text)
    fields = chunk_fields(path, read.text, parsed)
    return Prepared(read.digest, read.mtime, read.size, "", len(read.text), pack(parsed), fields)


def to_bytes(prepared: Prepared | None) -> bytes:
    if prepared is None:
        return _framed(b"null", b"")
    packed, data, sizes = prepared.packed, b"", None
    if packed is not None:
        data = packed.outline + packed.uses + packed.places
        sizes = [len(packed.outline), len(packed.uses), len(packed.places), packed.chunks, packed.definitions]
    head = (prepared.digest.hex(), prepared.mtime, prepared.size, prepared.reason, prepared.characters)
    return _framed(json.dumps([*head, sizes, prepared.chunks]).encode(), data)


def from_bytes(data: bytes) -> Prepared | None:
    """Raises ValueError if `data` is not in the format of `to_bytes`."""
    end = LENGTH_BYTES + int.from_bytes(data[:LENGTH_BYTES])
    value = json.loads(data[LENGTH_BYTES:end])
    if value is None:
        return None
    digest, mtime, size, reason, characters, sizes, chunks = value
    packed = None
    if sizes is not None:
        outline, uses, places, count, definitions = sizes
        first, second = end + outline, end + outline + uses
        packed = PackedFile(data[end:first], data[first:second], data[second : second + places], count, definitions)
    return Prepared(bytes.fromhex(digest), mtime, size, reason, characters, packed, chunks)


def _framed(head: bytes, data: bytes) -> bytes:
    return len(head).to_bytes(LENGTH_BYTES) + head + data
