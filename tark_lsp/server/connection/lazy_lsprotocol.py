"""Imports lsprotocol fast: a class gets its methods when its first object is created, not when it is defined.

attrs generates the methods of all 554 classes on import, which takes 0.25 s of CPU and 12 MB: more than half of a stock
pygls server. Messages are plain dicts here, so only three of the classes are ever used.

Limitation: in such a process, cattrs and `attrs.fields` do not recognize a class before its first object.
"""

from typing import Any

import attrs
import cattrs  # noqa: F401  before lsprotocol imports it: its own classes are generated as usual


def import_lsprotocol() -> None:
    define = attrs.define

    def define_on_first_use(cls: Any) -> Any:
        def first_init(self: Any, *values: Any, **fields: Any) -> None:
            if cls.__init__ is first_init:
                del cls.__init__
                define(cls, slots=False)  # in place; with slots, attrs would create another class
            self.__init__(*values, **fields)

        cls.__init__ = first_init
        return cls

    vars(attrs)["define"] = define_on_first_use
    try:
        import lsprotocol.types  # noqa: F401  it stays in sys.modules
    finally:
        vars(attrs)["define"] = define
