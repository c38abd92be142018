"""`window/showMessageRequest`, one at a time: a second one makes some editors forget the first, never to answer it."""

import asyncio
from collections.abc import Sequence

from tark_lsp.server.asking.visible import cut, visible
from tark_lsp.server.connection.lsp import Connection, RequestFailed
from tark_lsp.server.documents.documents import Documents

TYPING_SECONDS = 0.7
"""Not sent until the person has not typed for so long: some editors take the keyboard for it."""
LOST_SECONDS = 60.0
"""An answer that takes longer may never come: the next question is shown, and a late answer still counts."""
WARNING, INFO = 2, 3


class Questions:
    def __init__(self, connection: Connection, documents: Documents) -> None:
        self._connection = connection
        self._documents = documents
        self._slot = asyncio.Lock()

    async def ask(self, text: str, actions: Sequence[str], *, level: int = INFO) -> str | None:
        """The title of the chosen action. None: unanswered, which is neither yes nor no.

        Cancelling takes the question back (`$/cancelRequest`), where the editor can.
        """
        params = {"type": level, "message": cut(text), "actions": [{"title": title} for title in actions]}
        async with self._slot:
            await self._documents.quiet(TYPING_SECONDS)
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
        """Whatever is in `text`, a provider's words or a repository's, is shown as what it is."""
        shown = "\n".join(visible(line) for line in text.splitlines())
        self._connection.notify("window/showMessage", {"type": level, "message": shown})
