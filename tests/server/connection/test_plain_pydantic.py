"""pydantic without its search for plugins checks values as before, and can still have the whole module."""

import subprocess
import sys

import pytest

from tests.server.raw import ROOT

CHECK = """
import sys
from tark_lsp.server.connection.plain_pydantic import LOADER, skip_plugin_search
skip_plugin_search()
from pydantic import BaseModel, TypeAdapter, ValidationError

class Point(BaseModel):
    x: int

assert Point.model_validate({"x": 1}).x == TypeAdapter(int).validate_python("1") == 1
try:
    Point(x="a")
    raise AssertionError("it was not checked")
except ValidationError:
    pass
assert "importlib.metadata" not in sys.modules
from pydantic.plugin._loader import PYDANTIC_ENTRY_POINT_GROUP
assert PYDANTIC_ENTRY_POINT_GROUP == "pydantic"
assert sys.modules[LOADER].__file__
"""


@pytest.mark.slow  # it starts a program
def test_values_are_checked_without_plugins() -> None:
    subprocess.run([sys.executable, "-c", CHECK], cwd=ROOT, check=True)
