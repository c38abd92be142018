"""Reads blobs from the object folders of a Git repository: loose blobs and blobs in packs. Runs no program.

Git's documentation describes the formats (gitformat-pack, gitrepository-layout). The data comes from the repository, so
every size is limited, and each blob is checked against its name.
"""

import mmap
import os
import struct
import zlib
from collections.abc import Sequence
from hashlib import sha1
from pathlib import Path

LARGEST_BLOB = 64 * 1024 * 1024
"""In bytes. Larger files count as files that Git cannot restore, because a blob is in memory as a whole."""
DEEPEST = 4096
"""Git's own limit for chains of deltas (`pack.depth`)."""
MOST_BYTES = 16 * LARGEST_BLOB
"""The total bytes that one chain of deltas can produce."""
BLOB, OFFSET_DELTA, OBJECT_DELTA = 3, 6, 7
INDEX_MAGIC = b"\xfftOc\0\0\0\x02"
FANOUT = 8 + 256 * 4
ID = 20


class MissingObject(Exception):
    """The repository has no such blob, or it is damaged."""


class GitObjects:
    """The blobs in `stores`: folders named `objects`. Packs stay open while this object lives."""

    def __init__(self, stores: Sequence[Path]) -> None:
        self.stores = tuple(stores)
        self._packs: dict[Path, _Pack] = {}

    def has_blob(self, name: bytes) -> bool:
        return self._loose(name) is not None or self._find(name) is not None

    def read_blob(self, name: bytes) -> bytes:
        """Raises MissingObject, and OSError."""
        try:
            kind, data = self._read(name, 0)
        except (ValueError, IndexError, struct.error, zlib.error) as error:
            raise MissingObject(str(error)) from error
        if kind != BLOB or blob_name(data) != name:
            raise MissingObject("it is damaged")
        return data

    def _read(self, name: bytes, depth: int) -> tuple[int, bytes]:
        loose = self._loose(name)
        if loose is not None:
            data = _inflate(Path(loose).read_bytes(), 0, LARGEST_BLOB + 64)
            head, _, body = data.partition(b"\0")
            return (BLOB if head.startswith(b"blob ") else 0), body
        found = self._find(name)
        if found is None:
            raise MissingObject("the repository does not have it")
        return self._unpacked(*found, depth)

    def _unpacked(self, pack: "_Pack", offset: int, depth: int) -> tuple[int, bytes]:
        """The object at the offset, with all its deltas applied, the deepest first."""
        deltas: list[bytes] = []
        while True:
            if depth + len(deltas) > DEEPEST:
                raise ValueError("its deltas do not end")
            kind, size, at = pack.header(offset)
            if size > LARGEST_BLOB:
                raise ValueError("it is too large")
            if kind == OFFSET_DELTA:
                back, at = pack.offset(at)
                deltas.append(_inflate(pack.data, at, size))
                offset -= back
            elif kind == OBJECT_DELTA:
                base = pack.data[at : at + ID]
                deltas.append(_inflate(pack.data, at + ID, size))
                kind, data = self._read(base, depth + len(deltas))
                break
            else:
                data = _inflate(pack.data, at, size)
                break
        made = 0
        for delta in reversed(deltas):
            data = _patched(data, delta)
            made += len(data)
            if made > MOST_BYTES:
                raise ValueError("its deltas are too much work")
        return kind, data

    def _loose(self, name: bytes) -> str | None:
        text = name.hex()
        paths = (f"{store}{os.sep}{text[:2]}{os.sep}{text[2:]}" for store in self.stores)
        return next((path for path in paths if os.path.isfile(path)), None)  # noqa: PTH113  # called for each file

    def _find(self, name: bytes) -> "tuple[_Pack, int] | None":
        for again in (False, True):
            if again and not self._open_packs():  # Git may have repacked the objects meanwhile
                return None
            for pack in self._packs.values():
                if (offset := pack.find(name)) is not None:
                    return pack, offset
        return None

    def _open_packs(self) -> bool:
        """Whether there are packs that were not open."""
        new = [
            path
            for store in self.stores
            if (store / "pack").is_dir()
            for path in sorted((store / "pack").glob("pack-*.idx"))
            if path not in self._packs and path.is_file() and path.with_suffix(".pack").is_file()
        ]
        for path in new:
            self._packs[path] = _Pack(path)
        return bool(new)


