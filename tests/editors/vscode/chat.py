"""The chat of the VS Code extension, as a user sees it."""

from pathlib import Path

from playwright.sync_api import Frame, Locator, expect

from tests.editors.vscode.workbench import Workbench, until

SCENARIO = Path(__file__).with_name("chat.toml")
SHAPES = '''"""Shapes."""
import math

def area(radius):
    return math.pi * radius**2


def volume(radius, height):
    return area(radius) * height
'''


def showing_shapes(bench: Workbench) -> Workbench:
    """Open the workbench with a file to talk about."""
    (bench.workspace / "shapes.py").write_text(SHAPES)
    bench.open()
    bench.open_file("shapes.py")
    return bench


PASTE = """([name, base64]) => {
  const transfer = new DataTransfer();
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  transfer.items.add(new File([bytes], name, { type: "image/png" }));
  const event = new ClipboardEvent("paste", { clipboardData: transfer, cancelable: true });
  document.querySelector("#prompt").dispatchEvent(event);
}"""
"""For the page of the chat: paste an image."""
EMPTY_TAB = "body[data-tab]:not(:has(.turn)) #prompt"


def said(text: str) -> str:
    """The selector of the chat whose last turn has this text."""
    return f".turns .turn:last-child:has-text({text!r})"


class Chat:
    """`page` changes after the view was hidden or the window reloaded: `open` finds it again."""

    def __init__(self, bench: Workbench, where: str = "") -> None:
        """`where`: the chat whose page has this selector. By default the chat in the side bar."""
        self.bench = bench
        self.page: Frame
        if where:
            self.page = bench.frame_with(where)
        else:
            self.open()

    def open(self) -> None:
        self.bench.run("Tark: Open Chat")
        self.page = self.bench.chat()
        expect(self.prompt).to_be_focused()

    def find(self, selector: str, text: str = "") -> Locator:
        return self.page.locator(selector).filter(has_text=text) if text else self.page.locator(selector)

    @property
    def prompt(self) -> Locator:
        return self.page.locator("#prompt")

    @property
    def tab(self) -> str:
        """The id of its tab."""
        return self.page.locator("body").get_attribute("data-tab") or ""

    @property
    def last(self) -> Locator:
        """The last turn."""
        return self.page.locator(".turns .turn").last

    def button(self, name: str) -> Locator:
        """A button by its text or its accessible name."""
        return self.page.get_by_role("button", name=name, exact=True)

    def say(self, words: str) -> None:
        self.prompt.fill(words)
        self.prompt.press("Enter")
        expect(self.prompt).to_have_value("")

    def until_said(self, words: str) -> None:
        """Wait until the last turn has ended with this text."""
        expect(self.last).to_contain_text(words)
        expect(self.last).to_have_attribute("data-state", "ended")

    def until_asked(self, row: str) -> Locator:
        """The row of a permission request or a question, once it accepts clicks."""
        found = self.page.locator(f".waiting:not(.quiet) .{row}").first
        found.wait_for()
        return found

    def new_session(self) -> None:
        self.button("New Session").click()
        until(lambda: self.find(".turn").count() == 0, "an empty chat")
        expect(self.prompt).to_be_focused()
