"""The six real servers of docs/mcp.md, three of each era, with a call of one tool of each.

For the tests of the clients, a scripted model makes all six calls in one answer.
"""

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tark_lsp.mcp.eras import Era
from tests.mcp.installed import node_servers, python_servers


@dataclass(frozen=True)
class Real:
    """`programs()` is the folder of its program. `tools`: at least so many. `said`: part of the result of the call of
    `tool`. `{folder}` stands for the workspace.
    """

    programs: Callable[[], Path]
    program: str
    args: tuple[str, ...]
    era: Era
    tools: int
    tool: str
    arguments: dict[str, str]
    said: str

    def settings(self, folder: Path) -> dict[str, Any]:
        args = tuple(_placed(arg, folder) for arg in self.args)
        return {"command": str(self.programs() / self.program), "args": args}

    def arguments_in(self, folder: Path) -> dict[str, str]:
        return {name: _placed(value, folder) for name, value in self.arguments.items()}


SERVERS = {
    "everything": Real(
        node_servers, "mcp-server-everything", ("stdio",), Era.LEGACY, 10, "echo", {"message": "hi"}, "Echo: hi"
    ),
    "filesystem": Real(
        node_servers,
        "mcp-server-filesystem",
        ("{folder}",),
        Era.LEGACY,
        10,
        "read_text_file",
        {"path": "{folder}/a.txt"},
        "words",
    ),
    "memory": Real(node_servers, "mcp-server-memory", (), Era.LEGACY, 5, "read_graph", {}, "entities"),
    "git": Real(python_servers, "mcp-server-git", (), Era.MODERN, 10, "git_status", {"repo_path": "{folder}"}, "a.txt"),
    "time": Real(
        python_servers, "mcp-server-time", (), Era.MODERN, 2, "get_current_time", {"timezone": "UTC"}, "datetime"
    ),
    "fetch": Real(
        python_servers, "mcp-server-fetch", (), Era.MODERN, 1, "fetch", {"url": "http://127.0.0.1:1/"}, "private"
    ),
}
PROMPT = "use all six servers"
DONE = "All six servers have answered."


def make_repository(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "a.txt").write_text("words\n")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)


def server_tables(folder: Path) -> str:
    """The servers as tables of config.toml."""
    return "\n".join(_tables(folder))


def scenario(folder: Path) -> str:
    """A scripted model that calls one tool of each server when it gets `PROMPT`, and tells what each one said."""
    calls = [f"    {{ name = {json.dumps(name)}, arguments = {{ {given} }} }}," for name, given in _calls(folder)]
    results = ".*?".join(f"(?P<{name}>{re.escape(real.said)})" for name, real in SERVERS.items())
    told = "\n".join([f"{DONE}\n", *(rf"- {name} said: \g<{name}>" for name in SERVERS)])
    lines = ['wire = "anthropic-messages"', "[[reply]]", f"when = '(?s){results}'", f"text = {json.dumps(told)}"]
    return "\n".join([*lines, "[[reply]]", f"when = {json.dumps(PROMPT)}", "calls = [", *calls, "]", ""])


def _tables(folder: Path) -> Iterator[str]:
    for name, real in SERVERS.items():
        settings = real.settings(folder)
        lines = (f"{key} = {json.dumps(value)}\n" for key, value in settings.items())
        yield f"[mcp.servers.{name}]\n{''.join(lines)}"


def _calls(folder: Path) -> Iterator[tuple[str, str]]:
    for name, real in SERVERS.items():
        given = (f"{key} = {json.dumps(value)}" for key, value in real.arguments_in(folder).items())
        yield f"mcp__{name}__{real.tool}", ", ".join(given)


def _placed(text: str, folder: Path) -> str:
    return text.replace("{folder}", str(folder))