def blob_name(data: bytes) -> bytes:
    """The name of a blob with these bytes."""
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).digest()


class _Pack:
    """A pack and its index, both mapped."""

    def __init__(self, index: Path) -> None:
        self._index = _mapped(index)
        self.data = _mapped(index.with_suffix(".pack"))
        self._usable = self._index[:8] == INDEX_MAGIC
        self._count = struct.unpack_from(">I", self._index, FANOUT - 4)[0] if self._usable else 0

    def find(self, name: bytes) -> int | None:
        """The offset of an object in the pack."""
        if not self._usable:
            return None
        first = name[0]
        low = struct.unpack_from(">I", self._index, 8 + 4 * (first - 1))[0] if first else 0
        high = struct.unpack_from(">I", self._index, 8 + 4 * first)[0]
        while low < high:
            middle = (low + high) // 2
            there = self._index[FANOUT + ID * middle : FANOUT + ID * (middle + 1)]
            if there == name:
                return self._offset_at(middle)
            low, high = (middle + 1, high) if there < name else (low, middle)
        return None

    def _offset_at(self, number: int) -> int:
        offsets = FANOUT + (ID + 4) * self._count
        (offset,) = struct.unpack_from(">I", self._index, offsets + 4 * number)
        if offset & 0x80000000:
            (offset,) = struct.unpack_from(">Q", self._index, offsets + 4 * self._count + 8 * (offset & 0x7FFFFFFF))
        return int(offset)

    def header(self, at: int) -> tuple[int, int, int]:
        """The kind and the size of the object at an offset, and where its data begins."""
        byte = self.data[at]
        kind, size, shift = (byte >> 4) & 7, byte & 15, 4
        while byte & 0x80:
            at += 1
            byte = self.data[at]
            size |= (byte & 0x7F) << shift
            shift += 7
        return kind, size, at + 1

    def offset(self, at: int) -> tuple[int, int]:
        """How far back the base of a delta is, and where the data begins."""
        byte = self.data[at]
        back = byte & 0x7F
        while byte & 0x80:
            at += 1
            byte = self.data[at]
            back = ((back + 1) << 7) | (byte & 0x7F)
        if not back:
            raise ValueError("a delta of itself")
        return back, at + 1


def _mapped(path: Path) -> mmap.mmap | bytes:
    with path.open("rb") as file:
        try:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:  # an empty file
            return b""


def _inflate(data: "mmap.mmap | bytes", at: int, limit: int) -> bytes:
    """The decompressed data at `at`. Raises ValueError for more than `limit` bytes."""
    inflater = zlib.decompressobj()
    pieces, size, step = [], 0, 65536
    while not inflater.eof:
        given = inflater.unconsumed_tail or data[at : at + step]
        if not given:
            raise ValueError("it ends in the middle")
        if not inflater.unconsumed_tail:
            at += len(given)
        piece = inflater.decompress(given, limit - size + 1)
        size += len(piece)
        if size > limit:
            raise ValueError("it is larger than it says")
        pieces.append(piece)
    return b"".join(pieces)


def _patched(base: bytes, delta: bytes) -> bytes:
    """Apply a delta to its base."""
    size, at = _size(delta, 0)
    if size != len(base):
        raise ValueError("a delta for something else")
    wanted, at = _size(delta, at)
    if wanted > LARGEST_BLOB:
        raise ValueError("it is too large")
    made, length = [], 0
    while at < len(delta):
        code = delta[at]
        at += 1
        if code & 0x80:
            start = count = 0
            for bit in range(4):
                if code & (1 << bit):
                    start |= delta[at] << (8 * bit)
                    at += 1
            for bit in range(3):
                if code & (0x10 << bit):
                    count |= delta[at] << (8 * bit)
                    at += 1
            count = count or 0x10000
            piece = base[start : start + count]
        elif code:
            piece, count = delta[at : at + code], code
            at += code
        else:
            raise ValueError("an unknown step of a delta")
        length += count
        if len(piece) != count or length > wanted:
            raise ValueError("a delta that does not fit")
        made.append(piece)
    if length != wanted:
        raise ValueError("a delta that ends early")
    return b"".join(made)


def _size(delta: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = delta[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at
