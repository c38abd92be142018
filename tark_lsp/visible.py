"""Makes text of a model, repository, provider, tool or user safe to show: one function for each kind of surface. Pure.

| the surface | the function |
|---|---|
| one line of plain text: a message, button, title, label, diagnostic, progress, symbol | `visible` |
| the same in a code lens or progress of VS Code | `without_icons` around it |
| several lines of plain text: the beginning of a document in a message | `visible_lines` |
| code in a line of one of Tark's Markdown documents: commands, paths, titles, names | `code_span` |
| the same in a cell of a Markdown table | `table_cell` |
| code on separate lines in Markdown: commands, diffs, hovers | `code_block` |
| Markdown of a model; Tark's sentence with foreign words, in Markdown | `visible_prose`, `prose_line` (prose.py) |
| the terminal | cli/visible.py |

All show an invisible character as its code point, `\\u{202e}`, and leave code as it is.
Source: safety.md ("What you see") and protocol.md ("Permissions").
"""

import re
import unicodedata

LONGEST_MESSAGE = 300
"""Visible characters of a `window/showMessageRequest` text."""

HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
"""Controls, bidi and other invisible format characters, private use, surrogates, unassigned, line separators."""

BLANK_BUT_LETTERS = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\ufffc\U00016fe4\U0001d159"
    + "".join(map(chr, range(0xFE00, 0xFE10)))
)
"""Letters and marks that draw nothing: Hangul fillers, blank Braille, joiners, variation selectors."""

MOST_MARKS = 5
"""Combining marks on one letter. No script needs more: they would be drawn over the lines above and below."""

NOT_PRINTABLE_ASCII = re.compile(r"[^ -~]+")

ICON = re.compile(r"\$\([A-Za-z0-9-]+(?:~[A-Za-z]+)?\)")

LINK = re.compile(r"\](?=\(\s*<?(?:[A-Za-z][A-Za-z0-9+.-]*:|//|\\\\|&))\(")
"""The middle of a Markdown link that leads out: VS Code and others make it clickable in messages."""


def visible(text: str) -> str:
    """For one line of plain text: a newline is `⏎`, a tab `⇥`, an invisible character and the `(` of a link their
    code points. Everything else is as it is.
    """
    return LINK.sub(lambda _: f"]{code_point('(')}", _shown(text.replace("\r\n", "\n"), {"\n": "⏎", "\t": "⇥"}))


def visible_lines(text: str) -> str:
    """For plain text with several lines, which are separate lines of the message: they must not look like Tark's."""
    return "\n".join(map(visible, text.replace("\r\n", "\n").split("\n")))


def code_span(text: str) -> str:
    """For code in a line of Markdown: between enough backticks that the code cannot close them."""
    shown = _shown(text.replace("\r\n", "\n"), {"\n": "⏎", "\t": "⇥"}) or " "
    ticks = "`" * (max(map(len, re.findall("`+", shown)), default=0) + 1)
    # Markdown removes one blank at both ends, if there is one at both and something else between them.
    both = shown.startswith(" ") and shown.endswith(" ") and shown.strip()
    blank = " " if both or "`" in (shown[0], shown[-1]) else ""
    return f"{ticks}{blank}{shown}{blank}{ticks}"


def table_cell(text: str) -> str:
    """For code in a cell of a Markdown table, which only an escaped bar does not end."""
    return code_span(text).replace("|", "\\|")


def code_block(text: str, language: str = "") -> str:
    """For code on separate lines in Markdown: in a fence that the code cannot close."""
    shown = visible_code(text)
    ticks = "`" * max(3, max(map(len, re.findall("`+", shown)), default=0) + 1)
    known = language if re.fullmatch(r"[\w+#-]+", language, re.ASCII) else ""
    return f"{ticks}{known}\n{shown}{'' if shown.endswith(chr(10)) else chr(10)}{ticks}"


def visible_code(text: str) -> str:
    """The same lines and tabs, with the code point of each invisible character in its place."""
    return _shown(text, {"\n": "\n", "\t": "\t"})


def visible_words(text: str, before: str = "") -> str:
    """The same for text in which emoji are usual: selectors and joiners that only choose their picture are kept.

    `before` is what stands before the text, if it is only a part.
    """
    return _shown(text, {"\n": "\n", "\t": "\t"}, before=before, emoji=True)


def beginning(text: str, longest: int) -> str:
    """The visible start of a text. It reads only that part, since a prompt can have any length."""
    return cut(visible(text[: 2 * longest + 2]), longest)


def cut(text: str, longest: int = LONGEST_MESSAGE) -> str:
    """At most `longest` characters, with a mark at the end if something is cut off."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def without_icons(shown: str) -> str:
    """For titles in which VS Code draws `$(name)` as an icon: what it then draws is the text itself."""
    return ICON.sub(lambda icon: f"\\{icon[0]}", shown)


def code_point(character: str) -> str:
    return f"\\u{{{ord(character):x}}}"


def is_hidden(character: str) -> bool:
    """Whether it draws nothing, or something that looks like a blank."""
    category = unicodedata.category(character)
    return (
        category in HIDDEN_CATEGORIES
        or (category == "Zs" and character != " ")
        or character in BLANK_BUT_LETTERS
        or character >= "\U000e0000"
    )


def _shown(text: str, instead: dict[str, str], *, before: str = "", emoji: bool = False) -> str:
    """`instead`: the replacements of line ends and tabs. Most text is printable ASCII, and is returned unchanged."""

    def shown(run: "re.Match[str]") -> str:
        marks = 0 if run.start() else MOST_MARKS  # a mark at the start of a line has no letter below it
        written = []
        for index in range(run.start(), run.end()):
            character = whole[index]
            if (known := instead.get(character)) is not None:
                marks = MOST_MARKS
            elif is_hidden(character) and not (emoji and _is_of_emoji(whole, index)):
                marks, known = MOST_MARKS, code_point(character)
            else:
                marks = marks + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
                known = character if marks <= MOST_MARKS else code_point(character)
            written.append(known if index >= len(before) else "")
        return "".join(written)

    whole = before + text
    runs = NOT_PRINTABLE_ASCII.sub(shown, whole)
    return runs[len(re.findall(r"[ -~]", before)) :]


def _is_of_emoji(text: str, index: int) -> bool:
    """Whether it is a selector after an emoji, or a joiner between two."""
    previous, after = text[index - 1 : index], text[index + 1 : index + 2]
    if text[index] in "\ufe0e\ufe0f":
        return _is_picture(previous)
    return text[index] == "\u200d" and (_is_picture(previous) or previous == "\ufe0f") and _is_picture(after)


def _is_picture(character: str) -> bool:
    """`So` has emoji, `Sk` their skin colours."""
    return bool(character) and character != "\ufffc" and unicodedata.category(character) in ("So", "Sk")
