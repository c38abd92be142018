"""What is in each picture of the project window. Each scene begins and ends with nothing to review."""

import base64
import json
import re
import shutil
from collections.abc import Callable, Mapping

from tests.editors.vscode.chat import EMPTY_TAB, PASTE, Chat, said
from tests.editors.vscode.screens.studio import EDITOR, PICKER, SIDE, WIDTH, Studio, idle
from tests.editors.vscode.workbench import until
from tests.mcp.servers import PLAIN

FILE = "shop/prices.py"


def progress(studio: Studio) -> None:
    """The chat shows the progress itself, so it is hidden."""
    chat = studio.chat()
    chat.say("explain all of it")
    studio.page.keyboard.press("Control+B")
    cancel = studio.page.locator(".notification-toast").get_by_text("Cancel")
    cancel.wait_for()
    studio.page.locator(".notification-toast.notification-fade-in-done").first.wait_for()
    studio.rest()
    studio.shoot("progress")
    cancel.click()
    chat.open()
    idle(chat)


def review(studio: Studio) -> None:
    chat = studio.chat()
    studio.bench.open_file(FILE)
    chat.say("guard against an empty basket")
    _hunks(studio, 2)
    studio.page.locator(".monaco-list-row").filter(has_text="2 changes").wait_for()
    idle(chat)
    studio.calm()
    studio.shoot("review")
    studio.bench.run("Tark: Review All")
    studio.page.locator(".multiDiffEntry .view-line").first.wait_for()
    studio.page.locator(".editor-actions").get_by_role("button", name="Keep All").wait_for()
    studio.rest()
    studio.shoot("review-all")
    studio.bench.run("Tark: Undo All")
    studio.changes_done()


def review_three(studio: Studio) -> None:
    """Two files side by side. One hunk removes eight lines."""
    chat = studio.chat()
    studio.bench.run("View: Close All Editors")
    studio.resize(1450, 840)
    studio.widen(330)
    studio.bench.open_file("shop/basket.py")
    studio.bench.run("View: Split Editor Right")
    studio.bench.open_file(FILE)
    studio.bench.run("View: Close Other Editors in Group")
    chat.open()
    chat.say("shorten three places")
    _hunks(studio, 3)
    studio.page.locator(".monaco-list-row").filter(has_text="2 changes").wait_for()
    idle(chat)
    studio.calm()
    studio.shoot("review-three")
    studio.bench.run("Tark: Undo All")
    studio.changes_done()
    studio.bench.run("View: Close All Editors")
    studio.resize(1100, 700)
    studio.widen(WIDTH)
    studio.bench.open_file(FILE)


def permission(studio: Studio) -> None:
    chat = studio.chat()
    chat.say("run the tests")
    card = chat.until_asked("permission")
    studio.rest()
    studio.shoot("permission")
    studio.shoot_widths("permission")
    card.locator("button.main").click()
    idle(chat)


def running(studio: Studio) -> None:
    """A turn that runs, with its plan above the prompt and rows of all kinds."""
    chat = studio.chat()
    chat.say("look at everything, fix what is wrong")
    chat.until_asked("permission").locator("button.main").click()
    chat.find(".sticky-plan").wait_for()
    chat.find(".answer", "Now I tell").wait_for()
    studio.rest()
    studio.shoot("plan", SIDE)
    studio.shoot_widths("running")
    chat.button("Stop").click()
    idle(chat)
    studio.resize(1100, 900)
    chat.find(".transcript").evaluate("element => { element.scrollTop = 0; }")
    studio.calm()
    studio.shoot("rows", SIDE)
    studio.resize(1100, 700)
    studio.bench.run("Tark: Undo All")
    studio.changes_done()


def plan_approval(studio: Studio) -> None:
    chat = studio.chat()
    _mode(studio, "plan")
    chat.open()
    chat.say("plan a discount")
    chat.button("Approve Plan and Build").wait_for()
    studio.rest()
    studio.shoot("plan-approve", SIDE)
    studio.chat()
    _mode(studio, "build")


