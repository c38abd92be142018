"""pydantic without its search for plugins, which reads the metadata of every installed package before the first value.

The search and its imports take 10 ms and 1.4 MB at the start. A plugin would also see every validated value, such as
keys in the settings.
"""

import importlib
import sys
from types import ModuleType
from typing import Any

LOADER = "pydantic.plugin._loader"
"""The module with the search. pydantic imports it for its first validator, and uses its function `get_plugins`."""


def skip_plugin_search() -> None:
    """Call this before pydantic creates a validator. Has no effect on a pydantic without such a module."""
    none = ModuleType(LOADER)

    def take_the_real_one(name: str) -> Any:  # if another version of pydantic uses more of it
        if name.startswith("__"):
            raise AttributeError(name)
        del sys.modules[LOADER]
        return getattr(importlib.import_module(LOADER), name)

    vars(none).update(get_plugins=tuple, __getattr__=take_the_real_one)
    sys.modules[LOADER] = none
