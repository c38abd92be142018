"""Edits that brought new errors: offered to be taken back, in one action, for as long as the errors stand.

An alarm ends when a later look of the post-edit gate shows none of its errors, when its turn is undone, when its lines
are changed or taken back, and when the next turn begins: from then on the errors are that turn's to deal with.
"""

from collections.abc import Sequence
from typing import Any

from tark_lsp.agent.gate import identity
from tark_lsp.server.actions.offers import QUICKFIX, Offer
from tark_lsp.server.review.hunks import Alarm, by_path
from tark_lsp.server.review.reviews import Reviews
from tark_lsp.tools.tool import Diagnostic


class Alarms:
    """One per server."""

    def __init__(self, reviews: Reviews) -> None:
        self._reviews = reviews
        self._known: list[Alarm] = []

    def watch(self) -> Alarm:
        """For the hunks of one edit, which are followed from now on even when they are accepted."""
        alarm = Alarm()
        self._known.append(alarm)
        return alarm

    def looked(self, alarm: Alarm, new: Sequence[Diagnostic], shown: Sequence[Diagnostic]) -> None:
        """After the edit of `alarm` the editor shows `new` errors, among all those `shown`."""
        alarm.errors = tuple(new)
        still = {identity(error) for error in shown}
        over = [each for each in self._known if each.errors and still.isdisjoint(map(identity, each.errors))]
        self._end(over if new else [*over, alarm])
        for path in by_path(hunk for hunk in self._reviews.find() if hunk.alarm is alarm):
            self._reviews.redraw(path)

    def calm(self) -> None:
        """All are over."""
        self._end(list(self._known))

    def _end(self, over: Sequence[Alarm]) -> None:
        self._known = [each for each in self._known if each not in over]
        hunks = [hunk for hunk in self._reviews.find() if hunk.alarm in over]
        for hunk in hunks:
            hunk.alarm = None
        for path in by_path(hunks):
            self._reviews.redraw(path)


def take_back(reviews: Reviews, alarm: Alarm) -> Offer:
    """To take back all that is left of the edit."""
    hunks = [hunk for hunk in reviews.find() if hunk.alarm is alarm and hunk.applied]
    changes = "change" if len(hunks) == 1 else f"{len(hunks)} changes"
    errors = f"{len(alarm.errors)} new error{'s' * (len(alarm.errors) > 1)}"
    argument: dict[str, Any] = {"hunkIds": [hunk.id for hunk in hunks], "takeBack": True}
    return Offer(f"Take back Tark's {changes} ({errors})", "tark.hunk.reject", argument, QUICKFIX)
