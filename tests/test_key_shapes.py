"""Every shape of the table is removed from logs and refused as a note; ordinary text is neither."""

from random import Random

import pytest
from rstr import Rstr

from tark_lsp.context.secrets import looks_secret
from tark_lsp.key_shapes import KEY_PATTERN, KEY_SHAPES
from tark_lsp.redaction import redact
from tests.cases import every


@every("name", KEY_SHAPES)
@every("text", ["it is {} there", "`{}`", "x: {}\n"], repr)
def test_logs_and_notes_recognise_every_shape(name: str, text: str) -> None:
    made = Rstr(Random(name))
    for _ in range(20):
        key = made.xeger(KEY_SHAPES[name].replace(r"[\w", "[A-Za-z").replace(r"\w", "[A-Za-z]"))
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
def test_ordinary_text_is_not_a_key(text: str) -> None:
    assert KEY_PATTERN.search(text) is None
