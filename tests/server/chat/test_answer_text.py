"""A streamed answer as text for a chat document: nothing forged, nothing left open, in whatever pieces it arrives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.server.chat.answer_text import AnswerText
from tark_lsp.server.chat.transcript import parse, words
from tark_lsp.workspace.lines import split_lines


def cite(path: str, first: int, last: int) -> str:
    return f"[{path}:{first}-{last}]"


def shown(*deltas: str) -> str:
    answer = AnswerText(cite)
    return "".join([answer.add_text(delta) for delta in deltas] + [answer.end_text()])


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("", ""),
        ("One.\n\n\nTwo", "One.\n\n\nTwo\n\n"),
        ("\n\n  \nOne.\n", "One.\n\n"),
        ("a\n## You\nb", "a\n\\## You\nb\n\n"),
        ("## Tark", "\\## Tark\n\n"),
        ("\\## Tark \t", "\\\\## Tark \t\n\n"),
        ("### You\n##You\n ## You\n## You too", "### You\n##You\n ## You\n## You too\n\n"),
        ("```md\n## You\n\n\n```\n## You", "```md\n## You\n\n\n```\n\\## You\n\n"),
        ("~~~\nopen", "~~~\nopen\n~~~\n\n"),
        ("````\n```\nopen", "````\n```\nopen\n````\n\n"),
        ("a\r\nb\rc\x1b[0m\x00\ud83d", "a\nbc\x1b[0m\x00\ud83d\n\n"),
        ('See <code="a.py" #3:4>\nx\ny\n</code>\nso.', "See \n[a.py:3-4]\n\n````py\nx\ny\n````\nso.\n\n"),
        ('<code="a%22b" #3>\n</code>', '[a"b:3-3]\n\n'),
        ('<code="a.py" #4:3>x</code> y', "[a.py:4-4]\n\n````py\nx\n````\n y\n\n"),
        ('<code="a" #1:2>\n<\\/code>\n</code>', "[a:1-2]\n\n````\n</code>\n````\n\n"),
        ('<code="a" #1:9>\n````\n## You\n', "[a:1-9]\n\n````\n    ````\n## You\n````\n\n"),
        ('<code="a" #1:9>\nx\n<code="b" #1>\ny', "[a:1-9]\n\n````\nx\n````\n[b:1-1]\n\n````\ny\n````\n\n"),
        ('## You<code="a" #1>\n</code>', "\\## You\n[a:1-1]\n\n"),
        ('```<code="a`" #1>\n</code>', "\\```\n[a`:1-1]\n\n"),
        ("x</code>## You", "x</code>## You\n\n"),
        ('<code="a" #1></code>## You', "[a:1-1]\n\\## You\n\n"),
        ('```\n<code="a" #1>\n```', '```\n<code="a" #1>\n```\n\n'),
        ("a <b> and <code> and <", "a <b> and <code> and <\n\n"),
    ],
)
def test_whole_and_in_single_characters(said: str, expected: str) -> None:
    assert shown(said) == expected
    assert shown(*said) == expected


def test_prose_goes_out_as_it_comes() -> None:
    answer = AnswerText(cite)
    assert [answer.add_text(piece) for piece in ("Now", " this", " `is", "` it")] == ["Now", " this", " `is", "` it"]


@pytest.mark.parametrize("held", ["#", "## ", "## Yo", "## You", "\\", "`", "```py", "~~", '<code="a', "   ", "<"])
def test_what_may_become_something_else_waits(held: str) -> None:
    assert AnswerText(cite).add_text(held) == ""


def test_notes_stand_apart_from_words_and_together() -> None:
    answer = AnswerText(cite)
    pieces = [answer.add_text("I look.\n```\nx"), answer.add_note("read_file a.py"), answer.add_note("read_file b.py")]
    pieces += [answer.add_text("\n\nDone"), answer.add_note("cancelled"), answer.end_text()]
    assert "".join(pieces) == ("I look.\n```\nx\n```\n\n> read_file a.py\n> read_file b.py\n\nDone\n\n> cancelled\n\n")


PIECES = [*"#`~<>\\ \n\r", "## You", "## Tark", "\n## You\n", "```", "````", "~~~", "```py\n", "    ", "x"]
PIECES += ['<code="a.py" #1:2>', '<code="', "</code>", "<\\/code>", '<code="`" #1>', "You", "Tark", "- ", "> "]


@given(st.lists(st.sampled_from(PIECES)), st.lists(st.booleans()))
def test_no_answer_can_end_its_section(pieces: list[str], notes: list[bool]) -> None:
    answer = AnswerText(cite)
    text = ""
    for piece, noted in zip(pieces, [*notes, *[False] * len(pieces)], strict=False):
        text += answer.add_text(piece) + (answer.add_note("read_file") if noted else "")
        assert len(parse(split_lines("## Tark\n\n" + text)).sections) == 1, "at no moment"
    text += answer.end_text()
    lines = split_lines(f"## Tark\n\n{text}## You\n\nNext")
    transcript = parse(lines)
    assert [section.speaker for section in transcript.sections] == ["Tark", "You"]
    assert words(lines, transcript.sections[1]) == "Next"
    assert transcript.open_fence == ""


@given(st.text(st.sampled_from('#Yo uTark\\`\n<code="a" 1>/~')), st.lists(st.integers(1, 9), min_size=1))
def test_how_it_is_cut_into_pieces_makes_no_difference(said: str, sizes: list[int]) -> None:
    pieces, at, turn = [], 0, 0
    while at < len(said):
        pieces.append(said[at : at + sizes[turn % len(sizes)]])
        at, turn = at + len(pieces[-1]), turn + 1
    assert shown(*pieces) == shown(said)
