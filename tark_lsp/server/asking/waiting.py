"""One question that waits for the person's permission: what it is about, the digest of that, and how it is said."""

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from tark_lsp.agent.person import PermissionRequest, digest_of_texts
from tark_lsp.server import protocol
from tark_lsp.server.asking.visible import defused, fence, visible, visible_code
from tark_lsp.server.review.hunks import ReviewHunk
from tark_lsp.server.review.words import as_diff
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.files import Workspace


@dataclass(eq=False, slots=True)
class Waiting:
    """One open question. `answer` resolves once, to the person's reply."""

    turn_id: str
    session_id: str
    request: PermissionRequest
    hunks: Sequence[ReviewHunk]
    answer: "asyncio.Future[protocol.PermissionReply]"
    seen: str = ""
    """The digest of what was shown whole."""
    asked: str = ""
    """The digest of what the question that was put last is about."""
    edited: "asyncio.Future[None] | None" = None
    """Resolves once that question is about what is not so any more."""
    id: str = field(default_factory=lambda: f"permission-{secrets.token_hex(6)}")

    @property
    def digest(self) -> str:
        """Of what would happen now: the person may have edited the hunks since they were proposed."""
        texts = (text for each in self.hunks for text in (each.hunk.old_text, "".join(each.new)))
        return digest_of_texts([self.request.digest, *texts]) if self.hunks else self.request.digest

    @property
    def shown(self) -> bool:
        return self.seen == self.digest


def whole_text(waiting: Waiting, workspace: Workspace) -> str:
    """The whole of what would happen, for a person to read."""
    request = waiting.request
    if request.command is not None:
        where = workspace.display(request.command.cwd) or "."
        command = fence(request.command.text, "sh")
        return f"# Tark asks: run this command?\n\nBecause {request.why}. In `{where}`:\n\n{command}\n"
    if request.edits:
        beside = [hunk for hunk in waiting.hunks if not any(_is_of(hunk, edit) for edit in request.edits)]
        texts = [
            *(_whole_change(waiting, workspace, edit) for edit in request.edits),
            *(_whole_hunk(hunk, workspace) for hunk in beside),
        ]
        changes = "\n".join(texts)
        return f"# Tark asks: make these changes?\n\nBecause {request.why}.\n\n{changes}\n"
    return f"# Tark asks: {defused(request.title)}?\n\nBecause {request.why}.\n"


def message(waiting: Waiting, workspace: Workspace) -> str:
    return f"Tark: {_subject(waiting, workspace)}"


def _subject(waiting: Waiting, workspace: Workspace) -> str:
    request = waiting.request
    if request.edits:
        return "; ".join(_summary(edit, waiting, workspace) for edit in request.edits)
    if request.command is not None:
        folder = workspace.display(request.command.cwd)
        where = "" if folder == "." else f" in {visible(folder)}"
        return f"run {visible(request.command.text)}{where}"
    return f"{visible(request.title)} ({request.why})"


def _summary(edit: ProposedEdit, waiting: Waiting, workspace: Workspace) -> str:
    hunks = [each for each in waiting.hunks if each.origin == edit.path]
    added, removed = sum(len(each.new) for each in hunks), sum(len(each.hunk.old) for each in hunks)
    lines = "" if edit.target is not None and not edit.hunks else f": +{added} -{removed} lines"
    return f"{visible(_done(edit, workspace))}{lines}"


def _whole_change(waiting: Waiting, workspace: Workspace, edit: ProposedEdit) -> str:
    hunks = [each for each in waiting.hunks if _is_of(each, edit)]
    said = f"{visible(_done(edit, workspace))}:\n\n" if edit.operation else ""
    if all((each.hunk, each.new) == (each.proposed, each.proposed.new) for each in hunks):
        diff = edit.diff(lambda path: visible(workspace.display(path)))
        return f"{said}{fence(visible_code(diff), 'diff')}"
    return said + "\n".join(_whole_hunk(each, workspace) for each in hunks if not each.operation)


def _whole_hunk(hunk: ReviewHunk, workspace: Workspace) -> str:
    """Of what the person edited, and of the comment that asked for all this, which goes with it."""
    place = f"{visible(workspace.display(hunk.path))}, line {hunk.start + 1}"
    return f"{place}:\n\n{fence(visible_code(as_diff(hunk)), 'diff')}"


def _done(edit: ProposedEdit, workspace: Workspace) -> str:
    """What becomes of the file itself, and its name."""
    name = workspace.display(edit.path)
    if edit.removes:
        return f"delete {name}"
    return name if edit.target is None else f"move {name} -> {workspace.display(edit.target)}"


def _is_of(hunk: ReviewHunk, edit: ProposedEdit) -> bool:
    return hunk.origin == edit.path and (bool(hunk.operation) or hunk.proposed in edit.hunks)
