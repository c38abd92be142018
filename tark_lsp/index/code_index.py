"""`CodeIndex`: the interface for questions about the code. `server/` implements it for the workspace."""

from typing import TYPE_CHECKING, Protocol, TypeVar

from tark_lsp.errors import ToolError
from tark_lsp.index.status import IndexState, IndexStatus

if TYPE_CHECKING:  # needed at run time only for a question
    from tark_lsp.index.model import Found
    from tark_lsp.index.questions import Question

T = TypeVar("T")


class CodeIndex(Protocol):
    async def status(self) -> IndexStatus: ...

    async def ask(self, question: "Question[T]") -> "Found[T]":
        """Raises ToolError: `unsupported` if there is no index, `timeout` if it does not answer in time."""
        ...


class NoIndex:
    """Answers every question with the same reason."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    async def status(self) -> IndexStatus:
        return IndexStatus(IndexState.OFF, reason=self._reason)

    async def ask(self, question: "Question[T]") -> "Found[T]":  # noqa: ARG002  # every question gets the same answer
        raise ToolError(
            "unsupported",
            f"there is no code index, because {self._reason}",
            hint="use search_text and read_file",
        )


NO_INDEX: CodeIndex = NoIndex("this turn has none")
