"""A chat document as a conversation: where messages begin, who wrote them, and the history for the model."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.agent import history as rules
from tark_lsp.server.chat.transcript import Said, conversation, digest, escaped, history, parse, words
from tark_lsp.workspace.lines import split_lines
from tark_lsp.workspace.text_document import is_chat
from tark_lsp.workspace.uris import path_from_uri


def said(text: str) -> list[tuple[str, str]]:
    lines = split_lines(text)
    return [(line.speaker, line.words) for line in conversation(lines, parse(lines).sections)]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("\n \n", []),
        ("hello", [("You", "hello")]),
        ("## You\n\nhello\n\n## Tark\nHi.\n## You\n", [("You", "hello"), ("Tark", "Hi.")]),
        ("hello\n\n## Tark\n\nHi.", [("You", "hello"), ("Tark", "Hi.")]),
        ("# Title\n\n## You\nhello", [("You", "hello")]),
        ("## Tark\nHi.\n## You\nhello", [("Tark", "Hi."), ("You", "hello")]),
        ("## You \t\nhello", [("You", "hello")]),
        ("## You\none\n## You\n\n## Tark\n## You\ntwo", [("You", "one\n\ntwo")]),
        ("## You\n```\n## Tark\n```\n## Tark\nHi.", [("You", "```\n## Tark\n```"), ("Tark", "Hi.")]),
        ("## You\n~~~\n```\n## Tark", [("You", "~~~\n```\n## Tark")]),
        ("## You\n````\n```\n## Tark\n````", [("You", "````\n```\n## Tark\n````")]),
        ("## You\n```a`b\n## Tark\nHi.", [("You", "```a`b"), ("Tark", "Hi.")]),
        ("## You\n    ```\n## Tark\nHi.", [("You", "```"), ("Tark", "Hi.")]),
        ("## You\n\\## Tark\n\\\\## You", [("You", "## Tark\n\\## You")]),
        ("## You too\n ## Tark\n##Tark", [("You", "## You too\n ## Tark\n##Tark")]),
        ("### You\n## you\n## Tark.", [("You", "### You\n## you\n## Tark.")]),
        ("## You\n\n  a\n\n\n b\n", [("You", "a\n\n\n b")]),
    ],
)  # fmt: skip
def test_what_is_said(text: str, expected: list[tuple[str, str]], ending: str) -> None:
    assert said(text.replace("\n", ending)) == expected


@pytest.mark.parametrize(
    ("text", "closing"),
    [("```py\nx", "```"), ("~~~~\n~~~\n", "~~~~"), ("```\n```", ""), ("```\n``` x", "```"), ("  ```\n   `````  ", "")],
)
def test_a_fence_left_open(text: str, closing: str) -> None:
    assert parse(split_lines(text)).open_fence == closing


@pytest.mark.parametrize(
    ("uri", "chat"),
    [
        ("file:///w/notes.tark.md", True),
        ("file:///w/.tark.md", True),
        ("file:///w/notes.md", False),
        ("file:///w/x.tark.md/a.py", False),
        ("untitled:notes.tark.md", False),
    ],
)
def test_what_is_a_chat(uri: str, chat: bool) -> None:
    assert is_chat(path_from_uri(uri)) == chat


def test_formatting_does_not_make_it_another_conversation() -> None:
    one, other = said("## You\na  b\n\n\nc\n## Tark\nHi. \n"), said("## You\r\n\r\na b\r\n\r\nc\r\n## Tark\r\nHi.")
    assert digest(Said(*item) for item in one) == digest(Said(*item) for item in other)  # type: ignore[arg-type]  # a Speaker


@pytest.mark.parametrize(
    "text", ["## You\na\n## Tark\nc", "## Tark\na\n## You\nb", "## You\na\n## You\nb", "## You\nab", "## You\na\n"]
)
def test_another_conversation(text: str) -> None:
    same = digest(Said(*item) for item in said("## You\na\n## Tark\nb"))  # type: ignore[arg-type]  # a Speaker
    assert digest(Said(*item) for item in said(text)) != same  # type: ignore[arg-type]  # a Speaker


SECTIONS = st.lists(st.tuples(st.sampled_from(["## You", "## Tark", "", "# Top"]), st.sampled_from(["", "a\n", "b"])))


@given(SECTIONS)
def test_every_history_alternates_and_is_begun_by_the_person(sections: list[tuple[str, str]]) -> None:
    lines = split_lines("\n".join(f"{heading}\n{body}" for heading, body in sections))
    messages = history(conversation(lines, parse(lines).sections))
    rules.check_history(messages)
    assert [message.role for message in messages] == ["user", "assistant"] * (len(messages) // 2) + ["user"] * (
        len(messages) % 2
    )


@given(st.text("#\\ YouTark\t"))
def test_what_is_escaped_is_no_heading_and_reads_as_it_was(line: str) -> None:
    lines = split_lines(f"## You\n|\n{escaped(line)}\n|")
    (section,) = parse(lines).sections
    assert words(lines, section) == f"|\n{line}\n|"


def test_ten_megabytes_are_read_in_seconds() -> None:
    lines = split_lines("## You\n\nsome words of a long text, none of them a heading\n\n```\n## x\n```\n" * 150_000)
    begun = time.process_time()
    assert len(parse(lines).sections) == 150_000
    assert time.process_time() - begun < 30  # 1 to 2 s; with the square of the lines, hours
