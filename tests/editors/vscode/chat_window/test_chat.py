"""The chat in a real workbench: answers, buttons, pending requests, and what it keeps."""

import os
import signal

from playwright.sync_api import expect

from tests.editors.vscode.chat import EMPTY_TAB, PASTE, Chat, said
from tests.editors.vscode.workbench import Workbench, until

COLOURS = "new Set([...document.querySelectorAll('.code span')].map((span) => getComputedStyle(span).color)).size"
CODE = '''def area(radius: float) -> float:
    """What a circle covers."""
    return math.tau / 2 * radius**2
'''
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
DROP = """(uri) => {
  const transfer = new DataTransfer();
  transfer.setData("text/uri-list", uri);
  const event = new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true });
  document.querySelector("#prompt").dispatchEvent(event);
}"""


def test_an_answer_with_all_its_parts(chat: Chat, bench: Workbench) -> None:
    chat.say("where is the area?")
    chat.until_said("It needs no new import.")
    thinking = chat.find("details.thinking")
    assert (thinking.inner_text(), thinking.get_attribute("open")) == ("Thinking (2 lines)", None)
    call = chat.find("details.call")
    assert call.get_attribute("data-status") == "completed"
    call.locator("summary").press("Enter")
    expect(call.locator("pre")).to_contain_text("math.pi * radius**2")
    assert chat.find(".answer h2, .answer td, .answer strong, .answer em").all_inner_texts()[:2] == ["Tark", "every"]
    assert chat.page.evaluate(COLOURS) >= 3

    chat.find(".answer a", "shapes.py:8-9").click()
    position = bench.page.locator("#status\\.editor\\.selection")
    expect(position).to_contain_text("Ln 9, Col 33")
    chat.find(".answer a", "missing.py:3").click()
    expect(bench.toast("missing.py is not a file in the workspace")).to_be_visible()

    chat.button("Copy python").click()
    until(lambda: bench.page.evaluate("navigator.clipboard.readText()") == CODE, "the code in the clipboard")
    chat.button("Insert python at the cursor").click()
    until(lambda: "    return math.tau / 2 * radius**2" in bench.lines(), "the code in the file, where it was selected")
    assert "def volume(radius, height):" not in bench.lines()
    bench.page.keyboard.press("Control+Z")
    until(
        lambda: "def volume(radius, height):" in bench.lines(),
        "one step takes it back, in the editor that has the focus",
    )


def test_a_code_block_is_applied_to_its_file(chat: Chat, bench: Workbench) -> None:
    """To the only file of its language that is visible, in place of the function of the same name, without a model."""
    bench.open_file("shapes.py")
    chat.open()
    chat.say("where is the area?")
    chat.until_said("It needs no new import.")
    apply = chat.button("Apply python to the file").last
    expect(apply).to_have_css("opacity", "0")
    apply.focus()
    expect(apply).to_have_css("opacity", "1")
    apply.press("Enter")
    expect(chat.last.locator(".prompt")).to_contain_text("Apply the code block to shapes.py.")
    chat.until_asked("permission").get_by_role("button", name="Allow", exact=True).click()
    until(lambda: "def area(radius: float) -> float:" in bench.lines(), "the new function in the file")
    expect(chat.last).to_have_attribute("data-state", "ended")
    assert [line for line in bench.lines() if line.startswith("def ")][1:] == ["def volume(radius, height):"]
    apply.click()
    expect(bench.toast("shapes.py has this code already")).to_be_visible()
    chat.button("Open python in a new file").last.click()
    expect(bench.page.locator(".tab.active")).to_contain_text("Untitled-1")
    until(lambda: bench.lines()[:1] == ["def area(radius: float) -> float:"], "the code in a new document")
    bench.run("View: Revert and Close Editor")
    bench.open_file("shapes.py")
    bench.page.keyboard.press("Control+Z")
    until(lambda: "def area(radius):" in bench.lines(), "the function as it was")
    bench.page.keyboard.press("Control+S")

    bench.page.keyboard.press("Control+End")
    bench.page.keyboard.insert_text("\ndef area(radius, unit): pass")
    until(lambda: "def area(radius, unit): pass" in bench.lines(), "two functions of one name")
    apply.click()
    asked = bench.toast("it is not certain where this code goes in shapes.py")
    asked.get_by_role("button", name="Let the Model Place It").click()
    expect(chat.last.locator(".prompt")).to_contain_text("Work this code into shapes.py")
    expect(chat.last).to_have_attribute("data-state", "ended")
    bench.open_file("shapes.py")
    bench.page.keyboard.press("Control+Z")
    until(lambda: "def area(radius, unit): pass" not in bench.lines(), "the file as it was")


