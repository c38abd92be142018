"""How long a user of VS Code waits for an edit: from Enter to the change in the text, and from a click to its undo.

    uv run python -m tests.benchmarks.bench_vscode_edits [ROUNDS]

A scripted model answers at once. The clock starts in the page, with the key or the click, and stops when the editor
draws the line. Goals: 500 ms from Enter, 150 ms from the click on *Undo*. Both need a machine with nothing else to do.
"""

import statistics
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.editors.pool import write_settings
from tests.editors.vscode import installed
from tests.editors.vscode.chat import Chat
from tests.editors.vscode.windows import FLAGS
from tests.editors.vscode.workbench import Workbench

BEFORE, AFTER = "    return 3 * radius * radius", "    return math.pi * radius**2"
TEXT = f"import math\n\n\ndef area(radius):\n{BEFORE}\n"
SCENARIO = f"""\
[[reply]]
when = "exact"
calls = [{{ name = "edit_file", arguments = {{ path = "a.py", old_text = "{BEFORE}\\n", new_text = "{AFTER}\\n" }} }}]

[[reply]]
tool = "edit_file"
text = "It is exact."
"""
NOTE_EVENTS = """(name) => {
    document.addEventListener(name, () => { window.begun = Date.now(); }, true);
}"""
"""For the page in which the user acts: the time of the last key or click, in milliseconds since 1970."""
WAIT_FOR_LINE = """(line) => {
    const isDrawn = () => [...document.querySelectorAll(".view-line")]
        .some((drawn) => drawn.innerText.replaceAll("\\u00a0", " ") === line);
    window.drawn = new Promise((resolve) => {
        const next = () => (isDrawn() ? resolve(Date.now()) : requestAnimationFrame(next));
        next();
    });
}"""
"""For the page with the editor: when the line is drawn."""


def measure(bench: Workbench, chat: Chat) -> tuple[float, float]:
    """Milliseconds from Enter to the change, and from the click on *Undo* to the text before it."""
    bench.page.evaluate(WAIT_FOR_LINE, AFTER)
    chat.prompt.fill("make it exact")
    chat.prompt.press("Enter")
    edited = bench.page.evaluate("() => window.drawn") - chat.page.evaluate("() => window.begun")
    undo = bench.page.locator(".codelens-decoration a").filter(has_text="Undo").first
    undo.wait_for()
    chat.page.get_by_role("button", name="Stop").wait_for(state="hidden")
    bench.look()  # a click on a lens that has just appeared would be ignored
    bench.page.evaluate(WAIT_FOR_LINE, BEFORE)
    undo.click()
    undone = bench.page.evaluate("() => window.drawn") - bench.page.evaluate("() => window.begun")
    undo.wait_for(state="detached")
    return edited, undone


def main(rounds: int) -> None:
    with sync_playwright() as playwright, tempfile.TemporaryDirectory(prefix="tark-") as made:
        folder = Path(made)
        (folder / "scenario.toml").write_text(SCENARIO)
        write_settings(folder / "home", folder / "scenario.toml", review="after")
        browser = playwright.chromium.launch(executable_path=installed.browser(), args=list(FLAGS))
        bench = Workbench(browser, folder, folder / "scenario.toml")
        try:
            (bench.workspace / "a.py").write_text(TEXT)
            bench.open()
            bench.open_file("a.py")
            chat = Chat(bench)
            chat.page.evaluate(NOTE_EVENTS, "keydown")
            bench.page.evaluate(NOTE_EVENTS, "mousedown")
            first = measure(bench, chat)
            print(f"the first turn: {first[0]:.0f} ms to the change, {first[1]:.0f} ms to the undo", flush=True)
            times = list(zip(*(measure(bench, chat) for _ in range(rounds)), strict=True))
        finally:
            bench.close()
    for what, goal, found in zip(("Enter to the first change", "click to the undo"), (500, 150), times, strict=True):
        median = statistics.median(found)
        verdict = "reached" if median <= goal else "MISSED"
        print(f"{what:26} {median:5.0f} ms  {min(found):.0f} to {max(found):.0f}  goal {goal} ms: {verdict}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
