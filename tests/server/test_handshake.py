"""The start: how soon `initialize` is answered, that pygls would answer the same, and what is imported."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.capabilities import ServerCapabilitiesBuilder
from pytest_lsp import client_capabilities

from tark_lsp.server import handshake
from tark_lsp.server.connection.server import TarkServer
from tark_lsp.server.features import create_server
from tark_lsp.server.protocol.capabilities import (
    CHAT_FEATURES,
    CODE_ACTION_KINDS,
    NOT_ANNOUNCED,
    initialize_result,
    is_announced,
    is_dynamic,
)
from tests.server.raw import ROOT, RawServer, frame

EVERY_FILE = types.FileOperationRegistrationOptions(
    [types.FileOperationFilter(scheme="file", pattern=types.FileOperationPattern(glob="**/*"))]
)
OPTIONS: dict[str, Any] = {
    types.TEXT_DOCUMENT_CODE_ACTION: types.CodeActionOptions(code_action_kinds=list(CODE_ACTION_KINDS)),
    types.TEXT_DOCUMENT_COMPLETION: types.CompletionOptions(trigger_characters=["@", ":", "/"]),
    types.TEXT_DOCUMENT_DID_SAVE: types.SaveOptions(include_text=False),
    types.WORKSPACE_DID_CREATE_FILES: EVERY_FILE,
    types.WORKSPACE_DID_RENAME_FILES: EVERY_FILE,
    types.WORKSPACE_DID_DELETE_FILES: EVERY_FILE,
}
"""What pygls cannot know from the name of a method."""


HELIX: dict[str, Any] = {
    "general": {"positionEncodings": ["utf-8", "utf-32", "utf-16"]},
    "textDocument": {
        "completion": {"completionItem": {"snippetSupport": True, "resolveSupport": {"properties": ["detail"]}}},
        "hover": {"contentFormat": ["markdown"]},
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["", "quickfix", "refactor"]}},
            "isPreferredSupport": True,
            "disabledSupport": True,
        },
        "rename": {"dynamicRegistration": False, "prepareSupport": True, "honorsChangeAnnotations": False},
        "publishDiagnostics": {"versionSupport": True},
    },
    "window": {"workDoneProgress": True, "showDocument": {"support": True}},
    "workspace": {
        "configuration": True,
        "applyEdit": True,
        "workspaceFolders": True,
        "didChangeConfiguration": {"dynamicRegistration": False},
        "executeCommand": {"dynamicRegistration": False},
        "fileOperations": {"willRename": True, "didRename": True},
        "workspaceEdit": {"documentChanges": True, "resourceOperations": ["create", "rename", "delete"]},
    },
}
"""What matters here of what Helix sends (helix-lsp/src/client.rs, 25.01); pytest-lsp does not have it."""

PROFILES: dict[str, Callable[[], types.ClientCapabilities]] = {
    "Neovim 0.11": lambda: client_capabilities("neovim@0.11.0"),
    "Neovim 0.6": lambda: client_capabilities("neovim@0.6.1"),
    "VS Code": lambda: client_capabilities("visual_studio_code"),
    "Emacs": lambda: client_capabilities("emacs"),
    "Helix": lambda: get_converter().structure(HELIX, types.ClientCapabilities),
    "bare": types.ClientCapabilities,
}


def by_pygls(server: TarkServer, capabilities: types.ClientCapabilities, client: str) -> Any:
    """What pygls makes of its registry, except for the features that the client is told of later or never."""
    manager = server.protocol.fm
    later = {feature for feature in CHAT_FEATURES if is_dynamic(get_converter().unstructure(capabilities), feature)}
    never = {feature for feature in NOT_ANNOUNCED if not is_announced(client, feature)}
    features = {*manager.features, *manager.builtin_features} - {f"textDocument/{feature}" for feature in later | never}
    builder: Any = ServerCapabilitiesBuilder(
        capabilities,
        features,
        {method: options for method, options in OPTIONS.items() if method in features},
        list(manager.commands),
        types.TextDocumentSyncKind.Incremental,
        None,
        ServerCapabilitiesBuilder.choose_position_encoding(capabilities),
    )
    return json.loads(json.dumps(get_converter().unstructure(builder.build())))


def normal(value: Any) -> Any:
    """Without what is `false` or null, which says as much as its absence; commands in one order."""
    if isinstance(value, dict):
        return {
            key: sorted(item) if key == "commands" else normal(item)
            for key, item in value.items()
            if item is not False and item is not None
        }
    return value


@pytest.mark.parametrize("profile", PROFILES)
async def test_the_prepared_answer_is_what_pygls_would_send(
    profile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It also holds the prepared list of commands equal to the commands that are registered."""
    for home in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(home, str(tmp_path))
    capabilities = PROFILES[profile]()
    params = {"capabilities": get_converter().unstructure(capabilities), "clientInfo": {"name": profile}}
    server = create_server()
    answer = await server.protocol.lsp_initialize(params)
    assert answer == initialize_result(params)
    # pygls does not know `experimental` (row O).
    assert answer["capabilities"].pop("experimental") == {"tark": {"protocol": 1}}
    assert normal(answer["capabilities"]) == normal(by_pygls(server, capabilities, profile))
    await server.protocol.lifecycle.stop()


