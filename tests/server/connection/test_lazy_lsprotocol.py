"""lsprotocol imported fast is still lsprotocol: each class has its fields once an object of it is made."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
from lsprotocol import types

from tests.server.raw import ROOT

DESCRIBE = """
import inspect, sys
if sys.argv[1] == "lazy":
    from tark_lsp.server.connection.lazy_lsprotocol import import_lsprotocol
    import_lsprotocol()
import attrs
from lsprotocol import types

for name, found in sorted(types.ALL_TYPES_MAP.items()):
    try:
        found()
    except TypeError:
        pass  # it has required fields, or is no class
    if isinstance(found, type) and attrs.has(found):
        print(name, inspect.signature(found), [field.name for field in attrs.fields(found)])
"""


def describe(how: str) -> Iterator[str]:
    run = subprocess.run([sys.executable, "-c", DESCRIBE, how], cwd=ROOT, check=True, capture_output=True, text=True)
    return iter(run.stdout.splitlines())


@pytest.mark.slow
def test_every_class_is_the_same_once_it_is_used() -> None:
    lazy, stock = list(describe("lazy")), list(describe("stock"))
    assert lazy == stock
    assert len(stock) > 500


USE = """
from tark_lsp.server.connection.lazy_lsprotocol import import_lsprotocol
import_lsprotocol()
import attrs
from lsprotocol import types

assert not attrs.has(types.Position)
first, second = types.Position(1, 2), types.Position(line=1, character=2)
assert attrs.has(types.Position) and first == second and repr(first) == "1:2" and isinstance(first, types.Position)
assert attrs.define.__module__.startswith("attr"), "attrs itself is as it was"
"""


@pytest.mark.slow  # it starts a program
def test_a_class_is_generated_by_its_first_object() -> None:
    subprocess.run([sys.executable, "-c", USE], cwd=ROOT, check=True)


def test_lsprotocol_still_makes_its_classes_as_we_expect() -> None:
    """Otherwise `import_lsprotocol` changes nothing, and the server starts slowly."""
    source = types.__spec__.loader.get_source(types.__name__) if types.__spec__ else ""  # type: ignore[union-attr]  # it has one
    assert source.count("@attrs.define\n") > 500
