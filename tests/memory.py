"""An editor in memory for tests: `MemoryBuffers` are its documents, `MemoryEditor` is the person in front of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tark_lsp.errors import ToolError
from tark_lsp.tools.editor import Diagnostic, Option
from tark_lsp.tools.language_servers import CodeAnswer, CodeQuestion
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.outcomes import Applied, Outcome, Refused, Stale
from tark_lsp.workspace.snapshot import Snapshot

Answer = str | list[str] | None


@dataclass(slots=True)
class MemoryBuffers:
    """Open documents by resolved path. An edit is applied only to the very text and version it was made for."""

    documents: dict[Path, Snapshot] = field(default_factory=dict)
    applied: list[tuple[ProposedEdit, str]] = field(default_factory=list)
    """Each applied edit with its label."""
    operates: bool = False
    """An editor that renames files, open or not, and deletes those of open documents."""

    def open(self, path: Path, text: str | None = None) -> Snapshot:
        """As didOpen: the text of the file, or `text`, as version 1."""
        path = path.resolve()
        if text is None:
            text = path.read_bytes().decode("utf-8")
        self.documents[path] = Snapshot(path, text, 1)
        return self.documents[path]

    def type(self, path: Path, text: str) -> Snapshot:
        """As didChange: `text` is the whole new text."""
        path = path.resolve()
        version = self.documents[path].version or 0
        self.documents[path] = Snapshot(path, text, version + 1)
        return self.documents[path]

    def close(self, path: Path) -> None:
        del self.documents[path.resolve()]

    def get(self, path: Path) -> Snapshot | None:
        return self.documents.get(path)

    def paths(self) -> Sequence[Path]:
        return tuple(self.documents)

    async def apply(self, edit: ProposedEdit, label: str) -> Outcome:
        now = self.documents.get(edit.path)
        if now is None:
            return Stale("the document is not open")
        if (now.version, now.text) != (edit.base.version, edit.base.text):
            return Stale("the document has changed")
        self.applied.append((edit, label))
        return Applied(self.type(edit.path, edit.after))

    async def move(self, snapshot: Snapshot, target: Path) -> Outcome | None:
        if not self.operates:
            return None
        now = self.documents.get(snapshot.path)
        if (now or snapshot).text != snapshot.text or not snapshot.path.exists():
            return Stale("the document has changed")
        if target.exists():
            return Refused("there is something at the new place already")
        target.parent.mkdir(parents=True, exist_ok=True)
        snapshot.path.rename(target)
        if now is None:
            return Applied(Snapshot(target, snapshot.text))
        self.close(snapshot.path)
        return Applied(self.open(target, now.text))

    async def remove(self, snapshot: Snapshot) -> Outcome | None:
        if not self.operates:
            return None
        if self.documents[snapshot.path].text != snapshot.text:
            return Stale("the document has changed")
        snapshot.path.unlink()
        self.close(snapshot.path)
        return Applied(Snapshot(snapshot.path, "", exists=False))


@dataclass(slots=True)
class MemoryEditor:
    """Answers questions with `answers`, in order; when they are used up the editor cannot ask (`unsupported`)."""

    buffers: MemoryBuffers = field(default_factory=MemoryBuffers)
    answers: list[Answer] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    saves: bool = True
    """False: an editor that does not save for the server."""
    asked: list[tuple[str, tuple[Option, ...]]] = field(default_factory=list)
    language_server: Callable[[CodeQuestion], CodeAnswer | None] = lambda _: None

    async def read_diagnostics(self, path: Path | None) -> Sequence[Diagnostic]:
        return [problem for problem in self.problems if path is None or problem.path == path]

    async def ask_user(
        self,
        question: str,
        options: Sequence[Option] = (),
        *,
        multiple: bool = False,
        free_text: bool = True,
        by_model: bool = False,  # noqa: ARG002  # as every editor's
    ) -> Answer:
        self.asked.append((question, tuple(options)))
        if not self.answers:
            raise ToolError("unsupported", "this editor cannot ask", hint="ask in your final answer")
        answer = self.answers.pop(0)
        ids = {option.id for option in options}
        assert multiple or not isinstance(answer, list) or len(answer) == 1
        assert free_text or answer is None or set([answer] if isinstance(answer, str) else answer) <= ids
        return answer

    async def save_documents(self, paths: Sequence[Path]) -> Sequence[Path]:
        if not self.saves:
            return ()
        for path in paths:
            path.write_bytes(self.buffers.documents[path].text.encode("utf-8"))
        return tuple(paths)

    def unsaved_documents(self, folder: Path) -> Sequence[Path]:
        return [
            path
            for path, document in self.buffers.documents.items()
            if path.is_relative_to(folder)
            and (not path.is_file() or path.read_bytes() != document.text.encode("utf-8"))
        ]

    async def ask_language_servers(self, question: CodeQuestion) -> CodeAnswer | None:
        return self.language_server(question)
