"""The state of an index, in a small module that the server can import before an index runs."""

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
    """`reason`: one sentence that says why the state is `off` or `failed`, and what the user can do."""

    state: IndexState
    files: int = 0
    indexed: int = 0
    chunks: int = 0
    definitions: int = 0
    bytes_on_disk: int = 0
    vectors: str = ""
    """The source of dense vectors; empty if the search is only lexical."""
    reason: str = ""
    skipped: tuple[tuple[str, int], ...] = ()
    """How many files are not indexed, by reason (`binary`, `minified`, ...; see worth.py)."""
