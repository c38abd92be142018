"""Stores the whole texts of results that were cut."""

from dataclasses import dataclass, field
from typing import Protocol

from tark_lsp.context.result_handles import result_id


class ResultStore(Protocol):
    """The whole texts of one session's results that were cut. `read_file` reads them."""

    def keep_result(self, text: str) -> str:
        """Store the text. Returns its id, `context.result_handles.result_id(text)`."""
        ...

    def find_result(self, result_id: str) -> str | None:
        """The text with that id; None if this session has none."""
        ...


@dataclass(slots=True)
class MemoryResultStore:
    """The store of a session that is not saved."""

    texts: dict[str, str] = field(default_factory=dict)

    def keep_result(self, text: str) -> str:
        self.texts[result_id(text)] = text
        return result_id(text)

    def find_result(self, result_id: str) -> str | None:
        return self.texts.get(result_id)
