"""The editor's own preview of a proposal: one edit, in which the user ticks the hunks to apply.

It is used only in editors that are known to show a preview, because others would apply the edit at once. The result is
read only from the texts, because editors answer late, or do not report what was ticked. A preview can stay open for
minutes, so other edits do not wait for it.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tark_lsp.review.decisions import Reviews
from tark_lsp.review.hunk import ReviewHunk, by_path, without_overlaps, would_join
from tark_lsp.review.outside import OutsideChanges
from tark_lsp.review.store import HunkStore
from tark_lsp.review.wording import first_line, line_counts
from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.server.editing.apply_edit import IN_FLIGHT_SECONDS, PROOF_SECONDS, apply_edit
from tark_lsp.server.editing.text_edits import text_edits
from tark_lsp.workspace.documents import Change, DocumentEvent, Documents, TextDocument
from tark_lsp.workspace.edits import ProposedEdit, hunks_in_text, rebase
from tark_lsp.workspace.lines import Hunk, fit_ending, split_lines
from tark_lsp.workspace.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Previewed:
    """The hunks of one document, in order, and the edit that was sent for them."""

    document: TextDocument
    edit: ProposedEdit
    hunk_ids: tuple[str, ...]

    def found(self, hunks: HunkStore) -> list[tuple[ReviewHunk, Hunk]]:
        """The hunks that the current text has and that were not applied in another way."""
        now = self.document.snapshot()
        there = hunks_in_text(self.edit, now)
        pairs = zip(hunks.get_hunks(self.hunk_ids), self.edit.hunks, strict=True)
        return [(shown, hunk) for shown, hunk in pairs if not (shown.applied or shown.life.in_flight) and hunk in there]

    def without(self, hunks: Sequence[Hunk]) -> ProposedEdit:
        """The edit of the current text that undoes these hunks."""
        part = self.edit.only(hunks)
        grown, back = 0, []
        for hunk in part.hunks:
            back.append(Hunk(hunk.start + grown, hunk.new, hunk.old))
            grown += len(hunk.new) - len(hunk.old)
        done = Snapshot(part.path, part.after)
        return rebase(ProposedEdit(part.path, done, tuple(back)), self.document.snapshot())[0]


class Preview:
    def __init__(self, connection: Connection, documents: Documents, reviews: Reviews, outside: OutsideChanges) -> None:
        self._connection = connection
        self._documents = documents
        self._reviews = reviews
        self._outside = outside
        self._open: asyncio.Task[bool] | None = None

    async def show(self, hunks: Sequence[ReviewHunk]) -> bool:
        """Return when the preview was answered and each hunk has the state that the texts show. False if not shown.

        Cancelling leaves the preview open in the editor, and a late answer counts.
        """
        previewed = self._previewed(hunks)
        if not previewed:
            return False
        self._open = asyncio.ensure_future(self._follow(previewed))
        return await asyncio.shield(self._open)

    def _previewed(self, hunks: Sequence[ReviewHunk]) -> list[Previewed]:
        """Empty if a hunk cannot be previewed, because a part of a proposal must not be mistaken for all of it."""
        client = self._connection.client
        busy = self._open is not None and not self._open.done()  # a second preview would replace the first
        if busy or not client.flags.honours_confirmation:
            return []
        if not client.has("workspace.workspaceEdit.changeAnnotationSupport"):
            return []
        found = []
        wanted = [hunk for hunk in hunks if hunk.pending and not hunk.applied]
        for path, some in by_path(wanted).items():
            document = self._documents.at(path)
            if document is None or document.version is None:
                return []
            base = document.snapshot()
            lines = split_lines(base.text)
            ordered = without_overlaps(some)
            edits = [
                replace(fit_ending(hunk.edit_to(applied=True), lines), order=order)
                for order, hunk in enumerate(ordered)
            ]
            if len(ordered) < len(some) or any(would_join(hunk, lines) for hunk in edits):
                return []
            edit = ProposedEdit(path, base, tuple(edits))
            found.append(Previewed(document, edit, tuple(hunk.id for hunk in ordered)))
        return found

    async def _follow(self, previewed: Sequence[Previewed]) -> bool:
        landed = asyncio.Event()

        def look(event: DocumentEvent) -> None:
            for shown in previewed:
                if isinstance(event, Change) and event.document is shown.document and self._accept_found(shown):
                    landed.set()

        stop = self._documents.listen(look)
        try:
            applied, _ = await apply_edit(self._connection, *self._asked(previewed), within=None)
            if not applied:
                return True
            delay = self._connection.client.flags.change_delay + IN_FLIGHT_SECONDS
            try:
                async with asyncio.timeout(PROOF_SECONDS):
                    await landed.wait()
            except TimeoutError:  # nothing was ticked or applied, so nothing has changed
                return True
            await asyncio.sleep(delay)  # the changes for the other ticked hunks follow right after
            hunks = self._reviews.hunks.get_hunks(hunk_id for shown in previewed for hunk_id in shown.hunk_ids)
            await self._reviews.reject([hunk.id for hunk in hunks if hunk.pending], "it was left out")
        except RequestFailed:
            return landed.is_set()
        finally:
            stop()
        return True

    def _accept_found(self, previewed: Previewed) -> bool:
        found = previewed.found(self._reviews.hunks)
        if not found:
            return False
        back = previewed.without([hunk for _, hunk in found])
        starts = [hunk.start for hunk in back.hunks]
        if len(starts) < len(found):  # the user typed into one of them at once: these places are approximate
            starts = [shown.start for shown, _ in found]
        standing = [(shown.id, replace(hunk, start=start)) for (shown, hunk), start in zip(found, starts, strict=True)]
        self._outside.confirm_hunks(previewed.edit.path, standing, back.after)
        return True

    def _asked(self, previewed: Sequence[Previewed]) -> tuple[str, dict[str, Any]]:
        """The label, and the edit."""
        changes, annotations = [], {}
        for shown in previewed:
            edits = text_edits(shown.document, shown.edit, self._documents.encoding)
            for hunk, edit in zip(self._reviews.hunks.get_hunks(shown.hunk_ids), edits, strict=True):
                edit["annotationId"] = hunk.id
                annotations[hunk.id] = {
                    "label": f"Tark: {line_counts(hunk)}",
                    "description": first_line(hunk),
                    "needsConfirmation": True,
                }
            identifier = {"uri": shown.document.uri, "version": shown.document.version}
            changes.append({"textDocument": identifier, "edits": edits})
        count = len(annotations)
        label = f"Tark: review {count} change{'s' * (count > 1)}"
        return label, {"documentChanges": changes, "changeAnnotations": annotations}
