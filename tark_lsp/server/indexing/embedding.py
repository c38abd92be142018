"""Computes dense vectors for the index and for queries, with the embedder in `index.embeddings`.

Nothing is sent before the user has agreed to this host for this workspace. Only chunks of files that may be indexed are
sent. The chunks are read through the workspace like every other file, and their secrets are masked.
"""

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tark_lsp.errors import SettingsError, TarkError, WorkspaceError
from tark_lsp.index.chunk_text import chunk_key, chunk_text
from tark_lsp.index.model import ChunkPlace
from tark_lsp.index.packed_vectors import pack_vectors
from tark_lsp.index.questions import KeepVectors, Question, Search, Unembedded
from tark_lsp.index.status import IndexState, IndexStatus
from tark_lsp.permissions.uploads import AllowedUploads
from tark_lsp.secrets.file_names import is_secret
from tark_lsp.secrets.masks import SecretMasks
from tark_lsp.server.asking.questions import WARNING, Questions
from tark_lsp.server.background import BackgroundTasks
from tark_lsp.server.configuration import Configuration
from tark_lsp.server.indexing.workspace_index import WorkspaceIndex
from tark_lsp.visible import visible
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.lines import split_lines

if TYPE_CHECKING:  # imported only if the settings name an embedder
    from tark_lsp.index.client import IndexClient
    from tark_lsp.llm.embeddings import EndpointEmbedder
    from tark_lsp.server.indexing.qdrant import QdrantVectors

BATCH = 64
"""Chunks that are embedded in one request."""
QUERY_SECONDS = 3.0
"""How long a question waits for the vector of its query."""
NEAREST = 300
"""How many results are requested from Qdrant, because some can be for code that is not in this workspace."""
STATIC = "static"
SEND, NOT_NOW = "Send", "Not Now"
QDRANT_KEY = "QDRANT_API_KEY"


