"""The questions before the user approves an offer of a project: whether they trust the folder, and yes or no."""

from pathlib import Path

from tark_lsp.cli.keyboard import Keyboard
from tark_lsp.cli.runtime import at_terminal
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.visible import whole_line
from tark_lsp.errors import RequestError
from tark_lsp.folders import permissions_path
from tark_lsp.permissions.store import PermissionStore


def require_terminal() -> None:
    """Raises RequestError."""
    if not at_terminal():
        raise RequestError("this is not a terminal, so nobody can see what is approved", hint="use a terminal")


class OfferQuestions:
    def __init__(self, screen: Screen, folder: Path) -> None:
        self._screen = screen
        self._folder = folder
        self._keyboard = Keyboard()

    async def is_trusted(self, what: str, why: str = "comes with the folder") -> bool:
        """Whether the user trusts the folder, which `what` needs, because it `why`. Asks them if they have not said so.
        Raises RequestError without a terminal."""
        store = PermissionStore(permissions_path, lambda problem: self._screen.print_line(problem, "yellow"))
        try:
            if store.is_trusted([self._folder]):
                return True
            if not at_terminal():
                hint = "run `tark-lsp permissions trust` in it, if you trust it"
                raise RequestError(f"this {what} {why}, and you do not trust {self._folder}", hint=hint)
            question = f"This {what} {why}. Do you trust {whole_line(str(self._folder))}?"
            if not await self.agreed(question):
                return False
            store.add(self._folder)
            return True
        finally:
            store.close()

    async def agreed(self, question: str) -> bool:
        while (typed := await self._keyboard.ask(f"{question} [y]es, [n]o, then Enter: ")) is not None:
            if typed[:1].lower() in ("y", "n"):
                return typed[:1].lower() == "y"
        return False
