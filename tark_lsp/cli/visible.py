"""Foreign text for the terminal: what could steer it, or hide something from the eye, is shown as an escape.

Unlike `server/asking/visible.py`, for one line of a popup, this keeps lines, and code, as they are.
"""

from tark_lsp.server.asking.visible import BLANK_BUT_LETTERS, cut

# After an emoji these only choose its colour, and models write them often.
_BLANK = BLANK_BUT_LETTERS - {"\ufe0e", "\ufe0f"}


def visible(text: str) -> str:
    """`text` with every character that does not show, but newline and tab, as `\\x1b` or `\\u202e`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def whole_line(text: str) -> str:
    """The same on one line, however long: what a person says yes to has no end that is not shown."""
    return visible(text.strip()).replace("\n", "⏎").replace("\t", " ")


def one_line(text: str, longest: int = 200) -> str:
    """The same on one line of at most `longest` characters: never in a question about permission."""
    return cut(whole_line(text), longest)


def _shown(character: str) -> str:
    if character in "\n\t" or (character.isprintable() and character not in _BLANK):
        return character
    return character.encode("unicode_escape").decode("ascii")
