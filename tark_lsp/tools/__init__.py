"""The tools of the model. Each module in this folder with a `TOOL` is one tool. To add a tool, add a module."""

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tark_lsp.tools.tool import Tool


def load_tools() -> "dict[str, Tool[Any]]":
    """All tools by name. Raises ValueError if the name of a tool is not that of its module."""
    return dict(_load_tools(tuple(__path__)))


@cache
def _load_tools(folders: tuple[str, ...]) -> "dict[str, Tool[Any]]":
    from importlib import import_module
    from pkgutil import iter_modules

    tools = {}
    for module in sorted(iter_modules(folders), key=lambda module: module.name):
        tool = getattr(import_module(f"{__name__}.{module.name}"), "TOOL", None)
        if tool is None:
            continue
        if tool.name != module.name:
            raise ValueError(f"the tool {tool.name!r} is in {module.name}.py")
        tools[tool.name] = tool
    return tools
