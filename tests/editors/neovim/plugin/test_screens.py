"""The main job as a user sees it, from `tark-lsp install neovim` on a clean machine, by keys and by the screen."""

import pytest

from tests.editors.neovim.plugin.installed import Machine

pytestmark = pytest.mark.editor


def test_the_main_job(home: Machine) -> None:
    assert ":checkhealth tark" in home.install()
    prices = home.project / "shop" / "prices.py"
    before = prices.read_text()
    screen = home.neovim("shop/prices.py")
    screen.see("def average")

    # The float takes no keys until the user goes to it.
    screen.command("Tark run the tests")
    screen.see("Tark asks", "python3 -B -m unittest", ":TarkPermission to answer")
    screen.type("2G")
    screen.command("TarkPermission")
    screen.see("a allow")
    screen.answer("a")
    screen.see("The tests pass.")

    # A change is applied in place and saved, waits whatever is saved, is kept there, and is one undo step.
    screen.type("9GVG:")
    screen.type("TarkEdit guard against an empty basket")
    screen.press("Enter")
    screen.see("if not prices:", "Done: an empty basket has the average 0.")
    assert "Tark asks" not in screen.text
    changed = before.replace("on average.", "on average; nothing in an empty one.").replace(
        "    return total(prices) /", "    if not prices:\n        return 0.0\n    return total(prices) /"
    )
    screen.until(lambda: prices.read_text() == changed, "the changed file")
    screen.command("w")
    screen.type("10G")
    screen.see(":TarkAccept keep")
    screen.command("TarkAccept")
    screen.see("kept 1 change")
    screen.type("u")
    screen.command("w")
    screen.until(lambda: prices.read_text() == before, "the file as it was")

    screen.command("qa")
    screen.until(lambda: screen.has_ended, "its end")
    assert screen.exit_code == 0


def test_the_chat(home: Machine) -> None:
    home.install()
    screen = home.neovim("shop/prices.py")
    screen.see("def average")
    screen.command("TarkChat")
    screen.see("g? shows the keys", "<C-s> sends")
    screen.type("who calls average?")
    screen.press("C-s")
    screen.see("is called in one place", "For an empty basket")
    assert "who calls average?" in screen.text
    assert "```python" in screen.text, (
        "no line is hidden: where some are, Neovim parses the chat for each line it draws"
    )
    assert "**" not in screen.text, "it is shown as Markdown"
    assert "-- INSERT --" in screen.text, "one goes on typing"
