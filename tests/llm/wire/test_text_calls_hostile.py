"""Calls written as text, in hostile, deep and long texts: no traceback, no lost text, little time."""

from time import process_time

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tark_lsp.llm.events import TextDelta
from tark_lsp.llm.wire.text_calls import TextCalls
from tests.exhaustive import examples
from tests.llm.wire.text_call_corpus import LIST_FILES, MADE, TOOLS, Part, assert_kept, cut, parts_of, read
from tests.patience import AT_ONCE

pytestmark = pytest.mark.slow  # much of everything

PLACES = st.lists(st.integers(0, 400), max_size=12)


@settings(max_examples=examples(200))
@given(MADE, PLACES)
@example("<tool_call>" + "[" * 3000 + "]" * 3000 + "</tool_call>", [5000])
@example('<tool_call>{"name": "list_files", "arguments": ' + '{"a":' * 3000 + "1" + "}" * 3001 + "</tool_call>", [99])
@example("<function=shape><parameter=options>" + '{"a":' * 3000 + "1" + "}" * 3000 + "</parameter></function>", [99])
@example(f"<function=shape><parameter=count>{'9' * 5000}</parameter></function>", [99])
@example(f'<tool_call>{{"name": "shape", "arguments": {{"count": {"9" * 5000}}}}}</tool_call>', [99])
@example('<tool_call>{"name": "shape", "arguments": {"ratio": 1e999}}</tool_call>', [99])
@example('<function=shape>{"ratio": -1e999}</function>', [9])
@example("<function=shape><parameter=items>[1e999, NaN]</parameter></function>", [9])
@example('<tool_call>{"name": "write_file", "arguments": {"content": "\\ud800"}}</tool_call>', [9])
@example('<function=shape><parameter=items>["\\udfff"]</parameter></function>', [9])
def test_cuts_make_no_difference_and_no_text_is_lost(text: str, places: list[int]) -> None:
    assume(text)
    parts = read([text])
    assert read(cut(text, places)) == parts
    assert read(text) == parts
    assert_kept(text, parts)


@settings(max_examples=examples(200))
@given(MADE)
def test_calls_in_a_fence_are_not_run(text: str) -> None:
    fenced = f"~~~~~\n{text}\n~~~~~\n"
    assert read([fenced]) == (fenced,)


@pytest.mark.parametrize("items", [3, 300, 3000])
def test_spans_are_recognised_in_long_paragraphs(items: int) -> None:
    """A list without blank lines is one paragraph; what was a span far above must not shift those below."""
    text = "".join(f"- `name{number}`: a name\n" for number in range(items))
    quoted = f"- `{LIST_FILES}` is one, too\n"
    whole = f"{text}{quoted}{LIST_FILES}\n{text}"
    assert read(cut(whole, range(0, len(whole), 7))) == (text + quoted, ("list_files", {}), f"\n{text}")


def test_a_distant_backtick_does_not_hide_a_call() -> None:
    """Backticks that find no match for pages are none of a span's; else one apostrophe would hold all calls back."""
    text = f"A ` is a tick. {LIST_FILES} {'word ' * 600}"
    calls = TextCalls(TOOLS)
    assert parts_of(calls.feed_events([TextDelta(text)]))[:2] == ("A ` is a tick. ", ("list_files", {}))
    parts: tuple[Part, ...] = ("A ` is a tick. ", ("list_files", {}), f" {'word ' * 600}`")
    assert read([text + "`"]) == read([text, "`"]) == parts


@pytest.mark.parametrize(
    "form",
    [
        '<tool_call>{"name": "shape", "arguments": {"options": VALUE}}</tool_call>',
        '<function=shape>{"options": VALUE}</function>',
        "<function=shape><parameter=options>VALUE</parameter></function>",
    ],
)
def test_values_of_any_depth_are_safe(form: str) -> None:
    """No traceback, however near to what the decoder or the encoder bears; too deep, it is a string or no call."""
    for depth in [1, 190, *range(195, 206), *range(300, 1100, 23), 20_000]:
        text = form.replace("VALUE", '{"a":' * depth + "1" + "}" * depth)
        parts = read([text])
        assert_kept(text, parts)
        is_object = isinstance(parts[0], tuple) and isinstance(parts[0][1]["options"], dict)
        assert is_object if depth <= 190 else depth <= 210 or not is_object