@dataclass(frozen=True, slots=True)
class Source:
    """The embedder, and the place where vectors are stored. `shared` is None if they are stored in the index."""

    embedder: "EndpointEmbedder"
    shared: "QdrantVectors | None"

    @property
    def name(self) -> str:
        return self.embedder.name

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that get code, or vectors that were computed from it."""
        return (self.embedder.host, *((self.shared.host,) if self.shared else ()))


class Embedding:
    """Works while an index runs. Each failure is shown to the user once, and the search continues without vectors."""

    def __init__(
        self,
        configuration: Configuration,
        workspace: Workspace,
        index: WorkspaceIndex,
        questions: Questions,
        uploads: AllowedUploads,
        background: BackgroundTasks,
        new_masks: Callable[[], SecretMasks],
    ) -> None:
        self._configuration = configuration
        self._workspace = workspace
        self._index = index
        self._questions = questions
        self._uploads = uploads
        self._background = background
        self._new_masks = new_masks
        self._client: IndexClient | None = None
        self._named: tuple[str | None, str | None, object] = (None, None, None)
        self._source: Source | None = None
        self._refused: set[tuple[str, ...]] = set()
        self._said: set[str] = set()
        self._working = asyncio.Lock()
        self._embedded: IndexStatus | None = None

    def use(self, client: "IndexClient | None") -> None:
        """Switch to the client of the running index; None if no index is running."""
        self._client, self._embedded, self._named = client, None, ("", None, None)
        self.settings_changed()

    def settings_changed(self) -> None:
        settings = self._configuration.settings.index
        is_endpoint = settings.embeddings not in (None, STATIC)
        models = self._configuration.models if is_endpoint and self._client is not None else None
        named = (settings.embeddings, settings.qdrant, models)  # new models: their base URL or key can have changed
        if self._client is None or named == self._named:
            return
        self._named, self._source, self._embedded = named, None, None
        if is_endpoint:
            try:
                self._source = self._open(str(settings.embeddings), settings.qdrant)
            except SettingsError as error:
                self._say(f"index.embeddings: {error}")
        self._client.use_vectors(
            self._source.name if self._source else "" if is_endpoint else settings.embeddings or ""
        )

    def status_changed(self, status: IndexStatus) -> None:
        """Embed new chunks when the index is up to date."""
        known = replace(status, vectors="")
        if self._source is not None and status.state is IndexState.READY and known != self._embedded:
            self._embedded = known
            self._background.start(self._embed_all(status.indexed - sum(count for _, count in status.skipped)))

    async def with_vector(self, question: Question[Any]) -> tuple[Question[Any], str]:
        """Add the vector of its query to a search. Returns a note if the vector cannot be computed."""
        source = self._source
        if not isinstance(question, Search) or question.local or source is None or not self._may_send(source):
            return question, ""
        try:
            async with asyncio.timeout(QUERY_SECONDS):
                query = self._new_masks().mask_text(question.query)
                (vector,) = await source.embedder.embed([query], query=True)
                if source.shared is None:
                    return replace(question, vector=pack_vectors([vector])), ""
                return replace(question, nearest=tuple(await source.shared.nearest(vector, NEAREST))), ""
        except TimeoutError:
            return question, f"{source.name} did not answer in time, so only words were searched for."
        except TarkError as error:
            return question, f"{source.name} cannot be used ({error.message}), so only words were searched for."

    def _open(self, name: str, qdrant: str | None) -> Source:
        """Raises SettingsError."""
        from tark_lsp.server.indexing.qdrant import QdrantVectors

        embedder = self._configuration.models.open_embedder(name)
        key = os.environ.get(QDRANT_KEY, "")
        return Source(embedder, QdrantVectors(qdrant, embedder.name, embedder.transport, key) if qdrant else None)

    def _may_send(self, source: Source) -> bool:
        return all(self._uploads.is_allowed(self._workspace.folders, host) for host in source.hosts)

    async def _embed_all(self, files: int) -> None:
        """Embed all chunks, one run at a time. A run that ends early is repeated when the index changes."""
        async with self._working:
            source, client = self._source, self._client
            if source is None or client is None or not await self._is_allowed(source, files):
                return
            after = 0
            try:
                while client is self._client and source is self._source and self._may_send(source):
                    if self._index.why_not() is not None:
                        return  # another process can revoke trust
                    places = (await client.ask(Unembedded(BATCH, after))).items
                    if not places:
                        return
                    if source.shared is not None:
                        after = places[-1].key
                    await self._embed(source, client, places)
            except TarkError as error:
                self._embedded = None  # try again at the next change of the index
                self._say(f"{source.name} gives no vectors, so the search is lexical: {error}")

    async def _embed(self, source: Source, client: "IndexClient", places: Sequence[ChunkPlace]) -> None:
        """Raises TarkError. A chunk that must not be sent, or has changed since it was indexed, gets no vector."""
        if source.shared is not None:
            known = await source.shared.known([place.key for place in places])
            places = [place for place in places if place.key not in known]
        masks = self._new_masks()
        texts = {place.key: text for place in places if (text := self._text_of(place, masks))}
        vectors = dict(zip(texts, await source.embedder.embed(list(texts.values())), strict=True)) if texts else {}
        if source.shared is not None:
            await source.shared.put(list(vectors), list(vectors.values()))
            return
        without = tuple(place.key for place in places if place.key not in vectors)
        await client.ask(KeepVectors(source.name, tuple(vectors), pack_vectors(list(vectors.values())), without))

    def _text_of(self, place: ChunkPlace, masks: SecretMasks) -> str:
        """The masked text of a chunk; empty if it must not be sent or has changed."""
        path = place.path
        if not self._index.allows(path):
            return ""
        with suppress(WorkspaceError):
            text = self._workspace.read(path).text
            if chunk_key(_text_at(place, text)) == place.key:
                every = is_secret(Path(self._workspace.display(path)))
                return _text_at(place, masks.mask_file(path, text, every_value=every).text)
        return ""

    async def _is_allowed(self, source: Source, files: int) -> bool:
        """Whether code may be sent. Asks the user at most once while the server runs."""
        folders = self._workspace.folders
        if self._may_send(source):
            return True
        if source.hosts in self._refused or not folders or not files:
            return False
        named = " and ".join(visible(str(folder)) for folder in folders)
        hosts = " and ".join(visible(host) for host in source.hosts)
        question = (
            f"Tark: send the code of {files:,} files in {named} to {hosts}? {visible(source.name)} (index.embeddings) "
            "computes vectors from it for the search. Files that rules deny and files with keys are not sent, and "
            "secrets in the others are masked."
        )
        if await self._questions.ask(question, [NOT_NOW, SEND], level=WARNING) != SEND:
            self._refused.add(source.hosts)
            return False
        try:
            for host in source.hosts:
                self._uploads.allow(folders, host)
        except OSError as error:
            self._say(f"your consent to send code cannot be stored ({error.strerror}), so nothing is sent")
        return self._may_send(source)

    def _say(self, problem: str) -> None:
        if problem not in self._said:
            self._said.add(problem)
            self._questions.warn(f"Tark: {problem}")


def _text_at(place: ChunkPlace, text: str) -> str:
    lines = [line.rstrip("\r\n") for line in split_lines(text)]
    return chunk_text(str(place.path), place.symbol, "\n".join(lines[place.start_line - 1 : place.end_line]))
