"""`comments.runOnSave`: how the `!` gets into a comment that runs, and what a comment is in each language."""

import re
from collections.abc import Callable

from tests.cases import cases
from tests.server.turns.comment_hand import AREA, COMMENT, COMMENTED, SHORTER, Hand, MakeHand


def two_edits(hand: Hand) -> None:
    """Two places in one notification."""
    text = hand.text
    at = text.index(COMMENT) + len(COMMENT)
    hand.desk.editor.type(hand.path, (len(text), len(text), "x = 1\n"), (at, at, " !"))


WAYS: dict[str, tuple[str, Callable[[Hand], object], list[str]]] = {
    # the text at first | how the ! gets there | which prompts run
    "typed": (AREA, lambda hand: hand.comment(), SHORTER),
    "typed without a space": (AREA, lambda hand: hand.comment(f"{COMMENT}!"), []),
    "typed after a tab": (AREA, lambda hand: hand.comment(f"{COMMENT}\t!"), []),
    "a space typed before a typed !": (
        AREA,
        lambda hand: (hand.comment(f"{COMMENT}!"), hand.type(COMMENT, " ")),
        SHORTER,
    ),
    "blanks after it": (AREA, lambda hand: hand.comment(f"{COMMENT} !  "), SHORTER),
    "two of them": (AREA, lambda hand: hand.comment(f"{COMMENT} !!"), []),
    "two with spaces": (AREA, lambda hand: hand.comment(f"{COMMENT} ! !"), SHORTER),
    "no prompt": (AREA, lambda hand: hand.comment("# tark: !"), []),
    "no comment": (AREA, lambda hand: hand.comment("tark: shorter !"), []),
    "no tark: comment": (AREA, lambda hand: hand.comment("# shorter !"), []),
    "after code": (AREA, lambda hand: hand.comment("x = 1  # tark: shorter !"), []),
    "in a string": (AREA, lambda hand: hand.comment('x = "# tark: shorter !"'), []),
    "in the middle": (AREA, lambda hand: hand.comment(f"{COMMENT} ! please"), []),
    "the rest removed": (
        AREA,
        lambda hand: (hand.comment(f"{COMMENT} ! please"), hand.put(" please", "")),
        SHORTER,
    ),
    "added to a comment": (COMMENTED, lambda hand: hand.type(COMMENT, " !"), SHORTER),
    "pasted into the line": (COMMENTED, lambda hand: hand.put(COMMENT, f"{COMMENT} !"), SHORTER),
    "the line pasted": (AREA, lambda hand: hand.put("def", f"{COMMENT} !\ndef"), SHORTER),
    "completed": (f"# ta\n{AREA}", lambda hand: hand.put("# ta", f"{COMMENT} !"), SHORTER),
    "two lines pasted": (AREA, lambda hand: hand.put("def", f"x = 1\n{COMMENT} !\ndef"), []),
    "with another line": (COMMENTED, lambda hand: hand.put(f"{COMMENT}\ndef", f"{COMMENT} !\nasync def"), []),
    "with a change elsewhere": (COMMENTED, two_edits, []),
    "the whole document sent": (COMMENTED, lambda hand: hand.replace(f"{COMMENT} !\n{AREA}"), SHORTER),
    "the whole document sent, two lines": (COMMENTED, lambda hand: hand.replace(f"{COMMENT} !\nx = 1\n{AREA}"), []),
    "the whole document, a new line": (AREA, lambda hand: hand.replace(f"{COMMENT} !\n{AREA}"), SHORTER),
    "there when opened": (f"{COMMENT} !\n{AREA}", lambda hand: hand.type("return r", " + 1"), []),
    "there, and its line changed": (f"{COMMENT} !\n{AREA}", lambda hand: hand.type("# tark: ", "much "), []),
    "there, and another one typed and removed": (
        f"{COMMENT} !\n{AREA}",
        lambda hand: (hand.type(f"{COMMENT} !", " please !"), hand.put(" please !", "")),
        [],
    ),
    "removed and typed as it was": (
        f"{COMMENT} !\n{AREA}",
        lambda hand: (hand.put(" !", ""), hand.type(COMMENT, " !")),
        [],
    ),
    "changed on disk": (COMMENTED, lambda hand: hand.reload(f"{COMMENT} !\n{AREA}"), []),
    "changed on disk, whole": (COMMENTED, lambda hand: hand.reload(f"{COMMENT} !\n{AREA}", whole=True), []),
    "undone and redone": (
        AREA,
        lambda hand: (hand.comment(), hand.put(f"{COMMENT} !\n", ""), hand.put("def", f"{COMMENT} !\ndef")),
        SHORTER,
    ),
    "undone": (AREA, lambda hand: (hand.comment(), hand.put(" !", "")), []),
    "the line removed": (AREA, lambda hand: (hand.comment(), hand.put(f"{COMMENT} !\n", "")), []),
    "lines put above": (AREA, lambda hand: (hand.comment(), hand.put("#", "import os\n\n\n#")), SHORTER),
    "lines above removed": (
        f"import os\n\n{AREA}",
        lambda hand: (hand.comment(), hand.put("import os\n\n", "")),
        SHORTER,
    ),
    "a format of everything": (
        AREA,
        lambda hand: (hand.comment("#tark: shorter !"), hand.replace(f'"""Areas."""\n\n{COMMENT} !\n\n{AREA}')),
        SHORTER,
    ),
    "the line split": (
        AREA,
        lambda hand: (hand.comment("# tark: much shorter !"), hand.put("much ", "much\n# ")),
        ["much\nshorter"],
    ),
    "on the last line of a comment": (
        f"{COMMENT}\n# \n{AREA}",
        lambda hand: hand.type(f"{COMMENT}\n# ", "please !"),
        ["shorter\nplease"],
    ),
    "alone on the last line": (f"{COMMENT}\n#\n{AREA}", lambda hand: hand.type(f"{COMMENT}\n#", " !"), SHORTER),
    "on the first line of two": (f"{COMMENT}\n# please\n{AREA}", lambda hand: hand.type(COMMENT, " !"), []),
    "two comments": (
        f"{COMMENTED}\n\n# tark: longer\n{AREA}",
        lambda hand: (hand.type("# tark: longer", " !"), hand.type(COMMENT, " !")),
        ["shorter", "longer"],
    ),
}


