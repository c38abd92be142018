"""Who the client is: the table of flags, and what is read from the params of `initialize`."""

import re
from pathlib import Path
from typing import Any

import pytest
from lsprotocol.converters import get_converter
from pytest_lsp import client_capabilities

from tark_lsp.server.connection.editors import EDITORS, ClientInfo, EditorFlags, flags_of, folder_paths

UNKNOWN = EditorFlags()


@pytest.mark.parametrize(
    ("name", "version", "expected"),
    [
        ("Visual Studio Code", "1.100.3", {"honours_confirmation": True, "takes_keyboard_on_message": False}),
        ("Visual Studio Code - Insiders", "1.110.0-insider", {"honours_confirmation": True}),
        ("VSCodium", "1.99", {"honours_confirmation": True, "draws_icons": True}),
        ("Neovim", "0.11.4+v0.11.4", {"honours_confirmation": False, "says_applied_when_skipped": True}),
        ("Neovim", "0.12.0-dev", {"honours_confirmation": True, "checks_versions": True}),
        ("Neovim", "1.0", {"honours_confirmation": True}),
        ("Neovim", "", {"honours_confirmation": False, "change_delay": 0.15}),
        ("Eglot", "1.24", {"draws_icons": False, "says_applied_when_skipped": False, "change_delay": 0.5}),
        ("helix", "25.07", {"show_document_replaces_view": True, "forgets_earlier_message": True}),
        ("kakoune-lsp", "18.2.0", {"checks_versions": False, "says_applied_when_skipped": True}),
    ],
)
def test_flags(name: str, version: str, expected: dict[str, Any]) -> None:
    flags = flags_of(name, version)
    assert {key: getattr(flags, key) for key in expected} == expected


@pytest.mark.parametrize("name", ["", "Zed", "My Neovim", "Vim"])
def test_unknown_editors_are_taken_for_the_worst(name: str) -> None:
    assert flags_of(name, "9") == UNKNOWN


def test_every_row_of_the_table_can_be_reached() -> None:
    for start, least, flags in EDITORS:
        assert flags_of(start, ".".join(map(str, least))) == flags
        assert start == start.lower()


def test_a_whole_client(tmp_path: Path) -> None:
    capabilities = {
        "general": {"positionEncodings": ["utf-32", "utf-8"]},
        "window": {"workDoneProgress": True, "showDocument": {"support": False}},
        "workspace": {"workspaceEdit": {"changeAnnotationSupport": {}}, "configuration": None},
        "experimental": {"tark": {"protocol": 1, "updates": True, "save": 1}},
    }
    client = ClientInfo.from_params(
        {
            "clientInfo": {"name": "Neovim", "version": "0.11.4"},
            "capabilities": capabilities,
            "processId": 7,
            "initializationOptions": {"model": "x"},
            "rootUri": "file:///elsewhere",
            "workspaceFolders": [
                {"uri": tmp_path.as_uri(), "name": "a"},
                {"uri": "vscode-remote://x/y", "name": "b"},
                {"uri": (tmp_path / "c").as_uri(), "name": "c"},
            ],
        }
    )
    assert (client.name, client.version, client.process_id) == ("Neovim", "0.11.4", 7)
    assert client.folders == (tmp_path, tmp_path / "c")
    assert client.initialization_options == {"model": "x"}
    assert client.position_encoding == "utf-32"
    assert client.flags.change_delay == 0.15
    assert client.has("window.workDoneProgress")
    assert client.has("window.showDocument")
    assert client.has("workspace.workspaceEdit.changeAnnotationSupport")
    for missing in ("window.showDocument.support", "workspace.configuration", "a.b", "window.workDoneProgress.x"):
        assert not client.has(missing)
    assert client.understands("updates")
    assert not client.understands("save")
    assert not client.understands("input")


def test_a_fork_says_what_it_is_built_from() -> None:
    compatibility = Path(__file__).parents[3] / "editors" / "vscode" / "src" / "server" / "compatibility.ts"
    (editor,) = re.findall(r'editor: "(.+)"', compatibility.read_text())
    tark = {"protocol": 1, "editor": editor}
    params = {"clientInfo": {"name": "Trae", "version": "2.1"}, "capabilities": {"experimental": {"tark": tark}}}
    assert ClientInfo.from_params(params).flags == flags_of("Visual Studio Code", "1.100.3")
    assert ClientInfo.from_params({"clientInfo": {"name": "Trae"}}).flags == UNKNOWN


@pytest.mark.parametrize("version", [None, 0, 2, "1"])
def test_another_version_of_our_protocol_is_not_understood(version: object) -> None:
    capabilities = {"experimental": {"tark": {"protocol": version, "updates": True}}}
    assert not ClientInfo.from_params({"capabilities": capabilities}).understands("updates")


@pytest.mark.parametrize(
    "params",
    [
        None,
        [],
        {},
        {"capabilities": None, "processId": "x", "clientInfo": [], "workspaceFolders": 3, "rootUri": {}},
        {"capabilities": {"general": {"positionEncodings": "utf-8"}, "workspace": []}, "processId": -1},
        {"capabilities": {"experimental": {"tark": True}}, "workspaceFolders": [None, {"uri": 1}, {"uri": "http://x"}]},
        {"capabilities": {"experimental": {"tark": {"editor": 7}}}},
        {"processId": True, "clientInfo": {"name": 3, "version": {}}},
    ],
)
def test_nonsense_is_a_client_that_can_nothing(params: object) -> None:
    client = ClientInfo.from_params(params)
    assert (client.name, client.version, client.folders, client.process_id) == ("", "", (), None)
    assert client.position_encoding == "utf-16"
    assert client.flags == UNKNOWN
    assert not client.has("window.workDoneProgress")
    assert not client.understands("updates")


def test_the_root_counts_where_there_are_no_folders(tmp_path: Path) -> None:
    for folders in (None, [], [{"uri": "untitled:x"}]):
        client = ClientInfo.from_params({"rootUri": tmp_path.as_uri(), "workspaceFolders": folders})
        assert client.folders == (tmp_path,)
    assert folder_paths(None) == ()


@pytest.mark.parametrize(
    ("profile", "encoding"), [("neovim", "utf-8"), ("visual_studio_code", "utf-16"), ("emacs", "utf-32")]
)
def test_profiles(profile: str, encoding: str) -> None:
    capabilities = get_converter().unstructure(client_capabilities(profile))
    client = ClientInfo.from_params({"capabilities": capabilities})
    assert client.position_encoding == encoding
    assert client.has("workspace.applyEdit")
