"""The editor's own preview of a proposal: one edit, of which the person ticks the hunks they want.

Only for editors known to show it; the others would apply it at once. What became of it is read from the texts alone:
editors answer long after, or say nothing of what was ticked. A preview is a question to the person and may be open for
minutes, so it is no edit in flight that others wait for.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.server.documents.documents import Change, DocumentEvent, Documents, TextDocument
from tark_lsp.server.editing.apply_edit import IN_FLIGHT_SECONDS, PROOF_SECONDS, apply_edit
from tark_lsp.server.editing.text_edits import text_edits
from tark_lsp.server.review.hunks import ReviewHunk, apart, by_path, fitted, joins
from tark_lsp.server.review.reviews import Reviews
from tark_lsp.server.review.words import counts, first_line
from tark_lsp.workspace.edits import ProposedEdit, rebase
from tark_lsp.workspace.lines import Hunk, split_lines
from tark_lsp.workspace.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Previewed:
    """The hunks of one document, in order, and what was sent of them."""

    document: TextDocument
    edit: ProposedEdit
    hunks: tuple[ReviewHunk, ...]

    def found(self) -> list[tuple[ReviewHunk, Hunk]]:
        """Those that the text of now has and nobody else put there."""
        now = self.document.snapshot()
        left, conflicts = rebase(self.edit, now)
        if len(left.hunks) + len(conflicts) == len(self.hunks):
            return []
        pairs = zip(self.hunks, self.edit.hunks, strict=True)
        return [(each, hunk) for each, hunk in pairs if not (each.applied or each.applying) and self._has(hunk, now)]

    def _has(self, hunk: Hunk, now: Snapshot) -> bool:
        left, conflicts = rebase(self.edit.only((hunk,)), now)
        return not left.hunks and not conflicts

    def without(self, hunks: Sequence[Hunk]) -> ProposedEdit:
        """The edit of the text of now that takes these back."""
        part = self.edit.only(hunks)
        grown, back = 0, []
        for hunk in part.hunks:
            back.append(Hunk(hunk.start + grown, hunk.new, hunk.old))
            grown += len(hunk.new) - len(hunk.old)
        done = Snapshot(part.path, part.after)
        return rebase(ProposedEdit(part.path, done, tuple(back)), self.document.snapshot())[0]


class Preview:
    def __init__(self, connection: Connection, documents: Documents, reviews: Reviews) -> None:
        self._connection = connection
        self._documents = documents
        self._reviews = reviews
        self._open: asyncio.Task[bool] | None = None

    async def show(self, hunks: Sequence[ReviewHunk]) -> bool:
        """Returns when it was answered, each hunk being what the texts say. False: this editor cannot show it.

        Cancelling leaves it open in the editor, and a late answer counts.
        """
        previewed = self._previewed(hunks)
        if not previewed:
            return False
        self._open = asyncio.ensure_future(self._follow(previewed))
        return await asyncio.shield(self._open)

    def _previewed(self, hunks: Sequence[ReviewHunk]) -> list[Previewed]:
        """Nothing where one of the hunks cannot be in it: half a proposal is not to be taken for the whole."""
        client = self._connection.client
        busy = self._open is not None and not self._open.done()  # a second one takes the first from the screen
        if busy or not client.flags.honours_confirmation:
            return []
        if not client.has("workspace.workspaceEdit.changeAnnotationSupport"):
            return []
        found = []
        wanted = [each for each in hunks if each.open and not each.applied]
        for path, some in by_path(wanted).items():
            document = self._documents.at(path)
            if document is None or document.version is None:
                return []
            base = document.snapshot()
            lines = split_lines(base.text)
            ordered = apart(some)
            edits = [fitted(each.towards(applied=True), lines) for each in ordered]
            if len(ordered) < len(some) or any(joins(hunk, lines) for hunk in edits):
                return []
            found.append(Previewed(document, ProposedEdit(path, base, tuple(edits)), tuple(ordered)))
        return found

    async def _follow(self, previewed: Sequence[Previewed]) -> bool:
        landed = asyncio.Event()

        def look(event: DocumentEvent) -> None:
            for each in previewed:
                if isinstance(event, Change) and event.document is each.document and self._accept_found(each):
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
            except TimeoutError:  # nothing was ticked, or nothing done: all is as it was
                return True
            await asyncio.sleep(delay)  # the rest of what was ticked is told right behind it
            left = [hunk for each in previewed for hunk in each.hunks if hunk.open]
            await self._reviews.reject(left, "the person left it out")
        except RequestFailed:
            return landed.is_set()
        finally:
            stop()
        return True

    def _accept_found(self, previewed: Previewed) -> bool:
        found = previewed.found()
        if not found:
            return False
        back = previewed.without([hunk for _, hunk in found])
        starts = [hunk.start for hunk in back.hunks]
        if len(starts) < len(found):  # the person typed into one of them at once: they stand about there
            starts = [each.start for each, _ in found]
        standing = [(each, replace(hunk, start=start)) for (each, hunk), start in zip(found, starts, strict=True)]
        self._reviews.landed(previewed.edit.path, standing, back.after)
        return True

    def _asked(self, previewed: Sequence[Previewed]) -> tuple[str, dict[str, Any]]:
        """The label, and the edit."""
        changes, annotations = [], {}
        for each in previewed:
            edits = text_edits(each.document, each.edit, self._documents.encoding)
            for hunk, edit in zip(each.hunks, edits, strict=True):
                edit["annotationId"] = hunk.id
                annotations[hunk.id] = {
                    "label": f"Tark: {counts(hunk)}",
                    "description": first_line(hunk),
                    "needsConfirmation": True,
                }
            identifier = {"uri": each.document.uri, "version": each.document.version}
            changes.append({"textDocument": identifier, "edits": edits})
        count = len(annotations)
        label = f"Tark: review {count} change{'s' * (count > 1)}"
        return label, {"documentChanges": changes, "changeAnnotations": annotations}
