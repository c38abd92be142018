"""The dependency rule of docs/architecture.md, held against every import in the source, lazy ones included."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import tark_lsp
from tests.cases import every

SOURCE = Path(tark_lsp.__file__).parent
DEMO = SOURCE / "demo_project"

GROUND = {"errors", "messages"}
BELOW_AGENT = GROUND | {"settings", "http", "llm", "workspace", "index", "context", "tools"}
LAYERS: dict[str, set[str]] = {
    "errors": set(),
    "visible": set(),
    "messages": set(),
    "folders": set(),
    "settings": GROUND,
    "settings_types": set(),
    "mcp_settings": {"settings_types"},
    "hook_settings": {"settings_types"},
    "settings_cleaning": GROUND,
    "settings_file": set(),
    "settings_layers": {"settings", "settings_cleaning", "settings_file"},
    "settings_loading": {"settings", "settings_cleaning", "settings_layers", "settings_types", "messages"},
    "http": GROUND | {"redaction", "http_closing", "http_connecting", "http_tls"},
    "http_closing": set(),
    "http_connecting": set(),
    "http_tls": {"errors"},
    "secrets": set(),
    "redaction": {"secrets"},
    "log_ids": set(),
    "listeners": set(),
    "demo": set(),
    "prose": {"visible"},
    "llm": GROUND | {"http"},
    "workspace": GROUND | {"database", "listeners", "sqlite_file"},
    "commands": set(),
    "sandbox": {"workspace", "processes", "secrets"},
    "mcp": GROUND | {"mcp_settings", "http", "llm", "workspace", "sandbox", "visible", "processes"},
    "hooks": GROUND
    | {"hook_settings", "mcp_settings", "mcp", "workspace", "sandbox", "settings_cleaning", "settings_file", "visible"},
    "agent_offers": {"context", "mcp", "tools", "visible"},
    "index": GROUND | {"settings", "workspace", "secrets", "folders", "listeners", "processes", "sqlite_file"},
    "context": GROUND | {"settings", "workspace", "secrets", "index"},
    "tools": GROUND | {"http", "workspace", "context", "commands", "sandbox", "secrets", "index", "mcp"},
    "receipts": GROUND | {"sqlite_file"},
    "permissions": GROUND | {"commands", "listeners", "sqlite_file"},
    "agent": BELOW_AGENT | {"hooks", "hook_settings", "commands", "log_ids", "receipts", "secrets"},
    "database": {"sqlite_file"},
    "sqlite_file": set(),
    "processes": set(),
    "sessions": GROUND | {"visible", "prose", "context", "agent", "database", "sqlite_file", "processes"},
    "review": GROUND | {"visible", "listeners", "workspace", "tools", "agent", "sessions"},
    "trust_report": BELOW_AGENT | {"agent", "commands", "sandbox", "receipts"},
    "telemetry": GROUND | {"agent", "llm", "log_ids", "redaction", "folders"},
    "gateway": GROUND | {"llm"},
    "server": BELOW_AGENT
    | {
        "agent",
        "receipts",
        "permissions",
        "telemetry",
        "log_ids",
        "redaction",
        "listeners",
        "sessions",
        "review",
        "visible",
        "prose",
        "folders",
        "processes",
        "demo",
        "sandbox",
        "secrets",
        "mcp",
        "hooks",
        "hook_settings",
        "settings_types",
        "settings_layers",
        "settings_loading",
        "agent_offers",
    },
    "cli": BELOW_AGENT
    | {"agent", "receipts", "permissions", "sessions", "server"}
    | {"commands", "visible", "redaction", "folders", "processes", "demo", "mcp", "mcp_settings", "sandbox"}
    | {"hooks", "hook_settings", "settings_layers", "settings_loading", "agent_offers"}
    | {"trust_report", "gateway", "telemetry"},
    "__main__": {"cli"},
}
"""What each layer may import of ours beside itself."""
LAYERS["settings"] = LAYERS["settings"] | {
    "settings_types",
    "mcp_settings",
    "hook_settings",
}
LAYERS.update({layer: below | {"settings_types"} for layer, below in LAYERS.items() if "settings" in below})

WITHIN_LLM: dict[str, set[str]] = {
    "events": set(),
    "options": set(),
    "request": {"events", "options"},
    "option_support": {"events", "options", "request", "wire"},
    "wire": {"events", "options", "request"},
    "scripted": {"wire"},
    "providers": {"events", "request", "wire", "provider", "scripted", "keys"},
}
"""The same inside llm/, for the parts that know little."""

WITHIN_SERVER = (
    "protocol",
    "connection",
    "commands",
    "background",
    "provider_override",
    "documents",
    "editing",
    "asking",
    "configuration",
    "indexing",
    "prompting",
    "sessions",
    "turns",
    "mcp_list",
    "hunks",
    "code_blocks",
    "actions",
    "chat",
    "model_list",
    "usage_command",
    "agent_commands",
    "permissions_command",
    "patch_command",
    "state_command",
    "auth",
    "doctor",
    "demo",
    "commit_message",
    "clipboard_image",
    "core_parts",
    "command_parts",
    "parts",
    "app",
    "features",
    "handshake",
    "client_documents",
    "client_process",
    "client",
)
"""The layers inside server/, folders and single files, the lowest first: each imports only those before it."""

ONLY_IN: dict[str, set[str]] = {
    "pygls": {"server"},
    "lsprotocol": {"server"},
    "httpx": {"http"},
    "httpx2": {"mcp"},
    "mcp": {"mcp"},
    "rich": {"cli"},
    "markdown_it": {"cli"},
    "prompt_toolkit": {"cli"},
    "msgspec": {"gateway", "llm"},
    "genai_prices": {"llm"},
    "opentelemetry": {"telemetry"},
    "sqlite3": {"sqlite_file", "database", "workspace", "sessions", "receipts", "permissions", "index"},
    "tree_sitter": {"commands", "index"},
    "tantivy": {"index"},
    "numpy": {"index"},
    "starlette": {"gateway"},
    "uvicorn": {"gateway"},
    "httptools": {"gateway"},
}
"""Packages, and the layers that may import them."""

NEVER = {"openai", "anthropic", "google", "litellm", "mistralai", "ollama", "pydantic_ai", "langchain"}
"""Vendors' SDKs and frameworks: seconds of import, and the bytes hidden."""


def modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if not path.is_relative_to(DEMO))


def imported(tree: ast.AST, module: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Every module that is imported anywhere in the tree, by its dotted name's parts; `module` is the importer's."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (tuple(name.name.split(".")) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = module[: len(module) - node.level] if node.level else ()
            base = (*start, *(node.module.split(".") if node.module else ()))
            yield from ((*base, name.name) for name in node.names)


def violations(source: str, module: tuple[str, ...]) -> list[str]:
    """`module` is ("llm", "wire", "sse") for tark_lsp/llm/wire/sse.py."""
    layer, found = module[0], []
    for name in imported(ast.parse(source), ("tark_lsp", *module)):
        package, *inside = name
        if package != "tark_lsp":
            if package in NEVER or layer not in ONLY_IN.get(package, {layer}):
                found.append(f"{layer} may not import {package}")
            continue
        target = inside[0] if inside and inside[0] in LAYERS else ""
        if target and target != layer and target not in LAYERS[layer]:
            found.append(f"{layer} may not import {target}")
        if layer == target == "server" and len(inside) > 1 and (problem := upward(module[1], inside[1])):
            found.append(problem)
        if layer == target == "llm" and len(module) > 1 and len(inside) > 1:
            allowed = WITHIN_LLM.get(module[1])
            if allowed is not None and inside[1] not in allowed | {module[1]}:
                found.append(f"llm.{module[1]} may not import llm.{inside[1]}")
    return found


def upward(importer: str, imported_name: str) -> str:
    """What is wrong with an import inside server/. Empty if it is allowed."""
    for name in (importer, imported_name):
        if name not in WITHIN_SERVER:
            return f"server.{name} has no place in WITHIN_SERVER"
    if WITHIN_SERVER.index(imported_name) > WITHIN_SERVER.index(importer):
        return f"server.{importer} may not import server.{imported_name}"
    return ""


def test_the_table_has_every_layer_of_the_server() -> None:
    here = {path.stem for path in (SOURCE / "server").iterdir() if not path.name.startswith("__")}
    assert set(WITHIN_SERVER) == here


@every("path", modules(), lambda path: path.relative_to(SOURCE).as_posix())
def test_imports_go_one_way(path: Path) -> None:
    module = path.relative_to(SOURCE).with_suffix("").parts
    if module == ("__init__",):
        assert not list(imported(ast.parse(path.read_text(encoding="utf-8")), ("tark_lsp",)))
        return
    assert module[0] in LAYERS, "a new layer needs its row in docs/architecture.md and here"
    assert violations(path.read_text(encoding="utf-8"), module) == []


CIRCLES_LEFT: set[frozenset[str]] = set()
"""Modules that still import each other in a circle. It must only shrink; a circle that is gone must leave it."""


def circles(imports: Mapping[str, set[str]]) -> set[frozenset[str]]:
    """The strongly connected components of more than one module, by Tarjan's algorithm."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: set[frozenset[str]] = set()

    def visit(module: str) -> None:
        order[module] = lowest[module] = len(order)
        stack.append(module)
        for target in sorted(imports.get(module, ())):
            if target not in order:
                visit(target)
            if target in stack:
                lowest[module] = min(lowest[module], lowest[target])
        if lowest[module] == order[module]:
            at = stack.index(module)
            if len(stack) - at > 1:
                found.add(frozenset(stack[at:]))
            del stack[at:]

    for module in sorted(imports):
        if module not in order:
            visit(module)
    return found


def module_imports() -> dict[str, set[str]]:
    """For each module of ours the modules of ours that it imports: lazily and under TYPE_CHECKING, too."""
    parts = {path: ("tark_lsp", *path.relative_to(SOURCE).with_suffix("").parts) for path in modules()}
    names = {path: ".".join(name[:-1] if name[-1] == "__init__" else name) for path, name in parts.items()}
    known = set(names.values())
    found: dict[str, set[str]] = {}
    for path, name in names.items():
        targets = set()
        for target in imported(ast.parse(path.read_text(encoding="utf-8")), parts[path]):
            whole, package = ".".join(target), ".".join(target[:-1])
            targets.add(whole if whole in known else package)
        found[name] = targets & known - {name}
    return found


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circles(module_imports()) == CIRCLES_LEFT


def test_the_check_for_circles_itself() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == set()
    assert circles({"a": {"b"}, "b": {"a"}, "c": {"a", "d"}, "d": {"e"}, "e": {"c"}}) == {
        frozenset({"a", "b"}),
        frozenset({"c", "d", "e"}),
    }


@pytest.mark.parametrize(
    ("source", "module", "found"),
    [
        ("import tark_lsp.agent.turn", ("tools", "x"), ["tools may not import agent"]),
        ("def f():\n    from tark_lsp.server import lsp", ("agent", "x"), ["agent may not import server"]),
        ("from tark_lsp import llm", ("workspace", "x"), ["workspace may not import llm"]),
        ("from .. import agent", ("tools", "x"), ["tools may not import agent"]),
        ("from tark_lsp import __version__", ("tools", "x"), []),
        ("from tark_lsp.tools import tool", ("tools", "x"), []),
        ("import httpx", ("llm", "client"), ["llm may not import httpx"]),
        ("import httpx", ("http",), []),
        ("from openai import OpenAI", ("llm", "client"), ["llm may not import openai"]),
        ("from tark_lsp.llm import client", ("llm", "wire", "x"), ["llm.wire may not import llm.client"]),
        ("from tark_lsp.llm.events import Done", ("llm", "wire", "x"), []),
        ("import tark_lsp.server.app", ("server", "asking", "x"), ["server.asking may not import server.app"]),
        ("from tark_lsp.server.asking import show", ("server", "turns", "x"), []),
    ],
)
def test_the_check_itself(source: str, module: tuple[str, ...], found: list[str]) -> None:
    assert violations(source, module) == found
