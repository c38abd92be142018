"""The commands `tark.hunk.*`."""

from dataclasses import replace
from typing import Any

from tark_lsp.agent.kinds import KINDS
from tark_lsp.agent.session import Session
from tark_lsp.errors import RequestError
from tark_lsp.server import protocol
from tark_lsp.server.documents.documents import Documents
from tark_lsp.server.documents.targets import Target, Targets
from tark_lsp.server.documents.uris import path_from_uri
from tark_lsp.server.review.hunks import ReviewHunk
from tark_lsp.server.review.hunks_json import HunksJson
from tark_lsp.server.review.reviews import Reviews
from tark_lsp.server.review.words import TO_DECIDE, as_diff
from tark_lsp.server.sessions.sessions import Sessions
from tark_lsp.server.turns.turns import Turns
from tark_lsp.tools.tool import Selection
from tark_lsp.workspace.lines import split_lines

AGAIN = "Make this change anew, in another way."
"""What a person says who regenerates without a word."""


class HunkCommands:
    def __init__(
        self,
        documents: Documents,
        reviews: Reviews,
        hunks: HunksJson,
        turns: Turns,
        targets: Targets,
        sessions: Sessions,
    ) -> None:
        self._documents = documents
        self._reviews = reviews
        self._hunks = hunks
        self._turns = turns
        self._targets = targets
        self._sessions = sessions

    async def find(self, request: protocol.ListHunks, _: Any) -> Any:
        """Each says its document, since they are of several."""
        documents = self._hunks.by_document(self._find_hunks(request))
        return {
            "hunks": [
                {"uri": each["uri"], "version": each["version"], **hunk} for each in documents for hunk in each["hunks"]
            ]
        }

    async def accept(self, request: protocol.DecideHunks, _: Any) -> Any:
        chosen = self._chosen(request)
        await self._reviews.accept(chosen)
        return self._decided(chosen, "accepted")

    async def reject(self, request: protocol.DecideHunks, _: Any) -> Any:
        chosen = self._chosen(request)
        if request.take_back:
            self._reviews.reopen(chosen)
        await self._reviews.reject(chosen)
        return self._decided(chosen, "rejected")

    async def edit(self, request: protocol.EditHunk, _: Any) -> Any:
        """Other new lines for it. One that was in conflict is thereby a proposal again, over what stands there now."""
        hunk = await self._reviews.edit(request.hunk_id, request.new_text)
        if request.accept:
            await self._reviews.accept([hunk])
            if hunk.state != "accepted":
                raise RequestError(f"hunkId: it could not be applied: {hunk.reason}")
        return {"hunkId": hunk.id}

    async def regenerate(self, request: protocol.RegenerateHunk, _: Any) -> Any:
        """Reject it, and have the lines it was about written anew by a turn that can change nothing else.

        What that turn is told is the request of the first one, the rejected change, and what the person says. Where
        there is no file yet, there are no lines to stay within, and it is a turn of kind `agent`. It goes on with the
        session of the first one; where that was deleted, a new one is begun.
        """
        hunk = self._find_hunk(request.hunk_id, "hunkId")
        asked, session_id = self._asked(hunk.turn_id) if self._is_known(hunk.turn_id) else ("", "")
        if hunk.state not in TO_DECIDE:
            raise RequestError(f"hunkId: it is {hunk.state} already")
        if hunk.operation:
            raise RequestError(f"hunkId: it is to {hunk.operation} a file, and has no lines to write anew")
        if len(self._reviews.together([hunk])) > 1:
            raise RequestError("hunkId: it is decided together with others, and is not written anew alone")
        self._session(session_id)  # refused before anything is rejected
        await self._reviews.reject([hunk], "the person wants it done in another way")
        if hunk.state != "rejected":
            raise RequestError(f"hunkId: it could not be taken back: {hunk.reason}")
        target = await self._lines_of(hunk)
        kind = KINDS["agent" if target is None else "edit"]
        place = f"in {self._hunks.uri(hunk.path)}" if target is None else _place(target)
        context: list[protocol.Context] = [
            *(
                [protocol.TextContext(type="text", name="What the person asked for before", text=asked)]
                if asked
                else []
            ),
            protocol.TextContext(type="text", name=f"The change they rejected, {place}", text=as_diff(hunk)),
        ]
        start = protocol.StartTurn(
            prompt=request.prompt.strip() or ("" if request.ask_for_prompt else AGAIN),
            kind=kind.name,
            context=context,
            ask_for_prompt=request.ask_for_prompt,
            comment=request.comment,
        )
        session = self._session(session_id) or self._sessions.new()
        return {"turnId": self._turns.start(start, kind, session, target)["turnId"]}

    def _session(self, session_id: str) -> Session | None:
        """None where it was deleted. Raises RequestError where it cannot be gone on with."""
        sessions = self._sessions
        is_there = sessions.find(session_id) is not None or sessions.store.session(session_id) is not None
        return sessions.use(session_id) if is_there else None

    def _is_known(self, turn_id: str) -> bool:
        """Not so: it is of an earlier server, and its session was deleted."""
        return self._turns.remembers(turn_id) or self._sessions.store.turn(turn_id) is not None

    def _asked(self, turn_id: str) -> tuple[str, str]:
        """What a turn, be it of an earlier server, was asked for, and its session's id. Raises RequestError."""
        if self._turns.remembers(turn_id):
            record = self._turns.find(turn_id)
            asked = record.kind.words(record.request.prompt).strip()
            return asked or record.kind.instructions, record.session.id
        turn = self._sessions.turn(turn_id)
        kind = KINDS.get(turn.kind)
        return turn.prompt.strip() or (kind.instructions if kind is not None else turn.kind), turn.session_id

    async def _lines_of(self, hunk: ReviewHunk) -> Target | None:
        """The lines that the hunk, now rejected, wanted to replace; None where there is no file."""
        if self._documents.at(hunk.path) is None and not hunk.path.exists():
            return None
        target = await self._targets.find(protocol.DocumentId(uri=self._hunks.uri(hunk.path)), None)
        snapshot = target.selection.snapshot
        lines = split_lines(snapshot.text)
        start = len("".join(lines[: hunk.start]))
        selection = Selection(snapshot, start, start + len("".join(lines[hunk.start : hunk.end])))
        return replace(target, selection=selection, whole=False)

    def _chosen(self, request: protocol.DecideHunks) -> list[ReviewHunk]:
        if request.hunk_ids is None:
            if request.uri is None and request.turn_id is None:
                raise RequestError("hunkIds, uri or turnId: name what to decide")
            return [hunk for hunk in self._find_hunks(request) if hunk.open]
        chosen = []
        for hunk_id in request.hunk_ids:
            chosen.append(self._find_hunk(hunk_id, "hunkIds"))
        return chosen

    def _find_hunk(self, hunk_id: str, field: str) -> ReviewHunk:
        hunk = self._reviews.get(hunk_id)
        if hunk is None:
            raise RequestError(f"{field}: there is no hunk {hunk_id!r}")
        return hunk

    def _find_hunks(self, request: protocol.ListHunks) -> list[ReviewHunk]:
        path = None
        if request.uri is not None:
            path = path_from_uri(request.uri)
            if path is None:
                raise RequestError(f"uri: {request.uri!r} is no file")
        found = self._reviews.find(path, request.turn_id)
        if request.turn_id is not None and not found:
            self._asked(request.turn_id)  # raises for an id that is none
        return found

    def _decided(self, chosen: list[ReviewHunk], state: str) -> dict[str, Any]:
        skipped = [
            {"hunkId": hunk.id, "reason": hunk.reason or f"it is {hunk.state} already"}
            for hunk in chosen
            if hunk.state != state
        ]
        return {"hunks": [hunk.id for hunk in chosen if hunk.state == state], "skipped": skipped}


def _place(target: Target) -> str:
    """An empty selection is shown to the model by the line it stands before."""
    selected = target.selection.start < target.selection.end
    return "of the selected lines" if selected else "right before the line shown; nothing is selected"