async def test_how_the_mark_came(hand: MakeHand) -> None:
    with cases() as case:
        for name, (text, write, prompts) in WAYS.items():
            with case(name):
                user = hand(text)
                write(user)
                before = user.text
                assert await user.ran(user.save) == prompts
                assert user.text == (re.sub(r"( !)+(?=\s*\n)", "", before) if prompts else before)
                assert await user.ran(user.save, user.save) == [], "it ran once"
                user.replace(AREA)
                user.save()


LANGUAGES = {
    # language | the comment before | after
    "python": ("# tark: shorter !\n", "# tark: shorter\n"),
    "rust": ("//! tark: shorter !\r\n", "//! tark: shorter\r\n"),
    "lua": ("-- tark: shorter !\n", "-- tark: shorter\n"),
    "html": ("<!-- tark: shorter ! -->\n", "<!-- tark: shorter -->\n"),
    "markdown": ("<!--tark: shorter !-->\n", "<!--tark: shorter-->\n"),
    "c": ("/* tark: shorter !*/\n", "/* tark: shorter*/\n"),
    "css": ("/*\n * a\n */\n/* tark: shorter\n * !\n */\n", "/*\n * a\n */\n/* tark: shorter\n *\n */\n"),
    "java": ("/* tark: shorter\n   please ! */\n", "/* tark: shorter\n   please */\n"),
    "ocaml": ("(* tark: shorter ! *)\n", "(* tark: shorter *)\n"),
    "elisp": (";; tark: shorter !\n", ";; tark: shorter\n"),
    "vim": ('" tark: shorter !\n', '" tark: shorter\n'),
    "unknown": ("# tark: kürzer ✂️𝒞 !\n", "# tark: kürzer ✂️𝒞\n"),
}


async def test_languages(hand: MakeHand) -> None:
    with cases() as case:
        for number, (language, (before, after)) in enumerate(LANGUAGES.items()):
            with case(language):
                at = before.rindex(" !")
                user = hand(before[:at] + before[at + 2 :], file=f"language{number}", language=language)
                user.desk.editor.type(user.path, (at, at, " !"))
                assert user.text == before
                (prompt,) = await user.ran(user.save)
                assert "!" not in prompt
                assert user.text == after