def test_the_server_says_who_it_is() -> None:
    server = TarkServer()
    assert initialize_result({})["serverInfo"] == {"name": server.name, "version": server.version}


def test_what_only_chats_have_is_said_later_to_who_can_hear_it_then() -> None:
    dynamic = {"completion": {"dynamicRegistration": True}, "definition": {"dynamicRegistration": False}}
    offered = initialize_result({"capabilities": {"textDocument": dynamic}})["capabilities"]
    providers = [provider for provider, _ in CHAT_FEATURES.values() if provider in offered]
    assert providers == ["foldingRangeProvider", "documentSymbolProvider", "documentLinkProvider", "definitionProvider"]


def test_neovim_is_not_told_of_what_it_would_take_for_every_buffer() -> None:
    """Neither if it can register a feature later, nor if it cannot."""
    dynamic = {feature: {"dynamicRegistration": True} for feature in CHAT_FEATURES}
    left_out = {"hoverProvider", "completionProvider", "definitionProvider"}
    for text_document in ({}, dynamic):
        params: dict[str, Any] = {"capabilities": {"textDocument": text_document}}
        others = initialize_result(params | {"clientInfo": {"name": "Emacs"}})["capabilities"]
        told = initialize_result(params | {"clientInfo": {"name": "Neovim", "version": "0.11.4"}})["capabilities"]
        assert others.keys() - told.keys() == left_out & others.keys()
        assert "hoverProvider" in others


def test_file_operations_are_advertised_to_who_has_them() -> None:
    operations = {"didCreate": True, "didRename": False, "willDelete": True}
    result = initialize_result({"capabilities": {"workspace": {"fileOperations": operations}}})
    assert list(result["capabilities"]["workspace"]["fileOperations"]) == ["didCreate"]


@pytest.mark.slow  # it starts a program
def test_nothing_is_imported_that_the_answer_does_not_need() -> None:
    """Without the site module, which imports more than we do in some environments."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); import tark_lsp.server.handshake; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-S", "-c", code, str(ROOT)], check=True, capture_output=True, text=True)
    modules = {name.partition(".")[0] for name in run.stdout.split()}
    assert "json" in modules
    heavy = {"asyncio", "dataclasses", "inspect", "logging", "pathlib", "pydantic", "pygls", "threading", "typing"}
    assert not modules & heavy


SLOW = """
import os, sys, time
from tark_lsp.server.handshake import serve_stdio

def create():
    while not os.path.exists(sys.argv[1]):
        time.sleep(0.01)
    from tark_lsp.server.connection.server import TarkServer
    return TarkServer()

