"""What the model may do. Each file of this folder that has a `TOOL` is one tool: drop a file in and it exists."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tark_lsp.tools.tool import Tool


def load_tools() -> "dict[str, Tool[Any]]":
    """All tools by name. Raises ValueError where a file holds a tool of another name than its own."""
    from importlib import import_module
    from pkgutil import iter_modules

    tools = {}
    for module in sorted(iter_modules(__path__), key=lambda module: module.name):
        tool = getattr(import_module(f"{__name__}.{module.name}"), "TOOL", None)
        if tool is None:
            continue
        if tool.name != module.name:
            raise ValueError(f"the tool {tool.name!r} is in {module.name}.py")
        tools[tool.name] = tool
    return tools
