"""What a user types as a server: a command line or a URL, and the name that is proposed for it."""

import pytest

from tark_lsp.mcp.command_line import proposed_name, read_command_line
from tark_lsp.mcp.names import SERVER

NAMES = {
    "npx -y @modelcontextprotocol/server-memory": "memory",
    "npx -y @modelcontextprotocol/server-filesystem@1.2 .": "filesystem",
    "npx --yes @playwright/mcp@latest": "mcp",
    "uvx mcp-server-git --repository .": "git",
    "uv run server.py": "server",
    "python3 -m mcp_server_time": "time",
    "node build/weather-mcp.js": "weather",
    "/opt/bin/mcp-server-fetch": "fetch",
    "docker run -i --rm ghcr.io/github/github-mcp-server": "github",
    "https://mcp.notes.example/mcp": "notes",
    "http://127.0.0.1:8123/mcp": "127",
    "npx": "npx",
    "'ü'": "server",
}


@pytest.mark.parametrize("text", NAMES)
def test_a_name_is_proposed(text: str) -> None:
    program = read_command_line(text)
    assert proposed_name(program, ()) == NAMES[text]
    name, numbered = NAMES[text], proposed_name(program, [NAMES[text], f"{NAMES[text]}-2"])
    assert numbered == f"{name}-3"
    assert SERVER.fullmatch(numbered)


def test_words_are_read_as_by_a_shell_but_nothing_is_expanded() -> None:
    assert read_command_line(" run 'two words' $HOME `id` ") == {
        "command": "run",
        "args": ["two words", "$HOME", "`id`"],
    }
    for wrong, why in {"": "there is no command", "run 'x": "cannot be read"}.items():
        with pytest.raises(ValueError, match=why):
            read_command_line(wrong)