serve_stdio(create)
"""


@pytest.mark.slow  # it starts a program
def test_initialize_is_answered_before_there_is_a_server(tmp_path: Path) -> None:
    go_on = tmp_path / "go on"
    with RawServer([sys.executable, "-c", SLOW, str(go_on)]) as server:
        server.initialize()
        text = "x" * 1_000_000  # far more than a pipe holds: the client must not wait either
        server.notify("textDocument/didOpen", {"textDocument": {"uri": "untitled:x", "version": 1, "text": text}})
        go_on.touch()
        assert server.call("shutdown")["result"] is None
        server.notify("exit")
        assert server.wait() == 0


HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}


def test_a_sound_initialize_is_taken_and_the_rest_left() -> None:
    rest = b"Content-Length: 9\r\n\r\n{"
    assert handshake.parse_initialize(frame(HELLO) + rest) == (HELLO, rest)
    assert handshake.parse_initialize(frame(HELLO | {"id": "a"})) == (HELLO | {"id": "a"}, b"")


@pytest.mark.parametrize(
    "received",
    [
        b"",
        b"Content-Length: 5\r\n\r\n{",
        b"GET / HTTP/1.1\r\n\r\n",
        frame(b"{"),
        frame(b"\xff"),
        frame(b"[" * 100_000),
        frame([HELLO]),
        frame(HELLO | {"jsonrpc": "1.0"}),
        frame(HELLO | {"method": "shutdown"}),
        frame(HELLO | {"id": None}),
        frame(HELLO | {"id": True}),
        frame(HELLO | {"params": None}),
        frame({"jsonrpc": "2.0", "method": "initialize", "params": {}}),
    ],
)
def test_whatever_else_comes_first_is_left_to_the_server(received: bytes) -> None:
    assert handshake.parse_initialize(received) == (None, received)


HEAVY = {
    "anyio": "HTTP: the first model request",
    "genai_prices": "the first price",
    "httpcore": "HTTP",
    "httpx": "HTTP",
    "importlib.metadata": "nothing: pydantic is kept from searching for plugins",
    "importlib.resources": "the first prompt that is read",
    "keyring": "the first key that no variable gives",
    "msgspec": "the answer of a model",
    "markdown_it": "the terminal",
    "markdownify": "a web page, in a process of its own",
    "numpy": "the index process",
    "opentelemetry": "only if the environment asks for it",
    "prompt_toolkit": "the terminal",
    "rich": "the terminal",
    "sqlite3": "the first session, or hunks kept by an earlier server",
    "tark_lsp.cli": "the terminal",
    "tantivy": "the index process",
    "tark_lsp.agent.side_request": "the first title or commit message",
    "tark_lsp.http": "the first model request or login",
    "tark_lsp.index.client": "the first turn in a trusted workspace, which starts the index process",
    "tark_lsp.index.model": "the first question to the index",
    "tark_lsp.index.questions": "the first question to the index",
    "tark_lsp.llm.catalog": "the first list of models",
    "tark_lsp.llm.client": "the first turn, with all providers",
    "tark_lsp.llm.events": "the first turn",
    "tark_lsp.llm.keys": "the first turn or login",
    "tark_lsp.secrets.masks": "the first turn, with what finds secrets",
    "tark_lsp.server.command_parts": "the first command, with all features that offer some",
    "tark_lsp.server.indexing.embedding": "the first index that runs",
    "tark_lsp.server.protocol.command_payloads": "the first command",
    "tark_lsp.tools.run_command": "the first turn: no tool is imported, and no schema of one is built",
    "tree_sitter": "the index process, and the first command",
}
"""Modules that no server needs before its first turn, and what they are for."""

FIRST_REQUEST = """
import sys
from tark_lsp.server import handshake

def create():
    from lsprotocol import types
    from tark_lsp.server.features import create_server

    server = create_server()

    @server.feature("test/modules")
    async def modules(_params: dict) -> object:
        ready = sorted(model.__name__ for model in models() if model.__pydantic_complete__)
        return {"modules": sorted(sys.modules), "classes": "__attrs_attrs__" in vars(types.Hover), "models": ready}

    return server

def models():
    from pydantic import BaseModel

    waiting = [BaseModel]
    while waiting:
        waiting += (found := waiting.pop().__subclasses__())
        yield from (model for model in found if model.__module__.startswith("tark_lsp"))

handshake.serve_stdio(create)
"""


@pytest.mark.slow
def test_a_server_that_answered_its_first_request_has_imported_little(tmp_path: Path) -> None:
    homes = {f"XDG_{name}_HOME": str(tmp_path) for name in ("CONFIG", "STATE", "CACHE", "DATA")}
    with RawServer([sys.executable, "-c", FIRST_REQUEST], env=homes) as server:
        server.initialize()
        hover = {"textDocument": {"uri": "untitled:x"}, "position": {"line": 0, "character": 0}}
        assert server.call("textDocument/hover", hover)["result"] is None
        found = server.call("test/modules")["result"]
    assert not [name for name in HEAVY if name in found["modules"]]
    assert not found["classes"], "lsprotocol's classes are not generated"
    settings = {
        "CommentSettings",
        "ContextSettings",
        "GatewaySettings",
        "IndexSettings",
        "Limits",
        "McpSettings",
        "PermissionRules",
        "SessionSettings",
        "Settings",
    }
    assert set(found["models"]) <= {"DocumentId", "HoverParams", "Position", *settings}, "models are built when used"
