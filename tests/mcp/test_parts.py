"""The pure parts: messages, versions, names, schemas, forms, files of other programs."""

import contextlib
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tark_lsp.errors import McpError
from tark_lsp.mcp.approving import compared, shown_command
from tark_lsp.mcp.calls import progress_text
from tark_lsp.mcp.content import content_of_call, content_of_resource, messages_of_prompt
from tark_lsp.mcp.elicitation import Form, FormField, read_elicitation, typed_value
from tark_lsp.mcp.eras import Era, facts_of_discover, facts_of_initialize, http_headers, version_after, with_meta
from tark_lsp.mcp.json_rpc import Asked, Failure, Reply, Told, parse_messages
from tark_lsp.mcp.names import LONGEST, is_mcp_name, server_name, server_of, tool_name
from tark_lsp.mcp.offers import Offers, project_offers, read_file
from tark_lsp.mcp.pin_store import PinStore
from tark_lsp.mcp.pins import Pin, compare, pin_json, read_pin
from tark_lsp.mcp.resolving import Resolver
from tark_lsp.mcp.schema_headers import argument_headers, header_value, headers_of_schema
from tark_lsp.mcp.server_config import Resolved, ServerConfig, expand, quoted, resolve
from tark_lsp.mcp.server_log import ServerLog
from tark_lsp.mcp.server_tools import ServerTool, read_tools
from tark_lsp.mcp_settings import McpServerSettings
from tests.exhaustive import examples

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def test_messages() -> None:
    assert parse_messages(b'{"jsonrpc":"2.0","id":1,"result":{}}') == [Reply(1, {})]
    assert parse_messages(
        b'[{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":"a","method":"y","params":{"b":1}}]'
    ) == [
        Told("x", {}),
        Asked("a", "y", {"b": 1}),
    ]
    assert parse_messages(b'{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m"}}') == [Failure(None, -1, "m")]


@settings(max_examples=examples(40))
@given(JSON)
def test_any_json_is_a_message_or_a_value_error(value: Any) -> None:
    try:
        parse_messages(json.dumps(value).encode())
    except ValueError:
        return


@settings(max_examples=examples(40))
@given(st.text(), JSON)
def test_any_list_of_tools_gives_tools_and_sentences(name: str, schema: Any) -> None:
    tools, problems = read_tools([{"name": name, "inputSchema": schema}, schema])
    assert len(tools) + len(problems) in (1, 2)


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=128), st.text(min_size=1, max_size=128))
def test_names_are_short_plain_and_different(one: str, other: str) -> None:
    names = [tool_name("server", tool) for tool in (one, other)]
    assert all(len(name) <= LONGEST and name.isascii() and is_mcp_name(name) for name in names)
    assert all(server_of(name) == "server" for name in names)
    assert (names[0] == names[1]) == (one == other)


READERS = (
    content_of_call,
    content_of_resource,
    messages_of_prompt,
    read_elicitation,
    progress_text,
    facts_of_initialize,
    facts_of_discover,
)
KEYS_OF_RESULTS = st.sampled_from(
    [
        *("content", "contents", "messages", "role", "type", "text", "data", "mimeType", "resource", "uri", "blob"),
        *("name", "structuredContent", "isError", "message", "mode", "url", "requestedSchema", "properties"),
        *("required", "enum", "oneOf", "const", "items", "default", "progress", "total", "protocolVersion"),
        *("supportedVersions", "capabilities", "serverInfo", "instructions", "_meta"),
    ]
)
RESULTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["text", "image", "resource", "url", "object", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS_OF_RESULTS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=examples(200))
@given(st.dictionaries(KEYS_OF_RESULTS, RESULTS, max_size=4))
def test_whatever_a_server_sends_is_read_or_refused(value: dict[str, Any]) -> None:
    for read in READERS:
        with contextlib.suppress(McpError):
            read(value)


def test_a_schema_that_is_nested_too_deeply_is_off() -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(2_000):
        schema = {"type": "object", "properties": {"a": schema}}
    assert read_tools([{"name": "deep", "inputSchema": schema}]) == (
        *((), ("the tool deep has a schema that is nested too deeply",)),
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [("GitHub", "github"), ("my_server.v2", "my-server-v2"), ("-x-", "x"), ("ß", ""), ("a" * 30, "a" * 20)],
)
def test_names_of_other_programs(text: str, name: str) -> None:
    assert server_name(text) == name


