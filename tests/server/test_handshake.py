"""The start: what answers `initialize`, how soon, and that it says what pygls would say."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.capabilities import ServerCapabilitiesBuilder
from pytest_lsp import client_capabilities

from tark_lsp.server import handshake
from tark_lsp.server.app import create_server
from tark_lsp.server.capabilities import CHAT_FEATURES, CODE_ACTION_KINDS, COMMANDS, initialize_result, is_dynamic
from tark_lsp.server.connection.lsp import Connection
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
"""What pygls cannot know from a method's name alone."""


def by_pygls(connection: Connection, capabilities: types.ClientCapabilities) -> Any:
    """What pygls makes of the features registered with it, but for those that the client is told of later."""
    said_later = {each for each in CHAT_FEATURES if is_dynamic(get_converter().unstructure(capabilities), each)}
    features = set(connection.protocol.fm.features) - {f"textDocument/{feature}" for feature in said_later}
    builder: Any = ServerCapabilitiesBuilder(
        capabilities,
        features,
        {method: options for method, options in OPTIONS.items() if method in features},
        list(COMMANDS),
        types.TextDocumentSyncKind.Incremental,
        None,
        ServerCapabilitiesBuilder.choose_position_encoding(capabilities),
    )
    return json.loads(json.dumps(get_converter().unstructure(builder.build())))


def said(value: Any) -> Any:
    """Without what is `false` or null, which says as much as its absence."""
    if isinstance(value, dict):
        return {key: said(item) for key, item in value.items() if item is not False and item is not None}
    return value


PROFILES = ["neovim", "visual_studio_code", "emacs", "neovim@0.6.1", "nothing"]


@pytest.mark.parametrize("profile", PROFILES)
def test_the_prepared_answer_is_what_pygls_would_send(profile: str) -> None:
    capabilities = types.ClientCapabilities() if profile == "nothing" else client_capabilities(profile)
    prepared = initialize_result({"capabilities": get_converter().unstructure(capabilities)})
    # pygls knows of no `experimental` (row O).
    assert prepared["capabilities"].pop("experimental") == {"tark": {"protocol": 1}}
    assert said(prepared["capabilities"]) == said(by_pygls(create_server(), capabilities))


def test_the_server_says_who_it_is() -> None:
    connection = Connection()
    assert initialize_result({})["serverInfo"] == {"name": connection.name, "version": connection.version}


def test_what_only_chats_have_is_said_later_to_who_can_hear_it_then() -> None:
    dynamic = {"completion": {"dynamicRegistration": True}, "definition": {"dynamicRegistration": False}}
    offered = initialize_result({"capabilities": {"textDocument": dynamic}})["capabilities"]
    providers = [provider for provider, _ in CHAT_FEATURES.values() if provider in offered]
    assert providers == ["foldingRangeProvider", "documentSymbolProvider", "documentLinkProvider", "definitionProvider"]


def test_file_operations_are_advertised_to_who_has_them() -> None:
    operations = {"didCreate": True, "didRename": False, "willDelete": True}
    result = initialize_result({"capabilities": {"workspace": {"fileOperations": operations}}})
    assert list(result["capabilities"]["workspace"]["fileOperations"]) == ["didCreate"]


def test_nothing_is_imported_that_the_answer_does_not_need() -> None:
    """Seen without the site module, which in some environments imports more than we do."""
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
    from tark_lsp.server.connection.lsp import Connection
    return Connection()

serve_stdio(create)
"""


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
