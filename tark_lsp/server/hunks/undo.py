"""`tark.turn.undo` and `tark.turn.redo`: undo and redo what a turn of this workspace changed."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from tark_lsp.server.commands import Command
from tark_lsp.server.connection.early_answers import EarlyAnswer
from tark_lsp.server.hunks.turn_undoing import TurnUndoing
from tark_lsp.server.protocol import command_payloads
from tark_lsp.server.protocol.hunks import HunksJson
from tark_lsp.workspace.checkpoints.turn_undo import UndoResult
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.uris import path_from_uri

Json = dict[str, Any]
PENDING = {"restored": [], "kept": [], "pending": True}
"""The answer for an editor that cannot wait. It sends no text while it waits, and undo needs the text."""
NOT_RESTORED = "what commands did to files that Git ignores stays"
"""The note on each undo and redo of a turn with commands that changed files."""


class UndoCommands:
    def __init__(self, turns: TurnUndoing, workspace: Workspace, hunks: HunksJson) -> None:
        self._turns = turns
        self._workspace = workspace
        self._hunks = hunks

    def commands(self) -> Iterable[Command]:
        for name, handler, done in (("undo", self.undo, "undone"), ("redo", self.redo, "done again")):
            early = EarlyAnswer(PENDING, partial(self._outcome, done))
            yield Command(f"tark.turn.{name}", command_payloads.TurnId, handler, early=early)

    async def undo(self, request: command_payloads.TurnId) -> Json:
        return undo_json(await self._turns.undo(request.turn_id), self._hunks)

    async def redo(self, request: command_payloads.TurnId) -> Json:
        return undo_json(await self._turns.redo(request.turn_id), self._hunks)

    def _outcome(self, verb: str, result: Mapping[str, Any]) -> str:
        """The message for the user after `PENDING`."""
        names = [self._name(uri) for uri in result["restored"]]
        kept = [f"{self._name(item['uri'])} ({item['reason']})" for item in result["kept"]]
        done = f"the turn is {verb} in {', '.join(names)}" if names else f"nothing was {verb}"
        parts = [done, *([f"kept: {', '.join(kept)}"] if kept else []), *([result["note"]] if "note" in result else [])]
        return f"Tark: {'; '.join(parts)}"

    def _name(self, uri: str) -> str:
        path = path_from_uri(uri)
        return uri if path is None else self._workspace.display(path)


def undo_json(result: UndoResult, hunks: HunksJson) -> Json:
    note = {"note": NOT_RESTORED} if result.commands else {}
    return {
        "restored": [hunks.uri(path) for path in result.restored],
        "kept": [{"uri": hunks.uri(path), "reason": reason} for path, reason in result.kept],
        **note,
    }
