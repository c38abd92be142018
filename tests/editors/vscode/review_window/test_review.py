"""Review in the workbench: changes are shown in place, kept or undone one by one, and never accepted unseen."""

import subprocess
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.editors.vscode.review_window.files import LONG, SHAPES, SOLIDS, reset_files
from tests.editors.vscode.workbench import Workbench, until

GREEN = "rgba(155, 185, 85, 0.2)"
"""The background of new lines in VS Code's light theme."""


@pytest.fixture
def bench(desk: Workbench) -> Workbench:
    """A workbench with unchanged files, and no undecided hunks."""
    desk.run("Tark: Open Chat")  # source control has a section "Changes", too
    expect(desk.chat().locator("#prompt")).to_be_focused()
    if changes(desk).count():
        desk.run("Tark: Undo All")
        changes(desk).wait_for(state="detached")
    desk.run("Notifications: Clear All Notifications")
    desk.run("File: Save All")
    desk.page.locator(".tab.dirty").first.wait_for(state="detached")
    desk.run("View: Close All Editors")
    desk.page.locator(".editor-instance").first.wait_for(state="detached")
    reset_files(desk.workspace)
    desk.open_file("shapes.py")
    until(lambda: desk.lines()[4:5] == ["    return 3 * radius * radius"], "the file as it was")
    return desk


def changes(bench: Workbench) -> Locator:
    """The header of the list of changes. It is there while there is something to decide."""
    return bench.page.locator(".pane-header").filter(has_text="Changes")


def ask(bench: Workbench, words: str) -> None:
    bench.run("Tark: Run Agent")
    bench.answer(words)


def lenses(bench: Workbench, title: str) -> Locator:
    return bench.page.locator(".codelens-decoration a").filter(has_text=title)


def removed(bench: Workbench) -> list[list[str]]:
    """The blocks of removed lines between the lines of the editor."""
    blocks = bench.page.locator(".review-widget:visible .monaco-tokenized-source").all_inner_texts()
    return [block.replace("\xa0", " ").rstrip().split("\n") for block in blocks]


def at_line_ends(bench: Workbench) -> list[str]:
    """Text of decorations at the ends of lines."""
    script = "spans => spans.map(span => getComputedStyle(span, '::after').content)"
    found: list[str] = bench.page.locator(".view-line span span").evaluate_all(script)
    return [text.strip('"').replace("\xa0", " ") for text in found if text not in ("none", "normal", '""')]


def behind(bench: Workbench) -> set[str]:
    """The background colors of the text."""
    script = "marks => marks.map(mark => getComputedStyle(mark).backgroundColor)"
    return set(bench.page.locator(".view-overlays .cdr").evaluate_all(script))


def to(bench: Workbench, line: int) -> None:
    bench.page.keyboard.press("Control+G")
    bench.answer(f":{line}")
    bench.page.locator(".quick-input-widget").wait_for(state="hidden")


def accept(bench: Workbench, name: str, text: str) -> None:
    """Accept with the key in a diff, which closes then. Pressed too early, it decides nothing."""
    compared = bench.page.get_by_role("tab", name="(Tark: 1 change)")
    compared.wait_for()

    def pressed() -> bool:
        bench.look()
        if compared.count():
            bench.page.keyboard.press("Alt+Y")
        bench.look()
        return compared.count() == 0

    until(pressed, "accepted: there is nothing to compare")
    until(lambda: text in bench.read(name), f"saved: {text}")


def test_three_hunks_in_two_files_are_readable_in_place(bench: Workbench) -> None:
    bench.open_file("long.py")
    ask(bench, "shorten three places")
    until(lambda: lenses(bench, "Keep").count() == 2, "the hunks of this file")
    until(lambda: len(removed(bench)) == 2, "what was removed")
    assert removed(bench) == [LONG.split("\n")[4:12], ["    return value * 1.2"]], "as real code, with its indentation"
    assert "    return sum(price_of(item) for item in items)" in bench.lines(), "new lines are real lines"
    until(lambda: GREEN in behind(bench), "new lines are marked")
    assert at_line_ends(bench) == [], "nothing hangs at the end of a line"
    assert lenses(bench, "Undo").count() == 2
    assert lenses(bench, "Accept").count() == 0
    assert bench.page.locator(".notification-toast").count() == 0
    assert bench.page.locator(".panel .composite-bar a:visible").filter(has_text="Comments").count() == 0
    block = bench.page.locator(".review-widget:visible").first
    block.get_by_role("button", name="Undo Hunk").click()
    until(lambda: "    found = []" in bench.lines(), "the lines are back")
    until(lambda: len(removed(bench)) == 1, "only the other block is left")
    bench.run("Tark: Keep All")  # one press, also for the file that is not open
    changes(bench).wait_for(state="detached")
    assert "math.pi" in bench.read("shapes.py")


