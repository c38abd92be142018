"""`comments.runOnSave`: random steps of a user, of other programs and of ours, in any order."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from tark_lsp.workspace.edits import ProposedEdit
from tests.cases import cases
from tests.server.turns.comment_hand import BY_HAND, DELAY, FOCUS, MakeHand, names


@dataclass(eq=False)
class Line:
    """Each text is unique. `ends`: "" without a `!`, "mine" if its `!` should run, "other" if not."""

    words: str
    ends: str = ""

    @property
    def text(self) -> str:
        return f"{self.words}{' !' if self.ends else ''}\n"


class Story:
    """Random steps of a user, of other programs and of ours; what should run is known from the lines."""

    def __init__(self, hand: MakeHand, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines = [self.line(), self.line(), self.line("x")]
        self.hand = hand(self.text)
        self.disk = self.text

    def line(self, kind: str = "# tark: w") -> Line:
        number = next(names)
        return Line(f"{kind}{number:04}" if kind != "x" else f"x = {number}")

    @property
    def text(self) -> str:
        return "".join(line.text for line in self.lines)

    def offset(self, line: Line | None) -> int:
        """Where it begins; the end of the text without a line."""
        at = len(self.lines) if line is None else self.lines.index(line)
        return sum(len(other.text) for other in self.lines[:at])

    def comment(self, *, marked: bool) -> Line | None:
        found = [line for line in self.lines if line.words.startswith("#") and bool(line.ends) == marked]
        return self.random.choice(found) if found else None

    def type_mark(self) -> None:
        if (line := self.comment(marked=False)) is not None:
            self.hand.type(line.words, " !")
            line.ends = "other"
            line.ends = "mine" if self.text != self.disk else "other"

    def remove_mark(self) -> None:
        if (line := self.comment(marked=True)) is not None:
            self.hand.put(f"{line.words} !", line.words)
            line.ends = ""

    def remove_line(self) -> None:
        if len(self.lines) > 2:
            line = self.random.choice(self.lines)
            self.hand.put(line.text, "")
            self.lines.remove(line)

    def paste(self) -> None:
        """A line or several, at the start of a line."""
        new = [self.line(self.random.choice(["x", "# tark: w"])) for _ in range(self.random.choice([1, 1, 2, 3]))]
        for line in new:
            line.ends = "other" if line.words.startswith("#") and self.random.random() < 0.7 else ""
        at = self.random.randrange(len(self.lines) + 1)
        place = sum(len(line.text) for line in self.lines[:at])
        self.hand.desk.editor.type(self.hand.path, (place, place, "".join(line.text for line in new)))
        self.lines[at:at] = new
        if len(new) == 1 and new[0].ends:
            new[0].ends = "mine" if self.text != self.disk else "other"

    def reload(self) -> None:
        """Another program adds a `!` or a line, in the file that has no unsaved changes."""
        if self.text != self.disk:
            return
        if (line := self.comment(marked=False)) is not None and self.random.random() < 0.5:
            line.ends = "other"
        else:
            added = self.line()
            added.ends = "other"
            self.lines.insert(self.random.randrange(len(self.lines) + 1), added)
        self.disk = self.text
        self.hand.reload(self.text, whole=self.random.random() < 0.5)

    async def write_ours(self) -> None:
        if (line := self.comment(marked=False)) is not None:
            document = self.hand.desk.app.parts.documents.at(self.hand.path)
            assert document is not None
            line.ends = "other"
            await self.hand.desk.app.parts.buffers.apply(ProposedEdit.between(document.snapshot(), self.text), "ours")

    async def save(self) -> None:
        reason = self.random.choice([BY_HAND, BY_HAND, DELAY, FOCUS, None])
        mine = [line for line in self.lines if line.ends == "mine"] if reason == BY_HAND else []
        self.disk = self.text
        twice = self.random.random() < 0.3
        steps = [partial(self.hand.save, reason)] * (2 if twice else 1)
        assert await self.hand.ran(*steps) == [line.words.removeprefix("# tark: ") for line in mine]
        for line in mine:
            line.ends = ""

    async def go(self) -> None:
        steps: list[Callable[[], Any]] = [
            self.type_mark, self.type_mark, self.remove_mark, self.remove_line,
            self.paste, self.reload, self.write_ours, self.save, self.save,
        ]  # fmt: skip
        for _ in range(30):
            step = self.random.choice(steps)
            done = step()
            if done is not None:
                await done
            assert self.hand.text == self.text, step.__name__


async def test_any_order_of_steps(hand: MakeHand) -> None:
    with cases() as case:
        for seed in range(20):
            with case(seed):
                await Story(hand, seed).go()
