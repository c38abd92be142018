"""Checks of the terminal chat: whether a model can answer, and whether a slash command exists."""

import difflib
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from tark_lsp.agent.kinds import KINDS, SLASH_NAME
from tark_lsp.cli.chatting.conversation import Conversation
from tark_lsp.errors import RequestError

MCP_PROMPT = re.compile(r"\s*/(?P<server>[A-Za-z0-9][\w-]*):(?P<prompt>[^\s/\\]\S*)")
"""`/SERVER:PROMPT` at the beginning of a prompt."""

LISTS = "tark-lsp mcp list shows your MCP servers"


async def report_model_problems(conversation: Conversation) -> None:
    """Prints why prompts cannot be answered, before the user types one. The server reports problems of settings."""
    screen = conversation.screen
    report = await conversation.command("tark.doctor")
    keys = {key["provider"]: key for key in report["keys"]}
    model = conversation.session.facts.model
    if model is None and any(key["status"] == "ready" for key in keys.values()):
        screen.print_line("no model is set: /model lists them, and your first prompt offers the best one", "yellow")
    elif model is None:
        screen.print_error(
            "no model is set, and no provider has a key", "tark-lsp login PROVIDER, or /model <provider>/<model>"
        )
    key = keys.get((model or "").split("/")[0])
    if key is not None and key["status"] in ("missing", "unusable"):
        screen.print_error(f"{model} has no usable key", key.get("hint") or "tark-lsp login PROVIDER")


async def check_prompt_name(text: str, conversation: Conversation, commands: Iterable[str]) -> None:
    """Raises RequestError for an unknown slash command, because it is a typing error and not a prompt. The same for
    `/SERVER:PROMPT`, if the server is not used."""
    if (called := MCP_PROMPT.match(text)) is not None and not os.path.lexists(called[0].strip()):
        check_server(called, await conversation.command("tark.mcp.list"))
    found = SLASH_NAME.match(text)
    if found is None or os.path.lexists(found[0]):
        return
    prompts = (await conversation.command("tark.state")).get("prompts") or ()
    known = [*commands, *(f"/{kind}" for kind in KINDS), *(f"/{prompt['name']}" for prompt in prompts)]
    if found[0] not in known:
        near = difflib.get_close_matches(found[0], known, n=1)
        hint = f"did you mean {near[0]}?" if near else "/help lists the commands, / and Tab all names"
        raise RequestError(f"there is no command or prompt {found[0]}", hint=hint)


def check_server(called: "re.Match[str]", listed: Mapping[str, Any]) -> None:
    """`called`: a match of MCP_PROMPT. `listed`: the answer of `tark.mcp.list`. Raises RequestError if the server is
    not used."""
    states = {server["name"]: server for server in listed["servers"]}
    name = called["server"]
    server = states.get(name)
    if server is None:
        near = difflib.get_close_matches(name.lower(), states, n=1)
        hint = f"did you mean /{near[0]}:{called['prompt']}?" if near else LISTS
        raise RequestError(f"there is no MCP server {name}", hint=hint)
    if server["state"] in ("off", "waiting"):
        hint = LISTS if listed["trusted"] else "tark-lsp permissions trust, in this folder, trusts it"
        raise RequestError(f"the MCP server {name} is not used: {server['reason']}", hint=hint)
