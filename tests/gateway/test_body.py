"""Bodies as JSON: large ones are decoded in slices, with the same values and errors."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.gateway import body
from tark_lsp.gateway.body import SLICE, decode_body
from tark_lsp.gateway.problems import Problem

TEXTS = st.text(st.characters(exclude_categories=[]), max_size=9)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.property
@given(st.dictionaries(TEXTS, VALUES, max_size=5), st.booleans())
def test_slices_are_the_same_value(value: dict[str, Any], plain: bool) -> None:
    text = json.dumps(value, ensure_ascii=plain, indent=None if plain else 1).encode("utf-8", "backslashreplace")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(body, "SLICE", 8)
        assert decode_body(text) == json.loads(text)


def test_an_error_in_a_slice_has_its_place_in_the_body() -> None:
    item = b'{"role":"user","content":"' + b"x" * SLICE + b'"}'
    with pytest.raises(Problem, match=f"Invalid \\\\escape, character {len(item) + 12}"):
        decode_body(b'{"input":[' + item + b',"\\x"]}')


def test_brackets_in_texts_are_said_to_count() -> None:
    with pytest.raises(Problem, match="those in its texts included"):
        decode_body(json.dumps({"input": "{" * (body.MAX_BRACKETS + 1)}).encode())
