"""A chat can contain any line when it is opened: none keeps the server busy."""

import time
from collections.abc import Callable

from tark_lsp.server.chat.chats import _beginning
from tark_lsp.server.chat.completion import LONGEST_TYPED, Typed, typed_before
from tark_lsp.server.chat.features import MOST_LINKS
from tark_lsp.server.chat.links import LOOKED_AT, find_links
from tark_lsp.server.chat.outline import symbols
from tark_lsp.server.chat.transcript import conversation, escaped, parse
from tark_lsp.server.prompting.mentions import _outside_of_code, split_lines_of
from tests.cases import every
from tests.server.chat.test_chat import document
from tests.server.desk import MakeDesk

SIZE = 1_000_000
PIECES = (
    *(
        "a",
        "[",
        "](",
        "[a](",
        "[](a#L1",
        "a.",
        "`a.py:",
        '<code="',
        "@file:",
        "@a ",
        '@a:"',
        "`@a",
        "a/b-",
        "a:1 ",
        ":1",
    ),
    *("\\", "\\## You", "## You ", "`", "```", "~", " ", "\t", "é:1 ", "\u200b", "@"),
)


def messages(line: str) -> object:
    lines = ["## You\n", f"{line} \\#\n", f"{line}\\#\n"]
    sections = parse(lines).sections
    return conversation(lines, sections), _beginning(lines, sections[-1]), symbols(lines, parse(lines), "utf-16")


WAYS: dict[str, Callable[[str], object]] = {
    "links": find_links,
    "messages": messages,
    "typed": lambda line: typed_before(f"{line} ", len(line) + 1),
    "mentions": lambda line: list(_outside_of_code(f"{line} !")),
    "lines of a path": lambda line: split_lines_of(f"{line}!"),
    "escape": lambda line: escaped(f"{line}!"),
}


@every("piece", PIECES, repr)
@every("way", WAYS)
def test_no_line_of_a_megabyte_takes_long(way: str, piece: str) -> None:
    line = piece * (SIZE // len(piece))
    begun = time.process_time()
    WAYS[way](line)
    assert time.process_time() - begun < 30  # about 1 s at most; with the square of the line, many minutes


def test_links_are_found_at_the_beginning_of_a_line_and_never_half() -> None:
    line = "x" * (LOOKED_AT - 6) + " a:123"
    assert len(line) == LOOKED_AT
    assert [link.first for link in find_links(line)] == [123]
    assert find_links(f"{line}4") == []
    assert len(find_links("a:1 " * SIZE)) == LOOKED_AT // 4


def test_only_the_end_of_what_was_typed_is_looked_at() -> None:
    line = "@file:" * 1000 + " @file:src"
    assert typed_before(line, len(line)) == Typed(len(line) - 9, "file", "src")
    near, far = "@file:" + "x" * (LONGEST_TYPED - 6), "@file:" + "x" * (LONGEST_TYPED - 5)
    assert typed_before(near, len(near)) is not None
    assert typed_before(far, len(far)) is None
    assert typed_before("a" + near, len(near) + 1) is None, "an address, though the letter before it is not looked at"


def test_a_backslash_inside_a_line_is_the_persons() -> None:
    lines = ["## You\n", "write \\## You\n", "\\## You\n"]
    (said,) = conversation(lines, parse(lines).sections)
    assert said.words == "write \\## You\n## You"


async def test_a_chat_has_so_many_links_at_most(make: MakeDesk) -> None:
    desk = make()
    (desk.folder / "a").write_text("x\n")
    path = desk.editor.open("notes.tark.md", "a:1 a:1\n" * MOST_LINKS)
    assert len(await desk.app.parts.chat.links(document(path))) == MOST_LINKS
