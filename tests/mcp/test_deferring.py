"""Many tools: when they are deferred, how they are found, and that call_tool is no way around anything."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tark_lsp.agent.approval import Policy
from tark_lsp.agent.deferring import MOST_TOOLS, sent_definitions, tools_to_defer, with_search
from tark_lsp.agent.receipting import TurnReceipts
from tark_lsp.agent.rules import Rule
from tark_lsp.agent.shortening import shorten_message, texts_to_shorten
from tark_lsp.agent.turn import run_turn
from tark_lsp.agent.user_interface import Rejected
from tark_lsp.context.budget import Estimates
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.wire.wire import Quirks, TargetModel, load_wire
from tark_lsp.messages import ApprovalLevel, Message, Mode, Text, ToolCall, ToolDefinition, ToolResult
from tark_lsp.receipts.receipt import Receipt
from tark_lsp.sessions.deferred_tools import deferred_of, keep_deferred
from tark_lsp.sessions.message_json import message_of_text, message_text
from tark_lsp.sessions.rows import SessionRow
from tark_lsp.sessions.store import SessionStore
from tark_lsp.tools.mcp_tool import McpArguments, McpTool
from tark_lsp.tools.tool import Preview, Risk, ToolContext, ToolKind
from tark_lsp.tools.tool_search import near_tools, search_tools
from tests.agent.bench import Bench
from tests.agent.script import Call, answer, call
from tests.mcp.many import defer_many
from tests.mcp.servers import Desk

LABEL = "mcp__hub__create_label"
TRUSTED = Policy(ApprovalLevel.CAREFUL, trusted=True)


async def preview(_: McpArguments, __: ToolContext) -> Preview:
    return Preview("x", ToolKind.OTHER, Risk.RISKY)


async def run(_: McpArguments, __: ToolContext, ___: Preview) -> str:
    return "done"


def made(name: str, description: str = "", **properties: Any) -> McpTool:
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return McpTool(name, description, McpArguments, Risk.RISKY, preview, run, schema=schema)


def numbered(count: int, description: str = "") -> dict[str, McpTool]:
    return {f"mcp__s__t{n:03}": made(f"mcp__s__t{n:03}", description) for n in range(count)}


@pytest.fixture
def bench(desk: Desk) -> Bench:
    bench = Bench(desk.folder, rules=TRUSTED)
    defer_many(bench, desk)
    return bench


def wrapped(**arguments: Any) -> Call:
    return Call("call_tool", json.dumps(arguments))


@pytest.mark.parametrize(
    ("count", "description", "window", "deferred"),
    [
        (MOST_TOOLS, "", 200_000, 0),
        (MOST_TOOLS + 1, "", 200_000, MOST_TOOLS + 1),
        (MOST_TOOLS + 1, "", None, MOST_TOOLS + 1),
        (5, "word " * 400, 200_000, 0),
        (5, "word " * 400, 10_000, 5),
        (5, "word " * 400, None, 0),
    ],
)
def test_above_forty_tools_or_a_tenth_of_the_window(
    count: int, description: str, window: int | None, deferred: int
) -> None:
    assert len(tools_to_defer(numbered(count, description), "p/m", window, Estimates())) == deferred


def test_the_list_does_not_follow_what_comes_and_goes() -> None:
    before = numbered(41)
    deferred = tools_to_defer(before, "p/m", None, Estimates())
    now = {**dict(list(before.items())[1:]), "mcp__s__new": made("mcp__s__new")}
    sent, sent_now = (sent_definitions(with_search(tools, deferred), deferred) for tools in (before, now))
    assert sent == sent_now
    assert [tool.name for tool in sent] == ["find_tools", "call_tool", *before]


async def test_call_tool_is_asked_shown_and_recorded_as_the_tool_that_it_names(bench: Bench, desk: Desk) -> None:
    kept: list[Receipt] = []
    arguments = {"repository": "a/b"}
    first = answer(wrapped(name=LABEL, arguments=arguments))
    turn = bench.make(first, answer(call(LABEL, **arguments)), answer("ok"), decisions=[Rejected(), Rejected()])
    turn.receipts = TurnReceipts(kept.extend)
    await run_turn(turn)
    asked = bench.user.asked[0]
    assert asked.title == f'{LABEL} {{"repository": "a/b"}}'
    assert [grant.mcp.tool for grant in asked.grants if grant.mcp] == [LABEL, LABEL]
    assert len(bench.user.asked) == 1  # the second is the same call by its name, which was rejected already
    assert bench.errors() == ["denied", "denied"]
    assert {one.tool for one in kept} == {LABEL}
    assert len({one.digest for one in kept}) == 1
    assert desk.told() == []


@pytest.mark.parametrize("rule", [LABEL, "mcp__hub", "run_command"])
async def test_rules_for_the_real_name_bind(bench: Bench, desk: Desk, rule: str) -> None:
    bench.rules = replace(TRUSTED, deny=(Rule.parse(rule),), allow=(Rule.parse("mcp__hub"),))
    await bench.run(answer(wrapped(name=LABEL, arguments={"repository": "a/b"})), answer("ok"))
    assert bench.errors() == ["denied"]
    assert bench.user.asked == []
    assert desk.told() == []


async def test_an_untrusted_workspace_has_no_way_around(bench: Bench, desk: Desk) -> None:
    bench.rules = replace(TRUSTED, trusted=False)
    await bench.run(answer(wrapped(name=LABEL, arguments={"repository": "a/b"})), answer("ok"))
    assert bench.errors() == ["denied"]
    assert desk.told() == []


WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "a name that is nearly right": ({"name": "mcp__hub__create_lable"}, "there is no tool", LABEL),
    "a name without its server": ({"name": "create_label"}, "there is no tool", LABEL),
    "a name like no other": ({"name": "zzz"}, "there is no tool 'zzz'", "find_tools finds tools"),
    "a tool of ours": ({"name": "run_command", "arguments": {"command": "ls"}}, "not called by", "run_command itself"),
    "itself": ({"name": "call_tool"}, "not called by", "call_tool itself"),
    "no name": ({"arguments": {}}, "name: Field required", "name, arguments"),
    "no object": ({"name": LABEL, "arguments": "{"}, "arguments: Input should be", "name, arguments"),
    "an argument is missing": ({"name": LABEL, "arguments": {"repo": "a"}}, "'repository' is missing", "repository"),
}


@pytest.mark.parametrize("wrong", WRONG)
async def test_a_wrong_call_says_what_is_near(bench: Bench, desk: Desk, wrong: str) -> None:
    arguments, message, hint = WRONG[wrong]
    await bench.run(answer(wrapped(**arguments)), answer("ok"))
    (result,) = bench.results()
    error = json.loads(result)["error"]
    assert message in error["message"]
    assert hint in error["retry_hint"]
    assert desk.told() == []


@pytest.mark.parametrize("way", ["by its name", "by call_tool"])
async def test_a_tool_that_is_gone_says_so_and_is_not_found(bench: Bench, way: str) -> None:
    del bench.tools[LABEL]
    bench.tools = dict(with_search(bench.tools, bench.session.deferred))
    gone = call(LABEL) if way == "by its name" else wrapped(name=LABEL)
    await bench.run(answer(gone), answer(call("find_tools", query=LABEL)), answer("ok"))
    assert "is gone" in bench.results()[0]
    assert LABEL not in bench.results()[1]
    assert LABEL in {tool.name for tool in bench.model.requests[1].tools}


async def test_a_search_asks_nobody_and_is_not_text_from_outside(bench: Bench) -> None:
    bench.level = ApprovalLevel.MANUAL
    await bench.run(answer(call("find_tools", query="label create")), answer("ok"))
    assert bench.user.asked == []
    assert bench.context.outside_sources == []
    head, first, *_ = bench.results()[0].split("\n")
    assert head.startswith("5 tools of 120")
    assert json.loads(first)["name"] == LABEL
    assert json.loads(first)["parameters"]["required"] == ["repository"]
    assert "</mcp>" in json.loads(first)["description"]


async def test_modes_that_only_read_find_nothing(bench: Bench) -> None:
    bench.mode = Mode.PLAN
    await bench.run(answer(wrapped(name=LABEL)), answer("ok"))
    assert not {"find_tools", "call_tool", LABEL} & bench.offered()
    assert bench.errors() == ["unknown_tool"]


FOUND = ToolResult("1", "long " * 1_000, found=("mcp__s__a",))
SEARCHED = (
    Message("user", (Text("go"),)),
    Message("assistant", (ToolCall("1", "find_tools", '{"query":"a"}'),), "p/m"),
    Message("tool", (FOUND,)),
)


def test_what_was_found_stays_when_old_results_are_shortened_and_stored() -> None:
    assert shorten_message(SEARCHED[2]) is SEARCHED[2]
    assert list(texts_to_shorten(SEARCHED[2])) == []
    assert message_of_text(message_text(SEARCHED[2])) == SEARCHED[2]


@pytest.mark.parametrize("wire", ["anthropic-messages", "openai-responses"])
@pytest.mark.parametrize("known", [True, False])
def test_nothing_refers_to_a_tool_that_the_request_does_not_have(wire: str, known: bool) -> None:
    """In mode plan, say, or if the server does not take deferred tools."""
    tool = ToolDefinition("mcp__s__a", "A tool.", {"type": "object", "properties": {}}, "deferred")
    search = ToolDefinition("find_tools", "Finds.", {"type": "object", "properties": {}}, "search")
    target = TargetModel("p/m", "m", Quirks(tool_search=True), tool_search=True)
    tools = (tool, search) if known else ()
    body = load_wire(wire).encode(ChatRequest("", SEARCHED, tools), target).decode()
    assert ("tool_reference" in body or "tool_search_output" in body) == known
    assert ("long long" in body) != known
    refused = replace(target, quirks=Quirks(tool_search=False))
    body = load_wire(wire).encode(ChatRequest("", SEARCHED, (tool, search)), refused).decode()
    assert "defer_loading" not in body
    assert "mcp__s__a" not in body
    assert "long long" in body


def test_a_session_keeps_its_list(tmp_path: Path) -> None:
    store = SessionStore(lambda: tmp_path / "sessions.db", lambda _: None)
    tools = tools_to_defer(numbered(41), "p/m", None, Estimates())
    store.create_session(SessionRow("s1", "", 1, 1, (), None, Mode.BUILD, ApprovalLevel.CAREFUL))
    assert deferred_of(store.file, "s1") == ()
    keep_deferred(store.file, "s1", tools)
    assert deferred_of(store.file, "s1") == tools
    store.fork_session("s1", "s2", "fork", None)
    assert deferred_of(store.file, "s2") == tools
    store.delete_session("s1")
    assert deferred_of(store.file, "s1") == ()
    store.close()


TOOLS = [
    ToolDefinition("mcp__hub__create_issue", "Opens an issue in a repository."),
    ToolDefinition("mcp__hub__list_issues", "The issues of a repository."),
    ToolDefinition("mcp__fs__readTextFile", "Reads a file.", {"properties": {"path": {}}}),
    ToolDefinition("mcp__fs__write_file", "Replaces the text of a file.", {"properties": {"path": {}}}),
    ToolDefinition("mcp__db__query", "Runs SQL."),
]
QUERIES = {
    "create an issue": "mcp__hub__create_issue",
    "read file": "mcp__fs__readTextFile",
    "issues": "mcp__hub__list_issues",
    "SQL": "mcp__db__query",
    "mcp__fs__write_file": "mcp__fs__write_file",
    "call mcp__db__query please, not an issue of a repository": "mcp__db__query",
}


@pytest.mark.parametrize("query", QUERIES)
def test_search(query: str) -> None:
    assert search_tools(query, TOOLS, 5)[0].name == QUERIES[query]


@pytest.mark.parametrize("query", ["", "...", "zebra", "\u0000"])
def test_nothing_matches(query: str) -> None:
    assert search_tools(query, TOOLS, 5) == []


@settings(max_examples=40)
@given(
    st.lists(st.sampled_from(["issue", "file", "text", "a", "SQL", "x_y", "é"])).map(" ".join),
    st.permutations(TOOLS),
    st.integers(1, 5),
)
def test_the_order_of_the_tools_changes_nothing(query: str, tools: list[ToolDefinition], most: int) -> None:
    found = search_tools(query, tools, most)
    assert found == search_tools(query, TOOLS, most)
    assert len(found) <= most


def test_near_names() -> None:
    names = [tool.name for tool in TOOLS]
    assert near_tools("write_file", names)[0] == "mcp__fs__write_file"
    assert near_tools("mcp__hub__list_issue", names)[0] == "mcp__hub__list_issues"
    assert near_tools("", names) == []