def test_what_is_sent_with_a_prompt(chat: Chat, bench: Workbench) -> None:
    bench.open_file("shapes.py")
    bench.select_lines(4, 5)
    chat.open()
    chips = chat.find(".attachments li")
    expect(chips).to_contain_text(["shapes.py, lines 4 to 5"])
    chat.page.evaluate(PASTE, ["dot.png", PIXEL])
    chat.page.evaluate(DROP, f"vscode-remote://127.0.0.1:{bench.port}{bench.workspace}/shapes.py")
    expect(chips).to_contain_text(["shapes.py, lines 4 to 5", "dot.png", "shapes.py"])
    assert chips.nth(1).locator("img").evaluate("(image) => image.decode().then(() => image.naturalWidth)") == 1
    (bench.workspace / "huge.log").write_bytes(b"1" * 10_000_001)
    chat.page.evaluate(DROP, f"file://{bench.workspace}/huge.log")
    expect(chat.find(".alert")).to_contain_text("Not attached: huge.log is larger than 10 MB.")
    chat.page.evaluate(DROP, "https://example.org/a.png")
    expect(chat.find(".alert")).to_contain_text("is not a file, so it cannot be attached")
    chat.say("say seen")
    chat.until_said("The word is seen.")
    expect(chips).to_have_count(1)
    expect(chat.last.locator(".turn-head .place")).to_have_text("shapes.py:4-5")
    chat.button("Do not send shapes.py, lines 4 to 5").click()
    expect(chips).to_have_count(0)
    expect(chat.prompt).to_be_focused()
    chat.page.evaluate(PASTE, ["fake.png", "bm8gaW1hZ2U="])
    chat.prompt.fill("say never")
    chat.prompt.press("Enter")
    expect(chat.find(".alert")).to_contain_text("Not sent: fake.png is not a PNG image")
    expect(chat.prompt).to_have_value("say never")
    expect(chips).to_contain_text(["fake.png"])
    chat.button("Do not send fake.png").click()
    chat.prompt.fill("")


def test_an_edit_is_asked_for_at_its_lines(chat: Chat, bench: Workbench) -> None:
    bench.open_file("shapes.py")
    bench.select_lines(4, 5)
    keys = bench.page.keyboard
    keys.press("Control+I")
    bench.page.locator(".review-widget .edit-textarea .monaco-editor.focused").wait_for()
    assert bench.page.locator(".comment-range-glyph.comment-diff-added, .panel .comments-panel").count() == 0
    keys.type("see @shp")
    bench.page.locator(".suggest-widget .monaco-list-row.focused").filter(has_text="shapes.py").wait_for()
    keys.press("Tab")
    keys.press("Shift+Enter")
    keys.type("rewrite the area")
    lines = bench.page.locator(".review-widget .edit-textarea .view-line")
    expect(lines).to_have_text(["see @file:shapes.py", "rewrite the area"])
    keys.press("Enter")
    expect(bench.page.locator(".review-widget .edit-textarea")).to_have_count(0)  # the hunk can be below the lines
    chat.open()
    expect(chat.last.locator(".turn-head .place")).to_have_text("shapes.py:4-5")
    chat.until_asked("permission").get_by_role("button", name="Reject", exact=True).click()
    expect(chat.last).to_have_attribute("data-state", "ended")


WORKING = """getComputedStyle(document.querySelector('.turn[data-state="running"] .blocks'), '::after').content"""


def test_a_busy_session_queues_is_steered_stopped_and_rewritten(chat: Chat) -> None:
    chat.say("run the tests")
    asked = chat.until_asked("permission")  # it is busy until this is answered
    assert chat.page.evaluate(WORKING) == "none", "it waits for you"
    chat.prompt.fill("in one word")
    chat.button("Send Now").click()
    chat.say("never end")
    chat.say("say queued")
    expect(chat.last).to_contain_text("Queued behind another turn")
    asked.get_by_role("button", name="Allow", exact=True).click()
    expect(chat.find(".steered")).to_contain_text("in one word")
    expect(chat.find(".answer", "and so on")).to_be_visible()
    assert chat.page.evaluate(WORKING) == '"Working…"'
    chat.button("Stop").click()
    until(lambda: chat.find(".turn footer", "Cancelled").count() == 2, "the turn that ran and the one that waited")
    expect(chat.button("Stop")).to_be_hidden()
    assert "The word is queued" not in chat.last.inner_text()

    chat.prompt.fill("half a thought")
    chat.find(".turn", "say queued").get_by_role("button", name="Edit").click()
    expect(chat.prompt).to_have_value("say queued")
    chat.prompt.fill("say again")
    chat.prompt.press("Enter")
    chat.until_said("The word is again.")
    assert chat.find(".turn .prompt").all_inner_texts()[-2:] == ["never end", "say again"], "in place of the last one"
    for _ in range(2):
        chat.prompt.press("ArrowUp")
    expect(chat.prompt).to_have_value("half a thought")
    chat.prompt.fill("")

    chat.page.locator("header .title").click()
    sessions = chat.find("nav.sessions li .open")
    until(lambda: sessions.count() >= 2, "the session that it was and the one it is")
    sessions.nth(1).click()
    expect(chat.last.locator(".prompt")).to_have_text("say queued")


