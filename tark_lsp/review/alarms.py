"""Edits that brought new errors. While the errors are shown, the user can undo such an edit with one action.

An alarm ends when a later check after an edit shows none of its errors, when its turn is undone, when its lines are
changed or undone, and when the next turn starts, because from then on that turn deals with the errors.
"""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import replace

from tark_lsp.agent.edit_check import error_identity
from tark_lsp.review.decisions import Reviews
from tark_lsp.review.hunk import Alarm, ReviewHunk, by_path
from tark_lsp.tools.editor import Diagnostic


class Alarms:
    """All alarms of a server. An alarm has errors after the editor's diagnostics were checked after its edit."""

    def __init__(self, reviews: Reviews) -> None:
        self._reviews = reviews
        self._alarms: dict[str, Alarm] = {}

    def open_alarm(self) -> str:
        """Return the id of a new alarm for the hunks of one edit."""
        alarm = Alarm(f"alarm-{secrets.token_hex(6)}")
        self._alarms[alarm.id] = alarm
        return alarm.id

    def watch_hunks(self, alarm_id: str, hunk_ids: Iterable[str]) -> None:
        """Add the hunks of the alarm's edit. They are followed from now on, even after they are accepted."""
        alarm = self._alarms.setdefault(alarm_id, Alarm(alarm_id))
        for hunk in self._reviews.hunks.get_hunks(hunk_ids):
            self._reviews.hunks.replace_hunk(replace(hunk, alarm=alarm))

    def report_errors(self, alarm_id: str, new: Sequence[Diagnostic], shown: Sequence[Diagnostic]) -> None:
        """Report that the edit brought `new` errors. `shown`: all errors that the editor shows now."""
        alarm = self._alarms[alarm_id] = Alarm(alarm_id, tuple(new))
        hunks = self._hunks_of({alarm_id})
        self._reviews.hunks.replace_hunks(replace(hunk, alarm=alarm) for hunk in hunks)
        still = {error_identity(error) for error in shown}
        over = {
            known.id
            for known in self._alarms.values()
            if known.errors and still.isdisjoint(map(error_identity, known.errors))
        }
        self._end_alarms(over if new else {*over, alarm_id})
        for path in by_path(self._hunks_of({alarm_id})):
            self._reviews.report_changed(path)

    def end_all(self) -> None:
        self._end_alarms({*self._alarms})

    def _end_alarms(self, over: set[str]) -> None:
        for alarm_id in over:
            del self._alarms[alarm_id]
        hunks = self._hunks_of(over)
        self._reviews.hunks.replace_hunks(replace(hunk, alarm=None) for hunk in hunks)
        for path in by_path(hunks):
            self._reviews.report_changed(path)

    def _hunks_of(self, alarm_ids: set[str]) -> list[ReviewHunk]:
        hunks = self._reviews.hunks.find_hunks()
        return [hunk for hunk in hunks if hunk.alarm is not None and hunk.alarm.id in alarm_ids]
