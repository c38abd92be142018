"""The file of what the user allowed for longer than a session: commands in a workspace, and trusted workspaces.

All servers of the user read it before each decision, so what is revoked holds nowhere any more. If it cannot be read,
nothing is allowed by it: it has no copy in memory, in which something that was revoked would go on.
"""

import json
import os
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from tark_lsp.commands.grant_patterns import Pattern, describe_patterns
from tark_lsp.errors import TarkError
from tark_lsp.listeners import Listeners
from tark_lsp.permissions.folder_identity import identify_folder

if TYPE_CHECKING:  # sqlite3 is imported when something is stored, not when the server starts
    from sqlite3 import Connection

    from tark_lsp.sqlite_file import FileIdentity

VERSION = 1
TABLES = (
    """CREATE TABLE permissions (id TEXT PRIMARY KEY, folder TEXT NOT NULL, identity TEXT NOT NULL,
    commands TEXT NOT NULL, given REAL NOT NULL, UNIQUE (folder, identity, commands)) STRICT""",
)
"""`commands` is JSON: `[text, subfolder]`, or a list of `[words, any arguments]`; empty for a trusted folder."""
COLUMNS = "id, folder, identity, commands, given"
BUSY_SECONDS = 0.25
"""How long another process can hold the file; a write takes less than a millisecond."""
T = TypeVar("T")


class PermissionsUnusable(TarkError):
    """The file of permissions cannot be written or read. `message` says why."""

    code = "permissions_unusable"


class RowDamaged(ValueError):
    """A row that this file never has."""


@dataclass(frozen=True, slots=True)
class AllowedCommands:
    """One command, exactly its `text`, that starts in `subfolder` of the workspace folder; or all of some patterns."""

    text: str = ""
    subfolder: str = "."
    patterns: tuple[Pattern, ...] = ()

    def __str__(self) -> str:
        where = "" if self.subfolder == "." else f" in {self.subfolder}"
        return describe_patterns(self.patterns) if self.patterns else f"`{self.text}`{where}"


@dataclass(frozen=True, slots=True)
class StoredPermission:
    """`folder` is the real path of a workspace folder; without `commands` it is trusted. `given`: seconds since 1970.

    `holds`: the folder that is there now is the one that it was given for.
    """

    id: str
    folder: Path
    commands: AllowedCommands | None
    given: float
    holds: bool

    @property
    def kind(self) -> Literal["grant", "trust"]:
        return "trust" if self.commands is None else "grant"

    @property
    def covers(self) -> str:
        """What it allows, for the user; the folder is not in it."""
        return "the folder is trusted" if self.commands is None else str(self.commands)


