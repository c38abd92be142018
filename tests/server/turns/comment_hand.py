"""Somebody who writes `tark:` comments and saves, in a server before a scripted editor."""

from collections.abc import Callable
from itertools import count

from tark_lsp.server.turns.turn_record import TurnRecord
from tests.server.desk import Desk

ON = "[comments]\nrunOnSave = true\n"
BY_HAND, DELAY, FOCUS = 1, 2, 3
AREA = "def area(r):\n    return r\n"
COMMENT = "# tark: shorter"
COMMENTED = f"{COMMENT}\n{AREA}"
SHORTER = ["shorter"]
"""The prompts that the comment runs."""
names = count()


class Accepted:
    """The prompts of the turns that were started, in their order."""

    def __init__(self, desk: Desk) -> None:
        self.prompts: list[str] = []
        desk.app.parts.turns.listen(self)

    def on_turn_accepted(self, record: TurnRecord) -> None:
        self.prompts.append(record.request.prompt)

    def on_turn_event(self, *_: object) -> None: ...

    def on_update_sent(self, *_: object) -> None: ...

    def on_turn_ended(self, *_: object) -> None: ...


class Hand:
    """Somebody who works on one file."""

    def __init__(self, desk: Desk, accepted: Accepted, text: str = AREA, *, file: str = "", language: str = "") -> None:
        self.desk, self.accepted = desk, accepted
        self.path = desk.editor.open(file or f"f{next(names)}.py", text, language=language or "python")

    @property
    def text(self) -> str:
        return self.desk.editor.text(self.path)

    def put(self, old: str, new: str) -> "Hand":
        """Replace the text `old` in one notification of one change."""
        start = self.text.index(old)
        self.desk.editor.type(self.path, (start, start + len(old), new))
        return self

    def type(self, after: str, text: str) -> "Hand":
        """Each character is a notification."""
        at = self.text.index(after) + len(after)
        for place, character in enumerate(text, at):
            self.desk.editor.type(self.path, (place, place, character))
        return self

    def comment(self, text: str = f"{COMMENT} !") -> "Hand":
        """Write it above everything."""
        at = self.text.index("def")
        self.desk.editor.type(self.path, (at, at, "\n"))
        for place, character in enumerate(text, at):
            self.desk.editor.type(self.path, (place, place, character))
        return self

    def replace(self, text: str) -> "Hand":
        """The editor sends the whole text."""
        self.desk.editor.replace(self.path, text)
        return self

    def reload(self, text: str, *, whole: bool = False) -> None:
        """The file changes on disk, and the editor reads it again."""
        self.path.write_bytes(text.encode())
        if whole:
            self.desk.editor.replace(self.path, text)
        else:
            self.desk.editor.type(self.path, (0, len(self.text), text))

    def save(self, announced: int | None = BY_HAND, told: int | None = None) -> None:
        """The reasons in `willSave` and `didSave`: standard editors have only the first one."""
        about = {"textDocument": {"uri": self.path.as_uri()}}
        self.desk.app.parts.document_sync.will_save({**about, "reason": announced})
        self.path.write_bytes(self.text.encode())
        self.desk.app.parts.document_sync.did_save({**about, "reason": told})

    async def ran(self, *steps: Callable[[], object]) -> list[str]:
        """The prompts of the turns that these steps started."""
        before = len(self.accepted.prompts)
        for step in steps:
            step()
        await self.desk.settled()
        return self.accepted.prompts[before:]


MakeHand = Callable[..., Hand]
