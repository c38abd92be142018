"""Questions at the terminal whose answer is one of some letters: Enter alone, or anything else, decides nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tark_lsp.cli.keyboard import Asks
from tark_lsp.cli.visible import visible
from tark_lsp.errors import TarkError

Hunks = Sequence[tuple[str, Mapping[str, Any]]]
"""Each with its document's uri; as in update `hunks` (protocol.md)."""


@dataclass(frozen=True, slots=True)
class Choice:
    """`word` holds its letter in brackets, and is what stands in the question; `help` says more when `?` is typed.
    `words`: some may follow it."""

    word: str
    help: str
    words: bool = False

    @property
    def letter(self) -> str:
        return self.word[self.word.index("[") + 1]

    def fits(self, typed: str) -> bool:
        """The letter or the word, whole: what was begun as a sentence is no answer."""
        words = self.word.replace("[", "").replace("]", "").lower().split()
        first, _, rest = typed.lower().partition(" ")
        return first in (self.letter, *words[:1]) and (self.words or not rest)


HELP = Choice("[?]", "this list")


@dataclass(frozen=True, slots=True)
class Chosen:
    """The ids of the hunks that the person said yes to, and the new texts that they gave to some of them."""

    ids: list[str] = field(default_factory=list)
    edited: dict[str, str] = field(default_factory=dict)


class Shows(Protocol):
    """What questions need of a screen."""

    def line(self, text: str, style: str = "none") -> None: ...

    def hunk(self, uri: str, hunk: Mapping[str, Any]) -> None: ...


class EditsText(Protocol):
    async def __call__(self, text: str, uri: str) -> str | None:
        """`text` as the person made it in their editor; None: it is unchanged. Raises RequestError (cli/editor.py)."""
        ...


async def choose(keyboard: Asks, screen: Shows, question: str, choices: Sequence[Choice]) -> str | None:
    """The letter of one choice, however often it takes. None: the input ended."""
    picked = await pick(keyboard, screen, question, choices)
    return None if picked is None else picked[0]


async def pick(
    keyboard: Asks, screen: Shows, question: str, choices: Sequence[Choice], more: Sequence[str] = ()
) -> tuple[str, str] | None:
    """The same, with the words that followed. `more`: lines that `?` shows, too."""
    offered = [*choices, HELP]
    words = ", ".join(each.word for each in offered)
    while (typed := await keyboard.ask(f"{question} {words}: ")) is not None:
        if typed == HELP.letter:
            for line in [*(f"  {each.letter}  {each.help}" for each in offered), *more]:
                screen.line(line)
            continue
        for each in choices:
            if each.fits(typed):
                return each.letter, typed.partition(" ")[2].strip()
        screen.line(f"answer with a letter and Enter: {', '.join(each.letter for each in offered)}", "dim")
    return None


async def choose_hunks(keyboard: Asks, screen: Shows, hunks: Hunks, edit: EditsText | None) -> Chosen | None:
    """Each hunk is shown and asked about. None: the input ended, which says neither yes nor no."""
    chosen = Chosen()
    for number, (uri, hunk) in enumerate(hunks, 1):
        screen.hunk(uri, hunk)
        left = len(hunks) - number
        choices = [
            Choice("[y]es", "apply this hunk"),
            Choice("[n]o", "leave this hunk out"),
            *([Choice("[a]ll", f"apply this hunk and the {left} after it")] if left else []),
            *([Choice("[d]one", f"leave out this hunk and the {left} after it")] if left else []),
            *([Choice("[e]dit", "change its new text in your editor first")] if edit and _is_text(hunk) else []),
        ]
        while True:
            letter = await choose(keyboard, screen, f"This hunk ({number} of {len(hunks)})?", choices)
            if letter == "e" and edit is not None:
                text = str(chosen.edited.get(hunk["hunkId"], hunk["newText"]))
                written = await _edited(screen, edit, text, uri)
                if written is not None:
                    chosen.edited[hunk["hunkId"]] = written
                    screen.hunk(uri, {**hunk, "newText": written})
                continue
            break
        if letter is None:
            return None
        if letter == "y":
            chosen.ids.append(hunk["hunkId"])
        elif letter == "a":
            chosen.ids.extend(each["hunkId"] for _, each in hunks[number - 1 :])
        if letter in "ad":
            break
    return chosen


async def _edited(screen: Shows, edit: EditsText, text: str, uri: str) -> str | None:
    try:
        written = await edit(text, uri)
    except TarkError as error:
        screen.line(f"{visible(error.message)}: {visible(error.hint)}", "yellow")
        return None
    if written is None:
        screen.line("it is as it was", "dim")
    return written


def _is_text(hunk: Mapping[str, Any]) -> bool:
    """Moving or removing a file has no text to change."""
    return not hunk.get("operation")
