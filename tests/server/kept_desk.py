"""One server's life on a folder: reviews whose undecided hunks are kept in a state folder, for the next one."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tark_lsp.server.review.hunks import ReviewHunk
from tark_lsp.server.review.kept import KeptHunks
from tark_lsp.server.review.reviews import Reviews
from tark_lsp.sessions.hunks import HunkRows
from tark_lsp.sessions.store import SessionStore
from tark_lsp.workspace.checkpoints.checkpoints import Checkpoints
from tark_lsp.workspace.checkpoints.store import CheckpointStore
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.lines import Hunk, split_lines
from tark_lsp.workspace.snapshot import Snapshot
from tests.checkpoints import unexpected
from tests.server.scripted import Json, ScriptedEditor


def cannot(problem: str) -> None:
    raise AssertionError(problem)


@dataclass
class Server:
    """`folder`: the workspace. `state`: where all servers keep what is to outlive them."""

    folder: Path
    state: Path
    client: Json = field(default_factory=dict)
    """Its capabilities."""
    came_back: list[str] = field(default_factory=list)
    """Turns of which hunks did."""

    def __post_init__(self) -> None:
        self.editor = ScriptedEditor(self.folder, self.client)
        self.store = SessionStore(lambda: self.state / "sessions.sqlite3", cannot)
        self.checkpoints = Checkpoints(CheckpointStore(lambda: self.state / "checkpoints.sqlite3", unexpected))
        self.reviews = Reviews(
            self.editor.workspace,
            self.editor.documents,
            self.checkpoints,
            lambda path: self.kept.changed(path),
            lambda _: None,
            lambda _, __: None,
        )
        self.rows = HunkRows(self.store, lambda: self.state / "mark")
        self.kept = KeptHunks(
            self.rows,
            self.reviews,
            self.editor.workspace,
            self.editor.documents,
            self.checkpoints,
            self.came_back.append,
            cannot,
        )

    def propose(self, path: Path, *changes: tuple[int, int, Sequence[str]], turn: str = "turn") -> list[ReviewHunk]:
        """Hunks as they are: lines [start, end) of the text of now become others."""
        exists = path.exists() or path in self.editor.open_buffers
        base = self.editor.workspace.read(path) if exists else Snapshot(path, "", exists=False)
        lines = split_lines(base.text)
        hunks = tuple(Hunk(start, tuple(lines[start:end]), tuple(new)) for start, end, new in changes)
        return self.reviews.add(turn, [(ProposedEdit(path, base, hunks), ())])

    async def apply(self, hunks: Sequence[ReviewHunk]) -> None:
        """As under `editReview: after`."""
        await self.reviews.accept(hunks, decide=False)

    def killed(self) -> None:
        """Its process is gone, as another one sees it, and nothing was said."""
        self.kept.stop()
        self.store.close()
        file = self.state / "sessions.sqlite3"
        if file.exists():  # else it kept nothing
            connection = sqlite3.connect(file)
            with connection:
                owner = self.store.leases._process().owner
                connection.execute("UPDATE leases SET started = started || ' before' WHERE owner = ?", (owner,))
            connection.close()

    def follow(self, *names: str) -> "Server":
        """The next server, with these files open in its editor as they are on disk by now."""
        server = Server(self.folder, self.state, self.client)
        for name in names:
            server.editor.open(name, (self.folder / name).read_bytes().decode())
        server.kept.bring_back()
        return server

    def rows_kept(self) -> int:
        return len(self.store.read("SELECT 1 FROM kept_hunks"))
