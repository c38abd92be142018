"""The slash commands: named prompts cannot replace them, and docs/terminal.md shows them as `/help` does."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tark_lsp.cli.chatting.chat_checks import MCP_PROMPT, check_server
from tark_lsp.cli.chatting.chat_screen import ChatScreen
from tark_lsp.cli.chatting.commands import ChatCommands
from tark_lsp.cli.chatting.conversation import Conversation
from tark_lsp.cli.keyboard import Keyboard
from tark_lsp.context.prompts import SESSION_WORDS
from tark_lsp.errors import RequestError

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


SERVERS = [
    {"name": "git", "state": "running", "reason": ""},
    {"name": "time", "state": "off", "reason": "you switched it off"},
    {"name": "fetch", "state": "waiting", "reason": "you have not approved it"},
    {"name": "slow", "state": "failed", "reason": "it ended"},
]
UNUSED = {
    "/gti:log x": "there is no MCP server gti",
    "  /Git:log": "there is no MCP server Git",
    "/time:now": "the MCP server time is not used: you switched it off",
    "/fetch:page http://a/": "the MCP server fetch is not used: you have not approved it",
}


@pytest.mark.parametrize("typed", UNUSED)
def test_a_prompt_of_a_server_that_is_not_used_is_refused(typed: str) -> None:
    called = MCP_PROMPT.match(typed)
    assert called is not None
    with pytest.raises(RequestError) as refused:
        check_server(called, {"servers": SERVERS, "trusted": True})
    assert refused.value.message == UNUSED[typed]
    assert ("did you mean /git:log?" in refused.value.hint) is ("no MCP server" in refused.value.message)


def test_without_trust_the_hint_says_how_to_trust() -> None:
    called = MCP_PROMPT.match("/time:now")
    assert called is not None
    with pytest.raises(RequestError) as refused:
        check_server(called, {"servers": SERVERS, "trusted": False})
    assert refused.value.hint == "tark-lsp permissions trust, in this folder, trusts it"


@pytest.mark.parametrize("typed", ["/git:log x", "/slow:x"])
def test_a_prompt_of_a_server_that_may_answer_is_sent(typed: str) -> None:
    called = MCP_PROMPT.match(typed)
    assert called is not None
    check_server(called, {"servers": SERVERS, "trusted": True})


@pytest.mark.parametrize("typed", ["/http://a", "/a/b:c", "/a: b", "x /git:log", "/etc:/x"])
def test_other_text_is_no_prompt_of_a_server(typed: str) -> None:
    assert MCP_PROMPT.match(typed) is None


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
