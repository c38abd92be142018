"""Foreign text for the terminal: characters that control it, or that are invisible, are shown as escapes.

Unlike `server/asking/visible.py`, for one line of a popup, this keeps lines and code unchanged.
"""

from tark_lsp.visible import BLANK_BUT_LETTERS, cut

# After an emoji these only select its style, and models write them often.
_BLANK = BLANK_BUT_LETTERS - {"\ufe0e", "\ufe0f"}


def visible(text: str) -> str:
    """`text` with every invisible character, except newline and tab, as `\\x1b` or `\\u202e`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def whole_line(text: str) -> str:
    """The same on one line of any length: what the user agrees to must be shown to its end."""
    return visible(text.strip()).replace("\n", "⏎").replace("\t", " ")


def one_line(text: str, longest: int = 200) -> str:
    """The same on one line of at most `longest` characters. Never use it in a question about permission."""
    return cut(whole_line(text), longest)


def _shown(character: str) -> str:
    if character in "\n\t" or (character.isprintable() and character not in _BLANK):
        return character
    return character.encode("unicode_escape").decode("ascii")
