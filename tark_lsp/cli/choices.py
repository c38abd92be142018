"""Questions in the terminal that are answered by a letter. If whole lines are read, Enter follows the letter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tark_lsp.cli.keyboard import AnswerInput
from tark_lsp.cli.visible import visible
from tark_lsp.errors import TarkError

Hunks = Sequence[tuple[str, Mapping[str, Any]]]
"""Pairs of a document's URI and a hunk, as in the update `hunks` (protocol.md)."""


@dataclass(frozen=True, slots=True)
class Choice:
    """`word` is shown in the question, with its letter in brackets. `help` is shown for `?`. `words`: text can follow
    the letter. `more`: the question for this text, if it is missing.
    """

    word: str
    help: str
    words: bool = False
    more: str = ""

    @property
    def letter(self) -> str:
        return self.word[self.word.index("[") + 1]

    def matches(self, typed: str) -> bool:
        """Whether `typed` is exactly the letter or the word. The start of a sentence is not an answer."""
        words = self.word.replace("[", "").replace("]", "").lower().split()
        first, _, rest = typed.lower().partition(" ")
        return first in (self.letter, *words[:1]) and (self.words or not rest)


HELP = Choice("[?]", "this list")


@dataclass(frozen=True, slots=True)
class HunkChoices:
    """The ids of the accepted hunks, and the new texts of those that the user edited."""

    ids: list[str] = field(default_factory=list)
    edited: dict[str, str] = field(default_factory=dict)


class ChoiceScreen(Protocol):
    """The part of a screen that questions use."""

    def print_line(self, text: str, style: str = "none") -> None: ...

    def show_hunk(self, uri: str, hunk: Mapping[str, Any]) -> None: ...


class TextEditor(Protocol):
    async def __call__(self, text: str, uri: str) -> str | None:
        """The text after the user's changes in an editor; None if unchanged. Raises RequestError (cli/editor.py)."""
        ...


async def choose_letter(
    keyboard: AnswerInput, screen: ChoiceScreen, question: str, choices: Sequence[Choice]
) -> str | None:
    """Asks until the answer is valid, and returns the letter of the choice; None if the input ended."""
    picked = await choose_letter_and_words(keyboard, screen, question, choices)
    return None if picked is None else picked[0]


async def choose_letter_and_words(
    keyboard: AnswerInput, screen: ChoiceScreen, question: str, choices: Sequence[Choice], more: Sequence[str] = ()
) -> tuple[str, str] | None:
    """As `choose_letter`, but also returns the text after the letter. `more`: further lines to show for `?`."""
    offered = [*choices, HELP]
    words = ", ".join(choice.word for choice in offered)
    keys = "".join(choice.letter for choice in offered)
    while (typed := await keyboard.ask(f"{question} {words}: ", keys)) is not None:
        if typed == HELP.letter:
            for line in [*(f"  {choice.letter}  {choice.help}" for choice in offered), *more]:
                screen.print_line(line)
            continue
        for choice in choices:
            if choice.matches(typed):
                text = typed.partition(" ")[2].strip()
                if choice.more and not text:
                    written = await keyboard.ask(choice.more, at_once=True)
                    return None if written is None else (choice.letter, written)
                return choice.letter, text
        screen.print_line(f"answer with a letter and Enter: {', '.join(keys)}", "dim")
    return None


async def choose_hunks(
    keyboard: AnswerInput, screen: ChoiceScreen, hunks: Hunks, edit: TextEditor | None
) -> HunkChoices | None:
    """Shows each hunk and asks whether to apply it. None if the input ended, which is not an answer."""
    chosen = HunkChoices()
    for number, (uri, hunk) in enumerate(hunks, 1):
        screen.show_hunk(uri, hunk)
        left = len(hunks) - number
        choices = [
            Choice("[y]es", "apply this hunk"),
            Choice("[n]o", "do not apply this hunk"),
            *([Choice("[a]ll", f"apply this hunk and the {left} after it")] if left else []),
            *([Choice("[d]one", f"do not apply this hunk and the {left} after it")] if left else []),
            *([Choice("[e]dit", "edit its new text in your editor first")] if edit and _is_text(hunk) else []),
        ]
        while True:
            letter = await choose_letter(keyboard, screen, f"This hunk ({number} of {len(hunks)})?", choices)
            if letter == "e" and edit is not None:
                text = str(chosen.edited.get(hunk["hunkId"], hunk["newText"]))
                written = await _edited(screen, edit, text, uri)
                if written is not None:
                    chosen.edited[hunk["hunkId"]] = written
                    screen.show_hunk(uri, {**hunk, "newText": written})
                continue
            break
        if letter is None:
            return None
        if letter == "y":
            chosen.ids.append(hunk["hunkId"])
        elif letter == "a":
            chosen.ids.extend(remaining["hunkId"] for _, remaining in hunks[number - 1 :])
        if letter in "ad":
            break
    return chosen


async def _edited(screen: ChoiceScreen, edit: TextEditor, text: str, uri: str) -> str | None:
    try:
        written = await edit(text, uri)
    except TarkError as error:
        screen.print_line(f"{visible(error.message)}: {visible(error.hint)}", "yellow")
        return None
    if written is None:
        screen.print_line("unchanged", "dim")
    return written


def _is_text(hunk: Mapping[str, Any]) -> bool:
    """Whether the hunk has a text to edit. A move or removal of a file has none."""
    return not hunk.get("operation")
