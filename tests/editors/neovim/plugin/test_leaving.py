"""What a user sees when leaving Neovim in any situation: no question is asked, and no process is left."""

import pytest

from tests.editors.neovim.driver import wait_for_end
from tests.editors.neovim.plugin.installed import Machine, server

pytestmark = pytest.mark.editor


@pytest.mark.parametrize("leave", ["q", "qa"])
def test_leaving_while_something_waits(home: Machine, leave: str) -> None:
    home.asks_before_edits()
    home.install()
    screen = home.neovim("shop/prices.py")
    screen.see("def average")
    screen.type("9GVG:TarkEdit guard against an empty basket")
    screen.press("Enter")
    screen.see("Tark asks", "if not prices:")
    ours = server(screen)
    screen.command(leave)
    screen.until(lambda: screen.has_ended, "its end")
    assert (screen.exit_code, screen.text.strip()) == (0, "")
    wait_for_end(ours)
    assert "if not prices" not in (home.project / "shop" / "prices.py").read_text()


def test_leaving_in_the_middle_of_an_answer(home: Machine) -> None:
    home.install()
    screen = home.neovim("shop/prices.py")
    screen.see("def average")
    screen.command("Tark talk for long")
    screen.see("Two lines of many")
    ours = server(screen)
    screen.command("qa")
    screen.until(lambda: screen.has_ended, "its end")
    assert (screen.exit_code, screen.text.strip()) == (0, "")
    wait_for_end(ours)
