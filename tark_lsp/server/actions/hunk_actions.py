"""Hunks in editors without a plugin: their code actions, lenses and hovers."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tark_lsp.prose import prose_line
from tark_lsp.review.decisions import Reviews
from tark_lsp.review.hunk import ReviewHunk
from tark_lsp.review.wording import as_diff, conflict_reason, for_user, line_counts, subject, verbs
from tark_lsp.server.actions.error_actions import ErrorActions
from tark_lsp.server.actions.offers import QUICKFIX, Offer
from tark_lsp.server.asking.permission import Permissions
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.prompting.prompt_comments import PromptComments, comment_range, language_of
from tark_lsp.server.protocol import incoming
from tark_lsp.server.protocol.hunks import HunksJson
from tark_lsp.visible import code_block, cut, visible
from tark_lsp.workspace.documents import Documents, TextDocument


class HunkActions:
    def __init__(
        self,
        connection: Connection,
        documents: Documents,
        reviews: Reviews,
        hunks: HunksJson,
        permissions: Permissions,
        comments: PromptComments,
    ) -> None:
        self._connection = connection
        self._documents = documents
        self._reviews = reviews
        self._hunks = hunks
        self._permissions = permissions
        self._comments = comments
        self.errors = ErrorActions(documents, reviews)

    def hunks_in_range(self, document: TextDocument, wanted: incoming.Range) -> list[ReviewHunk]:
        """The hunks that the range touches. Includes hunks right above the range, since a removal has no line."""
        first, last = wanted.start.line, wanted.end.line
        return [hunk for hunk in self._shown(document) if hunk.start <= last and first <= hunk.end]

    def hunk_offers(
        self, document: TextDocument, wanted: incoming.Range, here: Sequence[ReviewHunk]
    ) -> Iterator[Offer]:
        last = wanted.end.line - (wanted.end.character == 0 and wanted.end.line > wanted.start.line)
        inside = [hunk for hunk in here if hunk.start <= wanted.start.line and last < max(hunk.end, hunk.start + 1)]
        for hunk in here:
            yield from self._decisions(hunk, preferred=inside == [hunk] and not hunk.operation)
            yield self._explain(hunk)
            yield from self._regenerate(document, hunk)
        yield from self._all_in_file(document)
        for turn_id in dict.fromkeys(hunk.turn_id for hunk in here):
            yield from self._all_in_turn(turn_id)

    def turn_offers(self) -> Iterator[Offer]:
        """Offers, if no hunk is at the cursor, to decide on whole turns, except turns with an open question."""
        asked = {waiting.turn_id for waiting in self._permissions.waiting()}
        turns = dict.fromkeys(hunk.turn_id for hunk in self._reviews.hunks.find_hunks() if hunk.pending)
        for turn_id in turns:
            if turn_id not in asked:
                yield from self._all_in_turn(turn_id, least_files=1)

    def lenses(self, document: TextDocument) -> Iterator[dict[str, Any]]:
        for hunk in self._shown(document):
            for offer in (*self._decisions(hunk), *self._regenerate(document, hunk)):
                yield offer.as_lens(hunk.start)
        yield from self.errors.alarm_lenses(document)

    def hover(self, document: TextDocument, line: int) -> dict[str, Any] | None:
        for hunk in self._shown(document):
            if hunk.start <= line < max(hunk.end, hunk.start + 1):
                text = _hover_text(document, hunk)
                return {"contents": {"kind": "markdown", "value": text}, "range": self._hunks.range(hunk)}
        return None

    def _shown(self, document: TextDocument) -> list[ReviewHunk]:
        if document.path is None:
            return []
        return [hunk for hunk in self._reviews.hunks.find_hunks(document.path) if hunk.undecided]

    def _decisions(self, hunk: ReviewHunk, *, preferred: bool = False) -> Iterator[Offer]:
        ids = {"hunkIds": [hunk.id]}
        together = [other for other in self._reviews.hunks.find_together([hunk.id]) if other.undecided]
        what = subject(hunk, together)
        # A hunk that is tried again was accepted before, by a user who had seen it.
        unseen = [other for other in together if other.pending]
        seen = {other.id for other in unseen} <= {hunk.id} or self._seen(hunk.turn_id, unseen)
        if hunk.pending:
            yes, no = verbs([hunk, *together])
            if seen:
                yield Offer(f"{yes} {what}", "tark.hunk.accept", ids, QUICKFIX, preferred=preferred)
            yield Offer(f"{no} {what}", "tark.hunk.reject", ids, QUICKFIX)
            return
        if hunk.applied and hunk.state == "stale":  # it could not be undone
            yield Offer(f"Try again {what}", "tark.hunk.reject", ids, QUICKFIX)
        elif self._reviews.current.lost_its_file(hunk):
            pass  # its file is gone, so there is nothing to apply to
        elif hunk.state == "stale" and seen:
            yield Offer(f"Try again {what}", "tark.hunk.accept", ids, QUICKFIX)
        elif (
            hunk.state == "conflict" and not hunk.operation and seen
        ):  # not for a removal: the file is not the one that was shown
            use = {"hunkId": hunk.id, "newText": "".join(hunk.new), "accept": True}
            yield Offer(f"Use Tark's lines {what}", "tark.hunk.edit", use, QUICKFIX)
        keep = "tark.hunk.accept" if hunk.applied else "tark.hunk.reject"  # as it is, with what the user typed in it
        yield Offer(f"Keep mine {what}", keep, ids, QUICKFIX)

    def _explain(self, hunk: ReviewHunk) -> Offer:
        change = {"type": "text", "name": "The change to explain", "text": as_diff(hunk)}
        about = {"textDocument": {"uri": self._hunks.uri(hunk.path)}, "range": self._hunks.range(hunk)}
        return Offer(
            "Explain this change", "tark.turn.start", {"kind": "explain", "prompt": "", "context": [change], **about}
        )

    def _regenerate(self, document: TextDocument, hunk: ReviewHunk) -> Iterable[Offer]:
        """Uses the prompt of a `tark:` comment right above the hunk, or asks the user for a prompt, or uses none."""
        if hunk.operation or len(self._reviews.hunks.find_together([hunk.id])) > 1:
            return ()
        above = (found for found in self._comments.comments_in(document) if found.prompt and found.end == hunk.start)
        comment = next(above, None)
        argument: dict[str, Any] = {"hunkId": hunk.id}
        if comment is not None:
            argument |= {"prompt": comment.prompt, "comment": comment_range(comment)}
            return (Offer(f"Regenerate: {cut(visible(comment.prompt), 40)}", "tark.hunk.regenerate", argument),)
        if self._connection.client.understands("input"):
            return (Offer("Regenerate…", "tark.hunk.regenerate", {**argument, "askForPrompt": True}),)
        return (Offer("Regenerate this change", "tark.hunk.regenerate", argument),)

    def _all_in_file(self, document: TextDocument) -> Iterator[Offer]:
        hunks = [hunk for hunk in self._shown(document) if hunk.pending]
        if len(hunks) > 1:
            uri, (yes, no) = {"uri": document.uri}, verbs(hunks)
            yield Offer(f"{yes} all {len(hunks)} in this file", "tark.hunk.accept", uri, QUICKFIX)
            yield Offer(f"{no} all {len(hunks)} in this file", "tark.hunk.reject", uri, QUICKFIX)

    def _all_in_turn(self, turn_id: str, *, least_files: int = 2) -> Iterator[Offer]:
        hunks = [hunk for hunk in self._reviews.hunks.find_hunks(turn_id=turn_id) if hunk.pending]
        files = {hunk.path for hunk in hunks}
        if len(files) < least_files:
            return
        yes, no = verbs(hunks)
        what = f"all {len(hunks)} in {len(files)} file{'s' * (len(files) > 1)}"
        if self._seen(turn_id, hunks):
            yield Offer(f"{yes} {what}", "tark.hunk.accept", {"turnId": turn_id}, QUICKFIX)
        yield Offer(f"{no} {what}", "tark.hunk.reject", {"turnId": turn_id}, QUICKFIX)

    def _seen(self, turn_id: str, hunks: Sequence[ReviewHunk]) -> bool:
        """Changes of closed files can be accepted only after they were shown in full (docs/protocol.md)."""
        asked = [waiting for waiting in self._permissions.waiting() if waiting.turn_id == turn_id and waiting.hunk_ids]
        if asked:
            return not any(map(self._permissions.needs_showing, asked))
        return all(hunk.applied or self._documents.at(hunk.path) is not None for hunk in hunks)


def _hover_text(document: TextDocument, hunk: ReviewHunk) -> str:
    if hunk.pending:
        verb = "changed this" if hunk.applied else "proposes"
        return f"Tark {verb} ({line_counts(hunk)}):\n\n{code_block(as_diff(hunk), 'diff')}"
    language = language_of(document)
    # Neovim's Markdown parser crashes on deeply nested text, also inside a fence that is Markdown.
    language = "" if language == "markdown" else language
    yours = "".join(document.lines[hunk.start : hunk.end])
    texts = f"Yours:\n\n{code_block(yours, language)}\n\nTark's:\n\n{code_block(''.join(hunk.new), language)}"
    reason = conflict_reason(hunk) if hunk.state == "conflict" else visible(for_user(hunk.reason))
    return f"Tark could not make this change: {prose_line(reason)}.\n\n{texts}"
