"""An editor with hunks under review."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tark_lsp.review.decisions import Reviews
from tark_lsp.review.events import HunksChanged, HunksMoved, ReviewEvent, TextWritten
from tark_lsp.review.outside import OutsideChanges
from tark_lsp.review.saves import Saves
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.lines import Hunk, split_lines
from tark_lsp.workspace.snapshot import Snapshot
from tests.checkpoints import checkpoints_in_memory
from tests.review.live_hunk import LiveHunk, find_live
from tests.server.scripted import Json, ScriptedEditor


@dataclass
class Desk:
    """`changed`, `moved` and `applied` have the events of the reviews."""

    folder: Path
    changed: list[Path] = field(default_factory=list)
    moved: list[Path] = field(default_factory=list)
    applied: list[tuple[Path, bool]] = field(default_factory=list)
    client: Json = field(default_factory=dict)
    """Its capabilities."""
    in_place: bool = False
    """Its client reviews in place, so that no save decides anything."""

    def __post_init__(self) -> None:
        self.editor = ScriptedEditor(self.folder.resolve(), self.client)
        self.checkpoints = checkpoints_in_memory()
        self.reviews = Reviews(self.editor.workspace, self.editor.documents, self.checkpoints)
        self.outside = OutsideChanges(self.reviews, self.editor.documents, self.checkpoints)
        self.saves = Saves(self.reviews, self.editor.documents, self.checkpoints, accepts=not self.in_place)
        self.reviews.events.listen(self.note)

    def note(self, event: ReviewEvent) -> None:
        match event:
            case HunksChanged(path):
                self.changed.append(path)
            case HunksMoved(path):
                self.moved.append(path)
            case TextWritten(path, was_clean):
                self.applied.append((path, was_clean))

    def add_proposal(
        self, turn: str, edits: Sequence[tuple[ProposedEdit, Sequence[Hunk]]], *, whole: bool = False
    ) -> list[LiveHunk]:
        added = self.reviews.add_proposal(turn, edits, whole=whole)
        return [LiveHunk.of(self.reviews.hunks, hunk_id) for hunk_id in added]

    def find_hunks(self, path: Path | None = None, turn_id: str | None = None) -> list[LiveHunk]:
        return find_live(self.reviews.hunks, path, turn_id)

    def propose(self, path: Path, *changes: tuple[int, int, Sequence[str]], turn: str = "turn") -> list[LiveHunk]:
        """Propose hunks: lines [start, end) of the current text become other lines."""
        base = self.editor.workspace.read(path) if path.exists() else Snapshot(path, "", exists=False)
        lines = split_lines(base.text)
        hunks = tuple(Hunk(start, tuple(lines[start:end]), tuple(new)) for start, end, new in changes)
        return self.add_proposal(turn, [(ProposedEdit(path, base, hunks), ())])

    def lines(self, path: Path) -> list[str]:
        return split_lines(self.editor.workspace.read(path).text)

    def standing(self, path: Path, hunk: LiveHunk) -> bool:
        lines, now = self.lines(path), hunk.now
        return tuple(lines[now.start : now.end]) == now.standing and now.start <= len(lines)
