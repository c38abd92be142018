"""The commands `tark.hunk.list`, `.accept`, `.reject` and `.edit`, and `tark.problem.dismiss`."""

from collections.abc import Iterable
from typing import Any

from tark_lsp.errors import RequestError
from tark_lsp.review.decisions import Reviews
from tark_lsp.review.hunk import ReviewHunk
from tark_lsp.review.restoring import HunkRestorer
from tark_lsp.review.wording import for_user
from tark_lsp.server.commands import Command
from tark_lsp.server.connection.early_answers import EarlyAnswer
from tark_lsp.server.hunks.asked_turns import AskedTurns
from tark_lsp.server.protocol import command_payloads
from tark_lsp.server.protocol.hunks import HunksJson
from tark_lsp.workspace.uris import path_from_uri


class HunkCommands:
    def __init__(self, reviews: Reviews, hunks: HunksJson, restorer: HunkRestorer, asked_turns: AskedTurns) -> None:
        """`restorer` restores the hunks of earlier servers before hunks are listed."""
        self._reviews = reviews
        self._hunks = hunks
        self._restorer = restorer
        self._asked_turns = asked_turns

    def commands(self) -> Iterable[Command]:
        yield Command("tark.hunk.list", command_payloads.ListHunks, self.list_hunks)
        yield Command("tark.hunk.accept", command_payloads.DecideHunks, self.accept, early=EarlyAnswer())
        yield Command("tark.hunk.reject", command_payloads.DecideHunks, self.reject, early=EarlyAnswer())
        yield Command("tark.hunk.edit", command_payloads.EditHunk, self.edit, early=EarlyAnswer())
        yield Command("tark.problem.dismiss", command_payloads.DismissProblems, self.dismiss)

    async def list_hunks(self, request: command_payloads.ListHunks) -> Any:
        """Each hunk names its document, because hunks of several documents can be listed."""
        self._restorer.restore_now()
        documents = self._hunks.by_document(self._find_hunks(request))
        return {
            "hunks": [
                {"uri": document["uri"], "version": document["version"], **hunk}
                for document in documents
                for hunk in document["hunks"]
            ]
        }

    async def accept(self, request: command_payloads.DecideHunks) -> Any:
        chosen = self._chosen_ids(request)
        await self._reviews.accept(chosen)
        return self._decided(chosen, "accepted")

    async def reject(self, request: command_payloads.DecideHunks) -> Any:
        chosen = self._chosen_ids(request)
        if request.take_back:
            self._reviews.reopen(chosen)
        await self._reviews.reject(chosen)
        return self._decided(chosen, "rejected")

    async def edit(self, request: command_payloads.EditHunk) -> Any:
        """Replace the new lines of a hunk. A hunk in conflict becomes a proposal for the lines at its place now."""
        await self._reviews.edit(request.hunk_id, request.new_text)
        if request.accept:
            await self._reviews.accept([request.hunk_id])
            hunk = find_hunk(self._reviews, request.hunk_id, "hunkId")
            if hunk.state != "accepted":
                raise RequestError(f"hunkId: the change could not be applied: {for_user(hunk.reason)}")
        return {"hunkId": request.hunk_id}

    async def dismiss(self, request: command_payloads.DismissProblems) -> Any:
        """Dismiss problems. Ignores ids of problems that no longer exist."""
        problems = self._reviews.problems
        known = [problem.id for problem in problems.find_problems()]
        chosen = known if request.problem_ids is None else [one for one in known if one in request.problem_ids]
        problems.dismiss(chosen)
        return {"dismissed": chosen}

    def _chosen_ids(self, request: command_payloads.DecideHunks) -> list[str]:
        if request.hunk_ids is not None:
            return [find_hunk(self._reviews, hunk_id, "hunkIds").id for hunk_id in request.hunk_ids]
        if request.uri is None and request.turn_id is None:
            raise RequestError("hunkIds, uri or turnId: name what to decide")
        return [hunk.id for hunk in self._find_hunks(request) if hunk.pending]

    def _find_hunks(self, request: command_payloads.ListHunks) -> list[ReviewHunk]:
        path = None
        if request.uri is not None:
            path = path_from_uri(request.uri)
            if path is None:
                raise RequestError(f"uri: {request.uri!r} is not a file")
        found = self._reviews.hunks.find_hunks(path, request.turn_id)
        if request.turn_id is not None and not found:
            self._asked_turns.find_asked(request.turn_id)  # raises if there is no such turn
        return found

    def _decided(self, chosen: list[str], state: str) -> dict[str, Any]:
        hunks = self._reviews.hunks.get_hunks(chosen)
        skipped = [
            {"hunkId": hunk.id, "reason": for_user(hunk.reason) or f"it is {hunk.state} already"}
            for hunk in hunks
            if hunk.state != state
        ]
        return {"hunks": [hunk.id for hunk in hunks if hunk.state == state], "skipped": skipped}


def find_hunk(reviews: Reviews, hunk_id: str, field: str) -> ReviewHunk:
    """Raises RequestError for an unknown id. The error names the `field` of the request."""
    hunk = reviews.hunks.get_hunk(hunk_id)
    if hunk is None:
        raise RequestError(f"{field}: there is no hunk {hunk_id!r}")
    return hunk
