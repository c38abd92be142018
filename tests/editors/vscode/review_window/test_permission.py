"""Permission requests and questions in the workbench: each is asked once, whole, and leaves the focus."""

import pytest
from playwright.sync_api import Locator, expect

from tests.editors.hostile_text import deceptive, exact
from tests.editors.vscode.review_window.files import SHAPES, SOLIDS, reset_files
from tests.editors.vscode.review_window.hostile_command import HOSTILE
from tests.editors.vscode.workbench import Workbench, until

TITLE = "run hostile $(trash) $(sync~spin) \\$(check) [0-9]*"


@pytest.fixture
def bench(desk: Workbench) -> Workbench:
    """A workbench with unchanged files, one of them open, and with a hidden chat."""
    desk.run("View: Show Explorer")
    desk.run("View: Close All Editors")
    desk.page.locator(".editor-instance").first.wait_for(state="detached")
    reset_files(desk.workspace)
    desk.open_file("numbers.txt")
    return desk


def start(bench: Workbench, words: str) -> None:
    bench.run("Tark: Run Agent")
    bench.answer(words)


def ask(bench: Workbench, words: str) -> Locator:
    """Start a turn while the chat is hidden. Return the notification that asks for permission."""
    start(bench, words)
    asks = bench.toast("asks: ")
    asks.wait_for()
    status(bench, "bell-dot").wait_for()
    return asks


def status(bench: Workbench, *icons: str) -> Locator:
    """The status bar item while it has one of these icons."""
    return bench.status().locator(", ".join(f".codicon-{icon}" for icon in icons))


def open_chat(bench: Workbench) -> None:
    """Open the chat, and wait until it has the focus: an input box that opens before that would close again."""
    bench.run("Tark: Open Chat")
    expect(bench.chat().locator("#prompt")).to_be_focused()


def card(bench: Workbench) -> Locator:
    """The card in the chat, once it accepts clicks."""
    found = bench.chat().locator(".waiting:not(.quiet) .permission")
    found.wait_for()
    status(bench, "bell-dot").wait_for()
    return found


def button(where: Locator, name: str) -> Locator:
    return where.locator(":scope > .buttons").get_by_role("button", name=name, exact=True)


def notified(bench: Workbench) -> list[str]:
    return bench.page.locator(".notification-toast .notification-list-item-message").all_inner_texts()


def lens(bench: Workbench, title: str) -> Locator:
    return bench.page.locator(".codelens-decoration a:visible").filter(has_text=title).first


def badges(bench: Workbench) -> list[str]:
    return [text for text in bench.page.locator(".activitybar .badge-content").all_inner_texts() if text]


def over(bench: Workbench, words: str) -> None:
    """Wait until the turn has ended with this text, and no notification, badge or document is left.

    The status item says that it has ended: the chat, shown again, has the turn before it for a moment.
    """
    status(bench, "bell-dot", "sync").wait_for(state="detached")
    bench.run("Tark: Open Chat")
    bench.chat().locator(".turn").last.get_by_text(words).wait_for()
    bench.toast("asks: ").wait_for(state="detached")
    bench.page.get_by_role("tab", name="Tark asks").wait_for(state="detached")
    until(lambda: not badges(bench), "no badge")


def test_with_the_chat_hidden_a_turn_asks_once_in_a_notification(bench: Workbench) -> None:
    asks = ask(bench, "edit twice and run")
    said = [words for words in notified(bench) if "asks: " in words]  # VS Code keeps open progress for 0.8 s
    assert len(said) == 1, said
    assert "echo done" in said[0], "two edits are applied without a question"
    bench.run("Tark: Open Chat")
    asks.wait_for(state="detached")  # the chat asks now
    button(card(bench), "Reject").click()
    over(bench, "It is not run.")
    bench.run("Tark: Undo All")
    until(lambda: (bench.read("shapes.py"), bench.read("solids.py")) == (SHAPES, SOLIDS), "both edits are undone")


def test_with_the_chat_visible_a_turn_asks_once_in_a_card(bench: Workbench) -> None:
    bench.run("Tark: Open Chat")
    chat = bench.chat()
    bench.run("Tark: New Session")
    expect(chat.locator("#prompt")).to_be_focused()
    start(bench, "edit twice and run")
    asked = card(bench)
    assert notified(bench) == []
    assert chat.locator(".waiting .row:visible").count() == 1
    heights = chat.evaluate("[document.querySelector('.waiting').offsetHeight, innerHeight]")
    assert heights[0] <= heights[1] / 3 + 1, heights
    expect(button(asked, "Allow")).to_have_attribute("title", "Ctrl+Enter")
    chat.locator("#prompt").press("Control+Enter")
    over(bench, "The command ran.")
    assert notified(bench) == []
    bench.run("Tark: Keep All")


def test_a_command_is_asked_about_without_the_focus_and_allowed_by_the_notification(bench: Workbench) -> None:
    asks = ask(bench, "make made.txt")
    bench.page.keyboard.type("zero ", delay=20)
    until(lambda: bench.lines()[0] == "zero one", "what is typed goes on into the file")
    bench.page.keyboard.press("Control+S")  # of unsaved files a command is asked about once more
    until(lambda: bench.read("numbers.txt").startswith("zero one"), "it is saved")
    assert r"echo '[made]\u{28}command:x)' > made.txt" in asks.inner_text(), "whole, and no link of the model's"
    assert asks.locator(".notification-list-item-message a").all_inner_texts() == ["Reject", "Show"]
    until(lambda: badges(bench) == ["1"], "the badge")
    assert not (bench.workspace / "made.txt").exists()
    bench.look()
    asks.get_by_role("button", name="Allow").click()
    over(bench, "The command ran.")
    assert bench.read("made.txt") == "[made](command:x)\n"


