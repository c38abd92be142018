"""Shows a longer text in any editor: a private file in the state folder, opened beside the user's document."""

import os
from pathlib import Path

from tark_lsp.folders import state_folder
from tark_lsp.server.asking.questions import Questions
from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.visible import cut
from tark_lsp.workspace.uris import uri_from_path

FIRST_CHARACTERS = 300
KEPT_FILES = 50


class TextDisplay:
    def __init__(self, connection: Connection, questions: Questions) -> None:
        self._connection = connection
        self._questions = questions

    async def show_text(self, name: str, text: str) -> Path | None:
        """Open `text` by `window/showDocument` without taking the focus; else show its first characters and the path
        as a message.

        None if the state folder cannot be written: then a message says so, and only the beginning was shown.
        """
        try:
            path = write_private(state_folder() / "shown", name, text)
            prune(path.parent)
        except OSError as error:
            self._questions.tell(f"{cut(text, FIRST_CHARACTERS)}\n\nThe rest cannot be shown: {error}")
            return None
        if not await self._opened(path):
            self._questions.tell(f"{cut(text, FIRST_CHARACTERS)}\n\n{path}")
        return path

    async def command_result(self, name: str, text: str) -> None:
        """The result of a list, login, usage or doctor command, for clients that do not show results themselves."""
        if not self._connection.client.understands("updates"):
            await self.show_text(f"{name}.md", text)

    async def _opened(self, path: Path) -> bool:
        client = self._connection.client
        if not client.has("window.showDocument.support") or client.flags.show_document_replaces_view:
            return False
        params = {"uri": uri_from_path(path), "external": False, "takeFocus": False}
        try:
            answer = await self._connection.request("window/showDocument", params)
        except RequestFailed:
            return False
        return isinstance(answer, dict) and answer.get("success") is True


def write_private(folder: Path, name: str, text: str) -> Path:
    """Write a file with mode 0600 in a folder with mode 0700."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / name
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="") as stream:
        stream.write(text)
    return path


def prune(folder: Path) -> None:
    """Delete the oldest files, so that the folder does not grow forever."""
    files = sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime, reverse=True)
    for old in files[KEPT_FILES:]:
        old.unlink(missing_ok=True)
