"""The interface of tools to the user's editor."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # needed only when a model asks for symbols
    from tark_lsp.tools.language_servers import CodeAnswer, CodeQuestion


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Lines and characters count from 0; `severity` is LSP's: 1 error, 2 warning, 3 information, 4 hint."""

    path: Path
    line: int
    character: int
    severity: int
    message: str
    source: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    id: str
    label: str


class Editor(Protocol):
    """What tools can request from the user's editor. `server/` implements it; tests have one in memory."""

    async def read_diagnostics(self, path: Path | None) -> Sequence[Diagnostic]:
        """The diagnostics of one file, or of all files."""
        ...

    async def ask_user(
        self,
        question: str,
        options: Sequence[Option] = (),
        *,
        multiple: bool = False,
        free_text: bool = True,
        by_model: bool = False,
    ) -> str | list[str] | None:
        """Return the user's text, the ids of the chosen options, or None if there is no answer.

        `by_model`: show that the question is from the model. Raises ToolError `unsupported` if the editor cannot ask.
        """
        ...

    async def save_documents(self, paths: Sequence[Path]) -> Sequence[Path]:
        """Ask the editor to save these documents. Returns those that it saved; none if it cannot save."""
        ...

    def unsaved_documents(self, folder: Path) -> Sequence[Path]:
        """The open documents below `folder` whose text differs from the file on disk."""
        ...

    async def ask_language_servers(self, question: "CodeQuestion") -> "CodeAnswer | None":
        """The answer of the editor's other language servers; None if none of them answers within 2 s."""
        ...