def test_versions() -> None:
    assert facts_of_initialize({"protocolVersion": "2024-11-05", "serverInfo": {"name": "x"}}).version == "2024-11-05"
    with pytest.raises(McpError, match="speaks version '1999'"):
        facts_of_initialize({"protocolVersion": "1999"})
    assert facts_of_discover({"supportedVersions": ["2025-11-25"]}) is None
    modern = facts_of_discover({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": True}}})
    assert modern is not None
    assert modern.can("tools", "listChanged")
    assert version_after(Failure(1, -32022, "", {"supported": ["2026-07-28"]})) == "2026-07-28"
    assert version_after(Failure(1, -32022, "", {"supported": ["2025-06-18"]})) is None
    assert version_after(Failure(1, -32601, "")) is None
    with pytest.raises(McpError, match="speaks only 2030-01-01"):
        version_after(Failure(1, -32022, "", {"supported": ["2030-01-01"]}))


def test_what_a_request_carries() -> None:
    params = with_meta({"name": "a"}, Era.MODERN, "2026-07-28", 7)
    assert {key.rpartition("/")[2] for key in params["_meta"]} == {
        *("progressToken", "protocolVersion", "clientCapabilities", "clientInfo")
    }
    assert with_meta({"name": "a"}, Era.LEGACY, "2025-11-25") == {"name": "a"}
    call = {"method": "tools/call", "params": {"name": "ä"}}
    assert http_headers(call, Era.MODERN, "2026-07-28") == {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "=?base64?w6Q=?=",
    }
    assert http_headers(call, Era.LEGACY, "2025-03-26") == {}
    assert http_headers(call, Era.LEGACY, "2025-06-18") == {"mcp-protocol-version": "2025-06-18"}
    assert http_headers({"method": "initialize"}, Era.LEGACY, "2025-11-25") == {"mcp-method": "initialize"}


def property_of(**keywords: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A", **keywords}}}


BAD_HEADERS = {
    "no name": property_of(**{"x-mcp-header": ""}),
    "no token": property_of(**{"x-mcp-header": "a b"}),
    "a number": property_of(type="number"),
    "several types": property_of(type=["string"]),
    "at the root": {"type": "object", "x-mcp-header": "A"},
    "in an array": {"type": "object", "properties": {"a": {"type": "array", "items": {"x-mcp-header": "A"}}}},
    "twice": {"properties": {name: {"type": "string", "x-mcp-header": name} for name in ("a", "A")}},
}


@pytest.mark.parametrize("schema", BAD_HEADERS)
def test_schemas_whose_headers_break_the_rules(schema: str) -> None:
    with pytest.raises(ValueError, match="x-mcp-header"):
        headers_of_schema(BAD_HEADERS[schema])


def test_arguments_as_headers() -> None:
    inner = {"type": "object", "properties": {"b": {"type": "boolean", "x-mcp-header": "B"}}}
    schema = {"properties": {"a": {"type": "string", "x-mcp-header": "A"}, "inner": inner}}
    assert argument_headers(schema, {"a": "x\ny", "inner": {"b": True}}) == {
        "Mcp-Param-A": "=?base64?eAp5?=",
        "Mcp-Param-B": "true",
    }
    assert argument_headers(schema, {"a": None, "inner": 3}) == {}
    assert [header_value(text) for text in ("plain", " blank", "=?base64?x?=")] == [
        *("plain", "=?base64?IGJsYW5r?=", "=?base64?PT9iYXNlNjQ/eD89?=")
    ]


def test_content() -> None:
    text = {"type": "text", "text": "words"}
    assert content_of_call({"content": [text], "structuredContent": {"a": 1}}).text == "words"
    assert content_of_call({"content": [], "structuredContent": {"a": 1}}).text == '{\n "a": 1\n}'
    assert content_of_call({"content": [], "structuredContent": None}).text == "null"
    assert content_of_call({"content": "?"}).text == "(no content)"
    assert content_of_call({"content": [{"type": "audio", "mimeType": "audio/wav", "data": "AAAA"}]}).text == (
        "[audio audio/wav, 3 bytes]"
    )
    blob = {"uri": "x://b", "blob": "AAAA", "mimeType": "application/zip"}
    assert content_of_call({"content": [{"type": "resource", "resource": blob}]}).text == (
        "[the resource x://b]\n[binary application/zip, 3 bytes]"
    )
    link = {"type": "resource_link", "uri": "x://a", "name": "a"}
    assert content_of_call({"content": [link, {"type": "video"}], "isError": True}).text == (
        "[a link to the resource x://a (a)]\n[content of the type video, which tark-lsp does not know]"
    )
    assert content_of_resource({"contents": [{"text": "a"}, blob]}).text == "a\n[binary application/zip, 3 bytes]"
    assert messages_of_prompt({"messages": [{"role": "user", "content": text}]}) == [("user", "words")]


def test_forms() -> None:
    form = read_elicitation(
        {
            "message": "m",
            "requestedSchema": {
                "properties": {
                    "a": {"type": "string", "title": "A"},
                    "b": {"type": "string", "oneOf": [{"const": "x", "title": "X"}]},
                    "c": {"type": "array", "items": {"enum": ["p", "q"]}},
                    "d": {"type": "boolean", "default": True},
                },
                "required": ["a"],
            },
        }
    )
    assert form == Form(
        "m",
        (
            FormField("a", "text", "A", required=True),
            FormField("b", "choice", options=(("x", "X"),)),
            FormField("c", "choices", options=(("p", "p"), ("q", "q"))),
            FormField("d", "boolean", default=True),
        ),
    )
    assert typed_value(FormField("n", "integer"), "7") == 7
    with pytest.raises(ValueError, match="invalid literal"):
        typed_value(FormField("n", "integer"), "seven")


KEYS = ("password", "API key", "your_token", "passphrase", "client secret", "OTP")


@pytest.mark.parametrize("name", KEYS)
def test_a_form_never_asks_for_a_key(name: str) -> None:
    with pytest.raises(McpError, match="looks like a key or password"):
        read_elicitation({"requestedSchema": {"properties": {name: {"type": "string"}}}})


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd", 3, None, "https:" + "x" * 5_000])
def test_only_web_pages_are_opened(url: Any) -> None:
    with pytest.raises(McpError):
        read_elicitation({"mode": "url", "url": url})


def test_progress() -> None:
    assert progress_text({"progress": 3, "total": 10, "message": "reading"}) == "reading (3 of 10)"
    assert progress_text({"progress": 0.5}) == "0.5"
    assert progress_text({"progress": "x"}) == ""


FILES = {
    "Claude Code": ({"mcpServers": {"git": {"command": "uvx", "args": ["a"], "env": {"K": "${K:-x}"}}}}, "uvx a"),
    "Claude Code, HTTP": (
        {"mcpServers": {"git": {"type": "http", "url": "https://x.example/mcp"}}},
        "https://x.example/mcp",
    ),
    "VS Code": ({"servers": {"git": {"type": "stdio", "command": "git-mcp", "env": {"K": "${env:K}"}}}}, "git-mcp"),
    "opencode": ({"mcp": {"git": {"type": "local", "command": ["npx", "a"], "environment": {"K": "x"}}}}, "npx a"),
    "opencode 2": ({"mcp": {"servers": {"git": {"type": "remote", "url": "https://x.example"}}}}, "https://x.example"),
}


@pytest.mark.parametrize("program", FILES)
def test_files_of_other_programs(tmp_path: Path, program: str) -> None:
    value, shown = FILES[program]
    file = tmp_path / "mcp.json"
    file.write_text("// a comment\n" + json.dumps(value)[:-1] + ",}")
    found = read_file(file)
    assert found.problems == ()
    (one,) = found.servers
    settings = one.settings
    assert (settings.url or " ".join([settings.command or "", *settings.args])) == shown
    assert one.variables in ((), ("K",))


BAD_ENTRIES: dict[str, tuple[dict[str, Any], str]] = {
    "the old transport": ({"type": "sse", "url": "https://x.example"}, "does not speak"),
    "an input": ({"command": "x", "args": ["${input:key}"]}, "only VS Code can ask for"),
    "a key in the URL": ({"url": "https://key@x.example"}, "without user name, password"),
    "a number": ({"command": 3}, "bad: command must be text"),
    "text for a list": ({"command": "x", "args": "y"}, "bad: args must be a list"),
    "a name of a variable": ({"command": "x", "env": {"a b": "c"}}, "bad: env.a b must be the name of"),
    "no object": (3, "not an object"),  # type: ignore[dict-item]  # bad on purpose
}


@pytest.mark.parametrize("entry", BAD_ENTRIES)
def test_entries_that_cannot_be_used_say_why(tmp_path: Path, entry: str) -> None:
    value, why = BAD_ENTRIES[entry]
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"bad": value, "good": {"command": "x"}}}))
    found = read_file(file)
    assert [one.name for one in found.servers] == ["good"]
    assert why in found.problems[0]


