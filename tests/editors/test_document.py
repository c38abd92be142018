"""The in-memory editor's documents: positions in each encoding, edits as LSP means them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.editors.document import UNITS, Document, EditError

TEXTS = st.text(st.sampled_from("ab\né🥧"), max_size=20)


@pytest.mark.parametrize(("encoding", "character"), [("utf-8", 6), ("utf-16", 3), ("utf-32", 2)])
def test_positions_count_in_the_encoding(encoding: str, character: int) -> None:
    document = Document("file:///a", "a\né🥧b\n", encoding)
    assert document.position(4) == {"line": 1, "character": character}
    assert document.offset({"line": 1, "character": character}) == 4
    assert document.offset({"line": 1, "character": 99}) == 5


@given(text=TEXTS, encoding=st.sampled_from(sorted(UNITS)), data=st.data())
def test_what_the_server_is_told_makes_the_same_text(text: str, encoding: str, data: st.DataObject) -> None:
    document, server = (Document("file:///a", text, encoding) for _ in range(2))
    drawn = data.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=6))
    places = sorted(drawn[: len(drawn) // 2 * 2])
    edits = [
        {"range": document.range(start, end), "newText": data.draw(TEXTS)}
        for start, end in zip(places[::2], places[1::2], strict=True)
    ]
    document.edit(edits)
    for change in document.take_unsent():
        server.edit([{"range": change["range"], "newText": change["text"]}])
    assert server.text == document.text


def test_edits_are_all_meant_for_the_text_before() -> None:
    document = Document("file:///a", "one\ntwo\n", "utf-16")
    first, second = document.find("one"), document.find("two")
    document.edit([{"range": first, "newText": "1\n1"}, {"range": second, "newText": "2"}])
    assert (document.text, document.version) == ("1\n1\n2\n", 2)


@pytest.mark.parametrize("ends", [((0, 0), (5, 0)), ((0, 2), (0, 1))])
def test_impossible_edits_change_nothing(ends: tuple[tuple[int, int], tuple[int, int]]) -> None:
    document = Document("file:///a", "one\n", "utf-16")
    start, end = ({"line": line, "character": character} for line, character in ends)
    with pytest.raises(EditError):
        document.edit([{"range": {"start": start, "end": end}, "newText": "x"}])
    assert (document.text, document.version, document.unsent) == ("one\n", 1, [])
