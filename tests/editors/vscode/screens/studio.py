"""Takes pictures of a workbench, cropped to a part, in a color scheme and a width of the side bar."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from playwright.sync_api import FloatRect

from tests.editors.vscode.chat import Chat
from tests.editors.vscode.workbench import Workbench, until

SETTINGS: Mapping[str, Any] = {
    "workbench.activityBar.location": "top",
    "breadcrumbs.enabled": False,
    "workbench.layoutControl.enabled": False,
    "window.autoDetectColorScheme": True,
    "tark.editReview": "after",
    "git.enabled": True,
    "git.openRepositoryInParentFolders": "never",
    "scm.countBadge": "off",
}
THEMES = {"light": "", "dark": "-dark"}
"""Color schemes, with the ends of the names of their pictures."""
WIDTHS = (300, 480)
"""Of the side bar, in pixels: narrow and wide."""
SIDE, EDITOR, PICKER = ".part.sidebar", ".part.editor", ".quick-input-widget"
WIDTH = 400
"""The usual width of the side bar."""
KINDS = {"light": ("vs", "vscode-light"), "dark": ("vs-dark", "vscode-dark")}
"""Classes of the workbench and theme kinds of its pages."""


class Studio:
    """`page` is the window of `bench`. Pictures are saved in `folder`."""

    def __init__(self, bench: Workbench, folder: Path) -> None:
        self.bench, self.page = bench, bench.page
        self._folder = folder
        self._scheme = "light"

    def shoot(self, name: str, part: str = "", *, height: int = 0) -> None:
        """Save the window, or a part of it. `height`: only so many pixels of the part, from the top."""
        box = self.page.locator(part).first.bounding_box() if part else None
        clip = box and FloatRect(x=box["x"], y=box["y"], width=box["width"], height=height or box["height"])
        path = self._folder / f"{name}{THEMES[self._scheme]}.png"
        self.page.screenshot(path=path, clip=clip)
        print(path.name, path.stat().st_size, flush=True)

    def shoot_widths(self, name: str, part: str = SIDE) -> None:
        """Save the chat in both widths."""
        for width in WIDTHS:
            self.widen(width)
            self.shoot(f"{name}-{width}", part)
        self.widen(WIDTH)

    def show(self, scheme: str) -> None:
        """Change to a color scheme. What is drawn afterwards has its colors, also in code blocks."""
        self._scheme = scheme
        self.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # one of two literals
        workbench, page = KINDS[scheme]
        self.page.locator(f".monaco-workbench.{workbench}").wait_for()
        until(lambda: self._kinds() <= {page}, f"pages are {page}")
        self.page.wait_for_timeout(300)  # colors change in a transition

    def _kinds(self) -> set[str | None]:
        """The theme kinds of all pages of ours."""
        bodies = [frame.locator("body[data-vscode-theme-kind]") for frame in self.page.frames]
        return {body.get_attribute("data-vscode-theme-kind") for body in bodies if body.count()}

    def widen(self, width: int) -> None:
        """Drag the edge of the side bar."""
        edge = self.page.locator(SIDE).bounding_box()
        assert edge is not None
        self.page.mouse.move(edge["width"], 300)
        self.page.mouse.down()
        self.page.mouse.move(width, 300, steps=5)
        self.page.mouse.up()
        self.rest()

    def rest(self) -> None:
        """Move the pointer to the title bar, so that nothing is highlighted."""
        self.page.mouse.move(150, 16)
        self.page.wait_for_timeout(700)

    def resize(self, width: int, height: int) -> None:
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.wait_for_timeout(500)

    def calm(self) -> None:
        """Close the notifications."""
        self.bench.run("Notifications: Clear All Notifications")
        self.page.locator(".notification-toast").first.wait_for(state="detached")
        self.rest()

    def chat(self) -> Chat:
        """A new session in the side bar."""
        chat = Chat(self.bench)
        chat.new_session()
        return chat

    def changes_done(self) -> None:
        """Wait until nothing waits for a review."""
        self.page.locator(".pane-header").filter(has_text="Changes").wait_for(state="detached")


def idle(chat: Chat) -> None:
    chat.button("Stop").wait_for(state="hidden")
