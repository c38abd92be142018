"""Makes foreign text safe for the terminal: control characters and invisible characters are shown as code points.

| the surface | the function |
|---|---|
| text of several lines: an answer, a command, a message | `visible` |
| one line that the user agrees to | `whole_line` |
| one line of a list, title or status | `one_line` |

A terminal does not draw Markdown, so code and links stay as they are. chatting/markdown.py draws Markdown itself.
"""

from tark_lsp.visible import cut, visible_words


def visible(text: str) -> str:
    """For text of several lines. Newlines, tabs and emoji stay as they are."""
    return visible_words(text)


def whole_line(text: str) -> str:
    """For one line of any length. Text that the user agrees to must be shown completely."""
    return visible(text.strip(" \n")).replace("\n", "⏎").replace("\t", "⇥")


def one_line(text: str, longest: int = 200) -> str:
    """For one line of at most `longest` characters. Never use it in a question about permission."""
    return cut(whole_line(text), longest)