def test_all_are_reviewed_in_one_diff_with_the_keys(bench: Workbench) -> None:
    ask(bench, "shorten three places")
    until(lambda: lenses(bench, "Keep").count() == 1, "the hunk of this file")
    bench.run("Tark: Review All")
    bench.page.locator(".tab.active").filter(has_text="Tark: Review All").wait_for()
    entries = bench.page.locator(".multiDiffEntry:visible")
    until(lambda: entries.count() == 2, "both files")
    title = bench.page.locator(".editor-actions")
    title.get_by_role("button", name="Keep All").wait_for()
    assert title.get_by_role("button", name="Undo All").count() == 1
    bench.page.locator(".monaco-list-row").filter(has_text="long.py").filter(has_text="2 changes").wait_for()
    entries.first.locator(".modified-in-monaco-diff-editor .view-line").filter(has_text="price_of").click()
    bench.page.keyboard.press("Alt+Y")
    bench.page.keyboard.press("Alt+N")  # quicker than the cursor, which is at the next hunk then
    bench.page.locator(".monaco-list-row").filter(has_text="long.py").wait_for(state="detached")
    title.get_by_role("button", name="Undo All").click()
    bench.page.get_by_role("tab", name="Tark: Review All").wait_for(state="detached")
    bench.run("File: Save All")
    until(
        lambda: "price_of" in bench.read("long.py") and "value * 1.2" in bench.read("long.py"), "one kept, one undone"
    )
    until(lambda: bench.read("shapes.py") == SHAPES, "and the last undone")
    changes(bench).wait_for(state="detached")


def test_the_mark_opens_no_text_of_git_and_there_is_no_second_repository(bench: Workbench) -> None:
    ask(bench, "tidy both files")
    until(lambda: len(removed(bench)) == 2, "what was removed")
    bench.page.keyboard.press("Control+Shift+G")
    bench.page.locator(".scm-view").first.wait_for()
    # Git may have seen the temporary file of a write (.tark-….tmp), and looks again a moment later.
    until(lambda: not bench.page.locator(".scm-view").get_by_text("Tark").count(), "no second repository")
    bench.page.locator(".comment-thread, .comment-range-glyph").first.click()
    assert bench.page.locator(".peekview-title").count() == 0, "it opens and closes the block, not Git's text"


def test_hunks_follow_the_typing_and_are_decided_one_by_one(bench: Workbench) -> None:
    ask(bench, "tidy both files")
    until(lambda: lenses(bench, "Keep").count() == 2, "two hunks")
    to(bench, 1)
    bench.page.keyboard.type("# The focus stayed.\n", delay=20)
    until(lambda: lenses(bench, "Keep").count() == 2, "they followed")
    bench.run("Tark: Next Hunk")
    bench.page.locator(".statusbar-item").filter(has_text="Ln 6").wait_for()
    bench.page.keyboard.press("Alt+Y")
    until(lambda: lenses(bench, "Undo").count() == 1, "kept")
    bench.page.locator(".statusbar-item").filter(has_text="Ln 14").wait_for()  # and the cursor is at the next
    bench.page.keyboard.press("Alt+N")
    bench.page.get_by_role("tab", name="solids.py").wait_for()  # it goes on with the next file
    bench.open_file("shapes.py")
    until(lambda: bench.lines()[0] == "# The focus stayed.", "the file")
    until(lambda: "    return 4 * radius * radius * radius" in bench.lines(), "the second hunk is undone")
    assert "    return math.pi * radius**2" in bench.lines()


def in_chat(bench: Workbench) -> Locator:
    """The prompt, once VS Code knows that the chat has the focus: the answer to a mention comes after that."""
    bench.run("Tark: Open Chat")
    prompt = bench.chat().locator("#prompt")
    expect(prompt).to_be_focused()
    prompt.press_sequentially("@sh")
    bench.chat().locator(".completion [role=option]").first.wait_for()
    prompt.press("Escape")
    prompt.fill("")
    return prompt


STATUS_TEXTS = """() => {
  const bar = document.querySelector('.part.statusbar');
  window.statusTexts = [];
  new MutationObserver(() => window.statusTexts.push(bar.textContent)).observe(bar, { subtree: true, childList: true });
}"""


def status_said(bench: Workbench, words: str) -> None:
    """Waits for a message in the status bar since `STATUS_TEXTS`: it can be gone before a busy window is drawn."""
    until(lambda: any(words in text for text in bench.page.evaluate("window.statusTexts")), words)


def test_the_review_keys_work_in_the_chat_on_what_is_in_view(bench: Workbench) -> None:
    bench.page.evaluate(STATUS_TEXTS)
    ask(bench, "tidy both files")
    until(lambda: lenses(bench, "Keep").count() == 2, "two hunks")
    to(bench, 1)
    prompt = in_chat(bench)
    bench.page.keyboard.press("Alt+N")
    status_said(bench, "press the key again")
    bench.page.locator(".statusbar-item").filter(has_text="Ln 5,").wait_for()
    assert lenses(bench, "Keep").count() == 2, "the cursor was at none: it goes to one, and decides nothing"
    in_chat(bench)
    bench.page.keyboard.press("Alt+Y")
    until(lambda: lenses(bench, "Keep").count() == 1, "kept, since it is in view")
    expect(prompt).to_be_focused()
    bench.page.locator(".statusbar-item").filter(has_text="Ln 13,").wait_for()  # the cursor is at the next one
    bench.page.keyboard.press("Alt+F5")
    status_said(bench, "last change in this file")
    assert "    return math.pi * radius**2" in bench.lines()


