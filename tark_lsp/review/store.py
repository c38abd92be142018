"""All hunks since the server started, in the order they were proposed. Only this store has their current values."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tark_lsp.review.hunk import ReviewHunk
from tark_lsp.review.life import Event


class HunkStore:
    def __init__(self) -> None:
        self._hunks: dict[str, ReviewHunk] = {}
        self._ids_by_path: defaultdict[Path, list[str]] = defaultdict(list)
        self._followed: defaultdict[Path, dict[str, ReviewHunk]] = defaultdict(dict)
        """An index, because each key press needs these hunks, and a file can have many more decided hunks."""
        self.held: set[str] = set()
        """Applied hunks whose file is being changed by a decision or by the undo of a turn. What happens to their lines
        meanwhile does not count as the user's own undo."""

    def add_hunks(self, hunks: Sequence[ReviewHunk]) -> None:
        for hunk in hunks:
            self._ids_by_path[hunk.path].append(self.replace_hunk(hunk).id)

    def __getitem__(self, hunk_id: str) -> ReviewHunk:
        """Its current value. Raises KeyError for an unknown id."""
        return self._hunks[hunk_id]

    def get_hunk(self, hunk_id: str) -> ReviewHunk | None:
        return self._hunks.get(hunk_id)

    def get_hunks(self, hunk_ids: Iterable[str] | None = None) -> list[ReviewHunk]:
        """Their current values; None: all, in the order they were proposed. Raises KeyError for an unknown id."""
        return [*self._hunks.values()] if hunk_ids is None else [self._hunks[hunk_id] for hunk_id in hunk_ids]

    def find_hunks(self, path: Path | None = None, turn_id: str | None = None) -> list[ReviewHunk]:
        """The hunks of a file, of a turn, or all hunks, in the order of their lines in their files."""
        hunks = self._hunks.values() if path is None else self.get_hunks(self._ids_by_path.get(path, ()))
        found = [hunk for hunk in hunks if turn_id is None or hunk.turn_id == turn_id]
        if path is not None:
            return sorted(found, key=lambda hunk: hunk.place)
        return sorted(found, key=lambda hunk: (str(hunk.path), hunk.place))

    def find_together(self, hunk_ids: Iterable[str]) -> list[ReviewHunk]:
        """These hunks and all others of their groups, in the order they were proposed."""
        ids = dict.fromkeys(hunk_ids)
        hunks = self.get_hunks(ids)
        groups = {hunk.group for hunk in hunks} - {""}
        if not groups:
            return hunks
        return [hunk for hunk in self._hunks.values() if hunk.id in ids or hunk.group in groups]

    def ids_in(self, path: Path) -> Sequence[str]:
        """The ids of the file's hunks, in the order they were proposed."""
        return self._ids_by_path.get(path, ())

    def followed_in(self, path: Path) -> list[ReviewHunk]:
        """The hunks of the file whose places are kept up to date."""
        return [*self._followed[path].values()] if path in self._followed else []

    def replace_hunk(self, hunk: ReviewHunk) -> ReviewHunk:
        """Make `hunk` the current value of its id."""
        if self._hunks.get(hunk.id) is hunk:
            return hunk
        self._hunks[hunk.id] = hunk
        if hunk.followed:
            self._followed[hunk.path][hunk.id] = hunk
        else:
            self._followed[hunk.path].pop(hunk.id, None)
        return hunk

    def replace_hunks(self, hunks: Iterable[ReviewHunk]) -> None:
        for hunk in hunks:
            self.replace_hunk(hunk)

    def apply_event(
        self, hunk_id: str, event: Event, *, reason: str | None = None, start: int | None = None
    ) -> ReviewHunk:
        """As `ReviewHunk.apply`. Raises ImpossibleTransition."""
        return self.replace_hunk(self._hunks[hunk_id].apply(event, reason=reason, start=start))

    def apply_to_all(self, hunks: Iterable[ReviewHunk], event: Event, reason: str | None = None) -> None:
        """Apply the event to the current value of each hunk, whatever values are given."""
        for hunk in hunks:
            self.apply_event(hunk.id, event, reason=reason)

    def relocate_file(self, source: Path, target: Path) -> None:
        """Move all hunks of a file that was moved."""
        moved = self._ids_by_path.pop(source, [])
        self._followed.pop(source, None)
        for hunk in self.get_hunks(moved):
            self.replace_hunk(replace(hunk, path=target))
        self._ids_by_path[target] += moved

    @contextmanager
    def hold_applied(self, paths: Iterable[Path]) -> Iterator[None]:
        """Hold the hunks of these files that are applied now (`held`)."""
        applied = {hunk.id for path in paths for hunk in self.find_hunks(path) if hunk.applied}
        self.held |= applied
        try:
            yield
        finally:
            self.held -= applied
