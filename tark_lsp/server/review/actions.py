"""Hunks in editors with no plugin: what is offered on them as actions and lenses, and what a hover shows."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tark_lsp.server import protocol
from tark_lsp.server.actions.offers import QUICKFIX, Offer
from tark_lsp.server.asking.permission import Permissions
from tark_lsp.server.asking.visible import cut, fence, visible, visible_code
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.documents.documents import Documents, TextDocument
from tark_lsp.server.prompting.prompt_comments import PromptComments, comment_range, language_of
from tark_lsp.server.review.alarms import take_back
from tark_lsp.server.review.hunks import Alarm, ReviewHunk
from tark_lsp.server.review.hunks_json import HunksJson
from tark_lsp.server.review.reviews import Reviews
from tark_lsp.server.review.words import TO_DECIDE, as_diff, counts, in_conflict, subject


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

    def here(self, document: TextDocument, wanted: protocol.Range) -> list[ReviewHunk]:
        """Those the range touches, the line right below a hunk being part of it: a removal has no line of its own."""
        first, last = wanted.start.line, wanted.end.line
        return [hunk for hunk in self._shown(document) if hunk.start <= last and first <= hunk.end]

    def on(self, document: TextDocument, wanted: protocol.Range, here: Sequence[ReviewHunk]) -> Iterator[Offer]:
        last = wanted.end.line - (wanted.end.character == 0 and wanted.end.line > wanted.start.line)
        inside = [each for each in here if each.start <= wanted.start.line and last < max(each.end, each.start + 1)]
        for hunk in here:
            yield from self._decisions(hunk, preferred=inside == [hunk] and not hunk.operation)
            yield self._explain(hunk)
            yield from self._regenerate(document, hunk)
        yield from self._all_in_file(document)
        for turn_id in dict.fromkeys(hunk.turn_id for hunk in here):
            yield from self._all_in_turn(turn_id)

    def alarmed(self, document: TextDocument, wanted: protocol.Range | None = None) -> Iterator[tuple[int, Offer]]:
        """To take back the edits that new errors came with: one offer for each, with the line it stands at."""
        seen: set[Alarm] = set()
        for hunk in self._reviews.find(document.path) if document.path else ():
            touched = wanted is None or (hunk.start <= wanted.end.line and wanted.start.line <= hunk.end)
            if touched and hunk.applied and hunk.alarm and hunk.alarm.errors and hunk.alarm not in seen:
                seen.add(hunk.alarm)
                yield hunk.start, take_back(self._reviews, hunk.alarm)

    def elsewhere(self) -> Iterator[Offer]:
        """Where nothing is to be decided at the caret: all that is, unless a question is open about it."""
        asked = {waiting.turn_id for waiting in self._permissions.waiting()}
        turns = dict.fromkeys(hunk.turn_id for hunk in self._reviews.find() if hunk.open)
        for turn_id in turns:
            if turn_id not in asked:
                yield from self._all_in_turn(turn_id, least_files=1)

    def lenses(self, document: TextDocument) -> Iterator[dict[str, Any]]:
        for hunk in self._shown(document):
            for offer in (*self._decisions(hunk), *self._regenerate(document, hunk)):
                yield offer.as_lens(hunk.start)
        yield from self.alarm_lenses(document)

    def alarm_lenses(self, document: TextDocument) -> Iterator[dict[str, Any]]:
        """For clients with `review`, too: these edits may be accepted already, and are no hunks to them."""
        for line, offer in self.alarmed(document):
            yield offer.as_lens(line)

    def hover(self, document: TextDocument, line: int) -> dict[str, Any] | None:
        for hunk in self._shown(document):
            if hunk.start <= line < max(hunk.end, hunk.start + 1):
                text = self._hovered(document, hunk)
                return {"contents": {"kind": "markdown", "value": text}, "range": self._hunks.range(hunk)}
        return None

    def _shown(self, document: TextDocument) -> list[ReviewHunk]:
        if document.path is None:
            return []
        return [hunk for hunk in self._reviews.find(document.path) if hunk.state in TO_DECIDE]

    def _hovered(self, document: TextDocument, hunk: ReviewHunk) -> str:
        if hunk.open:
            verb = "changed this" if hunk.applied else "proposes"
            return f"Tark {verb} ({counts(hunk)}):\n\n{fence(visible_code(as_diff(hunk)), 'diff')}"
        language = language_of(document)
        # Neovim's parser of Markdown dies of deeply nested text, and it parses what is fenced as Markdown, too.
        language = language if re.fullmatch(r"[\w+#-]+", language) and language != "markdown" else ""
        yours = "".join(document.lines[hunk.start : hunk.end])
        texts = f"Yours:\n\n{fence(yours, language)}\n\nTark's:\n\n{fence(''.join(hunk.new), language)}"
        reason = in_conflict(hunk) if hunk.state == "conflict" else visible(hunk.reason)
        return f"Tark could not make this change: {reason}.\n\n{texts}"

    def _decisions(self, hunk: ReviewHunk, *, preferred: bool = False) -> Iterator[Offer]:
        ids = {"hunkIds": [hunk.id]}
        together = [each for each in self._reviews.together([hunk]) if each.state in TO_DECIDE]
        what = subject(hunk, together)
        # What is tried again was accepted once, by who had seen it.
        unseen = [each for each in together if each.open]
        seen = unseen in ([], [hunk]) or self._seen(hunk.turn_id, unseen)
        if hunk.open:
            if seen:
                yield Offer(f"Accept {what}", "tark.hunk.accept", ids, QUICKFIX, preferred=preferred)
            yield Offer(f"Reject {what}", "tark.hunk.reject", ids, QUICKFIX)
            return
        if hunk.applied and hunk.state == "stale":  # it could not be taken back
            yield Offer(f"Try again {what}", "tark.hunk.reject", ids, QUICKFIX)
        elif self._reviews.is_gone(hunk):
            pass  # there is nothing to change
        elif hunk.state == "stale" and seen:
            yield Offer(f"Try again {what}", "tark.hunk.accept", ids, QUICKFIX)
        elif (
            hunk.state == "conflict" and not hunk.operation and seen
        ):  # a file that was changed since is not the one whose removal was shown
            use = {"hunkId": hunk.id, "newText": "".join(hunk.new), "accept": True}
            yield Offer(f"Use Tark's lines {what}", "tark.hunk.edit", use, QUICKFIX)
        keep = "tark.hunk.accept" if hunk.applied else "tark.hunk.reject"  # as it stands, with what was typed in it
        yield Offer(f"Keep mine {what}", keep, ids, QUICKFIX)

    def _explain(self, hunk: ReviewHunk) -> Offer:
        change = {"type": "text", "name": "The change to explain", "text": as_diff(hunk)}
        about = {"textDocument": {"uri": self._hunks.uri(hunk.path)}, "range": self._hunks.range(hunk)}
        return Offer(
            "Explain this change", "tark.turn.start", {"kind": "explain", "prompt": "", "context": [change], **about}
        )

    def _regenerate(self, document: TextDocument, hunk: ReviewHunk) -> Iterable[Offer]:
        """With the words of a `tark:` comment right above it, or those asked for, or none."""
        if hunk.operation or len(self._reviews.together([hunk])) > 1:
            return ()
        above = (each for each in self._comments.of(document) if each.prompt and each.end == hunk.start)
        comment = next(above, None)
        argument: dict[str, Any] = {"hunkId": hunk.id}
        if comment is not None:
            argument |= {"prompt": comment.prompt, "comment": comment_range(comment)}
            return (Offer(f"Regenerate: {cut(visible(comment.prompt), 40)}", "tark.hunk.regenerate", argument),)
        if self._connection.client.understands("input"):
            return (Offer("Regenerate...", "tark.hunk.regenerate", {**argument, "askForPrompt": True}),)
        return (Offer("Regenerate this change", "tark.hunk.regenerate", argument),)

    def _all_in_file(self, document: TextDocument) -> Iterator[Offer]:
        count = sum(hunk.open for hunk in self._shown(document))
        if count > 1:
            uri = {"uri": document.uri}
            yield Offer(f"Accept all {count} in this file", "tark.hunk.accept", uri, QUICKFIX)
            yield Offer(f"Reject all {count} in this file", "tark.hunk.reject", uri, QUICKFIX)

    def _all_in_turn(self, turn_id: str, *, least_files: int = 2) -> Iterator[Offer]:
        hunks = [hunk for hunk in self._reviews.find(turn_id=turn_id) if hunk.open]
        files = {hunk.path for hunk in hunks}
        if len(files) < least_files:
            return
        what = f"all {len(hunks)} in {len(files)} file{'s' * (len(files) > 1)}"
        if self._seen(turn_id, hunks):
            yield Offer(f"Accept {what}", "tark.hunk.accept", {"turnId": turn_id}, QUICKFIX)
        yield Offer(f"Reject {what}", "tark.hunk.reject", {"turnId": turn_id}, QUICKFIX)

    def _seen(self, turn_id: str, hunks: Sequence[ReviewHunk]) -> bool:
        """What would be written into closed files is accepted only by who was shown it whole (protocol.md)."""
        asked = [waiting for waiting in self._permissions.waiting() if waiting.turn_id == turn_id and waiting.hunks]
        if asked:
            return not any(map(self._permissions.needs_showing, asked))
        return all(hunk.applied or self._documents.at(hunk.path) is not None for hunk in hunks)
