"""docs/pygls.md names every test of a difference from pygls, and no test that does not exist."""

import re
from string import ascii_uppercase

from tests.server.raw import ROOT

PAGE = (ROOT / "docs" / "pygls.md").read_text(encoding="utf-8")
TESTS = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests" / "server").rglob("test_*.py")))


def test_every_test_that_is_named_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    assert named
    assert not {name for name in named if f"def {name}(" not in TESTS}


def test_every_difference_has_its_row_and_its_test() -> None:
    rows = re.findall(r"^\| ([A-Z]) \|.*$", PAGE, re.MULTILINE)
    assert rows == list(ascii_uppercase[: ascii_uppercase.index("R") + 1])
    assert set(re.findall(r"def (test_lsp_[a-z]_\w+)\(", TESTS)) == set(re.findall(r"`(test_lsp_\w+)`", PAGE))
