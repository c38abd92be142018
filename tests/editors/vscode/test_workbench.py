"""The extension in a window, except chat and review: status, progress, the end of the server, sessions, first steps."""

import os
import signal
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.editors.vscode.windows import Begin
from tests.editors.vscode.workbench import Workbench, until

SCENARIO = Path(__file__).with_name("host.toml")


@pytest.fixture(scope="module")
def bench(begin: Begin) -> Workbench:
    bench = begin(SCENARIO)
    (bench.workspace / "numbers.txt").write_text("one\ntwo\nthree\n")
    bench.open()
    bench.open_file("numbers.txt")
    until(bench.processes, "a server, by the first file")
    return bench


def start(bench: Workbench, prompt: str) -> None:
    bench.run("Tark: Run Agent")
    bench.answer(prompt)


def pick(bench: Workbench, text: str) -> None:
    """Choose a row of the open list."""
    rows = bench.page.locator(".quick-input-list .monaco-list-row")
    rows.filter(has_text=text).first.wait_for()
    box = bench.page.locator(".quick-input-widget input[type=text]")
    box.fill(text)
    bench.page.locator(".quick-input-list .monaco-list-row.focused").filter(has_text=text).wait_for()
    box.press("Enter")


def test_the_status_item_opens_a_menu(bench: Workbench) -> None:
    bench.page.get_by_role("button", name="Tark: idle").click()  # before the server runs, the menu is about the server
    rows = bench.page.locator(".quick-input-list .monaco-list-row")
    rows.filter(has_text="Open Chat").wait_for()
    assert rows.filter(has_text="Select Model").count() == 1
    bench.page.keyboard.press("Escape")


def test_progress_is_cancelled_by_its_button(bench: Workbench) -> None:
    start(bench, "talk for ever")
    bench.status().locator(".codicon-sync").wait_for()
    bench.chat()
    bench.page.keyboard.press("Control+B")  # the chat shows the progress itself
    cancel = bench.page.locator(".notification-toast .monaco-button").filter(has_text="Cancel")
    cancel.wait_for()
    bench.run("Tark: Open Chat")
    cancel.wait_for(state="hidden")
    expect(bench.chat().locator("#prompt")).to_be_focused()  # a page that is loading gets no keys
    bench.page.keyboard.press("Control+B")
    cancel.click()
    cancel.wait_for(state="hidden")
    bench.status().locator(".codicon-sync").wait_for(state="hidden")


def test_a_server_that_is_killed_comes_back(bench: Workbench) -> None:
    start(bench, "talk for ever")
    bench.status().locator(".codicon-sync").wait_for()
    (former,) = bench.processes()
    os.kill(former, signal.SIGKILL)
    bench.toast("the server ended (killed), 1 turn was interrupted; it was restarted").wait_for()
    until(lambda: [process for process in bench.processes() if process != former], "another server")
    bench.status().locator(".codicon-sync").wait_for(state="hidden")
    start(bench, "hello")
    bench.chat().locator(".answer").filter(has_text="Hello from the script.").wait_for()


def test_a_session_goes_by_way_of_a_file_and_is_deleted_after_a_question(bench: Workbench) -> None:
    bench.run("Tark: Export Session")
    pick(bench, "talk for ever")
    pick(bench, "JSON")
    bench.toast("exported to").wait_for()
    (exported,) = bench.home.rglob("exports/*.json")
    bench.run("Tark: Import Session")
    bench.page.locator(".quick-input-title").filter(has_text="Import Session").wait_for()
    rows = bench.page.locator(".quick-input-list .monaco-list-row")
    rows.filter(has_text="..").wait_for()  # it has listed the initial folder
    box = bench.page.locator(".quick-input-widget input[type=text]")
    box.fill(str(exported))
    rows.filter(has_text=exported.name).wait_for()  # and the folder of the file
    box.press("Enter")
    expect(bench.chat().locator("#prompt")).to_be_focused()  # an input box that opens earlier loses the focus
    until(lambda: sessions(bench) == 2, "the session and its copy")
    for answer, left in (("Cancel", 2), ("Delete", 1)):
        bench.run("Tark: Delete Session")
        pick(bench, "talk for ever")
        bench.page.locator(".monaco-dialog-box .monaco-button").filter(has_text=answer).click()
        bench.page.locator(".monaco-dialog-box").wait_for(state="hidden")
        until(partial(are_left, bench, left), f"{left} sessions after {answer}")


def test_an_mcp_server_is_added_and_removed_after_a_question(bench: Workbench) -> None:
    bench.run("Tark: Add MCP Server")
    bench.answer("python3 -S 'notes.py")
    pick(bench, "In the Sandbox, without Network")
    bench.page.locator(".quick-input-message").filter(has_text="cannot be read: No closing quotation").wait_for()
    typed = bench.page.locator(".quick-input-widget input")
    assert typed.input_value() == "python3 -S 'notes.py"
    typed.press("End")
    typed.press("'")
    typed.press("Enter")
    pick(bench, "In the Sandbox, without Network")
    row = bench.page.get_by_role("treeitem", name="notes, waits for your approval")
    row.wait_for()
    bench.page.locator(".codelens-decoration a").filter(has_text="Start It, to See Its Tools").wait_for()
    config = bench.home / "config" / "tark" / "config.toml"
    for answer in ("Cancel", "Remove"):
        assert '[mcp.servers.notes]\ncommand = "python3"' in config.read_text()
        bench.run("Tark: Remove MCP Server or Hook")
        pick(bench, "notes")
        bench.page.locator(".monaco-dialog-box .monaco-button").filter(has_text=answer).click()
        bench.page.locator(".monaco-dialog-box").wait_for(state="hidden")
    row.wait_for(state="hidden")
    assert "mcp" not in config.read_text()


def are_left(bench: Workbench, count: int) -> bool:
    return sessions(bench) == count


def sessions(bench: Workbench) -> int:
    """How many are listed that began with "talk for ever"."""
    bench.page.locator(".editor-instance .view-lines").first.click()
    bench.run("Tark: Open Session")
    rows = bench.page.locator(".quick-input-list .monaco-list-row")
    rows.filter(has_text="New Session").wait_for()
    count = rows.filter(has_text="talk for ever").count()
    bench.page.keyboard.press("Escape")
    return count


def test_first_steps(bench: Workbench) -> None:
    bench.run("Welcome: Open Walkthrough")
    pick(bench, "Get Started with Tark")
    steps = bench.page.locator(".gettingStartedContainer .step-title")
    until(lambda: {"Install the server", "Choose a model"} <= set(steps.all_inner_texts()), "the steps")
