"""An edit shown for the person to tick (VS Code's Refactor Preview, Neovim from 0.12), and how they answer it."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field

from tests.editors.connection import Json


@dataclass(slots=True)
class Previewed:
    """`answer`: what of the edit is to be applied; None: nothing, the preview was closed."""

    edit: Json
    answer: "asyncio.Future[Json | None]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    @property
    def texts(self) -> list[str]:
        """The new text of each change, in the order shown."""
        return [edit["newText"] for change in self.edit["documentChanges"] for edit in change["edits"]]

    def tick(self, wanted: Collection[str]) -> None:
        """Apply the changes with these new texts; documents of which none is ticked are left out."""
        changes = []
        for change in self.edit["documentChanges"]:
            edits = [edit for edit in change["edits"] if edit["newText"] in wanted]
            changes += [{**change, "edits": edits}] if edits else []
        self.answer.set_result({"documentChanges": changes})

    def discard(self) -> None:
        self.answer.set_result(None)
