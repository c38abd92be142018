"""One server on a folder, whose undecided hunks are stored in a state folder for the next server."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tark_lsp.review.decisions import Reviews
from tark_lsp.review.events import HunksChanged, ReviewEvent
from tark_lsp.review.keeping import HunkKeeper
from tark_lsp.review.outside import OutsideChanges
from tark_lsp.review.restoring import HunkRestorer
from tark_lsp.review.saves import Saves
from tark_lsp.sessions.hunks import HunkRows
from tark_lsp.sessions.store import SessionStore
from tark_lsp.workspace.checkpoints.checkpoints import Checkpoints
from tark_lsp.workspace.checkpoints.store import CheckpointStore
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.lines import Hunk, split_lines
from tark_lsp.workspace.snapshot import Snapshot
from tests.checkpoints import unexpected
from tests.review.live_hunk import LiveHunk, find_live
from tests.server.scripted import Json, ScriptedEditor


def cannot(problem: str) -> None:
    raise AssertionError(problem)


@dataclass
class Server:
    """`folder`: the workspace. `state`: where all servers store what survives them."""

    folder: Path
    state: Path
    client: Json = field(default_factory=dict)
    """Its capabilities."""
    came_back: list[str] = field(default_factory=list)
    """The turns whose hunks came back."""

    def __post_init__(self) -> None:
        self.editor = ScriptedEditor(self.folder, self.client)
        self.store = SessionStore(lambda: self.state / "sessions.sqlite3", cannot)
        self.checkpoints = Checkpoints(CheckpointStore(lambda: self.state / "checkpoints.sqlite3", unexpected))
        self.reviews = Reviews(self.editor.workspace, self.editor.documents, self.checkpoints)
        self.outside = OutsideChanges(self.reviews, self.editor.documents, self.checkpoints)
        self.saves = Saves(self.reviews, self.editor.documents, self.checkpoints, accepts=True)
        self.rows = HunkRows(self.store, lambda: self.state / "mark")
        self.keeper = HunkKeeper(self.rows, self.reviews, cannot)
        self.reviews.events.listen(self.on_review_event)
        self.restorer = HunkRestorer(
            self.keeper,
            self.reviews,
            self.editor.workspace,
            self.editor.documents,
            self.checkpoints,
            self.came_back.append,
        )

    def on_review_event(self, event: ReviewEvent) -> None:
        if isinstance(event, HunksChanged):
            self.keeper.keep_file(event.path)

    def add_proposal(
        self, turn: str, edits: Sequence[tuple[ProposedEdit, Sequence[Hunk]]], *, whole: bool = False
    ) -> list[LiveHunk]:
        added = self.reviews.add_proposal(turn, edits, whole=whole)
        return [LiveHunk.of(self.reviews.hunks, hunk_id) for hunk_id in added]

    def find_hunks(self, path: Path | None = None, turn_id: str | None = None) -> list[LiveHunk]:
        return find_live(self.reviews.hunks, path, turn_id)

    def propose(self, path: Path, *changes: tuple[int, int, Sequence[str]], turn: str = "turn") -> list[LiveHunk]:
        """Propose hunks: lines [start, end) of the current text become other lines."""
        exists = path.exists() or path in self.editor.open_buffers
        base = self.editor.workspace.read(path) if exists else Snapshot(path, "", exists=False)
        lines = split_lines(base.text)
        hunks = tuple(Hunk(start, tuple(lines[start:end]), tuple(new)) for start, end, new in changes)
        return self.add_proposal(turn, [(ProposedEdit(path, base, hunks), ())])

    async def apply(self, hunks: Sequence[LiveHunk]) -> None:
        """Apply them undecided, as with `editReview: after`."""
        await self.reviews.accept(hunks, decide=False)

    def killed(self) -> None:
        """To another process, this one is gone, without a word."""
        self.restorer.stop()
        self.store.close()
        file = self.state / "sessions.sqlite3"
        if file.exists():  # otherwise nothing was stored
            connection = sqlite3.connect(file)
            with connection:
                owner = self.store.file.leases._process().owner
                connection.execute("UPDATE leases SET started = started || ' before' WHERE owner = ?", (owner,))
            connection.close()

    def follow(self, *names: str) -> "Server":
        """The next server. Its editor has these files open as they are on disk now."""
        server = Server(self.folder, self.state, self.client)
        for name in names:
            server.editor.open(name, (self.folder / name).read_bytes().decode())
        server.restorer.restore_now()
        return server

    def rows_kept(self) -> int:
        return len(self.store.file.read("SELECT 1 FROM kept_hunks"))
