"""Shows a longer text in any editor as a private file in the state folder, opened beside the user's document."""

import os
from dataclasses import dataclass
from pathlib import Path

from tark_lsp.folders import state_folder
from tark_lsp.server.asking.questions import Questions
from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.visible import LONGEST_MESSAGE, cut
from tark_lsp.workspace.uris import uri_from_path

KEPT_FILES = 50


@dataclass(frozen=True, slots=True)
class ShownText:
    """A text that the user asked to see. `path`: the file with the text, if it could be written."""

    text: str
    path: Path | None
    whole: bool
    """Was all of the text shown to the user?"""


class TextDisplay:
    def __init__(self, connection: Connection, questions: Questions) -> None:
        self._connection = connection
        self._questions = questions

    async def show_text(self, name: str, text: str) -> None:
        """Open `text` with `window/showDocument` without taking the focus. If that fails, show its first characters and
        the path as a message. If the state folder cannot be written, the message says so.
        """
        path = self._written(name, text)
        replaces = self._connection.client.flags.show_document_replaces_view
        if path is not None and (replaces or not await self._opened(path)):
            self._questions.tell_lines(cut(text), str(path))

    async def show_whole(self, name: str, text: str, then: str) -> ShownText:
        """Show a text that the user asked to see, also in place of the document in view.

        If the editor does not open it, a message shows the text if it is short enough. Otherwise the message shows the
        path and `then`: what happens when the user has opened the file.
        """
        path = self._written(name, text)
        if path is None:
            return ShownText(text, None, whole=False)
        if await self._opened(path):
            return ShownText(text, path, whole=True)
        whole = len(text) <= LONGEST_MESSAGE
        self._questions.tell_lines(cut(text), str(path) if whole else f"Open {path} to read all of it. {then}")
        return ShownText(text, path, whole=whole)

    async def command_result(self, name: str, text: str) -> None:
        """Show the result of a list, login, usage or doctor command, for clients that do not show results."""
        if not self._connection.client.understands("updates"):
            await self.show_text(f"{name}.md", text)

    def _written(self, name: str, text: str) -> Path | None:
        try:
            path = write_private(state_folder() / "shown", name, text)
            prune(path.parent)
        except OSError as error:
            self._questions.tell_lines(cut(text), f"The rest cannot be shown: {error}")
            return None
        return path

    async def _opened(self, path: Path) -> bool:
        if not self._connection.client.has("window.showDocument.support"):
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