def test_shown_in_an_editor_it_has_all_answers(bench: Workbench) -> None:
    asks = ask(bench, "make made.txt")
    bench.look()
    asks.get_by_role("link", name="Show").click()
    bench.page.get_by_role("tab", name="Tark asks").wait_for()
    lens(bench, "Reject").click()
    over(bench, "It is not run.")
    assert not (bench.workspace / "made.txt").exists()


def test_what_is_on_the_screen_is_what_is(bench: Workbench) -> None:
    """Of a command and of a title: in the notification, the chat, the whole request, the lists."""
    bench.run("Tark: New Session")
    expect(bench.chat().locator("#prompt")).to_be_focused()
    bench.run("View: Show Explorer")
    asks = ask(bench, TITLE)
    said = asks.inner_text()
    shown = r"echo $(pwd) $(sync~spin) \$(check) [0-9]* `id` 'a··b' [x]\u{28}command:y) \u{202e}\u{200b}; "
    assert shown in said, said
    assert asks.locator(".notification-list-item-message a").all_inner_texts() == ["Reject", "Show"]
    bench.run("Tark: Open Chat")
    command = bench.chat().locator(".waiting .command").inner_text()
    assert command == exact(HOSTILE, "\n")
    button(card(bench), "Show").click()
    lens(bench, "Reject").wait_for()
    whole = "".join(line.removeprefix("    ↪ ").removeprefix("$ ") for line in bench.lines())
    assert exact(HOSTILE.replace("\n", "")) in whole, whole
    assert not deceptive(said + command + whole)
    button(card(bench), "Reject").click()
    over(bench, "It is not run.")
    bench.run("Tark: Open Session")
    row = bench.page.locator(".quick-input-list .monaco-list-row").filter(has_text="run hostile").first
    row.wait_for()
    assert row.locator(".label-name").inner_text() == TITLE, "no icons and no links"
    assert row.locator(".label-name .codicon").count() == 0
    bench.page.keyboard.press("Escape")


def test_a_grant_for_the_session_is_chosen_by_name(bench: Workbench) -> None:
    open_chat(bench)
    start(bench, "run twice")
    asked = card(bench)
    asked.get_by_label("Allow for Longer").click()
    asked.get_by_role("button", name="exactly this command in this folder, this session").click()
    over(bench, "The command ran.")
    until(lambda: bench.read("made.txt") == "again made.txt\n" * 2, "the same command is not asked about again")
    bench.run("Tark: Manage Permissions…")
    row = bench.page.locator(".quick-input-list .monaco-list-row").filter(has_text="this session")
    expect(row).to_have_count(1)
    row.click()
    bench.toast("the permission is revoked").wait_for()


def test_in_the_card_what_is_long_is_read_to_its_end_before_it_is_allowed(bench: Workbench) -> None:
    open_chat(bench)
    start(bench, "run a long script")
    asked = card(bench)
    allow = button(asked, "Allow")
    expect(allow).to_have_attribute("aria-disabled", "true")
    expect(bench.page.locator(".pane-header").filter(has_text="Changes")).to_have_count(0)  # the card says it all
    scrolls = """card => [card, ...card.querySelectorAll("*")]
        .filter(part => part.scrollHeight > part.clientHeight + 1 && getComputedStyle(part).overflowY !== "visible")
        .map(part => part.className)"""
    assert asked.evaluate(scrolls) == ["asked"], "the only part that scrolls"
    allow.click(force=True)
    bench.look()
    assert not (bench.workspace / "long.txt").exists(), "it only scrolls on"
    asked.locator(".asked").evaluate("e => { e.scrollTop = e.scrollHeight; }")
    expect(allow).not_to_have_attribute("aria-disabled", "true")
    allow.click()
    over(bench, "The command ran.")
    assert bench.read("long.txt") == "hidden at the end\n"


def test_what_is_long_is_read_to_its_end_before_it_is_allowed(bench: Workbench) -> None:
    asks = ask(bench, "run a long script")
    bench.look()
    asks.get_by_role("link", name="Show").click()
    lens(bench, "Reject").wait_for()
    assert lens(bench, "Allow").count() == 0
    bench.page.keyboard.press("Control+End")
    lens(bench, "Allow").click()
    over(bench, "The command ran.")
    assert bench.read("long.txt") == "hidden at the end\n"


def test_a_question_waits_until_one_comes_and_keeps_what_was_typed(bench: Workbench) -> None:
    asks = ask(bench, "ask for words")
    assert "The model asks: What is it called?" in asks.inner_text(), "which is not Tark"
    asks.get_by_role("button", name="Answer…").click()
    box = bench.page.locator(".quick-input-widget input")
    box.fill("half a na")
    box.press("Escape")
    bench.run("Tark: Show Pending Requests")
    box.wait_for()
    until(lambda: box.input_value() == "half a na", "what was typed is there again")
    bench.answer("Basket")
    over(bench, "Basket")