def test_a_conflict_keeps_what_was_typed_until_it_is_decided_alone(bench: Workbench) -> None:
    ask(bench, "tidy both files")
    until(lambda: lenses(bench, "Keep").count() == 2, "two hunks")
    to(bench, 5)
    bench.page.keyboard.press("End")
    bench.page.keyboard.type("  # mine", delay=20)
    lenses(bench, "Keep Mine").wait_for()
    until(lambda: any("your text is kept" in text for text in at_line_ends(bench)), "that is said at the line")
    bench.page.keyboard.press("Control+A")
    bench.run("Tark: Keep Hunk")
    until(lambda: lenses(bench, "Undo").count() == 0, "of many the plain ones are kept")
    assert "    return math.pi * radius**2  # mine" in bench.lines()
    lenses(bench, "Use Tark's Lines").click()
    until(lambda: "    return math.pi * radius**2" in bench.lines(), "Tark's lines")


@pytest.fixture
def manual(bench: Workbench) -> Iterator[Workbench]:
    """Edits are asked about before they are applied. At the end, those that are left are rejected."""
    bench.run("Tark: Select Approval Level")
    bench.page.locator(".quick-input-list .monaco-list-row").filter(has_text="manual").click()
    bench.chat().get_by_role("button", name="currently manual").wait_for()
    assert bench.page.locator(".notification-toast").count() == 0, "the status line of the chat shows it"
    bench.page.locator(".editor-instance .view-lines").first.click()
    yield bench
    bench.run("Tark: Reject All Hunks")
    changes(bench).wait_for(state="detached")


def test_nothing_is_accepted_unseen_from_the_list(manual: Workbench) -> None:
    bench = manual
    ask(bench, "tidy both files")
    lenses(bench, "waits for your answer").first.wait_for()
    assert lenses(bench, "Accept").count() == 0, "the question is asked once, in the chat"
    bench.run("Tark: Review Changes")
    bench.page.locator(".monaco-list-row").filter(has_text="solids.py").filter(has_text="+2 −2 · 2 changes").wait_for()
    row = bench.page.locator(".monaco-list-row").filter(has_text="side**3")
    row.scroll_into_view_if_needed()
    row.hover()
    row.get_by_role("button", name="Accept Hunk").click()
    bench.page.get_by_role("tab", name="(Tark: 1 change)").wait_for()
    assert bench.read("solids.py") == SOLIDS
    accept(bench, "solids.py", "side**3")
    assert "6 * side**2" not in bench.read("solids.py"), "and no other one"


def test_more_than_one_proposed_line_is_shown_in_a_diff_first(manual: Workbench) -> None:
    bench = manual
    bench.select_lines(4, 5)
    bench.page.keyboard.press("Control+I")
    bench.answer_inline("write a long one")
    lenses(bench, "waits for your answer").first.wait_for()
    assert at_line_ends(bench) == []
    assert removed(bench) == []
    bench.run("Tark: Accept Hunk")
    bench.page.get_by_role("tab", name="(Tark: 1 change)").wait_for()
    assert bench.read("shapes.py") == SHAPES
    accept(bench, "shapes.py", "no negative radius")


def test_a_commit_message_is_written_into_the_box_but_never_over_your_own(bench: Workbench) -> None:
    page = bench.page
    generate = page.get_by_role("button", name="Generate Commit Message", exact=True)
    stop = page.get_by_role("button", name="Stop Generating Commit Message")
    box = page.locator(".scm-editor .view-lines")

    def written() -> list[str]:
        return [line.replace("\xa0", " ") for line in box.locator(".view-line").all_inner_texts()]

    def press(button: Locator) -> None:
        page.locator(".pane-header").filter(has_text="Changes").hover()  # shows the buttons
        button.click()

    def answer_with_replace(question: str) -> None:
        bench.toast(question).get_by_role("button", name="Replace").click()

    bench.run("Tark: Generate Commit Message")  # shows Source Control
    until(lambda: written() == ["Add shapes", "", "And totals."], "the message, without its fence")
    press(generate)
    answer_with_replace("the message box has text")
    press(stop)
    generate.wait_for(state="attached")
    assert written() == ["Add shapes", "", "And totals."], "a stopped one changes nothing"
    box.click()
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    until(lambda: written() == [""], "an empty box")
    press(generate)
    stop.wait_for(state="attached")
    box.click()
    page.keyboard.type("mine")
    bench.toast("the message box has new text").wait_for()
    assert written() == ["mine"]
    answer_with_replace("the message box has new text")
    until(lambda: written() == ["Another message"], "the generated message")
    commits = subprocess.run(["git", "-C", str(bench.workspace), "rev-list", "--all"], capture_output=True, check=True)
    assert len(commits.stdout.split()) == 1, "nothing is committed"
