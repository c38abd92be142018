"""`tark.permissions.*`: lists and revokes what the user allowed for a turn, a session or always; trusted folders."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from tark_lsp.agent.grants import Grant
from tark_lsp.errors import RequestError
from tark_lsp.permissions.store import PermissionStore, PermissionsUnusable, StoredPermission
from tark_lsp.server.commands import Command
from tark_lsp.server.protocol import command_payloads
from tark_lsp.server.sessions.sessions import Sessions
from tark_lsp.server.turns.turn_records import TurnRecords
from tark_lsp.visible import visible
from tark_lsp.workspace.files import Workspace


class PermissionsCommand:
    def __init__(self, store: PermissionStore, workspace: Workspace, sessions: Sessions, records: TurnRecords) -> None:
        self._store = store
        self._workspace = workspace
        self._sessions = sessions
        self._records = records

    def commands(self) -> Iterable[Command]:
        yield Command("tark.permissions.list", command_payloads.ListGiven, self.list_given)
        yield Command("tark.permissions.revoke", command_payloads.RevokeGiven, self.revoke_given)

    async def list_given(self, request: command_payloads.ListGiven) -> dict[str, Any]:
        """First those that are stored, of the open folders or of all; then those of turns and sessions."""
        stored = self._stored(everywhere=request.all)
        of_now = ({**_given(grant), "sessionId": session} for session, grants in self._of_now() for grant in grants)
        return {"permissions": [*map(_stored, stored), *of_now]}

    async def revoke_given(self, request: command_payloads.RevokeGiven) -> dict[str, Any]:
        """Running turns look them up before each call, so it holds at once. `all`: all of the open folders, and those
        of turns and sessions. Raises RequestError if the file cannot be changed."""
        wanted = {*request.ids}
        if request.all:
            wanted |= {one.id for one in self._stored(everywhere=False)}
            wanted |= {grant.id for _, grants in self._of_now() for grant in grants}
        revoked: list[str] = []
        for _, grants in self._of_now():
            revoked += [grant.id for grant in grants if grant.id in wanted]
            grants[:] = [grant for grant in grants if grant.id not in wanted]
        try:
            revoked += self._store.revoke(sorted(wanted))
        except PermissionsUnusable as error:
            raise RequestError(f"what is stored was not revoked: {error.message}") from error
        return {"revoked": list(dict.fromkeys(revoked))}

    def _stored(self, *, everywhere: bool) -> list[StoredPermission]:
        return self._store.permissions(None if everywhere else self._workspace.folders)

    def _of_now(self) -> Iterator[tuple[str, list[Grant]]]:
        """The lists that turns read, with the id of their session."""
        for session in self._sessions.live.all_sessions():
            yield session.id, session.grants
        for record in self._records.active_turns():
            if record.turn is not None:
                yield record.session.id, record.turn.grants


def _stored(one: StoredPermission) -> dict[str, Any]:
    return {
        "id": one.id,
        "kind": one.kind,
        "scope": "always",
        "covers": visible(one.covers),
        "folder": str(one.folder),
        "given": datetime.fromtimestamp(one.given, UTC).isoformat(),
        "holds": one.holds,
    }


def _given(grant: Grant) -> dict[str, Any]:
    return {"id": grant.id, "kind": "grant", "scope": grant.scope, "covers": visible(grant.covers), "holds": True}
