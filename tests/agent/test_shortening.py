"""An old result keeps its head and says how to read the rest: by the message alone, and never twice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.agent.shortening import HEAD, LONG, shorten_message, texts_to_shorten
from tark_lsp.context.result_handles import lines_of, result_id
from tark_lsp.context.snippets import parse_snippets
from tark_lsp.messages import Image, Message, Text, ToolResult

PICTURE = Image("image/png", "AAAA")


def told(content: str, *images: Image) -> str:
    (part,) = shorten_message(Message("tool", (ToolResult("1", content, images=images),))).parts
    assert isinstance(part, ToolResult)
    assert part.images == ()
    return part.content


@pytest.mark.parametrize(
    "message",
    [
        Message("tool", (ToolResult("1", "x" * LONG), ToolResult("2", "short", is_error=True))),
        Message("user", (Text("x" * 5_000), PICTURE)),
        Message("assistant", (Text("x" * 5_000),), "a/b"),
    ],
)
def test_what_is_short_or_no_result_stays_the_very_same(message: Message) -> None:
    assert shorten_message(message) is message
    assert not list(texts_to_shorten(message))


def test_the_head_stays_in_whole_lines() -> None:
    text = "\n".join(f"line {number}" for number in range(1, 501))
    lines = told(text).split("\n")
    shown = len(lines) - 1
    assert lines[:-1] == text.split("\n")[:shown]
    assert sum(map(len, lines[:-1])) <= HEAD
    assert lines[-1] == (
        f"[{500 - shown} more lines left out to save room; to see them: "
        f'read_file(path="result:{result_id(text)}", start_line={shown + 1}); a file: read it again]'
    )


def test_one_long_line_is_cut() -> None:
    text = "x" * 20_000
    assert told(text).startswith("x" * HEAD + " [cut]\n[20 more lines left out")
    assert "start_line=1)" in told(text)


def test_a_snippet_that_is_cut_says_which_lines_are_there() -> None:
    code = "".join(f"x{number} = {number}\n" for number in range(1_000))
    (snippet,) = parse_snippets(told(f'<code="/a/b.py" #11:1010>\n{code}</code>\nThese are lines 11-1010.'))
    assert (snippet.path, snippet.first_line) == ("/a/b.py", 11)
    assert snippet.code.split("\n") == code.split("\n")[: snippet.last_line - 10]
    assert code.startswith(snippet.code)


def test_a_snippet_that_is_whole_stays() -> None:
    assert '<code="/a" #1:1>\nx\n</code>\n' in told('<code="/a" #1:1>\nx\n</code>\n' + "more\n" * 1_000)


def test_images_go_and_are_counted() -> None:
    assert told("two", PICTURE, PICTURE) == "two\n[2 images left out to save room]"


@given(st.text(alphabet=st.sampled_from('ab \n<>/code"#1:'), max_size=4_000), st.integers(0, 2))
def test_once_is_enough_and_all_that_is_cut_can_be_found(text: str, images: int) -> None:
    message = Message("tool", (ToolResult("1", text, images=(PICTURE,) * images),))
    once = shorten_message(message)
    assert shorten_message(once) == once
    assert shorten_message(message) == once
    for whole in texts_to_shorten(message):
        content = told(text)
        assert f"result:{result_id(whole)}" in content
        assert len(content) < LONG
        assert int(content.split("start_line=")[1].split(")")[0]) <= len(lines_of(text))
