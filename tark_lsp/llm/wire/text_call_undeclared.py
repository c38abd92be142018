"""Whether a text is inside a call of an undeclared tool: calls that are quoted there must not run."""

import re
from collections.abc import Container

NAME = r"[^<>\n]{1,100}"
TOKEN = re.compile(
    rf"<function=(?P<function>{NAME})>(?=\s{{0,1000}}(?:<parameter=|\{{))"
    r"|(?P<function_ends>(?:</parameter>|\})\s{0,1000}</function>)"
    r"|(?P<bare>^[ \t]{0,100}<tool_call>[ \t]{0,100}[\w.:/-]{1,100}[ \t\r]{0,100}(?=\n|<arg))"
    r"|(?P<block><tool_call>)"
    r"|(?P<block_ends></tool_call>)",
    re.MULTILINE,
)
MAX_TOKEN_LENGTH = 2_000
"""Characters: more than a token and its lookahead have."""


class UndeclaredCalls:
    """Receives all text since the last call. Calls inside an open call are counted too, so that closes match.

    There are two forms: `<function=NAME>` with a parameter or an object, and `<tool_call>NAME`, which GLM writes.
    """

    def __init__(self, declared: Container[str]) -> None:
        self._declared = declared
        self._pieces: list[str] = []
        self._rest = "\n"  # text that a token can still start in, with the character before it
        self._functions = 0
        self._blocks = 0

    def add_text(self, text: str) -> None:
        self._pieces.append(text)

    def forget_text(self) -> None:
        self._pieces, self._rest = [], "\n"
        self._functions = self._blocks = 0

    def is_open(self) -> bool:
        """Whether a call is open at the end of the text. A marker follows there, so every token is decided."""
        text = "".join([self._rest, *self._pieces])
        place = 1
        for token in TOKEN.finditer(text, 1):
            self._count(token)
            place = token.end()
        self._rest = text[max(place, len(text) - MAX_TOKEN_LENGTH) - 1 :]
        self._pieces = []
        return bool(self._functions or self._blocks)

    def _count(self, token: re.Match[str]) -> None:
        within = self._functions or self._blocks
        match token.lastgroup:
            case "function":
                self._functions += bool(within or token["function"] not in self._declared)
            case "function_ends":
                self._functions = max(0, self._functions - 1)
            case "bare":
                self._blocks += 1
            case "block":
                self._blocks += bool(self._blocks)
            case _:
                self._blocks = max(0, self._blocks - 1)