# Much text

AMOUNT = 200_000
IN_A_VALUE = "<function=write_file><parameter=content>"
IN_JSON = '<tool_call>{"name": "write_file", "arguments": '
IN_A_STRING = f'{IN_JSON}{{"content": "'
UNDECLARED = '<tool_call>{"name": "other"}</tool_call>'
MUCH = {
    # what stands once, what stands as often as there is room, what stands at the end
    "closes of functions": ("", "</function>", ""),
    "closes of blocks": ("", "</tool_call>", ""),
    "backticks": ("", "`", LIST_FILES),
    "backticks apart": ("", "` ", LIST_FILES),
    "runs of backticks": ("", "` `` ``` ", LIST_FILES),
    "runs of backticks and closes": ("", "` </tool_call> `` ", LIST_FILES),
    "blocks that open": ("", "<tool_call>{", ""),
    "arrays that open": ("", "<tool_call>[", ""),
    "blocks and quotes": ("", '<tool_call>{"', ""),
    "openers": ("", "<tool_call>", ""),
    "openers and braces": ("", "<tool_call>{}", ""),
    "functions that open": ("", "<function=read_file><parameter=path>", ""),
    "functions with braces": ("", "<function=read_file>{", ""),
    "undeclared blocks": ("", UNDECLARED, ""),
    "broken blocks": ("", "<tool_call>{]</tool_call>", ""),
    "functions in sentences": ("", "a <function=list_files></function> b\n", ""),
    "functions in one sentence": ("a ", "<function=list_files></function> b ", ""),
    "calls": ("", LIST_FILES, ""),
    "calls and spaces": ("", f"{LIST_FILES}   ", ""),
    "fences": ("", "```\n", LIST_FILES),
    "tildes": ("", "~~~\n~~~~\n", LIST_FILES),
    "newlines": ("", "\n", LIST_FILES),
    "spaces": ("", " ", LIST_FILES),
    "angles": ("", "<", LIST_FILES),
    "prefixes": ("", "<function=read_", LIST_FILES),
    "a paragraph of markers after a backtick": ("a ` b ", "<tool_call>", ""),
    "a paragraph of closes after a backtick": ("a ` b ", "</tool_call>", ""),
    "a paragraph of undeclared blocks after a backtick": ("a ` b ", UNDECLARED, ""),
    "a paragraph of broken blocks after a backtick": ("a ` b ", "<tool_call>{]</tool_call>", ""),
    "a paragraph of functions after a backtick": ("a ` b ", "<function=list_files></function> c ", ""),
    "a paragraph of calls after a backtick": ("a ` b ", LIST_FILES, ""),
    "lines of openers after a backtick": ("a ` b ", "<tool_call>\n", ""),
    "openers after a fence": ("```", "<tool_call>", ""),
    "openers in a fence": ("```\n", "<tool_call>\n", ""),
    "spaces after an opener": ("<tool_call>", " ", '{"name": "list_files"}</tool_call>'),
    "spaces after a function": ("<function=read_file>", " ", "</function>"),
    "spaces after a call in a line": ("a <function=list_files></function>", " ", ""),
    "newlines after a call": ("<function=list_files></function>", "\n", "</tool_call>"),
    "text in a value": (IN_A_VALUE, "word ", "</parameter></function>"),
    "angles in a value": (IN_A_VALUE, "<", "</parameter></function>"),
    "parameters in a value": (IN_A_VALUE, "<parameter=path>", "</parameter></function>"),
    "closes of parameters in a value": (IN_A_VALUE, "</parameter>", "</parameter></function>"),
    "pairs in a value": (IN_A_VALUE, "<parameter=path></parameter>", "</parameter></function>"),
    "closes of blocks in a value": (IN_A_VALUE, "</tool_call>", "</parameter></function>"),
    "spaces after a value": (f"{IN_A_VALUE}x</parameter>", " ", "</function>"),
    "many parameters": ("<function=write_file>", "<parameter=path>a</parameter>", "</function>"),
    "text in a string": (IN_A_STRING, "word ", '"}}</tool_call>'),
    "escapes in a string": (IN_A_STRING, '\\"', '"}}</tool_call>'),
    "backslashes in a string": (IN_A_STRING, "\\\\", '"}}</tool_call>'),
    "closes in a string": (IN_A_STRING, "</tool_call>", '"}}</tool_call>'),
    "commas and spaces in a string": (IN_A_STRING, ", ", '"}}</tool_call>'),
    "escapes outside of strings": (IN_JSON, '\\"', "}}</tool_call>"),
    "escapes in arguments in a string": (f'{IN_JSON}"', '\\\\\\"', '"}</tool_call>'),
    "objects": ("<tool_call>", "{}", "</tool_call>"),
    "calls in one block": ("<tool_call>", '{"name": "list_files"}\n', "</tool_call>"),
    "arrays": (IN_JSON, "[", "}</tool_call>"),
    "arrays with ends": (f"{IN_JSON}[", "[],", "]}</tool_call>"),
    "nested objects": (IN_JSON, '{"a":', "1}}</tool_call>"),
    "commas": (f"{IN_JSON}[", ",", "]}</tool_call>"),
    "commas and spaces": (f"{IN_JSON}[", ", ", "]}</tool_call>"),
    "a number": ("<function=shape><parameter=count>", "9", "</parameter></function>"),
    "a nested value": ("<function=shape><parameter=options>", '{"a":', "</parameter></function>"),
}


