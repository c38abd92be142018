"""The slash commands: named prompts cannot replace them, and docs/terminal.md shows them as `/help` does."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tark_lsp.cli.chatting.chat_screen import ChatScreen
from tark_lsp.cli.chatting.commands import ChatCommands
from tark_lsp.cli.chatting.conversation import Conversation
from tark_lsp.cli.keyboard import Keyboard
from tark_lsp.context.prompts import SESSION_WORDS

PAGE = Path(__file__).parents[2] / "docs" / "terminal.md"


def nothing(*_: Any) -> None:
    """No server is started, and nothing is drawn."""


class Silent(Keyboard):
    """A terminal that draws nothing."""

    def redraw(self) -> None:
        pass

    def give_back(self, text: str) -> None:
        pass


async def unchanged(text: str, uri: str) -> None:
    """No editor is opened."""


async def unchecked(_: str) -> None:
    """Nothing is sent."""


@pytest.fixture
def commands(tmp_path: Path) -> ChatCommands:
    screen = ChatScreen(Console(file=io.StringIO()), tmp_path)
    conversation = Conversation(tmp_path, screen, {}, Silent(), edit=unchanged, spawn=nothing, check=unchecked)
    return ChatCommands(conversation, Silent(), clear=nothing, leave=nothing)


def test_no_repository_can_give_a_command_another_meaning(commands: ChatCommands) -> None:
    names = {name.removeprefix("/") for name in commands.table.completions()}
    assert len(names) > 15
    assert names <= SESSION_WORDS


def test_the_page_shows_the_table_as_help_does(commands: ChatCommands) -> None:
    assert "\n".join(["```", *commands.table.help(), "```"]) in PAGE.read_text(encoding="utf-8")