class PermissionStore:
    """For one thread. Nothing is opened, created or imported before the first use."""

    def __init__(self, locate: Callable[[], Path], warn: Callable[[str], object]) -> None:
        """`locate()` returns the file, whose folder exists, or raises OSError. `warn` tells the user each problem once;
        then nothing is allowed by this file."""
        self._locate = locate
        self._warn = warn
        self._open: Connection | None = None
        self._identity: FileIdentity | None = None
        self._said: set[str] = set()
        self.changed: Listeners[None] = Listeners()
        """Tells what this process changed, not what others did."""

    def permissions(self, folders: Iterable[Path | str] | None = None) -> list[StoredPermission]:
        """Those of these workspace folders, or all; the oldest first. None if the file cannot be read."""
        try:
            return self._read(None if folders is None else _real(folders))
        except PermissionsUnusable as error:
            self._say(error.message)
            return []

    def grants_in(self, folders: Iterable[Path]) -> list[StoredPermission]:
        """Those for commands in these workspace folders, which hold."""
        return [one for one in self.permissions(folders) if one.holds and one.commands]

    def is_trusted(self, folders: Iterable[Path]) -> bool:
        """Whether each of these folders is trusted."""
        real = _real(folders)
        trusted = {str(one.folder) for one in self.permissions(real) if one.holds and one.commands is None}
        return bool(real) and real <= trusted

    def add(self, folder: Path, commands: AllowedCommands | None = None) -> StoredPermission:
        """Without commands, the folder is trusted. What is there already stays. Raises PermissionsUnusable."""
        folder = Path(os.path.realpath(folder))
        identity = identify_folder(folder)
        if identity is None:
            raise PermissionsUnusable(f"{folder} is not a folder")
        if not _is_storable(str(folder)):
            raise PermissionsUnusable(f"{folder}: its name is not UTF-8, so nothing can be allowed there for always")
        new_id = f"{'trust' if commands is None else 'grant'}-{secrets.token_hex(4)}"
        row = (new_id, str(folder), identity, _json(commands), time.time())

        def work(connection: "Connection") -> StoredPermission:
            connection.execute("INSERT OR IGNORE INTO permissions VALUES (?, ?, ?, ?, ?)", row)
            same = "folder = ? AND identity = ? AND commands = ?"
            found = connection.execute(f"SELECT {COLUMNS} FROM permissions WHERE {same}", row[1:4]).fetchall()
            return _permission(found[0], identify_folder)

        added = self._write(work)
        self.changed.emit(None)
        return added

    def revoke(self, ids: Iterable[str]) -> list[str]:
        """The ids of those that were there. Raises PermissionsUnusable."""
        wanted = list(dict.fromkeys(ids))

        def work(connection: "Connection") -> list[str]:
            delete = "DELETE FROM permissions WHERE id = ?"
            return [one for one in wanted if connection.execute(delete, (one,)).rowcount]

        revoked = self._write(work) if self._exists() else []
        self.changed.emit(None)
        return revoked

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def _read(self, folders: set[str] | None) -> list[StoredPermission]:
        if not self._exists():
            self.close()
            return []
        known = tuple(filter(_is_storable, folders or ()))
        where = "" if folders is None else f"WHERE folder IN ({', '.join('?' * len(known))})"
        select = f"SELECT {COLUMNS} FROM permissions {where} ORDER BY given, id"
        identify = cache(identify_folder)  # one folder can have many
        return self._run(lambda connection: [_permission(row, identify) for row in connection.execute(select, known)])

    def _write(self, work: "Callable[[Connection], T]") -> T:
        from tark_lsp.sqlite_file import in_transaction

        return self._run(lambda connection: in_transaction(connection, work))

    def _run(self, work: "Callable[[Connection], T]") -> T:
        """Raises PermissionsUnusable. A damaged file is put aside, and `work` is done with a new one."""
        import sqlite3

        from tark_lsp.sqlite_file import is_damaged

        for is_last in (False, True):
            try:
                return work(self._connection())
            except (sqlite3.Error, OSError, RowDamaged) as error:
                self.close()
                damaged = isinstance(error, RowDamaged) or is_damaged(error)
                if is_last or not damaged or not self._put_aside():
                    raise PermissionsUnusable(_reason(error)) from error
        raise AssertionError("the last attempt returns or raises")

    def _put_aside(self) -> bool:
        from tark_lsp.sqlite_file import put_aside

        try:
            aside = put_aside(self._locate(), self._identity)
        except (FileNotFoundError, FileExistsError):
            return True  # another process has put it aside, or does so now: try the file that is there
        except OSError:
            return False
        self._say(f"the file of permissions was damaged, and was put aside as {aside.name}")
        return True

    def _connection(self) -> "Connection":
        """To the file that is at its path now."""
        from tark_lsp.sqlite_file import file_identity, open_file

        path = self._locate()
        if self._open is not None and file_identity(path) != self._identity:
            self.close()
        if self._open is None:
            self._identity = file_identity(path)
            self._open = open_file(path, VERSION, TABLES, BUSY_SECONDS)
            self._identity = file_identity(path)
        return self._open

    def _exists(self) -> bool:
        try:
            return self._locate().exists()
        except OSError:
            return True  # it is said when it is opened

    def _say(self, problem: str) -> None:
        if problem not in self._said:
            self._said.add(problem)
            self._warn(f"{problem}: what you allowed for always is not allowed any more, and no workspace is trusted")


def _permission(row: Sequence[Any], identify: Callable[[Path], str | None]) -> StoredPermission:
    """Raises RowDamaged."""
    stored_id, folder, identity, text, given = row
    place = Path(folder)
    try:
        commands = _commands(json.loads(text)) if text else None
    except (ValueError, TypeError) as error:
        raise RowDamaged(f"the row {stored_id} cannot be read") from error
    if (commands is None) is not stored_id.startswith("trust-"):  # a grant must never count as trust
        raise RowDamaged(f"the row {stored_id} is not what its name says")
    return StoredPermission(stored_id, place, commands, given, holds=identify(place) == identity)


def _json(commands: AllowedCommands | None) -> str:
    if commands is None:
        return ""
    if not commands.patterns:
        return json.dumps([commands.text, commands.subfolder])
    return json.dumps([[list(one.words), one.any_arguments] for one in commands.patterns])


def _commands(value: Any) -> AllowedCommands:
    """Raises ValueError or TypeError if it is not from `_json`."""
    if isinstance(value, list) and len(value) == 2 and all(isinstance(one, str) and one for one in value):
        return AllowedCommands(*value)
    patterns = tuple(_pattern(one) for one in value)
    if not patterns:
        raise ValueError("it covers nothing")
    return AllowedCommands(patterns=patterns)


def _pattern(value: Any) -> Pattern:
    words, any_arguments = value
    if not words or not all(isinstance(word, str) for word in words) or not isinstance(any_arguments, bool):
        raise ValueError(f"not a pattern: {value!r}")
    return Pattern(tuple(words), any_arguments)


def _is_storable(folder: str) -> bool:
    """Whether the path is UTF-8, as SQLite's texts are."""
    try:
        folder.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _real(folders: Iterable[Path | str]) -> set[str]:
    return {os.path.realpath(folder) for folder in folders}


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno is not None:
        return f"the file of permissions cannot be used: {os.strerror(error.errno)}"
    return f"the file of permissions cannot be used: {error}"
