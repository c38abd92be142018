"""An editor with hunks on it, as the person has them before them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tark_lsp.server.review.hunks import ReviewHunk
from tark_lsp.server.review.reviews import Reviews
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.lines import Hunk, split_lines
from tark_lsp.workspace.snapshot import Snapshot
from tests.checkpoints import checkpoints_in_memory
from tests.server.scripted import Json, ScriptedEditor


@dataclass
class Desk:
    """`changed`, `moved` and `applied` are what the reviews told of."""

    folder: Path
    changed: list[Path] = field(default_factory=list)
    moved: list[Path] = field(default_factory=list)
    applied: list[tuple[Path, bool]] = field(default_factory=list)
    client: Json = field(default_factory=dict)
    """Its capabilities."""

    def __post_init__(self) -> None:
        self.editor = ScriptedEditor(self.folder.resolve(), self.client)
        self.checkpoints = checkpoints_in_memory()
        self.reviews = Reviews(
            self.editor.workspace,
            self.editor.documents,
            self.checkpoints,
            self.changed.append,
            self.moved.append,
            lambda path, clean: self.applied.append((path, clean)),
        )

    def propose(self, path: Path, *changes: tuple[int, int, Sequence[str]], turn: str = "turn") -> list[ReviewHunk]:
        """Hunks as they are: lines [start, end) of the text of now become others."""
        base = self.editor.workspace.read(path) if path.exists() else Snapshot(path, "", exists=False)
        lines = split_lines(base.text)
        hunks = tuple(Hunk(start, tuple(lines[start:end]), tuple(new)) for start, end, new in changes)
        return self.reviews.add(turn, [(ProposedEdit(path, base, hunks), ())])

    def lines(self, path: Path) -> list[str]:
        return split_lines(self.editor.workspace.read(path).text)

    def standing(self, path: Path, hunk: ReviewHunk) -> bool:
        return tuple(self.lines(path)[hunk.start : hunk.end]) == hunk.standing and hunk.start <= len(self.lines(path))