def test_what_waits_is_answered_in_the_chat(chat: Chat, bench: Workbench) -> None:
    chat.say("make a plan")
    chat.until_said("The first step is done.")
    plan = [" ".join(entry.split()) for entry in chat.find(".plan li").all_inner_texts()]
    assert plan == ["☑ Read the shapes done", "◐ Simplify the area in progress", "☐ Write a test to do"]
    chat.say("which shape?")
    chat.until_asked("input").get_by_role("button", name="Circle").click()
    chat.until_said("A Circle it is.")
    chat.say("run the tests")
    row = chat.until_asked("permission")
    expect(row).to_contain_text("echo tested && exit 0")
    expect(bench.page.locator(".activitybar .badge", has_text="1")).to_have_count(1)
    row.get_by_text("Other Answers").click()
    row.get_by_label("Reason for rejecting").fill("not now")
    chat.open()
    bench.run("View: Show Explorer")
    chat.open()
    row = chat.until_asked("permission")
    expect(row.get_by_label("Reason for rejecting")).to_have_value("not now")
    row.get_by_role("button", name="Reject with Reason").click()
    chat.until_said("Understood, I do not run it.")
    expect(chat.last).to_have_attribute("data-state", "ended")  # no row moves from here on
    chat.find("details.call[data-status=rejected] summary").press("Enter")  # no row moves away from under a key
    expect(chat.find("details.call[data-status=rejected] pre")).to_contain_text("not now")


def test_a_turn_is_undone_redone_and_gone_back_to(chat: Chat, bench: Workbench) -> None:
    """Redo and Restore by the keyboard: their buttons have names, and show once the turn has the focus."""
    chat.new_session()
    chat.say("say first")
    chat.until_said("The word is first.")
    chat.say("rewrite the area")
    chat.until_asked("permission").get_by_role("button", name="Allow").first.click()
    chat.until_said("The edit is in place.")
    until(lambda: "math.tau / 2" in "".join(bench.lines()), "the edit")
    undo = chat.last.get_by_role("button", name="Undo the changes of this turn")
    undo.evaluate("(button) => { button.click(); button.click(); }")
    expect(chat.last.locator(".undone")).to_contain_text("Undone")
    expect(chat.find(".alert")).to_have_text("")
    until(lambda: "math.tau / 2" not in "".join(bench.lines()), "it is undone")
    redo = chat.last.get_by_role("button", name="Redo the changes of this turn")
    redo.press("Enter")
    expect(redo).to_have_count(0)
    until(lambda: "math.tau / 2" in "".join(bench.lines()), "it is done again")
    restore = chat.last.get_by_role("button", name="Restore to Here, before this prompt")
    restore.focus()
    expect(restore).to_have_css("opacity", "1")
    restore.press("Enter")
    expect(bench.page.locator(".monaco-dialog-box")).to_contain_text("shapes.py")
    answer(bench, "Restore Chat and Files")
    expect(chat.prompt).to_have_value("rewrite the area")
    until(lambda: chat.find(".turn").count() == 1, "only the turn before it")
    expect(chat.last).to_contain_text("The word is first.")
    until(lambda: "math.tau / 2" not in "".join(bench.lines()), "the file as it was before")
    chat.prompt.fill("")


def answer(bench: Workbench, button: str) -> None:
    bench.page.locator(".monaco-dialog-box .monaco-button").filter(has_text=button).click()
    bench.page.locator(".monaco-dialog-box").wait_for(state="hidden")


