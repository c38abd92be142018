"""The state of an index: all that the server needs to know of it until one runs."""

from dataclasses import dataclass
from enum import StrEnum


class IndexState(StrEnum):
    OFF = "off"
    """Not started: the workspace is not trusted, the setting is off, or nothing has asked yet."""
    BUILDING = "building"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """`reason` says in one sentence why the state is `off` or `failed`, with what you can do."""

    state: IndexState
    files: int = 0
    indexed: int = 0
    chunks: int = 0
    definitions: int = 0
    bytes_on_disk: int = 0
    vectors: str = ""
    """Where dense vectors come from, or empty: lexical only."""
    reason: str = ""
    skipped: tuple[tuple[str, int], ...] = ()
    """Why files are not indexed (`binary`, `minified`, ...; worth.py has all), and how many each time."""
