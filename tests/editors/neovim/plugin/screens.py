"""The screens in docs/neovim.md, taken from the real thing with the scripted model.

    uv run python -m tests.editors.neovim.plugin.screens [docs/neovim.md]

prints them; with a file they take the place of the blocks there that follow `<!-- screen: NAME -->`.
"""

import re
import sys
import tempfile
from pathlib import Path

from tests.editors.neovim.plugin.installed import machine
from tests.editors.neovim.plugin.screen import Screen

SHOWN_HOME = "/home/me"
VARIABLES = ("HOME", "LANG", "PATH", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
"""What the command in the question would get on a usual machine."""


def take(folder: Path) -> dict[str, str]:
    """The screens by name."""
    with machine(folder) as home:
        home.install()
        home.env = {name: value for name, value in home.env.items() if name in VARIABLES}
        screen = home.neovim("shop/prices.py")
        screen.see("def average")
        screens = {"review": _review(screen), "line": _line(screen), "permission": _permission(screen)}
        screens["chat"] = _chat(screen)
    return {name: _elsewhere(text, str(folder)) for name, text in screens.items()}


def _review(screen: Screen) -> str:
    screen.type("9GVG:TarkEdit guard against an empty basket")
    screen.press("Enter")
    screen.see(":TarkAccept keep  :TarkReject undo", "if not prices:")
    shown = _trimmed(screen)
    screen.command("10TarkAccept")
    screen.see("kept 1 change")
    return shown


def _line(screen: Screen) -> str:
    screen.command("Tark run the tests")
    screen.see("Tark asks", "unittest")
    return _trimmed(screen)


def _permission(screen: Screen) -> str:
    screen.command("TarkPermission")
    screen.see("a allow")
    shown = _trimmed(screen)
    screen.answer("a")
    screen.see("The tests pass.")
    return shown


def _chat(screen: Screen) -> str:
    screen.command("Tark who calls average?")
    screen.see("For an empty basket")
    screen.until(lambda: "working" not in screen.text, "the end of the turn")
    return _trimmed(screen)


def _elsewhere(text: str, folder: str) -> str:
    """Replaces the folder, and keeps the text right of it in its column."""

    def renamed(line: str) -> str:
        left, found, right = line.partition(folder)
        words, border, rest = right.partition("│")
        return f"{left}{SHOWN_HOME}{words}{' ' * (len(folder) - len(SHOWN_HOME))}{border}{rest}" if found else line

    return "\n".join(renamed(line).rstrip() for line in text.split("\n"))


def _trimmed(screen: Screen) -> str:
    """Without consecutive empty lines, except one."""
    return re.sub(r"\n((~ *|) *│?~? *\n){3,}", "\n\n", screen.text + "\n").rstrip("\n")


def put(page: str, screens: dict[str, str]) -> str:
    for name, text in screens.items():
        block = re.compile(rf"(<!-- screen: {name} -->\n\n````\n).*?(^````$)", re.DOTALL | re.MULTILINE)
        assert block.search(page), f"no place for the screen {name!r}"
        page = block.sub(lambda found, text=text: f"{found[1]}{text}\n{found[2]}", page)  # type: ignore[misc]  # called at once
    return page


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        taken = take(Path(temporary))
    for file in map(Path, sys.argv[1:]):
        file.write_text(put(file.read_text(encoding="utf-8"), taken), encoding="utf-8")
    for screen_name, screen_text in taken.items():
        print(f"{screen_name}\n\n{screen_text}\n")
