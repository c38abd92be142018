"""Review in the workbench: changes are shown in place, accepted one by one, and never unseen."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator

from tests.editors.vscode.conftest import Begin
from tests.editors.vscode.workbench import Workbench, until

SHAPES = """import math


def area(radius):
    return 3 * radius * radius


def circle(radius):
    return math.tau * radius


def volume(radius):
    return 4 * radius * radius * radius
"""
SOLIDS = """def volume(side):
    return side * side * side


def perimeter(side):
    return 12 * side


def surface(side):
    return side * side * 6
"""
RED = "rgba(255, 0, 0, 0.2)"
"""The background of removed lines in VS Code's light theme."""


@pytest.fixture(scope="module")
def desk(begin: Begin) -> Workbench:
    bench = begin(Path(__file__).with_name("review.toml"))
    (bench.workspace / "shapes.py").write_text(SHAPES)
    (bench.workspace / "solids.py").write_text(SOLIDS)
    bench.open()
    bench.open_file("shapes.py")
    bench.status().wait_for()
    return bench


@pytest.fixture
def bench(desk: Workbench) -> Workbench:
    """A workbench with both files unchanged, and no undecided hunks."""
    desk.run("Tark: Reject All Hunks")
    desk.run("File: Save All")
    desk.page.locator(".tab.dirty").first.wait_for(state="detached")
    desk.run("View: Close All Editors")
    desk.page.locator(".editor-instance").first.wait_for(state="detached")
    (desk.workspace / "shapes.py").write_text(SHAPES)
    (desk.workspace / "solids.py").write_text(SOLIDS)
    desk.open_file("shapes.py")
    until(lambda: desk.lines()[4:5] == ["    return 3 * radius * radius"], "the file as it was")
    return desk


def ask(bench: Workbench, words: str) -> None:
    bench.run("Tark: Run Agent")
    bench.answer(words)


def lenses(bench: Workbench, title: str) -> Locator:
    return bench.page.locator(".codelens-decoration a").filter(has_text=title)


def beside(bench: Workbench) -> list[str]:
    """The ghost text at the ends of lines."""
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
    """Accept with the key in a diff. Pressed too early, it decides nothing."""

    def pressed() -> bool:
        bench.look()
        bench.page.keyboard.press("Alt+Y")
        bench.look()
        return text in bench.read(name)

    until(pressed, f"accepted and saved: {text}")


def test_hunks_are_drawn_follow_the_typing_and_are_decided_one_by_one(bench: Workbench) -> None:
    ask(bench, "tidy both files")
    until(lambda: lenses(bench, "Accept").count() == 2, "two hunks")
    assert beside(bench)[0] == "+ return math.pi * radius**2"
    assert RED in behind(bench)

    to(bench, 1)
    bench.page.keyboard.type("# The focus stayed.\n", delay=20)
    until(lambda: lenses(bench, "Accept").count() == 2, "they followed")
    bench.run("Tark: Next Hunk")
    bench.page.locator(".statusbar-item").filter(has_text="Ln 6").wait_for()
    bench.page.keyboard.press("Alt+Y")
    until(lambda: "    return math.pi * radius**2" in bench.lines(), "accepted")
    until(lambda: lenses(bench, "Reject").count() == 1, "the other is left")
    lenses(bench, "Reject").click()
    until(lambda: lenses(bench, "Accept").count() == 0, "decided")
    bench.page.locator(".view-lines").first.click()
    bench.page.keyboard.press("Control+Z")
    until(lambda: "    return 3 * radius * radius" in bench.lines(), "one undo takes back what was accepted")
    assert "# The focus stayed." in bench.lines(), "and nothing else"


def test_nothing_is_accepted_unseen_from_the_list(bench: Workbench) -> None:
    ask(bench, "tidy both files")
    bench.run("Tark: Review Changes")
    bench.page.locator(".monaco-list-row").filter(has_text="solids.py").filter(has_text="+2 −2 · 2 changes").wait_for()
    row = bench.page.locator(".monaco-list-row").filter(has_text="side**3")
    row.scroll_into_view_if_needed()
    row.hover()
    row.get_by_role("button", name="Accept Hunk").click()
    bench.toast("review the whole change first").wait_for()
    bench.page.get_by_role("tab", name="(Tark: 1 change)").wait_for()
    assert bench.read("solids.py") == SOLIDS
    accept(bench, "solids.py", "side**3")
    assert "6 * side**2" not in bench.read("solids.py"), "and no other one"
    bench.page.get_by_role("tab", name="(Tark: 1 change)").wait_for(state="detached")  # there is nothing to compare


def test_a_conflict_keeps_what_was_typed_until_it_is_decided_alone(bench: Workbench) -> None:
    ask(bench, "tidy both files")
    until(lambda: lenses(bench, "Accept").count() == 2, "two hunks")
    to(bench, 5)
    bench.page.keyboard.press("End")
    bench.page.keyboard.type("  # mine", delay=20)
    lenses(bench, "Keep Mine").wait_for()
    assert any("your text is kept" in text for text in beside(bench))
    bench.page.keyboard.press("Control+A")
    bench.run("Tark: Accept Hunk")
    until(lambda: lenses(bench, "Accept").count() == 0, "of many the plain ones are accepted")
    assert "    return 3 * radius * radius  # mine" in bench.lines()
    lenses(bench, "Use Tark's Lines").click()
    until(lambda: "    return math.pi * radius**2" in bench.lines(), "Tark's lines")


def test_what_is_longer_than_what_is_drawn_is_shown_first(bench: Workbench) -> None:
    bench.select_lines(4, 5)
    bench.page.keyboard.press("Control+I")
    bench.answer_inline("write a long one")
    lenses(bench, "Accept").first.wait_for()
    lenses(bench, "Accept").first.click()
    bench.toast("review the whole change first").wait_for()
    bench.page.get_by_role("tab", name="(Tark: 1 change)").wait_for()
    assert bench.read("shapes.py") == SHAPES
    accept(bench, "shapes.py", "no negative radius")
