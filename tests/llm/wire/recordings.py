"""Finds and reads the recorded streams. If they are missing, the tests that need them are skipped."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SHARED = Path(os.environ.get("TARK_SHARED", ROOT.parent / "shared")) / "data"

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared test data (TARK_SHARED) is not here")


def stream_files(*wires: str) -> list[Path]:
    """Recorded answers of these wires; request bodies stand beside them as .request.json."""
    streams = SHARED / "streams"
    return [
        path
        for wire in wires
        for path in sorted((streams / wire).glob("*"))
        if path.name.endswith((".sse", ".chunks.txt", ".ndjson"))
    ]


def stream_bytes(path: Path) -> bytes:
    """The body as sent over the network. Two recorders dropped the framing (streams/README.md); it is restored."""
    raw = path.read_bytes()
    if path.name.endswith(".chunks.txt"):
        return b"".join(b"data: " + line + b"\n\n" for line in raw.split(b"\n") if line)
    if path.name.endswith(".lines.sse"):
        return b"".join(line + b"\n\n" for line in raw.split(b"\n") if line)
    return raw
