"""Messages of one line with any content: they wait for no key, and hide no characters."""

import pytest

from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.conftest import Start

pytestmark = pytest.mark.editor

LAST_LINE = """
    local cells = {}
    for column = 1, vim.o.columns do
      cells[column] = vim.fn.screenstring(vim.o.lines, column)
    end
    return table.concat(cells)
"""
SAY = "require('tark.notify').info(...)"


@pytest.fixture
def neovim(start: Start) -> Neovim:
    return start()


def test_what_cannot_be_seen_is_told_as_its_code_point(neovim: Neovim) -> None:
    neovim.lua(SAY, "a\0b\x1b[31m\u202e it's\n  evil")
    neovim.until(lambda: r"Tark: a\u{0}b\u{1b}[31m\u{202e} it's evil" in neovim.messages(), "the message")
    assert not {"\0", "\x1b", "\u202e"} & set(neovim.messages())


def test_long_messages_ask_for_no_key(neovim: Neovim) -> None:
    for height in (1, 0):
        neovim.lua("vim.o.cmdheight = ...", height)
        for words in ("long " * 200, "\u6f22" * 500):
            neovim.lua(SAY, f"{height} {words}")
            neovim.until(lambda height=height: f"Tark: {height} " in neovim.messages(), "the message")  # type: ignore[misc]
            assert not neovim.asks
            neovim.until(lambda height=height: neovim.lua(LAST_LINE).startswith(f"Tark: {height} "), "it is shown")  # type: ignore[misc]
            assert neovim.lua(LAST_LINE).rstrip().endswith("…"), "its beginning, not its end"
            neovim.lua("vim.cmd('messages clear')")


def test_blanks_do_not_hold_up(neovim: Neovim) -> None:
    """Patterns with quadratic time would take minutes, and exceed the driver's limit."""
    neovim.lua(SAY, " " * 200_000 + "x")
    neovim.until(lambda: "Tark: x" in neovim.messages(), "the message")
    assert not neovim.asks


def test_an_error_that_is_no_string_is_told(neovim: Neovim) -> None:
    neovim.lua(
        "local report = function(e) require('tark.notify').internal_error(debug.traceback(e)) end "
        "xpcall(function() error({ code = 5 }) end, report)"
    )
    neovim.until(lambda: "something went wrong in the plugin: {" in neovim.messages(), "the message")
    assert "stack traceback" not in neovim.messages()
