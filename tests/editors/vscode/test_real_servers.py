"""The six real MCP servers in VS Code: approved in the view, and used in one turn of the chat."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.editors.vscode.chat import Chat
from tests.editors.vscode.windows import Begin
from tests.editors.vscode.workbench import Workbench
from tests.mcp.real_servers import DONE, PROMPT, SERVERS, make_repository, scenario, server_tables

pytestmark = pytest.mark.exhaustive


@pytest.fixture
def bench(begin: Begin, tmp_path: Path) -> Workbench:
    model = tmp_path / "model.toml"
    bench = begin(model)
    make_repository(bench.workspace)
    model.write_text(scenario(bench.workspace))
    with (bench.home / "config" / "tark" / "config.toml").open("a") as config:
        config.write(server_tables(bench.workspace))
    bench.open()
    bench.page.set_viewport_size({"width": 1280, "height": 1200})  # so that all servers are in view, and none half
    bench.open_file("a.txt")
    return bench


def test_one_tool_of_each_in_one_turn(bench: Workbench) -> None:
    bench.run("Tark: Show MCP Servers")
    for name in SERVERS:
        approve(bench, name)
    chat = Chat(bench)
    chat.say(PROMPT)
    for real in SERVERS.values():
        row = chat.until_asked("permission").filter(has_text=real.tool)
        row.get_by_role("button", name="Allow", exact=True).click()
        row.wait_for(state="hidden")
    chat.until_said(DONE)
    calls = chat.last.locator("details.call")
    expect(calls).to_have_count(len(SERVERS))
    for name, real in SERVERS.items():
        call = calls.filter(has_text=real.tool)
        expect(call).to_contain_text(name)
        call.locator("summary").press("Enter")
        expect(call.locator("pre").last).to_contain_text(real.said)
    expect(calls.last).to_contain_text("the MCP server fetch: Error executing tool fetch: Refused to fetch")


def approve(bench: Workbench, name: str) -> None:
    rows, lens = bench.page.get_by_role("treeitem"), bench.page.locator(".codelens-decoration a")
    bench.page.mouse.move(800, 400)  # away from the tooltip of another row, which can cover this one
    rows.filter(has_text=name).filter(has_text="waits for your approval").first.click()
    lens.filter(has_text="Start It, to See Its Tools", visible=True).click()
    lens.filter(has_text="Approve Th", visible=True).click()
    rows.filter(has_text=name).filter(has_text="running").first.wait_for()
