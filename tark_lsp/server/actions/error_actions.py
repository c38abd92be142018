"""Code actions on errors: undo an edit that brought new errors, repair or dismiss a problem that a review found."""

from collections.abc import Iterator
from typing import Any

from tark_lsp.review.decisions import Reviews
from tark_lsp.review.hunk import Alarm
from tark_lsp.review.wording import problem_text
from tark_lsp.server.actions.offers import QUICKFIX, Offer
from tark_lsp.server.protocol import incoming
from tark_lsp.server.protocol.outgoing import problem_range
from tark_lsp.visible import cut
from tark_lsp.workspace.documents import Documents, TextDocument

LONGEST_TITLE = 60


class ErrorActions:
    def __init__(self, documents: Documents, reviews: Reviews) -> None:
        self._documents = documents
        self._reviews = reviews

    def alarm_offers(self, document: TextDocument, wanted: incoming.Range | None = None) -> Iterator[tuple[int, Offer]]:
        """Offers to undo edits that brought new errors: one offer for each edit, with its first line."""
        seen: set[str] = set()
        for hunk in self._reviews.hunks.find_hunks(document.path) if document.path else ():
            touched = wanted is None or (hunk.start <= wanted.end.line and wanted.start.line <= hunk.end)
            if touched and hunk.applied and hunk.alarm and hunk.alarm.errors and hunk.alarm.id not in seen:
                seen.add(hunk.alarm.id)
                yield hunk.start, take_back(self._reviews, hunk.alarm)

    def alarm_lenses(self, document: TextDocument) -> Iterator[dict[str, Any]]:
        """Also for clients with `review`, because accepted edits are no longer hunks for them."""
        for line, offer in self.alarm_offers(document):
            yield offer.as_lens(line)

    def problem_offers(self, document: TextDocument, wanted: incoming.Range) -> Iterator[Offer]:
        if document.path is None:
            return
        here = [
            problem
            for problem in self._reviews.problems.find_problems(document.path)
            if problem.start <= wanted.end.line and wanted.start.line < problem.end
        ]
        for problem in here:
            said = cut(problem_text(problem), LONGEST_TITLE)
            fix = {
                "kind": "fix",
                "prompt": "Fix this problem.",
                "context": [{"type": "text", "name": "The problem", "text": problem.message}],
                "textDocument": {"uri": document.uri},
                "range": problem_range(problem, self._documents.encoding),
            }
            yield Offer(f"Fix: {said}", "tark.turn.start", fix, QUICKFIX)
            yield Offer(f"Dismiss: {said}", "tark.problem.dismiss", {"problemIds": [problem.id]}, QUICKFIX)
        everything = self._reviews.problems.find_problems()
        if here and len(everything) > 1:
            yield Offer(f"Dismiss all {len(everything)} problems", "tark.problem.dismiss", {}, QUICKFIX)


def take_back(reviews: Reviews, alarm: Alarm) -> Offer:
    """The offer to undo what is left of the edit."""
    hunks = [
        hunk
        for hunk in reviews.hunks.find_hunks()
        if hunk.applied and hunk.alarm is not None and hunk.alarm.id == alarm.id
    ]
    changes = "change" if len(hunks) == 1 else f"{len(hunks)} changes"
    errors = f"{len(alarm.errors)} new error{'s' * (len(alarm.errors) > 1)}"
    argument: dict[str, Any] = {"hunkIds": [hunk.id for hunk in hunks], "takeBack": True}
    return Offer(f"Undo Tark's {changes} ({errors})", "tark.hunk.reject", argument, QUICKFIX)
