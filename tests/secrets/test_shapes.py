"""Every shape of the table is removed from logs, refused as a note and masked for models; ordinary text is neither."""

from random import Random

import pytest
from rstr import Rstr

from tark_lsp.context.secrets import looks_secret
from tark_lsp.redaction import redact
from tark_lsp.secrets.detection import find_secrets
from tark_lsp.secrets.shapes import SHAPES, key_pattern
from tests.cases import every

PATTERNS = {f"{shape.of}: {shape.kind}": shape.pattern for shape in SHAPES}


@every("name", PATTERNS)
@every("text", ["it is {} there", "`{}`", "x: {}\n"], repr)
def test_logs_and_notes_recognise_every_shape(name: str, text: str) -> None:
    made = Rstr(Random(name))
    for _ in range(4):
        key = made.xeger(PATTERNS[name].replace(r"[\w", "[A-Za-z").replace(r"\w", "[A-Za-z]"))
        assert key not in redact(text.format(key))
        assert looks_secret(text.format(key)) != "", key


@every("name", PATTERNS)
@every("text", ["it is {} there", 'f("{}")', "x={}\n", "+- {}"], repr)
def test_tool_results_mask_every_shape(name: str, text: str) -> None:
    """Most keys: one without a digit looks like a name, and a search begins at 16 letters and digits."""
    made, missed = Rstr(Random(name)), 0
    for _ in range(4):
        key = made.xeger(PATTERNS[name].replace(r"[\w", "[A-Za-z0-9").replace(r"\w", "[A-Za-z0-9]"))
        written = text.format(key)
        found = find_secrets(written)
        missed += not (found and found[0].start <= written.index(key) and len(found) == 1)
    assert missed <= 1


@pytest.mark.parametrize(
    "text",
    [
        "key-value stores and hf-mirror, sl.it, pul-requests; fw_update and csk-header",
        "The sk-learn and npm_config_registry of pypi-server, task-management-with-words",
        "dapi, dp.pt, SG.x and AGE-SECRET-KEY are beginnings",
    ],
)
def test_ordinary_text_is_not_a_key(text: str) -> None:
    assert key_pattern().search(text) is None