def test_nothing_is_allowed_unseen(chat: Chat, bench: Workbench) -> None:
    """An edit of a file that is not open is shown whole before it is applied, also if it is allowed in the chat."""
    (bench.workspace / "closed.txt").write_text("one\n" * 300)
    chat.say("rewrite the closed file")
    row = chat.until_asked("permission")
    allow = row.locator(":scope > .buttons").get_by_role("button", name="Allow")
    allow.click(force=True)  # it shows what was not seen
    expect(row.locator("details.change")).to_have_attribute("open", "")
    assert bench.read("closed.txt") == "one\n" * 300
    row.get_by_role("button", name="more lines").click()
    row.locator(".asked").evaluate("text => { text.scrollTop = text.scrollHeight; }")
    expect(row).to_contain_text("+two 300")
    expect(allow).not_to_have_attribute("aria-disabled", "true")
    allow.click()
    chat.until_said("It is written.")
    until(lambda: bench.read("closed.txt").startswith("two 1\n"), "it is saved")


def test_it_is_there_again_after_hiding_reloading_and_a_death(chat: Chat, bench: Workbench) -> None:
    for number in range(3):
        chat.say(f"count to {41 + number}")
        chat.until_said(f"That was {41 + number}.")
    chat.prompt.fill("not yet sent")
    transcript = chat.find(".transcript")
    transcript.evaluate("(element) => { element.scrollTop = 300; }")
    read = "(element) => element.scrollTop"
    expect(chat.button("↓ Scroll to End")).to_be_visible()
    bench.look()  # what is read for a moment is stored
    bench.run("View: Show Explorer")
    expect(bench.page.locator(".explorer-folders-view")).to_be_visible()
    chat.open()
    expect(chat.prompt).to_have_value("not yet sent")
    until(lambda: abs(chat.find(".transcript").evaluate(read) - 300) < 5, "where it was read")

    bench.page.reload()
    bench.status().wait_for()
    chat.open()
    expect(chat.prompt).to_have_value("not yet sent")
    expect(chat.last).to_contain_text("That was 43.")

    chat.prompt.fill("")
    chat.say("never end")
    expect(chat.last).to_contain_text("and so on")
    chat.prompt.fill("typed meanwhile")
    for process in bench.processes():
        os.kill(process, signal.SIGKILL)
    expect(chat.last).to_contain_text("the server ended while this turn ran")
    expect(chat.find("header .notice")).to_be_hidden()
    expect(chat.prompt).to_have_value("typed meanwhile")
    chat.say("say alive")
    chat.until_said("The word is alive.")


def test_chats_side_by_side_in_tabs(chat: Chat, bench: Workbench) -> None:
    chat.say("count to 51")
    chat.until_said("That was 51.")
    chat.prompt.fill("moved")
    bench.run("Tark: Move Chat to Editor")
    expect(chat.find(".turn")).to_have_count(0)
    expect(chat.prompt).to_have_value("")
    one = Chat(bench, said("That was 51."))
    expect(one.prompt).to_be_focused()
    expect(one.prompt).to_have_value("moved")
    bench.run("Tark: New Chat in Editor")
    two = Chat(bench, EMPTY_TAB)
    expect(two.prompt).to_be_focused()
    one.say("never end")
    expect(one.last).to_contain_text("and so on")
    two.say("rewrite the area")
    card = two.until_asked("permission")
    expect(bench.page.locator(".notification-toast")).to_have_count(0)
    expect(one.find(".permission")).to_have_count(0)
    bench.look()
    card.get_by_role("button", name="Reject", exact=True).click()
    two.until_said("Nothing was written.")
    expect(one.last).to_have_attribute("data-state", "running")

    one.prompt.fill("not sent in one")
    two.prompt.fill("not sent in two")
    layout = [f'"tab":"{tab.tab}"' for tab in (one, two)]
    bench.until_stored("not sent in one", "not sent in two", *layout)
    bench.page.reload()
    bench.status().wait_for()
    two = Chat(bench, said("Nothing was written."))
    expect(two.prompt).to_have_value("not sent in two")
    one = Chat(bench, said("never end"))
    expect(one.prompt).to_have_value("not sent in one")

    one.say("never end")
    expect(one.last).to_contain_text("and so on")
    one.prompt.fill("not sent in one")
    one.prompt.click()
    expect(bench.page.locator(".editor-group-container.active .tab.active")).to_contain_text("count to 51")
    bench.run("View: Close Editor")
    toast = bench.toast("continues")
    toast.hover()
    toast.locator(".monaco-button").filter(has_text="Show Chat").click()
    side = Chat(bench, said("and so on"))
    expect(side.prompt).to_have_value("not sent in one")
    expect(side.last).to_have_attribute("data-state", "running")
    side.button("Stop").click()
    expect(side.last).to_have_attribute("data-state", "ended")
    expect(two.prompt).to_have_value("not sent in two")
    side.prompt.fill("")
    two.prompt.fill("")
    bench.run("View: Close All Editors")
