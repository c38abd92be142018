"""Creates and connects the server's parts of the code index."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tark_lsp.server.asking.questions import Questions
from tark_lsp.server.asking.workspace_trust import WorkspaceTrust
from tark_lsp.server.background import BackgroundTasks
from tark_lsp.server.configuration import Configuration
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.indexing.file_events import FileEvents
from tark_lsp.server.indexing.open_texts import OpenTexts
from tark_lsp.server.indexing.progress import IndexProgress
from tark_lsp.server.indexing.workspace_index import WorkspaceIndex
from tark_lsp.workspace.documents import DocumentEvent, Documents, Opened
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.text_document import is_chat, is_prompt

if TYPE_CHECKING:  # imported only when an index runs
    from tark_lsp.index.client import IndexClient
    from tark_lsp.server.indexing.embedding import Embedding

ANNOUNCING = frozenset({"tark.session.open", "tark.session.new"})
"""Commands of a client that opens a chat: a question will probably follow."""


class Indexing:
    """`index` answers questions; `files` gets the changes on disk."""

    def __init__(
        self,
        connection: Connection,
        documents: Documents,
        workspace: Workspace,
        open_folders: Callable[[], Sequence[Path]],
        configuration: Configuration,
        trust: WorkspaceTrust,
        questions: Questions,
        background: BackgroundTasks,
    ) -> None:
        """`open_folders`: the folders that are open in the editor."""
        self._configuration = configuration
        index = self.index = WorkspaceIndex(workspace, open_folders, configuration, trust, background)
        self.files = FileEvents(connection, workspace, background)
        texts = OpenTexts(documents, workspace, index.allows)
        progress = IndexProgress(connection, questions.warn, background)
        index.before_asking = texts.look_now
        index.rules_changed.listen(lambda _: texts.look_at_all())
        index.running.listen(texts.use)
        index.running.listen(self.files.use)
        index.shown.listen(progress.show)
        configuration.loaded.listen(lambda _: index.settings_changed())
        trust.changed.listen(lambda _: index.look_again())
        documents.listen(self._on_document_event)

    def embed_with(self, make: "Callable[[], Embedding]") -> None:
        """`make` is called when an index runs for the first time. From then on, its result embeds the chunks."""
        embedding: Embedding | None = None

        def use(client: "IndexClient | None") -> None:
            nonlocal embedding
            if embedding is None and client is not None:
                embedding = make()
                self._connect(embedding)
            if embedding is not None:
                embedding.use(client)

        self.index.running.listen(use)

    def _connect(self, embedding: "Embedding") -> None:
        self.index.with_vector = embedding.with_vector
        self.index.shown.listen(embedding.status_changed)
        self._configuration.loaded.listen(lambda _: embedding.settings_changed())

    def before_command(self, command: str) -> None:
        if command in ANNOUNCING:
            self.index.need()

    def _on_document_event(self, event: DocumentEvent) -> None:
        match event:
            case Opened(document) if is_chat(document.path) or is_prompt(document.uri):
                self.index.need()
            case _:
                pass
