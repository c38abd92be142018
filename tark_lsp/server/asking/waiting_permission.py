"""One permission request that waits for an answer: what it is about, its digest, and its text for the user."""

import asyncio
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tark_lsp.agent.user_interface import PermissionRequest, text_digest
from tark_lsp.prose import prose_line
from tark_lsp.review.hunk import ReviewHunk
from tark_lsp.review.store import HunkStore
from tark_lsp.review.wording import as_diff
from tark_lsp.server.protocol import incoming
from tark_lsp.tools.unsaved import describe_unsaved
from tark_lsp.visible import code_block, code_span, visible
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.text_document import TextDocument


@dataclass(frozen=True, slots=True)
class ToOpen:
    """A request in a file that the user has to open. `digest`: the digest of what its `text` shows."""

    path: Path
    text: str
    digest: str

    def is_in(self, document: TextDocument) -> bool:
        return document.path in (self.path, self.path.resolve()) and document.text.rstrip() == self.text.rstrip()


@dataclass(eq=False, slots=True)
class WaitingPermission:
    """One open request. `answer` resolves once, to the user's reply."""

    turn_id: str
    session_id: str
    request: PermissionRequest
    hunk_ids: Sequence[str]
    store: HunkStore
    answer: "asyncio.Future[incoming.PermissionReply]"
    seen: str = ""
    """The digest of what was last shown in full."""
    asked: str = ""
    """The digest of what the last question asked about."""
    to_open: ToOpen | None = None
    outdated: "asyncio.Future[None] | None" = None
    """Resolves when the question must be asked again."""
    id: str = field(default_factory=lambda: f"permission-{secrets.token_hex(6)}")

    @property
    def hunks(self) -> list[ReviewHunk]:
        """The hunks that the request asks about, as they are now."""
        return self.store.get_hunks(self.hunk_ids)

    @property
    def digest(self) -> str:
        """The digest of what would happen now, because the user may have edited the hunks since they were proposed."""
        texts = (text for hunk in self.hunks for text in (hunk.old_text, hunk.new_text))
        return text_digest([self.request.digest, *texts]) if self.hunk_ids else self.request.digest

    def ask_again(self) -> None:
        """Withdraw the question that is asked now, if there is one, and ask it again."""
        if self.outdated is not None and not self.outdated.done():
            self.outdated.set_result(None)

    @property
    def is_outdated(self) -> bool:
        return self.outdated is not None and self.outdated.done()

    @property
    def shown(self) -> bool:
        return self.seen == self.digest


def whole_text(waiting: WaitingPermission, workspace: Workspace) -> str:
    """Everything that would happen, as Markdown for the user."""
    request = waiting.request
    if request.command is not None:
        where = workspace.display(request.command.cwd) or "."
        command = code_block(request.command.text, "sh")
        confined = f"In the sandbox{visible(request.command.beyond)}, in" if request.command.confined else "In"
        return f"# Tark asks: run this command?\n\n{_because(request)} {confined} {code_span(where)}:\n\n{command}\n"
    if request.edits:
        beside = [hunk for hunk in waiting.hunks if not any(_is_of(hunk, edit) for edit in request.edits)]
        texts = [
            *(_whole_change(waiting, workspace, edit) for edit in request.edits),
            *(_whole_hunk(hunk, workspace) for hunk in beside),
        ]
        changes = "\n".join(texts)
        return f"# Tark asks: make these changes?\n\n{_because(request)}\n\n{changes}\n"
    return f"# Tark asks: {code_span(request.title)}?\n\n{_because(request)}\n"


def message(waiting: WaitingPermission, workspace: Workspace) -> str:
    return f"Tark: {_subject(waiting, workspace)}"


def _subject(waiting: WaitingPermission, workspace: Workspace) -> str:
    request = waiting.request
    if request.edits:
        return "; ".join(_summary(edit, waiting, workspace) for edit in request.edits)
    if request.command is not None:
        folder = workspace.display(request.command.cwd)
        where = "" if folder == "." else f" in {visible(folder)}"
        unsaved = f" ({visible(describe_unsaved(request.unsaved, workspace.display))})" if request.unsaved else ""
        confined = ", in the sandbox" if request.command.confined else ""
        return f"run {visible(request.command.text)}{where}{confined}{visible(request.command.beyond)}{unsaved}"
    return f"{visible(request.title)} ({visible(request.why)})"


def _summary(edit: ProposedEdit, waiting: WaitingPermission, workspace: Workspace) -> str:
    hunks = [hunk for hunk in waiting.hunks if hunk.origin == edit.path]
    added, removed = sum(len(hunk.new) for hunk in hunks), sum(len(hunk.old) for hunk in hunks)
    lines = "" if edit.target is not None and not edit.hunks else f": +{added} -{removed} lines"
    return f"{_done(edit, workspace, visible)}{lines}"


def _whole_change(waiting: WaitingPermission, workspace: Workspace, edit: ProposedEdit) -> str:
    hunks = [hunk for hunk in waiting.hunks if _is_of(hunk, edit)]
    heading = f"{_done(edit, workspace, code_span)}:\n\n" if edit.operation else ""
    if all((hunk.old, hunk.new) == (hunk.proposed.old, hunk.proposed.new) for hunk in hunks):
        diff = edit.diff(lambda path: visible(workspace.display(path)))
        return f"{heading}{code_block(diff, 'diff')}"
    return heading + "\n".join(_whole_hunk(hunk, workspace) for hunk in hunks if not hunk.operation)


def _whole_hunk(hunk: ReviewHunk, workspace: Workspace) -> str:
    """Used for a hunk that the user edited, and for the `tark:` comment that is removed with the first edit."""
    place = f"{code_span(workspace.display(hunk.path))}, line {hunk.start + 1}"
    return f"{place}:\n\n{code_block(as_diff(hunk), 'diff')}"


def _because(request: PermissionRequest) -> str:
    return f"Because {prose_line(request.why)}."


def _done(edit: ProposedEdit, workspace: Workspace, show: Callable[[str], str]) -> str:
    """What happens to the file itself, and its name, as `show` writes it."""
    name = show(workspace.display(edit.path))
    if edit.removes:
        return f"delete {name}"
    return name if edit.target is None else f"move {name} -> {show(workspace.display(edit.target))}"


def _is_of(hunk: ReviewHunk, edit: ProposedEdit) -> bool:
    return hunk.origin == edit.path and (bool(hunk.operation) or hunk.proposed in edit.hunks)
