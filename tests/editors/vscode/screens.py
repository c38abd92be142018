"""Takes the pictures of docs/vscode.md in a real workbench, with the scripted model.

    uv run python -m tests.editors.vscode.screens [FOLDER]

FOLDER is docs/images/vscode by default.
"""

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import sync_playwright

import tark_lsp
from tests.editors.vscode import installed
from tests.editors.vscode.windows import FLAGS
from tests.editors.vscode.workbench import Workbench, until

ROOT = Path(__file__).parents[3]
PROJECT = Path(tark_lsp.__file__).parent / "demo_project" / "shop"
SIZE = {"width": 1100, "height": 700}
SETTINGS = {
    "workbench.activityBar.location": "top",
    "breadcrumbs.enabled": False,
    "workbench.layoutControl.enabled": False,
    "tark.editReview": "after",
}
WIDTH = 400
"""The width of the side bar, in pixels."""
FILE = "shop/prices.py"

Take = Callable[[str], None]


def take(bench: Workbench, shoot: Take) -> None:
    """Take the pictures in order. Each continues from the state after the previous one."""
    bench.open()
    bench.open_file(FILE)
    bench.run("Tark: Open Chat")
    bench.chat()
    _widen(bench)
    _progress(bench, shoot)
    _review(bench, shoot)
    _permission(bench, shoot)
    _chat(bench, shoot)


def _progress(bench: Workbench, shoot: Take) -> None:
    """The chat shows the progress itself, so it is hidden."""
    _ask(bench, "explain all of it")
    bench.page.keyboard.press("Control+B")
    cancel = bench.page.locator(".notification-toast").get_by_text("Cancel")
    cancel.wait_for()
    _settled(bench)
    shoot("progress")
    cancel.click()
    bench.run("Tark: Open Chat")
    _idle(bench)


def _review(bench: Workbench, shoot: Take) -> None:
    _ask(bench, "guard against an empty basket")
    keep = bench.page.locator(".codelens-decoration a").filter(has_text="Keep")
    until(lambda: keep.count() == 2, "two hunks")
    _calm(bench)
    bench.page.locator(".monaco-list-row").filter(has_text="2 changes").wait_for()
    _calm(bench)
    shoot("review")
    bench.run("Tark: Review All")
    bench.page.locator(".multiDiffEntry .view-line").first.wait_for()
    bench.page.locator(".editor-actions").get_by_role("button", name="Keep All").wait_for()
    shoot("review-all")
    bench.run("Tark: Keep All")
    bench.page.locator(".pane-header").filter(has_text="Changes").wait_for(state="detached")
    bench.open_file(FILE)
    _idle(bench)


def _permission(bench: Workbench, shoot: Take) -> None:
    _ask(bench, "run the tests")
    allow = bench.chat().locator(".waiting:not(.quiet) .permission button.main")
    allow.wait_for()
    shoot("permission")
    allow.click()
    _idle(bench)


def _chat(bench: Workbench, shoot: Take) -> None:
    _ask(bench, "who calls average?")
    bench.chat().get_by_text("it divides by zero").wait_for()
    _idle(bench)
    _calm(bench)
    shoot("chat")


def _ask(bench: Workbench, words: str) -> None:
    prompt = bench.chat().locator("textarea#prompt")
    prompt.fill(words)
    prompt.press("Enter")


def _idle(bench: Workbench) -> None:
    bench.chat().get_by_role("button", name="Stop").wait_for(state="hidden")


def _calm(bench: Workbench) -> None:
    """Close the notifications with a key, which works while the editor has the focus."""
    bench.page.locator(".view-line").filter(has_text="def total").click()
    bench.page.keyboard.press("Escape")
    until(lambda: bench.page.locator(".notification-toast").count() == 0, "no notifications")


def _settled(bench: Workbench) -> None:
    """Wait until the notification has stopped moving."""
    toast = bench.page.locator(".notification-toast").first
    seen = [toast.bounding_box()]

    def rests() -> bool:
        seen.append(toast.bounding_box())
        return seen[-1] == seen[-2]

    bench.page.locator(".notification-toast.notification-fade-in-done").first.wait_for()
    until(rests, "the notification has come to rest")


def _widen(bench: Workbench) -> None:
    """Drag the edge of the side bar."""
    edge = bench.page.locator(".part.sidebar").bounding_box()
    assert edge is not None
    bench.page.mouse.move(edge["width"], 300)
    bench.page.mouse.down()
    bench.page.mouse.move(WIDTH, 300, steps=5)
    bench.page.mouse.up()
    bench.page.mouse.move(SIZE["width"] / 2, SIZE["height"] / 2)  # otherwise the edge is highlighted


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="tark-") as temporary, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed.browser(), args=list(FLAGS))
        scenario = Path(__file__).with_name("screens.toml")
        bench = Workbench(browser, Path(temporary), scenario, settings=SETTINGS)
        try:
            bench.page.set_viewport_size(SIZE)  # type: ignore[arg-type]  # a TypedDict of these two
            shutil.copytree(PROJECT, bench.workspace / "shop", ignore=shutil.ignore_patterns("__pycache__"))
            take(
                bench, lambda name: print(bench.page.screenshot(path=folder / f"{name}.png") and folder / f"{name}.png")
            )
        except BaseException:  # re-raised; keep a picture of it
            bench.page.screenshot(path=folder / "failed.png")
            raise
        finally:
            bench.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images" / "vscode")
