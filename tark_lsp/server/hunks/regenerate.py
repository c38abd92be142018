"""`tark.hunk.regenerate`: rejects a hunk, and starts a turn that writes its lines again."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tark_lsp.agent.kinds import KINDS
from tark_lsp.errors import RequestError
from tark_lsp.review.decisions import Reviews
from tark_lsp.review.hunk import ReviewHunk
from tark_lsp.review.wording import as_diff, for_user
from tark_lsp.server.commands import Command
from tark_lsp.server.connection.early_answers import EarlyAnswer
from tark_lsp.server.documents.targets import Target, Targets
from tark_lsp.server.hunks.asked_turns import AskedTurns
from tark_lsp.server.hunks.commands import find_hunk
from tark_lsp.server.prompting.custom_agents import CustomAgents
from tark_lsp.server.protocol import command_payloads, incoming
from tark_lsp.server.turns.turns import Turns
from tark_lsp.tools.tool import Selection
from tark_lsp.workspace.documents import Documents
from tark_lsp.workspace.lines import split_lines

DEFAULT_PROMPT = "Make this change again, in another way."
"""For a request without a prompt."""


class RegenerateCommand:
    def __init__(
        self,
        documents: Documents,
        reviews: Reviews,
        asked_turns: AskedTurns,
        turns: Turns,
        targets: Targets,
        agents: CustomAgents,
    ) -> None:
        self._documents = documents
        self._reviews = reviews
        self._asked_turns = asked_turns
        self._turns = turns
        self._targets = targets
        self._agents = agents

    def commands(self) -> Iterable[Command]:
        yield Command("tark.hunk.regenerate", command_payloads.RegenerateHunk, self.regenerate, early=EarlyAnswer())

    async def regenerate(self, request: command_payloads.RegenerateHunk) -> Any:
        """Reject the hunk, and start a turn that can change only the lines of the hunk.

        The new turn gets the request of the first turn, the rejected change, and the prompt of this request. If the
        file does not exist yet, there are no such lines, and it is a turn of kind `agent`. It continues the session of
        the first turn, or starts a new session if that session was deleted.
        """
        hunk = find_hunk(self._reviews, request.hunk_id, "hunkId")
        known = self._asked_turns.is_known(hunk.turn_id)
        asked, session_id = self._asked_turns.find_asked(hunk.turn_id) if known else ("", "")
        self._check(hunk)
        first = self._asked_turns.open_session(session_id)  # raise errors before anything is rejected
        if first is not None:
            self._agents.in_session(KINDS["agent"], first)
        await self._reviews.reject([hunk.id], "it is to be done in another way")
        hunk = find_hunk(self._reviews, hunk.id, "hunkId")
        if hunk.state != "rejected":
            raise RequestError(f"hunkId: the change could not be taken back: {for_user(hunk.reason)}")
        target = await self._lines_of(hunk)
        kind = KINDS["agent" if target is None else "edit"]
        place = f"in {self._documents.uri(hunk.path)}" if target is None else _place(target)
        before = incoming.TextContext(type="text", name="What was asked for before", text=asked)
        rejected = incoming.TextContext(type="text", name=f"The change that was rejected, {place}", text=as_diff(hunk))
        start = incoming.StartTurn(
            prompt=request.prompt.strip() or ("" if request.ask_for_prompt else DEFAULT_PROMPT),
            kind=kind.name,
            context=[before, rejected] if asked else [rejected],
            ask_for_prompt=request.ask_for_prompt,
            comment=request.comment,
        )
        session = self._asked_turns.open_session(session_id) or self._asked_turns.new_session()
        return {"turnId": self._turns.start(start, self._agents.in_session(kind, session), session, target)["turnId"]}

    def _check(self, hunk: ReviewHunk) -> None:
        """Raises RequestError if it cannot be regenerated."""
        if not hunk.undecided:
            raise RequestError(f"hunkId: the change is {hunk.state} already")
        if hunk.operation:
            raise RequestError(f"hunkId: the change is to {hunk.operation} a file, and has no lines to write again")
        if len(self._reviews.hunks.find_together([hunk.id])) > 1:
            raise RequestError("hunkId: the change is decided together with others, and cannot be written again alone")

    async def _lines_of(self, hunk: ReviewHunk) -> Target | None:
        """The lines that the rejected hunk would have replaced; None if the file does not exist."""
        if self._documents.at(hunk.path) is None and not hunk.path.exists():
            return None
        identifier = incoming.DocumentId(uri=self._documents.uri(hunk.path))
        target = await self._targets.find_target(identifier, None)
        snapshot = target.selection.snapshot
        lines = split_lines(snapshot.text)
        start = len("".join(lines[: hunk.start]))
        selection = Selection(snapshot, start, start + len("".join(lines[hunk.start : hunk.end])))
        return replace(target, selection=selection, whole=False)


def _place(target: Target) -> str:
    """For an empty selection, the model sees the line after it."""
    selected = target.selection.start < target.selection.end
    return "of the selected lines" if selected else "right before the line shown; nothing is selected"
