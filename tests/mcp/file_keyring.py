"""A keyring in a file, for programs that a test starts. `TEST_KEYRING_FILE` names it."""

import json
import os
from pathlib import Path

from tests.llm.keys.keyring_backends import Real

VARIABLE = "TEST_KEYRING_FILE"


class FileKeyring(Real):
    def _entries(self) -> dict[str, str]:
        file = Path(os.environ[VARIABLE])
        entries: dict[str, str] = json.loads(file.read_text()) if file.exists() else {}
        return entries

    def _write(self, entries: dict[str, str]) -> None:
        Path(os.environ[VARIABLE]).write_text(json.dumps(entries))

    def get_password(self, service: str, username: str) -> str | None:  # noqa: ARG002  a test has one service
        return self._entries().get(username)

    def set_password(self, service: str, username: str, password: str) -> None:  # noqa: ARG002  see above
        self._write({**self._entries(), username: password})

    def delete_password(self, service: str, username: str) -> None:  # noqa: ARG002  see above
        self._write({name: text for name, text in self._entries().items() if name != username})
