"""The commands `tark.hunk.list`, `.accept` and `.reject`."""

from typing import Any

from tark_lsp.errors import RequestError
from tark_lsp.server import protocol
from tark_lsp.server.hunks_json import HunksJson
from tark_lsp.server.review import Reviews
from tark_lsp.server.review_hunks import ReviewHunk
from tark_lsp.server.turns import Turns
from tark_lsp.server.uris import path_from_uri


class HunkCommands:
    def __init__(self, reviews: Reviews, hunks: HunksJson, turns: Turns) -> None:
        self._reviews = reviews
        self._hunks = hunks
        self._turns = turns

    async def find(self, request: protocol.ListHunks, _: Any) -> Any:
        return {"hunks": [self._hunks.hunk(hunk) for hunk in self._find_hunks(request)]}

    async def accept(self, request: protocol.DecideHunks, _: Any) -> Any:
        chosen = self._chosen(request)
        await self._reviews.accept(chosen)
        return self._decided(chosen, "accepted")

    async def reject(self, request: protocol.DecideHunks, _: Any) -> Any:
        chosen = self._chosen(request)
        await self._reviews.reject(chosen)
        return self._decided(chosen, "rejected")

    def _chosen(self, request: protocol.DecideHunks) -> list[ReviewHunk]:
        if request.hunk_ids is None:
            if request.uri is None and request.turn_id is None:
                raise RequestError("hunkIds, uri or turnId: name what to decide")
            return [hunk for hunk in self._find_hunks(request) if hunk.open]
        chosen = []
        for hunk_id in request.hunk_ids:
            hunk = self._reviews.get(hunk_id)
            if hunk is None:
                raise RequestError(f"hunkIds: there is no hunk {hunk_id!r}")
            chosen.append(hunk)
        return chosen

    def _find_hunks(self, request: protocol.ListHunks) -> list[ReviewHunk]:
        if request.turn_id is not None:
            self._turns.find(request.turn_id)
        path = None
        if request.uri is not None:
            path = path_from_uri(request.uri)
            if path is None:
                raise RequestError(f"uri: {request.uri!r} is no file")
        return self._reviews.find(path, request.turn_id)

    def _decided(self, chosen: list[ReviewHunk], state: str) -> dict[str, Any]:
        skipped = [
            {"hunkId": hunk.id, "reason": hunk.reason or f"it is {hunk.state} already"}
            for hunk in chosen
            if hunk.state != state
        ]
        return {"hunks": [hunk.id for hunk in chosen if hunk.state == state], "skipped": skipped}