def code(studio: Studio) -> None:
    chat = studio.chat()
    chat.say("who calls average?")
    chat.until_said("it divides by zero")
    studio.calm()
    studio.shoot("chat")
    chat.say("show me a shorter one")
    chat.until_said("It does the same")
    chat.last.locator(".code").hover()
    studio.page.wait_for_timeout(700)
    studio.shoot("code-block", SIDE)


def prompt_box(studio: Studio) -> None:
    """A selection, an attached image, and the completion of a mention."""
    image = base64.b64encode(studio.page.screenshot()).decode()
    studio.bench.open_file(FILE)
    studio.bench.select_lines(9, 11)
    chat = studio.chat()
    chat.page.evaluate(PASTE, ["screen.png", image])
    chat.prompt.press_sequentially("The numbers in this picture are wrong, see @pri")
    chat.find(".completion [role=option]").first.wait_for()
    studio.rest()
    studio.shoot("prompt-box", SIDE)
    chat.prompt.press("Escape")
    chat.prompt.fill("")
    chat.button("Do not send screen.png").click()
    _unselect(studio)


def inline(studio: Studio) -> None:
    studio.bench.open_file(FILE)
    studio.bench.select_lines(9, 11)
    studio.page.keyboard.press("Control+I")
    studio.page.locator(".review-widget .edit-textarea .monaco-editor.focused").wait_for()
    studio.page.keyboard.type("An empty basket has the average 0, see @test")
    studio.page.locator(".suggest-widget .monaco-list-row").first.wait_for()
    studio.rest()
    studio.shoot("inline", EDITOR)
    for key in ("Escape", "Control+A", "Delete", "Escape"):
        studio.page.keyboard.press(key)
    _unselect(studio)


def models(studio: Studio) -> None:
    studio.bench.run("Tark: Select Model…")
    rows = studio.page.locator(".quick-input-list .monaco-list-row")
    rows.filter(has_text="gpt-6.1-sol").wait_for()
    studio.rest()
    studio.shoot("models", PICKER)
    studio.page.keyboard.press("Escape")


def context(studio: Studio) -> None:
    chat = studio.chat()
    chat.say("who calls average?")
    chat.until_said("it divides by zero")
    chat.find(".status .context").click()
    studio.page.locator(".tab.active").filter(has_text="Context").wait_for()
    studio.bench.frame_with(".bar progress").locator(".bar progress").last.wait_for()
    studio.rest()
    studio.shoot("context", EDITOR)
    studio.bench.run("View: Close Editor")


def restore(studio: Studio) -> None:
    chat = studio.chat()
    studio.bench.open_file(FILE)
    chat.say("guard against an empty basket")
    _hunks(studio, 2)
    idle(chat)
    studio.bench.run("Tark: Keep All")
    studio.changes_done()
    chat.last.get_by_role("button", name="Undo the changes of this turn").click()
    chat.last.locator(".undone").wait_for()
    studio.calm()
    chat.last.locator(".prompt").hover()
    studio.page.wait_for_timeout(700)
    studio.shoot("restore", SIDE, height=420)


def error(studio: Studio) -> None:
    chat = studio.chat()
    chat.say("fail with too many requests")
    chat.last.locator(".card").wait_for()
    studio.rest()
    studio.shoot("error", SIDE)
    studio.shoot_widths("error")


def tabs(studio: Studio) -> None:
    """Two chats side by side."""
    studio.bench.run("View: Close All Editors")
    chat = studio.chat()
    chat.say("who calls average?")
    chat.until_said("it divides by zero")
    studio.bench.run("Tark: Move Chat to Editor")
    Chat(studio.bench, said("it divides by zero")).prompt.wait_for()
    studio.bench.run("Tark: New Chat in Editor")
    two = Chat(studio.bench, EMPTY_TAB)
    two.say("show me a shorter one")
    two.until_said("It does the same")
    studio.page.keyboard.press("Control+B")
    studio.calm()
    studio.shoot("tabs")
    studio.bench.run("View: Close All Editors")
    Chat(studio.bench)


