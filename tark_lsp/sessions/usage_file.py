"""Opens the session file to read usage without changing it, while servers write: for `tark-lsp usage`."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tark_lsp.errors import TarkError
from tark_lsp.sessions.schema import LAYOUT
from tark_lsp.sessions.usage import Read

EMPTY = "SELECT 1 FROM sqlite_master WHERE name = 'usage'"


@contextmanager
def reading(path: Path) -> Iterator[Read | None]:
    """None if there is nothing yet. Raises TarkError if the file is damaged, locked or from a newer version."""
    if not path.exists():
        yield None
        return
    import sqlite3

    from tark_lsp.sqlite_file import open_to_read

    try:
        with closing(open_to_read(path)) as connection:
            ((version,),) = connection.execute("PRAGMA user_version")
            if version > LAYOUT.version:
                raise TarkError(f"{path} was written by a newer tark-lsp", hint="use that one")

            def read(sql: str, *values: Any) -> list[Any]:
                return connection.execute(sql, values).fetchall()

            yield read if read(EMPTY) else None
    except sqlite3.Error as error:
        hint = "a server that uses it puts a damaged file aside and creates a new one"
        raise TarkError(f"{path} cannot be read: {error}", hint=hint) from error
