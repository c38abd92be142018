"""Arguments from raw JSON text: what is mended, what stays broken, and that nothing open is ever closed."""

import base64
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.agent.arguments import parse_arguments, parse_object
from tark_lsp.errors import ToolError
from tark_lsp.tools import load_tools
from tests.cases import every
from tests.patience import AT_ONCE

SUITE = (
    Path(os.environ.get("TARK_SHARED", Path(__file__).resolve().parents[3] / "shared"))
    / "data/corpora/json/jsontestsuite.json"
)

MENDED = {
    "": {},
    " \n\t ": {},
    "{}": {},
    '\n {"a": 1} \r\n': {"a": 1},
    '{"a": 1,}': {"a": 1},
    '{"a": [1, 2 , \n],\t}': {"a": [1, 2]},
    '{"a": "x,}", "b": ",]",}': {"a": "x,}", "b": ",]"},
    '{"a": "\\",}",}': {"a": '",}'},
    '{"a": "one\ntwo\tthree\x00"}': {"a": "one\ntwo\tthree\x00"},
    '{"a": "one\ntwo",}': {"a": "one\ntwo"},
    '{"a": "\\ud83d\\ude00"}': {"a": "😀"},
    '{"a": "😀"}': {"a": "😀"},
    '{"a": 1, "a": 2}': {"a": 2},
}

BROKEN = [
    "{",
    '{"a"',
    '{"a": ',
    '{"a": "half',
    '{"a": "half\\',
    '{"a": "half\\"}',
    '{"a": [1, 2}',
    '{"a": [1, 2,',
    '{"a": {"b": 1}',
    '{"a": 1,,}',
    '{"a": [,]}',
    "{,}",
    '{"a":,}',
    "{'a': 1}",
    "{a: 1}",
    '{"a": tru}',
    '{"a": NaN}',
    '{"a": -Infinity}',
    '{"a": 1} {"b": 2}',
    '```json\n{"a": 1}\n```',
    "\ufeff{}",
    '{"a": "\\ud800"}',
    '{"a": "\ud800"}',
    '{"\ud800": 1}',
    '{"a": "\\x"}',
    "{" * 200_000,
    '{"a": ' + "[" * 200_000,
    '{"a": ' + "9" * 5_000 + "}",
    "[]",
    '"text"',
    "null",
    "1",
]


@pytest.mark.parametrize("text", MENDED)
def test_mended(text: str) -> None:
    assert parse_object(text) == MENDED[text]


@pytest.mark.parametrize("text", BROKEN, ids=lambda text: repr(text[:20]))
def test_broken(text: str) -> None:
    with pytest.raises(ToolError) as caught:
        parse_object(text)
    assert caught.value.code == "invalid_arguments"
    assert caught.value.hint


def suite() -> list[tuple[str, bytes]]:
    if not SUITE.is_file():
        return []
    cases = json.loads(SUITE.read_bytes())["cases"]
    return [(case["name"], base64.b64decode(case["b64"])) for case in cases if "b64" in case]


TAKEN_ALL_THE_SAME = {
    # trailing commas
    "n_array_comma_after_close.json",
    "n_array_extra_comma.json",
    "n_array_number_and_comma.json",
    "n_object_trailing_comma.json",
    # control characters in strings
    "n_string_unescaped_ctrl_char.json",
    "n_string_unescaped_newline.json",
    "n_string_unescaped_tab.json",
}
"""Not JSON, but mended (tools.md, "Results")."""


@pytest.mark.skipif(not SUITE.is_file(), reason="the shared test data (TARK_SHARED) is not here")
@every("case", suite(), lambda case: case[0])
def test_json_test_suite(case: tuple[str, bytes]) -> None:
    """Each case as the value of a field, so that arrays and scalars are objects, too."""
    name, data = case
    inner = data.decode("utf-8", "surrogateescape")
    text = f'{{"x": {inner}\n}}'
    value = outcome(text)
    if isinstance(value, ToolError):
        assert not name.startswith("y_") or "surrogate" in value.message
    else:
        assert not name.startswith("n_") or name in TAKEN_ALL_THE_SAME
        assert not name.startswith("y_") or value == json.loads(text)
    outcome(inner)


def outcome(text: str) -> dict[str, Any] | ToolError:
    """Any other error is a defect."""
    try:
        value = parse_object(text)
    except ToolError as error:
        return error if error.code == "invalid_arguments" else pytest.fail(error.code)
    return value if isinstance(value, dict) else pytest.fail(repr(value))


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=4), JSON_VALUES, max_size=4)


@given(OBJECTS, st.booleans(), st.sampled_from([None, 2]))
def test_json_comes_back(value: dict[str, Any], ascii_only: bool, indent: int | None) -> None:
    assert parse_object(json.dumps(value, ensure_ascii=ascii_only, indent=indent)) == value


@given(OBJECTS, st.data())
def test_what_is_cut_off_is_never_closed(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(1, len(text) - 1))]
    with pytest.raises(ToolError):
        parse_object(cut)


@given(st.text(alphabet='{}[]",:\\ntu01 \n', max_size=40))
def test_any_text_is_an_object_or_an_error(text: str) -> None:
    assert isinstance(outcome(text), dict | ToolError)


def test_a_long_cut_off_string_takes_no_time() -> None:
    text = '{"path": "a.html", "content": "' + '<a href=\\"x\\">\\n' * 20_000
    started = time.process_time()
    with pytest.raises(ToolError):
        parse_object(text)
    assert time.process_time() - started < AT_ONCE


WRONG = {
    '{"path": 1}': ["path: Input should be a valid string", "path, start_line, end_line"],
    "{}": ["path: Field required"],
    '{"path": "a", "lines": 3}': ["lines: Extra inputs are not permitted"],
    '{"path": "a", "start_line": 0, "end_line": "x"}': ["start_line: ", "end_line: "],
}


@pytest.mark.parametrize("text", WRONG)
def test_each_wrong_field_is_named(text: str) -> None:
    with pytest.raises(ToolError) as caught:
        parse_arguments(load_tools()["read_file"], text)
    assert caught.value.code == "invalid_arguments"
    for words in WRONG[text]:
        assert words in f"{caught.value.message} {caught.value.hint}"
