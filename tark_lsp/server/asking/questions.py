"""Messages and questions with plain LSP: `window/showMessage` and `window/showMessageRequest`.

Questions are asked one at a time. A second question makes some editors forget the first one and never answer it.
"""

import asyncio
from collections.abc import Sequence

from tark_lsp.server.connection.early_answers import answer_commands
from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.visible import cut, visible, visible_lines
from tark_lsp.workspace.documents import Documents

TYPING_SECONDS = 0.7
"""A question waits until the user has not typed for this time, because some editors move the focus to it."""
LOST_SECONDS = 60.0
"""After this time, an answer may never come. The next question is asked, and a late answer still counts."""
ERROR, WARNING, INFO = 1, 2, 3


class Questions:
    def __init__(self, connection: Connection, documents: Documents) -> None:
        self._connection = connection
        self._documents = documents
        self._slot = asyncio.Lock()

    async def ask(self, text: str, actions: Sequence[str], *, level: int = INFO) -> str | None:
        """Return the title of the chosen action. None if there is no answer, which means neither yes nor no.

        `text` and `actions` are shown as they are, so pass what `visible` returns.
        Cancelling withdraws the question (`$/cancelRequest`) if the editor supports it.
        """
        params = {"type": level, "message": cut(text), "actions": [{"title": title} for title in actions]}
        async with self._slot:
            await self._documents.wait_for_quiet(TYPING_SECONDS)
            await answer_commands(self._connection)
            request = asyncio.ensure_future(self._connection.request("window/showMessageRequest", params))
            try:
                await asyncio.wait({request}, timeout=LOST_SECONDS)
            except asyncio.CancelledError:
                request.cancel()
                raise
        try:
            answer = await request
        except RequestFailed:
            return None
        title = answer.get("title") if isinstance(answer, dict) else None
        return title if title in actions else None

    def tell(self, text: str, *, level: int = INFO) -> None:
        """Show `text`, which can contain text of a provider or a repository, on one line."""
        self._notify(visible(text), level)

    def tell_lines(self, text: str, ours: str, *, level: int = INFO) -> None:
        """Show the lines of `text`, and below them `ours`, a sentence by Tark."""
        self._notify(f"{visible_lines(text)}\n\n{visible(ours)}", level)

    def warn(self, text: str) -> None:
        self.tell(text, level=WARNING)

    def _notify(self, shown: str, level: int) -> None:
        self._connection.notify("window/showMessage", {"type": level, "message": shown})
