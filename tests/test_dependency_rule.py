"""The dependency rule of docs/architecture.md, held against every import in the source, lazy ones included."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import tark_lsp

SOURCE = Path(tark_lsp.__file__).parent
DEMO = SOURCE / "cli" / "demo_project"

GROUND = {"errors", "messages"}
BELOW_AGENT = GROUND | {"settings", "http", "llm", "workspace", "context", "sandbox", "tools"}
LAYERS: dict[str, set[str]] = {
    "errors": set(),
    "messages": set(),
    "folders": set(),
    "settings": GROUND,
    "settings_cleaning": GROUND,
    "http": GROUND | {"redaction"},
    "key_shapes": set(),
    "redaction": {"key_shapes"},
    "log_ids": set(),
    "llm": GROUND | {"http"},
    "workspace": GROUND | {"database", "sqlite_file"},
    "context": GROUND | {"settings", "workspace", "key_shapes"},
    "sandbox": {"errors"},
    "tools": GROUND | {"http", "workspace", "context", "sandbox"},
    "agent": BELOW_AGENT | {"log_ids"},
    "database": {"sqlite_file"},
    "sqlite_file": set(),
    "processes": set(),
    "sessions": GROUND | {"context", "agent", "database", "sqlite_file", "processes"},
    "telemetry": GROUND | {"agent", "llm", "log_ids", "redaction", "folders"},
    "server": BELOW_AGENT | {"agent", "telemetry", "log_ids", "sessions", "folders", "processes"},
    "gateway": BELOW_AGENT | {"agent", "sessions"},
    "cli": BELOW_AGENT | {"agent", "sessions", "server", "gateway", "folders", "processes"},
    "__main__": {"cli"},
}
"""What each layer may import of ours beside itself."""
LAYERS["settings"] = LAYERS["settings"] | {"settings_cleaning"}

WITHIN_LLM: dict[str, set[str]] = {
    "events": set(),
    "request": {"events"},
    "wire": {"events", "request"},
    "scripted": {"wire"},
    "providers": {"events", "request", "wire", "provider", "scripted", "keys"},
}
"""The same inside llm/, for the parts that know little."""

ONLY_IN: dict[str, set[str]] = {
    "pygls": {"server"},
    "lsprotocol": {"server"},
    "httpx": {"http"},
    "rich": {"cli"},
    "markdown_it": {"cli"},
    "prompt_toolkit": {"cli"},
    "msgspec": {"llm"},
    "genai_prices": {"llm"},
    "opentelemetry": {"telemetry"},
    "sqlite3": {"sqlite_file", "database", "workspace", "sessions"},
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
        if layer == target == "llm" and len(module) > 1 and len(inside) > 1:
            allowed = WITHIN_LLM.get(module[1])
            if allowed is not None and inside[1] not in allowed | {module[1]}:
                found.append(f"llm.{module[1]} may not import llm.{inside[1]}")
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_imports_go_one_way(path: Path) -> None:
    module = path.relative_to(SOURCE).with_suffix("").parts
    if module == ("__init__",):
        assert not list(imported(ast.parse(path.read_text(encoding="utf-8")), ("tark_lsp",)))
        return
    assert module[0] in LAYERS, "a new layer needs its row in docs/architecture.md and here"
    assert violations(path.read_text(encoding="utf-8"), module) == []


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
    ],
)
def test_the_check_itself(source: str, module: tuple[str, ...], found: list[str]) -> None:
    assert violations(source, module) == found
