"""What the model can do. Each file of this folder that has a `TOOL` is one tool: add a file, and the tool exists."""

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tark_lsp.tools.tool import Tool


def load_tools() -> "dict[str, Tool[Any]]":
    """All tools by name. Raises ValueError if a file holds a tool whose name is not the file's."""
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