@pytest.mark.parametrize(("before", "unit", "after"), MUCH.values(), ids=MUCH.keys())
def test_repetitive_text_takes_little_time(before: str, unit: str, after: str) -> None:
    """Linear, or nearly: a quarter of a second or so. The bound is wide, for the machine may be busy."""
    text = before + unit * (AMOUNT // len(unit)) + after
    begun = process_time()
    pieces = [text[place : place + 50] for place in range(0, len(text), 50)]
    parts = read(pieces)
    assert process_time() - begun < AT_ONCE
    assert read([text]) == parts
    if not any(isinstance(part, tuple) for part in parts):
        assert parts == (text,)


LIMIT = 1 << 20
ENDLESS = {
    "a string": IN_A_STRING,
    "a value": IN_A_VALUE,
    "a value with a call in it": f"{IN_A_VALUE}<function=list_files></function></parameter></function",
}


def test_a_call_of_almost_a_mebibyte_is_a_call() -> None:
    content = "x" * (LIMIT - 1000)
    text = f"{IN_A_VALUE}{content}</parameter></function>"
    assert read(cut(text, range(0, len(text), 5000))) == (("write_file", {"content": content}),)


@pytest.mark.parametrize("opener", ENDLESS.values(), ids=ENDLESS.keys())
def test_an_endless_call_is_not_held_forever(opener: str) -> None:
    calls = TextCalls(TOOLS)
    given, sent = opener, calls.feed_events([TextDelta(opener)])
    assert sent == []
    for _ in range(2 * LIMIT // 5000):
        sent += calls.feed_events([TextDelta("x" * 5000)])
        given += "x" * 5000
    assert parts_of(sent) == (given,)


@pytest.mark.parametrize(
    "more", [-23, 20, *(pytest.param(more, marks=pytest.mark.exhaustive) for more in (-80, -40, 0))]
)
def test_the_limit_is_the_same_however_the_call_is_cut(more: int) -> None:
    text = f"{IN_A_VALUE}{'x' * (LIMIT + more)}</parameter></function> and {LIST_FILES}"
    parts = read([text])
    assert read([text[: LIMIT - 20], *text[LIMIT - 20 :]]) == parts
    assert_kept(text, parts)


@pytest.mark.parametrize(
    "unit", ["<tool_call>x ", UNDECLARED, "`<tool_call>` ", "a <function=list_files></function> b\n"]
)
def test_after_a_hundred_false_markers_the_search_stops(unit: str) -> None:
    """Otherwise such a text could keep the server busy for minutes."""
    few, many = f"{unit * 99}\n\n", f"{unit * 100}\n\n"
    assert read([few + LIST_FILES]) == (few, ("list_files", {}))
    assert read([many + LIST_FILES]) == (many + LIST_FILES,)


@pytest.mark.parametrize("unit", ["<tool_call>x", "` a <tool_call>x", f"<tool_call>{' ' * 1000}x"])
def test_a_megabyte_of_markers_in_one_piece_takes_little_time(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    begun = process_time()
    assert read([text]) == (text,)
    assert process_time() - begun < AT_ONCE
