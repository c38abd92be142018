"""A custom agent and a hook that formats in VS Code: chosen and shown in the chat, an offer approved; then none."""

import pytest
from playwright.sync_api import expect

from tests.editors.reviewer import SCENARIO, write_reviewer
from tests.editors.vscode.chat import Chat
from tests.editors.vscode.windows import Begin
from tests.editors.vscode.workbench import Workbench

pytestmark = pytest.mark.exhaustive  # a window of its own; a push has the same in Neovim and the terminal


@pytest.fixture(scope="module")
def bench(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    scenario = tmp_path_factory.mktemp("scenario") / "scenario.toml"
    scenario.write_text(SCENARIO)
    bench = begin(scenario, settings={"tark.editReview": "after"})
    write_reviewer(bench.home / "config" / "tark", bench.workspace)
    bench.open()
    bench.open_file("a.py")
    return bench


def choose(bench: Workbench, name: str) -> None:
    bench.run("Tark: Select Agent…")
    bench.page.locator(".quick-input-list .monaco-list-row").filter(has_text=name).first.click()


def test_an_agent_that_reads_and_a_hook_that_formats(bench: Workbench, chat: Chat) -> None:
    chat.say("hello")
    chat.until_said("Hello.")
    choose(bench, "reviewer")
    chat.open()
    expect(chat.button("Select the agent, currently reviewer")).to_have_text("reviewer")
    expect(chat.button("Select the model, currently scripted/small")).to_have_text("small")
    expect(chat.button("Select the mode, currently ask")).to_have_text("ask")
    chat.say("look")
    chat.until_said("It may not.")
    assert not (bench.workspace / "b.py").exists()

    choose(bench, "theirs")
    bench.page.locator(".view-line").filter(has_text="You are theirs.").wait_for()
    bench.page.get_by_text("Approve This Agent").first.click()
    expect(chat.button("Select the agent, currently theirs")).to_have_text("theirs")

    choose(bench, "None")
    expect(chat.button("Select the mode, currently build")).to_have_text("build")
    chat.say("edit")
    chat.until_said("Edited.")
    bench.open_file("a.py")
    bench.page.locator(".view-line").filter(has_text="x = 2").first.wait_for()
