"""Code actions, code lenses and hovers: how editors without a plugin use Tark. No model is called to answer them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tark_lsp.context.prompts import LONGEST_TITLE, NamedPrompt
from tark_lsp.server.actions.hunk_actions import HunkActions
from tark_lsp.server.actions.offers import Offer
from tark_lsp.server.asking.permission import TITLE_WHOLE, Permissions
from tark_lsp.server.asking.permission_asking import RUN_ANYWAY, SAVE_AND_RUN
from tark_lsp.server.asking.waiting_permission import WaitingPermission
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.documents.client_state import OUR_SOURCE
from tark_lsp.server.documents.targets import Targets
from tark_lsp.server.prompting.comments import PromptComment
from tark_lsp.server.prompting.named_prompts import NamedPrompts
from tark_lsp.server.prompting.prompt_comments import PromptComments, comment_range
from tark_lsp.server.protocol import incoming, lsp_params
from tark_lsp.server.turns.answer_display import AnswerDisplay
from tark_lsp.visible import cut, visible
from tark_lsp.workspace.documents import Documents, TextDocument
from tark_lsp.workspace.text_document import is_chat, is_prompt

INVOKED = (("explain", "Explain"), ("fix", "Fix"), ("test", "Write tests"), ("document", "Document"))
PROMPTED = (("ask", "Ask…"), ("edit", "Edit…"))


class CodeActions:
    def __init__(
        self,
        connection: Connection,
        documents: Documents,
        targets: Targets,
        hunks: HunkActions,
        permissions: Permissions,
        comments: PromptComments,
        prompts: NamedPrompts,
        display: AnswerDisplay,
    ) -> None:
        self._connection = connection
        self._documents = documents
        self._targets = targets
        self._hunks = hunks
        self._permissions = permissions
        self._comments = comments
        self._prompts = prompts
        self._display = display

    async def actions(self, params: lsp_params.CodeActionParams) -> list[dict[str, Any]]:
        document = self._documents.find_document(params.text_document.uri)
        invoked = params.context.trigger_kind != lsp_params.AUTOMATIC
        here = [] if document is None else self._hunks.hunks_in_range(document, params.range)
        offers = [] if document is None else [*self._hunks.hunk_offers(document, params.range, here)]
        for waiting in self._permissions.waiting():
            if any(hunk in here for hunk in waiting.hunks):  # the user decides on these hunks here, one by one or all
                offers += self._show(waiting)
            else:
                offers += self._answers(waiting)
        if document is not None:
            offers += [offer for _, offer in self._hunks.errors.alarm_offers(document, params.range)]
            offers += self._hunks.errors.problem_offers(document, params.range)
            offers += self._on_comments(document, params.range)
        if invoked:
            # The text of a chat is sent, not edited.
            if document is None or not (is_chat(document.path) or is_prompt(document.uri)):
                offers += await self._on_range(params)
            offers += () if here else self._hunks.turn_offers()
        return [self._shaped(offer) for offer in offers if offer.is_wanted(params.context.only)]

    def lenses(self, params: lsp_params.DocumentParams) -> list[dict[str, Any]]:
        document = self._documents.find_document(params.text_document.uri)
        if document is None:
            return []
        client = self._connection.client
        comments = self._comments.comments_in(document)
        lenses = [self._run(document, comment).as_lens(comment.start) for comment in comments]
        reviews = client.understands("review")
        lenses += self._hunks.errors.alarm_lenses(document) if reviews else self._hunks.lenses(document)
        if not (reviews and client.understands("permission")):
            for waiting in self._permissions.waiting():
                line = min((hunk.start for hunk in waiting.hunks if hunk.path == document.path), default=0)
                lenses += [offer.as_lens(line) for offer in self._answers(waiting)]
        return lenses

    def hover(self, params: lsp_params.HoverParams) -> dict[str, Any] | None:
        """What the hunk under the pointer changes. Clients with `review` draw hunks themselves."""
        document = self._documents.find_document(params.text_document.uri)
        if document is None or self._connection.client.understands("review"):
            return None
        return self._hunks.hover(document, params.position.line)

    async def _on_range(self, params: lsp_params.CodeActionParams) -> list[Offer]:
        """The kinds of turns that work on a selection. Each title names the lines."""
        target = await self._targets.find_target(params.text_document, params.range)
        where = self._targets.range_json(target)
        lines = _lines_text(where)
        about: dict[str, Any] = {"textDocument": self._identifier(params), "range": where}
        offers = [
            Offer(f"{title} ({lines})", "tark.turn.start", {"kind": kind, "prompt": "", **about})
            for kind, title in INVOKED
            if kind != "fix" or not _only_ours(params.context.diagnostics)
        ]
        offers += [
            Offer(_named_title(prompt, lines), "tark.turn.start", {"kind": prompt.name, "prompt": "", **about})
            for prompt in self._prompts.load_all().values()
        ]
        comment = self._comments.comment_near(params.text_document.uri, target)
        for kind, title in PROMPTED:
            if comment is not None and comment.prompt:
                argument = {"kind": kind, "prompt": comment.prompt, "comment": comment_range(comment), **about}
                offers.append(
                    Offer(f"{title} {cut(visible(comment.prompt), 40)} ({lines})", "tark.turn.start", argument)
                )
            else:
                argument = {"kind": kind, "prompt": "", "askForPrompt": True, **about}
                offers.append(Offer(f"{title} ({lines})", "tark.turn.start", argument))
        if (answered := self._display.last_answered) is not None:
            offers.append(Offer("Show last answer", "tark.turn.wait", {"turnId": answered, "show": True}))
        return offers

    def _on_comments(self, document: TextDocument, wanted: incoming.Range) -> Iterable[Offer]:
        for comment in self._comments.comments_in(document):
            if comment.prompt and comment.start <= wanted.end.line and wanted.start.line <= comment.end:
                yield self._run(document, comment)

    def _answers(self, waiting: WaitingPermission) -> Iterable[Offer]:
        """A title names everything that it allows. If that is too long for a title, the request must be shown first."""
        subject = self._subject(waiting)
        ids = {"requestId": waiting.id, "digest": waiting.digest}
        yield from self._show(waiting)
        yield Offer(f"Reject: {cut(subject, TITLE_WHOLE)}", "tark.permission.answer", {**ids, "outcome": "reject"})
        if (len(subject) <= TITLE_WHOLE or waiting.shown) and not self._permissions.needs_showing(waiting):
            allow = {**ids, "outcome": "allow"}
            if waiting.request.unsaved and self._connection.client.understands("save"):
                title = f"{SAVE_AND_RUN}: {cut(subject, TITLE_WHOLE)}"
                yield Offer(title, "tark.permission.answer", {**allow, "save": True})
            verb = RUN_ANYWAY if waiting.request.unsaved else "Allow"
            yield Offer(f"{verb}: {cut(subject, TITLE_WHOLE)}", "tark.permission.answer", allow)

    def _show(self, waiting: WaitingPermission) -> Iterable[Offer]:
        subject = self._subject(waiting)
        if len(subject) > TITLE_WHOLE or self._permissions.needs_showing(waiting):
            yield Offer(f"Show… ({cut(subject, 60)})", "tark.permission.list", {"show": waiting.id})

    def _subject(self, waiting: WaitingPermission) -> str:
        return self._permissions.message(waiting).removeprefix("Tark: ")

    def _run(self, document: TextDocument, comment: PromptComment) -> Offer:
        argument = self._comments.start_argument(document, comment)
        lines = f" ({_lines_text(argument['range'])})" if "range" in argument else ""
        return Offer(f"Run: {cut(visible(comment.prompt), 60)}{lines}", "tark.turn.start", argument)

    def _identifier(self, params: lsp_params.CodeActionParams) -> dict[str, Any]:
        document = self._documents.find_document(params.text_document.uri)
        version = None if document is None else document.version
        uri = params.text_document.uri
        return {"uri": uri} if version is None else {"uri": uri, "version": version}

    def _shaped(self, offer: Offer) -> dict[str, Any]:
        """A `Command` for clients without code action literals."""
        client = self._connection.client
        if not client.has("textDocument.codeAction.codeActionLiteralSupport"):
            return offer.as_command
        return offer.as_action(preferable=client.has("textDocument.codeAction.isPreferredSupport"))


def _named_title(prompt: NamedPrompt, lines: str) -> str:
    """The title of a prompt from the project says so, since the project can choose any title."""
    whose = "project's prompt, " if prompt.source.whose == "project" else ""
    return f"{cut(visible(prompt.title), LONGEST_TITLE)} ({whose}{lines})"


def _lines_text(where: dict[str, Any]) -> str:
    """`line 3` or `lines 3-7`, from 1. A range that ends at the start of a line ends in the line above."""
    first, last = where["start"]["line"] + 1, where["end"]["line"] + 1
    if where["end"]["character"] == 0 and last > first:
        last -= 1
    return f"line {first}" if first == last else f"lines {first}-{last}"


def _only_ours(diagnostics: Sequence[Mapping[str, Any]]) -> bool:
    """Are all of these Tark's own diagnostics? There is nothing to fix in them."""
    return bool(diagnostics) and all(item.get("source") == OUR_SOURCE for item in diagnostics)
