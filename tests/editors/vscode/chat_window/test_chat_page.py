"""The page of the chat: keyboard only, accessible in every theme, safe against hostile text."""

import pytest
from playwright.sync_api import expect

from tests.editors.vscode.axe import violations_in_every_theme
from tests.editors.vscode.chat import Chat
from tests.editors.vscode.chat_window.hostile import LEADS_AWAY
from tests.editors.vscode.workbench import Workbench


def test_fast_keys_are_not_lost(chat: Chat, bench: Workbench) -> None:
    """VS Code would run these keys late, from its own process, and what was typed meanwhile would be lost."""
    keys = bench.page.keyboard
    keys.type("take three changes")
    keys.press("Control+A")
    keys.type("make four changes", delay=20)
    expect(chat.prompt).to_have_value("make four changes")
    keys.press("Control+A")
    keys.press("Control+X")
    keys.type("so ", delay=20)
    expect(chat.prompt).to_have_value("so ")
    keys.press("Control+V")
    expect(chat.prompt).to_have_value("so make four changes")
    keys.press("Control+Z")
    keys.type("be it", delay=20)
    expect(chat.prompt).to_have_value("so be it")
    chat.prompt.fill("")  # it would be kept for the next test


def test_by_keys_alone(chat: Chat, bench: Workbench) -> None:
    keys = bench.page.keyboard

    def clear() -> None:
        for _ in chat.prompt.input_value():
            keys.press("Backspace")

    keys.type("see @fi")
    expect(chat.find(".completion [role=option]").first).to_contain_text("@file:")
    keys.press("Enter")
    keys.type("sha")
    expect(chat.find(".completion [aria-selected=true]")).to_contain_text("shapes.py")
    keys.press("Tab")
    expect(chat.prompt).to_have_value("see @file:shapes.py ")
    clear()
    keys.type("see @shp")
    expect(chat.find(".completion [aria-selected=true]")).to_contain_text("shapes.py")
    keys.press("Enter")
    expect(chat.prompt).to_have_value("see @file:shapes.py ")
    clear()
    keys.type("/usa")
    expect(chat.find(".completion [aria-selected=true]")).to_contain_text("show tokens and cost")
    keys.press("Escape")
    clear()
    keys.type("/exp")
    expect(chat.find(".completion [aria-selected=true]")).to_contain_text("/explain")
    keys.press("Escape")
    clear()
    keys.type("where is the area?")
    keys.press("Enter")
    chat.until_said("It needs no new import.")
    focused = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"
    passed: list[str] = []
    while "Copy python" not in passed:
        keys.press("Shift+Tab")
        passed.append(chat.page.evaluate(focused))
        assert len(passed) < 20, passed
    keys.press("Enter")
    expect(chat.page.locator(".unseen[role=status]")).to_contain_text("Copied")  # the button says so for a moment only


def test_everybody_can_use_it_in_every_theme(chat: Chat, bench: Workbench) -> None:
    chat.say("where is the area?")
    chat.until_said("It needs no new import.")
    chat.say("make a plan")
    chat.until_said("The first step is done.")
    chat.say("fail")
    expect(chat.last).to_contain_text("no such model")
    chat.say("rewrite the area")
    chat.until_asked("permission")
    chat.page.locator("header .title").click()
    expect(chat.find("nav.sessions li").first).to_be_visible()
    chat.page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    expect(chat.find(".waiting .diff ins")).to_be_visible()
    assert violations_in_every_theme(bench, chat.page) == []
    chat.until_asked("permission").get_by_role("button", name="Reject", exact=True).click()
    expect(chat.last).to_have_attribute("data-state", "ended")


@pytest.mark.exhaustive
def test_everybody_can_use_the_pages_in_tabs(chat: Chat, bench: Workbench) -> None:
    """A chat in a tab with a request, the page of the context, and the doctor."""
    chat.say("rewrite the area")
    chat.until_asked("permission")
    bench.run("Tark: Move Chat to Editor")
    tab = Chat(bench, "body[data-tab]:has(.permission)")
    assert violations_in_every_theme(bench, tab.page) == []
    tab.find(".status .context").click()
    assert violations_in_every_theme(bench, bench.frame_with(".bar progress")) == []
    bench.run("Tark: Doctor")
    assert violations_in_every_theme(bench, bench.frame_with("a.button")) == []
    bench.run("View: Close All Editors")


def test_hostile_words_do_nothing(chat: Chat, bench: Workbench, said: list[str]) -> None:
    """Text, thoughts, tool calls, a plan and a question: no script runs, nothing is loaded, no link leads out."""
    asked, dialogs = [], []
    bench.page.context.on("request", lambda request: asked.append(request.url))
    bench.page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    chat.say("be hostile")
    chat.until_asked("input")
    chat.page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    for block in (".answer .blocks > .markdown", "details.thinking .markdown", ".plan li"):
        expect(chat.find(block)).to_have_count(len(said))
    assert chat.page.evaluate(LEADS_AWAY) == []
    for link in chat.find(".answer a[title*='javascript'], .answer a[title*='command']").all():
        link.click()
    chat.find(".waiting .input").get_by_role("button", name="Decline to Answer").click()
    expect(chat.last).to_have_attribute("data-state", "ended")
    bench.page.screenshot(path=bench.workspace.parent / "hostile.png")
    ours = (bench.origin, "https://vscode-remote")
    assert ([url for url in asked if not url.startswith(ours)], dialogs) == ([], [])
