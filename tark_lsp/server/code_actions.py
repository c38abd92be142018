"""Code actions and code lenses: LSP's own way in, for editors with no plugin. No model is called to answer them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tark_lsp.server import protocol
from tark_lsp.server.client_state import OUR_SOURCE
from tark_lsp.server.comments import PromptComment
from tark_lsp.server.documents import Documents, TextDocument
from tark_lsp.server.hunks_json import HunksJson
from tark_lsp.server.lsp import Connection
from tark_lsp.server.permission import TITLE_WHOLE, Permissions, Waiting, fence
from tark_lsp.server.prompt_comments import PromptComments
from tark_lsp.server.protocol import range_json
from tark_lsp.server.review import Reviews
from tark_lsp.server.review_hunks import ReviewHunk
from tark_lsp.server.targets import Targets
from tark_lsp.server.visible import cut, visible

QUICKFIX, REWRITE = "quickfix", "refactor.rewrite.tark"
AUTOMATIC = 2
"""`CodeActionTriggerKind.Automatic`: the lightbulb, asked for at every move of the caret."""

INVOKED = (("explain", "Explain"), ("fix", "Fix"), ("test", "Write tests"), ("document", "Document"))
PROMPTED = (("ask", "Ask..."), ("edit", "Edit..."))


@dataclass(frozen=True, slots=True)
class Offer:
    """One thing a person can do here, as an action or a lens."""

    title: str
    command: str
    argument: dict[str, Any]
    kind: str = REWRITE
    preferred: bool = False


class CodeActions:
    def __init__(
        self,
        connection: Connection,
        documents: Documents,
        targets: Targets,
        reviews: Reviews,
        hunks: HunksJson,
        permissions: Permissions,
        comments: PromptComments,
        last_answer: Callable[[], str | None],
    ) -> None:
        """`last_answer()`: the id of the last turn that answered in words a person may want to see again."""
        self._connection = connection
        self._documents = documents
        self._targets = targets
        self._reviews = reviews
        self._hunks = hunks
        self._permissions = permissions
        self._comments = comments
        self._last_answer = last_answer

    async def actions(self, params: protocol.CodeActionParams) -> list[dict[str, Any]]:
        document = self._documents.find(params.text_document.uri)
        offers = [*self._on_hunks(document, params.range)]
        offered = {offer.argument["hunkIds"][0] for offer in offers if "hunkIds" in offer.argument}
        for waiting in self._permissions.waiting():
            if offered.isdisjoint(hunk.id for hunk in waiting.hunks):  # else they are decided there, one or all
                offers += self._answers(waiting)
        if document is not None:
            offers += self._on_comments(document, params.range)
        if params.context.trigger_kind != AUTOMATIC:
            offers += await self._on_range(params)
        only = params.context.only
        wanted = [offer for offer in offers if not only or any(_within(offer.kind, kind) for kind in only)]
        return [self._action(offer) for offer in wanted]

    def lenses(self, params: protocol.DocumentParams) -> list[dict[str, Any]]:
        document = self._documents.find(params.text_document.uri)
        if document is None:
            return []
        lenses = []
        for comment in self._comments.of(document):
            offer = self._run(document, comment)
            lenses.append(_lens(comment.start, offer))
        if self._connection.client.understands("review"):
            return lenses
        for hunk in self._pending(document):
            lenses += [_lens(hunk.start, offer) for offer in self._decisions(hunk)]
        for waiting in self._permissions.waiting():
            line = min((hunk.start for hunk in waiting.hunks if hunk.path == document.path), default=0)
            lenses += [_lens(line, offer) for offer in self._answers(waiting)]
        return lenses

    def hover(self, params: protocol.HoverParams) -> dict[str, Any] | None:
        """The diff of the hunk under the pointer."""
        document = self._documents.find(params.text_document.uri)
        for hunk in self._pending(document) if document else ():
            if hunk.start <= params.position.line < max(hunk.end, hunk.start + 1):
                text = f"Tark proposes ({hunk.state}):\n\n{fence(as_diff(hunk), 'diff')}"
                return {"contents": {"kind": "markdown", "value": text}, "range": self._hunks.range(hunk)}
        return None

    async def _on_range(self, params: protocol.CodeActionParams) -> list[Offer]:
        """The kinds that work on a selection; the lines that count stand in the titles."""
        target = await self._targets.find(params.text_document, params.range)
        where = self._targets.range_json(target)
        lines = _lines_text(where)
        about: dict[str, Any] = {"textDocument": self._identifier(params), "range": where}
        offers = [
            Offer(f"{title} ({lines})", "tark.turn.start", {"kind": kind, "prompt": "", **about})
            for kind, title in INVOKED
            if kind != "fix" or not _only_ours(params.context.diagnostics)
        ]
        comment = self._comments.near(params.text_document.uri, target)
        for kind, title in PROMPTED:
            if comment is not None and comment.prompt:
                argument = {"kind": kind, "prompt": comment.prompt, "comment": _comment_range(comment), **about}
                offers.append(
                    Offer(f"{title} {cut(visible(comment.prompt), 40)} ({lines})", "tark.turn.start", argument)
                )
            else:
                argument = {"kind": kind, "prompt": "", "askForPrompt": True, **about}
                offers.append(Offer(f"{title} ({lines})", "tark.turn.start", argument))
        if (answered := self._last_answer()) is not None:
            offers.append(Offer("Show last answer", "tark.turn.wait", {"turnId": answered, "show": True}))
        return offers

    def _on_comments(self, document: TextDocument, wanted: protocol.Range) -> Iterable[Offer]:
        for comment in self._comments.of(document):
            if comment.prompt and comment.start <= wanted.end.line and wanted.start.line <= comment.end:
                yield self._run(document, comment)

    def _on_hunks(self, document: TextDocument | None, wanted: protocol.Range) -> Iterable[Offer]:
        pending = self._pending(document) if document else []
        here = [hunk for hunk in pending if hunk.start <= wanted.end.line and wanted.start.line <= hunk.end]
        for hunk in here:
            last = wanted.end.line - (wanted.end.character == 0 and wanted.end.line > wanted.start.line)
            inside = hunk.start <= wanted.start.line and last < max(hunk.end, hunk.start + 1)
            yield from self._decisions(hunk, preferred=inside)
            yield self._explain(hunk)
        if here and document is not None:
            uri = {"uri": document.uri}
            yield Offer(f"Accept all {len(pending)} changes in this file", "tark.hunk.accept", uri, QUICKFIX)
            yield Offer(f"Reject all {len(pending)} changes in this file", "tark.hunk.reject", uri, QUICKFIX)

    def _decisions(self, hunk: ReviewHunk, *, preferred: bool = False) -> tuple[Offer, Offer]:
        lines = f"+{len(hunk.new)} -{len(hunk.hunk.old)}"
        ids = {"hunkIds": [hunk.id]}
        return (
            Offer(f"Accept ({lines})", "tark.hunk.accept", ids, QUICKFIX, preferred=preferred),
            Offer(f"Reject ({lines})", "tark.hunk.reject", ids, QUICKFIX),
        )

    def _explain(self, hunk: ReviewHunk) -> Offer:
        change = {"type": "text", "name": "The change to explain", "text": as_diff(hunk)}
        about = {"textDocument": {"uri": self._hunks.uri(hunk.path)}, "range": self._hunks.range(hunk)}
        return Offer(
            "Explain this change", "tark.turn.start", {"kind": "explain", "prompt": "", "context": [change], **about}
        )

    def _answers(self, waiting: Waiting) -> Iterable[Offer]:
        """Titles hold the whole of what they allow; where that does not fit, it has to be looked at first."""
        subject = self._permissions.message(waiting).removeprefix("Tark: ")
        ids = {"requestId": waiting.id, "digest": waiting.request.digest}
        if len(subject) > TITLE_WHOLE or self._permissions.needs_showing(waiting):
            yield Offer(f"Show... ({cut(subject, 60)})", "tark.permission.list", {"show": waiting.id})
        yield Offer(f"Reject: {cut(subject, TITLE_WHOLE)}", "tark.permission.answer", {**ids, "outcome": "reject"})
        if (len(subject) <= TITLE_WHOLE or waiting.shown) and not self._permissions.needs_showing(waiting):
            yield Offer(f"Allow: {cut(subject, TITLE_WHOLE)}", "tark.permission.answer", {**ids, "outcome": "allow"})

    def _run(self, document: TextDocument, comment: PromptComment) -> Offer:
        kind, where = self._comments.meant(document, comment)
        argument = {
            "kind": kind,
            "prompt": comment.prompt,
            "textDocument": {"uri": document.uri, "version": document.version},
            "comment": _comment_range(comment),
            **({} if where is None else {"range": where}),
        }
        lines = "" if where is None else f" ({_lines_text(where)})"
        return Offer(f"Run: {cut(visible(comment.prompt), 60)}{lines}", "tark.turn.start", argument)

    def _pending(self, document: TextDocument) -> list[ReviewHunk]:
        return [] if document.path is None else [hunk for hunk in self._reviews.find(document.path) if hunk.open]

    def _identifier(self, params: protocol.CodeActionParams) -> dict[str, Any]:
        document = self._documents.find(params.text_document.uri)
        version = None if document is None else document.version
        uri = params.text_document.uri
        return {"uri": uri} if version is None else {"uri": uri, "version": version}

    def _action(self, offer: Offer) -> dict[str, Any]:
        """A `Command` for clients without code action literals."""
        command = {"title": offer.title, "command": offer.command, "arguments": [offer.argument]}
        if not self._connection.client.has("textDocument.codeAction.codeActionLiteralSupport"):
            return command
        action: dict[str, Any] = {"title": offer.title, "kind": offer.kind, "command": command}
        if offer.preferred and self._connection.client.has("textDocument.codeAction.isPreferredSupport"):
            action["isPreferred"] = True
        return action


def as_diff(hunk: ReviewHunk) -> str:
    lines = [*(f"-{line}" for line in hunk.hunk.old), *(f"+{line}" for line in hunk.new)]
    return "".join(line if line.endswith(("\n", "\r")) else f"{line}\n" for line in lines)


def _within(kind: str, wanted: str) -> bool:
    """LSP 3.17: a kind holds those that go on after its dot; "" holds all."""
    return not wanted or kind == wanted or kind.startswith(f"{wanted}.")


def _lens(line: int, offer: Offer) -> dict[str, Any]:
    command = {"title": offer.title, "command": offer.command, "arguments": [offer.argument]}
    return {"range": range_json(line, 0, line, 0), "command": command}


def _lines_text(where: dict[str, Any]) -> str:
    """`line 3` or `lines 3-7`, from 1; a range that ends before the first character of a line ends in the one above."""
    first, last = where["start"]["line"] + 1, where["end"]["line"] + 1
    if where["end"]["character"] == 0 and last > first:
        last -= 1
    return f"line {first}" if first == last else f"lines {first}-{last}"


def _comment_range(comment: PromptComment) -> dict[str, Any]:
    return range_json(comment.start, 0, comment.end, 0)


def _only_ours(diagnostics: Sequence[Mapping[str, Any]]) -> bool:
    """Never offer to fix what we published ourselves."""
    return bool(diagnostics) and all(each.get("source") == OUR_SOURCE for each in diagnostics)
