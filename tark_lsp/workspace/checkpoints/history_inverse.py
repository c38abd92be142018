"""Computes what a file in a turn's history was before the turn, with everything that the user typed since.

Long texts take time. Only `read_stored` uses the database, so everything else can run in the placing thread.
"""

from collections.abc import Callable
from itertools import zip_longest

from tark_lsp.workspace.checkpoints.file_histories import FileHistory
from tark_lsp.workspace.checkpoints.inverse_edit import inverse_edit
from tark_lsp.workspace.checkpoints.store import LoggedChange, StoredBytes
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.encoding import decode
from tark_lsp.workspace.snapshot import Snapshot

NOT_OURS = "the agent created it, and it was changed since"


class HistoryInverse:
    def __init__(self, stored: Callable[[str], StoredBytes]) -> None:
        """`stored` returns the text or the bytes for a digest."""
        self._stored = stored
        self._read: dict[str, StoredBytes] = {}

    def read_stored(self, history: FileHistory) -> None:
        """Read all that the other methods need for this file. Call it again after an edit was added."""
        changes = [*history.edits, *([history.removal] if history.removal else ())]
        for digest in (digest for change in changes for digest in (change.before, change.after)):
            if digest is not None and digest not in self._read:
                self._read[digest] = self._stored(digest)

    def of_edits(self, history: FileHistory, current: Snapshot) -> tuple[ProposedEdit, str]:
        """The edit of the current text that undoes all edits, and the reason if it leaves some of them."""
        steps = [(self._text(step.before), self._text(step.after)) for step in self._steps(history, current)]
        edit, lost, total = inverse_edit(steps, current)
        reason = f"{lost} of {total} changes were changed again since" if lost else ""
        whole = ProposedEdit.between(current, edit.after)
        _ = whole.base.digest, whole.drafted.digest  # the log needs them, and they are kept
        return whole, reason

    def before_removal(self, history: FileHistory, removal: LoggedChange) -> tuple[bytes, str]:
        """The removed file as it is to be restored, and the reason if some of the turn's changes stay in it."""
        data = self._read[removal.before or ""].whole()
        if history.created:
            return data, NOT_OURS
        if not history.edits:
            return data, ""
        text, encoding = decode(data)
        edit, conflicts = self.of_edits(history, Snapshot(history.place, text))
        return encoding.encode(edit.after), conflicts

    def _steps(self, history: FileHistory, last: Snapshot) -> list[LoggedChange]:
        """The edits that were made; `last` is the text that they and the user left.

        A killed server may have recorded an edit that it did not make. Then nothing of that edit is in the text that
        was recorded next, or in `last`. As a step, it would hide what the edits before it left there.
        """
        made = []
        for edit, later in zip_longest(history.edits, history.edits[1:]):
            following = last if later is None else Snapshot(last.path, self._text(later.before))
            if edit.confirmed or self._is_in(following, edit):
                made.append(edit)
        return made

    def _is_in(self, current: Snapshot, edit: LoggedChange) -> bool:
        """Whether the text contains something of the edit, as it was made or changed since."""
        inverse, lost, _ = inverse_edit([(self._text(edit.before), self._text(edit.after))], current)
        return bool(inverse.hunks or lost)

    def _text(self, digest: str | None) -> str:
        return "" if digest is None else self._read[digest].whole().decode("utf-8", "surrogatepass")
