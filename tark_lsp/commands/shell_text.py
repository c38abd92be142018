"""Reads a command line as bash does, or says why it does not understand it. Pure.

Three readers must agree: an allowlist of characters, tree-sitter's grammar of bash with an allowlist of node kinds,
and shlex. What is left are words without expansions, so each word is exactly an argument of the program.
"""

import re
import shlex
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported when the first command is read
    from tree_sitter import Node, Parser

LONGEST = 10_000
"""Characters. Nobody reads more before saying yes."""

PLAIN_WORD = re.compile(r"(?:[A-Za-z0-9_@%+=:,./^-]|(?<=[A-Za-z0-9_^~])~)+")
"""A word without quotes that bash does not change. `~` counts only where it is no home folder: `HEAD~1`."""

PROGRAM = re.compile(r"[A-Za-z0-9_./+-]+")
ALONE = frozenset("!")
"""Words that are plain if they stand alone and are no program: `find . ! -name x`."""

IN_DOUBLE_QUOTES = re.compile(r"[^$`\\]*")
REDIRECTION = re.compile(r"2>&1|1?>&2|(?:[12]|&)?>>?[ ]?/dev/null|<[ ]?/dev/null")
"""Those that change no file. Where output goes is no argument, so they are left out of the words."""

RESERVED = frozenset(
    (
        *("if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "in"),
        *("function", "time", "coproc", "!", "[[", "]]", "{", "}"),
    )
)
"""Words of bash's own grammar: they are no programs."""

LISTS = {"program", "list", "pipeline"}
SEPARATORS = {"&&", "||", ";", "|"}


class NotUnderstood(Exception):
    """The text is a clause for the user: it says what is not understood."""


@dataclass(frozen=True, slots=True)
class ReadCommand:
    """`parts`: the exact arguments of each simple command, in their order; each runs at most once.

    `why`: why the text is not understood, a clause for the user. Then there are no parts.
    """

    parts: tuple[tuple[str, ...], ...] = ()
    why: str = ""

    @property
    def is_certain(self) -> bool:
        return not self.why


def read_command(text: str) -> ReadCommand:
    """Reads a command line. Never raises."""
    try:
        return ReadCommand(_parts_of(text))
    except NotUnderstood as error:
        return ReadCommand(why=str(error))


def _parts_of(text: str) -> tuple[tuple[str, ...], ...]:
    if len(text) > LONGEST:
        raise NotUnderstood(f"it has more than {LONGEST:,} characters")
    for character in text:
        if not (" " <= character <= "~" or _is_plain_letter(character)):
            name = unicodedata.name(character, "")
            raise NotUnderstood(f"it contains the character U+{ord(character):04X}{f' ({name.lower()})' * bool(name)}")
    source = text.encode()
    root = _parser().parse(source).root_node
    if root.has_error:
        raise NotUnderstood("its syntax is not understood")
    parts = tuple(_commands(root, source))
    if not parts:
        raise NotUnderstood("it runs nothing")
    if [word for part in parts for word in part] != _second_reading(text):
        raise NotUnderstood("two ways to read it do not agree")
    return parts


def _is_plain_letter(character: str) -> bool:
    """A letter that is its own simplest form; wide, styled and joined forms are not."""
    return character.isalpha() and unicodedata.normalize("NFKC", character) == character


@cache
def _parser() -> "Parser":
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def _commands(node: "Node", source: bytes) -> Iterator[tuple[str, ...]]:
    """The simple commands below a node. Raises NotUnderstood for all kinds of nodes that are not named here."""
    if node.type in LISTS:
        for child in node.children:
            if child.type not in SEPARATORS:
                yield from _commands(child, source)
    elif node.type == "redirected_statement":
        body, *redirections = node.children
        yield from _commands(body, source)
        for redirection in redirections:
            if redirection.type != "file_redirect" or not REDIRECTION.fullmatch(_text(redirection, source)):
                raise NotUnderstood(f"it redirects: {_text(redirection, source)}")
    elif node.type == "command":
        yield _words(node, source)
    else:
        raise NotUnderstood(f"it contains {_shown(node, source)}")


def _words(node: "Node", source: bytes) -> tuple[str, ...]:
    name, *arguments = node.children
    program = _text(name, source)
    if name.type != "command_name" or not PROGRAM.fullmatch(program) or program in RESERVED:
        raise NotUnderstood(f"it does not begin with the plain name of a program: {_shown(name, source)}")
    words = [_word(argument, source) for argument in arguments]
    return (program, *words)


def _word(node: "Node", source: bytes) -> str:
    text = _text(node, source)
    match node.type:
        case "word" | "number" if text in ALONE or PLAIN_WORD.fullmatch(text):
            return text
        case "raw_string":
            return text[1:-1]
        case "string" if IN_DOUBLE_QUOTES.fullmatch(text) and all(
            child.type in ('"', "string_content") for child in node.children
        ):
            return text[1:-1]
        case "concatenation":
            return "".join(_word(child, source) for child in node.children)
        case _:
            raise NotUnderstood(f"the shell can change the word {_shown(node, source)}")


def _second_reading(text: str) -> list[str]:
    """All words by shlex, which knows quotes and separators and nothing else."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        tokens = [*lexer]
    except ValueError as error:
        raise NotUnderstood("its quotes do not match") from error
    words: list[str] = []
    place = 0
    while place < len(tokens):
        token = tokens[place]
        if set(token) <= set("<>&") and set(token) & set("<>"):
            if words and words[-1] in ("1", "2") and _stands_before(text, words[-1], token):
                words.pop()
            place += 2  # and where it leads
            continue
        if not (token and set(token) <= set("();<>|&")):
            words.append(token)
        place += 1
    return words


def _stands_before(text: str, digit: str, redirection: str) -> bool:
    """Whether the digit is the number of a handle: nothing is between it and the sign."""
    return re.search(rf"(?:^|\s){digit}{re.escape(redirection)}", text) is not None


def _text(node: "Node", source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode()


def _shown(node: "Node", source: bytes) -> str:
    text = _text(node, source)
    return text if len(text) <= 40 else f"{text[:39]}…"