def quick_fix(studio: Studio) -> None:
    editor = studio.bench.open_file("shop/catalogue.json")
    problem = editor.locator(".squiggly-warning, .squiggly-error").first
    problem.wait_for()
    studio.page.keyboard.press("Control+G")
    studio.bench.answer(":2:4")
    studio.page.locator(".quick-input-widget").wait_for(state="hidden")
    studio.page.keyboard.press("Control+.")
    studio.page.locator(".action-widget").get_by_text("Fix with Tark").wait_for()
    studio.rest()
    studio.shoot("quick-fix", EDITOR, height=420)
    studio.page.keyboard.press("Escape")
    studio.bench.run("View: Close Editor")


def commit(studio: Studio) -> None:
    studio.bench.run("Tark: Generate Commit Message")
    studio.page.locator(".scm-editor .view-lines").filter(has_text="Add shop").wait_for()
    studio.page.locator(".pane-header").filter(has_text="Changes").hover()
    studio.page.wait_for_timeout(700)
    studio.shoot("commit", SIDE)
    studio.page.locator(".scm-editor .view-lines").click()
    studio.page.keyboard.press("Control+A")
    studio.page.keyboard.press("Delete")


def doctor(studio: Studio) -> None:
    studio.bench.run("Tark: Doctor")
    studio.bench.frame_with("a.button")
    studio.rest()
    studio.shoot("doctor", EDITOR)
    studio.bench.run("View: Close Editor")


def mcp(studio: Studio) -> None:
    """A server that the folder offers: its tools to approve, then the list."""
    bench, rows = studio.bench, studio.page.locator(".monaco-list-row")
    (bench.workspace / "tools").mkdir(exist_ok=True)
    shutil.copy(PLAIN, bench.workspace / "tools" / "issues.py")
    server = {"command": "python3", "args": ["tools/issues.py", "many"], "env": {"TOY_THINGS": "issue"}}
    (bench.workspace / ".mcp.json").write_text(json.dumps({"mcpServers": {"issues": server}}))
    Chat(bench)
    bench.run("Tark: Show MCP Servers")
    issues = rows.filter(has_text="issues").first
    issues.filter(has_text="waits for your approval").wait_for()
    studio.calm()
    issues.click()
    lens = studio.page.locator(".codelens-decoration a")
    lens.filter(has_text="Start It").click()
    lens.filter(has_text="Approve These").first.wait_for()
    studio.rest()
    studio.shoot("mcp-offer")
    lens.filter(has_text="Approve These").first.click()
    issues.filter(has_text="running").wait_for()
    studio.page.wait_for_timeout(500)
    if not rows.filter(has_text="create_issue").count():
        issues.locator(".monaco-tl-twistie").click()
    rows.filter(has_text="create_issue").locator(".codicon-check").click()
    issues.filter(has_text="4 of 5 tools").wait_for()
    studio.rest()
    studio.shoot("mcp", SIDE)
    bench.run("Tark: Remove MCP Server or Hook…")
    studio.page.locator(".quick-input-list .monaco-list-row").filter(has_text="issues").click()
    studio.page.locator(".monaco-dialog-box .monaco-button").filter(has_text="Forget").click()
    issues.filter(has_text="waits").wait_for()
    (bench.workspace / ".mcp.json").unlink()
    Chat(bench)


SCENES: Mapping[str, Callable[[Studio], None]] = {
    scene.__name__.replace("_", "-"): scene
    for scene in (
        progress,
        review,
        review_three,
        permission,
        running,
        plan_approval,
        code,
        prompt_box,
        inline,
        models,
        context,
        restore,
        error,
        quick_fix,
        commit,
        doctor,
        tabs,
        mcp,
    )
}


def _hunks(studio: Studio, count: int) -> None:
    keep = studio.page.locator(".codelens-decoration a").filter(has_text=re.compile("Keep$"))
    until(lambda: keep.count() == count, f"{count} hunks")


def _unselect(studio: Studio) -> None:
    """Otherwise edits of other lines are asked about."""
    studio.bench.open_file(FILE)
    studio.page.keyboard.press("Control+Home")


def _mode(studio: Studio, mode: str) -> None:
    studio.bench.run("Tark: Select Mode…")
    studio.page.locator(".quick-input-list .monaco-list-row").filter(has_text=re.compile(f"^{mode}")).click()
    studio.bench.chat().get_by_role("button", name=f"currently {mode}").wait_for()
