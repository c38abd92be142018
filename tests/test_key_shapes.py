"""Every shape of the table is blotted out of logs and refused as a note; what people write is neither."""

from random import Random

import pytest
from rstr import Rstr

from tark_lsp.context.secrets import looks_secret
from tark_lsp.key_shapes import KEY, SHAPES
from tark_lsp.redaction import redact


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("text", ["it is {} there", "`{}`", "x: {}\n"])
def test_both_know_it(name: str, text: str) -> None:
    made = Rstr(Random(name))
    for _ in range(20):
        key = made.xeger(SHAPES[name].replace(r"[\w", "[A-Za-z").replace(r"\w", "[A-Za-z]"))
        assert key not in redact(text.format(key))
        assert looks_secret(text.format(key)) != "", key


@pytest.mark.parametrize(
    "text",
    [
        "key-value stores and hf-mirror, sl.it, pul-requests; fw_update and csk-header",
        "The sk-learn and npm_config_registry of pypi-server, task-management-with-words",
        "dapi, dp.pt, SG.x and AGE-SECRET-KEY are beginnings",
    ],
)
def test_words_are_none(text: str) -> None:
    assert KEY.search(text) is None