def test_a_file_that_is_no_json_says_so(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text("{")
    assert "cannot be read as JSON" in read_file(tmp_path / "mcp.json").problems[0]
    (tmp_path / ".mcp.json").write_text("{")
    said = project_offers([tmp_path]).problems[0]
    assert said.startswith(".mcp.json cannot be read as JSON"), "a list is narrow, so the path is short"


BAD_SHAPES: dict[str, tuple[Any, str]] = {
    "a list": ([], "it must be an object in braces {}"),
    "a list of servers": ({"mcpServers": [{"command": "x"}]}, "mcpServers must be an object with a name for each"),
    "null": ({"servers": None}, "servers must be an object"),
    "a list of opencode": ({"mcp": {"servers": []}}, "mcp.servers must be an object"),
    "too many": ({"mcpServers": {str(number): {"command": "x"} for number in range(51)}}, "more than 50 servers"),
}


@pytest.mark.parametrize("shape", BAD_SHAPES)
def test_a_file_of_a_wrong_shape_says_so(tmp_path: Path, shape: str) -> None:
    value, why = BAD_SHAPES[shape]
    (tmp_path / ".mcp.json").write_text(json.dumps(value))
    (problem,) = project_offers([tmp_path]).problems
    assert problem.startswith(".mcp.json: ")
    assert why in problem


@pytest.mark.parametrize("value", [{}, {"projects": {"/a": {"mcpServers": {"x": {}}}}}])
def test_a_file_without_servers_is_no_problem(tmp_path: Path, value: Any) -> None:
    (tmp_path / ".mcp.json").write_text(json.dumps(value))
    assert project_offers([tmp_path]) == Offers()


def config(**settings: Any) -> ServerConfig:
    return ServerConfig("x", McpServerSettings(**settings))


BAD_CONFIGS = {
    "nothing": ({}, "either a command or a URL"),
    "both": ({"command": "sh", "url": "https://x.example"}, "either a command or a URL"),
    "not encrypted": ({"url": "http://x.example/mcp"}, "not encrypted"),
    "no such folder": ({"command": "sh", "cwd": "missing"}, "does not exist"),
    "no such program": ({"command": "./missing"}, "does not exist"),
}


@pytest.mark.parametrize("bad", BAD_CONFIGS)
def test_configurations_that_cannot_start(tmp_path: Path, bad: str) -> None:
    settings, why = BAD_CONFIGS[bad]
    with pytest.raises(McpError, match=why):
        resolve(config(**settings), [tmp_path])


def test_a_server_needs_a_folder_and_names_what_it_would_start(tmp_path: Path) -> None:
    with pytest.raises(McpError, match="no folder is open"):
        resolve(config(command="sh"), [])
    shown = resolve(config(command="sh", args=("-c", "it's; x")), [tmp_path]).shown
    assert shown.endswith("/sh -c 'it'\\''s; x'")
    assert quoted("a b") == "'a b'"
    npx = tmp_path / "npx"
    npx.write_text("#!/bin/sh\n")
    assert "another version each time" in resolve(config(command="./npx"), [tmp_path]).warning
    assert resolve(config(url="http://127.0.0.1:1/mcp"), [tmp_path]).url == "http://127.0.0.1:1/mcp"


def test_a_key_in_plain_text_gets_a_warning(tmp_path: Path) -> None:
    headers = {"Authorization": "Bearer sk-1", "X-Api-Key": "${KEY}", "Accept-Language": "de"}
    over_http = config(url="https://127.0.0.1/mcp", headers=headers)
    assert resolve(over_http, [tmp_path]).warning.startswith("Authorization is plain text in your settings")
    assert resolve(replace(over_http, source=tmp_path / ".mcp.json"), [tmp_path]).warning == ""
    program = config(command="sh", env={"GITHUB_TOKEN": "ghp_1", "DB_PASSWORD": "", "LOG": "x"})
    assert resolve(program, [tmp_path]).warning.startswith("GITHUB_TOKEN is plain text in your settings")


def test_variables() -> None:
    assert expand("Bearer ${A} ${B:-b}", {"A": "a"}) == "Bearer a b"
    with pytest.raises(McpError, match="has several lines"):
        expand("${A}", {"A": "a\nb"})


def test_a_damaged_pin_counts_as_none(tmp_path: Path) -> None:
    store, pin = (
        PinStore(lambda: tmp_path / "pins"),
        Pin("git", "digest", (ServerTool("a", schema={"type": "object"}),)),
    )
    store.write(pin)
    assert store.find("git") == pin
    assert store.find("git", "/other/.mcp.json") is None
    (file,) = (tmp_path / "pins").iterdir()
    assert file.stat().st_mode & 0o077 == 0
    file.write_text(file.read_text().replace("digest", "x")[:-5])
    assert store.find("git") is None
    assert store.remove("git")
    assert not store.remove("git")


def test_what_changed() -> None:
    one, other = ServerTool("a", description="x"), ServerTool("a", description="y")
    changes = compare([one, ServerTool("gone")], [other, ServerTool("new")])
    assert changes.off == {"a", "new", "gone"}
    assert not compare([one], [one])
    assert one.digest != ServerTool("a", description="x", annotations={"readOnlyHint": True}).digest


def test_what_a_server_is_is_looked_up_again_when_a_file_changed_and_only_then(tmp_path: Path) -> None:
    """A change that keeps the size and sets the old time back is one, too."""
    script = tmp_path / "server.py"
    script.write_text("print(1)")
    settings = McpServerSettings(command=sys.executable, args=("server.py", "later.py"))
    resolver = Resolver(ServerConfig("toy", settings))
    first = resolver.resolve([tmp_path])
    (tmp_path / "other.txt").write_text("no part of it")
    assert resolver.resolve([tmp_path]) is first
    times = script.stat()
    script.write_text("print(2)")
    os.utime(script, ns=(times.st_atime_ns, times.st_mtime_ns))
    second = resolver.resolve([tmp_path])
    assert second.digest != first.digest
    (tmp_path / "later.py").write_text("a word of the command names a file now")
    assert resolver.resolve([tmp_path]).digest != second.digest
    script.unlink()
    assert resolver.resolve([tmp_path]).digest not in (first.digest, second.digest)


def test_a_pin_keeps_what_was_shown_and_switched_and_reads_one_of_an_earlier_version() -> None:
    tools, _ = read_tools([{"name": "add", "inputSchema": {"type": "object"}}])
    pin = Pin("toy", "d", tools, "/w/.mcp.json", Era.LEGACY, 7.0, ("toy", "  runs: x"), True, ("add",), unconfined=True)
    assert read_pin(json.loads(json.dumps(pin_json(pin)))) == pin
    later = ("shown", "disabled", "off", "unconfined")
    earlier = {key: value for key, value in pin_json(pin).items() if key not in later}
    assert read_pin(earlier) == Pin("toy", "d", tools, "/w/.mcp.json", Era.LEGACY, 7.0)
    for wrong in ({"off": "add"}, {"shown": [1]}):
        with pytest.raises(ValueError, match="is wrong"):
            read_pin({**pin_json(pin), **wrong})


def test_a_log_keeps_the_last_lines_and_says_which_are_the_servers() -> None:
    ended: list[McpError] = []
    log = ServerLog(ended.append)
    log.add("starting")
    log.said(b"one\ntw")
    assert [line[-8:] for line in log.lines()] == ["starting", "| one", "| tw"]
    log.said(b"o\n" + b"x" * 5_000)
    log.ended(McpError("it has ended"))
    assert len(ended) == 1
    starting, *lines, last = log.lines()
    assert (starting[-8:], lines[:2], len(lines[2]), last[-12:]) == (
        "starting",
        ["| one", "| two"],
        2_002,
        "it has ended",
    )
    log.said(b"y\n" * 5_000)
    assert len(log.lines()) == 1_000


def test_a_command_hides_no_line_and_no_value() -> None:
    settings = {"command": "x", "env": {"KEY": "secret", "TOKEN": "${TOKEN}"}}
    config = ServerConfig("toy", McpServerSettings.model_validate(settings), Path("/w/\u202e.mcp.json"))
    lines = shown_command(config, Resolved("d", ("/bin/x", "a\n  where: here"), Path("/w")))
    assert lines == [
        "toy, from /w/\\u{202e}.mcp.json",
        "  runs: /bin/x 'a⏎  where: here'",
        "  where: /w",
        "  sandbox: on, without network",
        "  gets KEY = secret",  # a project's, so it is no secret, but can be an option that runs something
        "  gets TOKEN = ${TOKEN}",
    ]
    own = ServerConfig("toy", McpServerSettings.model_validate(settings))
    assert "  gets KEY = (a value of its own)" in shown_command(own, Resolved("d", ("/bin/x",), Path("/w")))
    linked = Resolved("d", ("/bin/x", "a"), Path("/w"), links=(Path("/other/a"),))
    assert shown_command(own, linked)[-1] == "  a link of the workspace leads to /other/a"
    assert compared((), lines).lines == tuple(lines)
    assert not compared(lines, lines).is_diff  # a value differs, which nobody sees
    assert compared(lines, lines).lines[-1] == "changed: a value that is not shown"
    script = Resolved("d", ("/bin/x", "a"), Path("/w"), scripts=((Path("/w/a"), "1234567890abcdef"),))
    assert shown_command(config, script)[-1] == "  the approval is for the content of /w/a (SHA-256 1234567890ab...)"
