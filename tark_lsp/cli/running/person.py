"""The user of `tark-lsp run`. The options answer first, and the user is asked only if they do not."""

import shlex
from collections.abc import Callable, Mapping
from typing import Any

from tark_lsp.cli.editor import edit_text
from tark_lsp.cli.keyboard import AnswerInput
from tark_lsp.cli.person import ALLOW, TerminalPerson, is_grantable_mcp
from tark_lsp.cli.running.allowed_commands import AllowedCommands, exact_rule
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.visible import whole_line
from tark_lsp.permissions import TRUST_ANSWERS

NOT_TRUSTED = (
    "you have not said that you trust this folder, so even commands in the sandbox need your permission, and no MCP "
    "server is used; --trust-workspace trusts it for this run, `tark-lsp permissions trust` for always"
)
MCP = "mcp__"
"""The beginning of the names of MCP servers' tools."""
LIMIT_ANSWERS = {"go-on", "stop"}
"""The ids of the answers to the question whether a turn may continue after a limit (agent/limits.py)."""


class RunPerson(TerminalPerson):
    """`allowed`: the commands of `--allow`. `limited`: the command line sets a limit, so a limit ends the turn without
    a question. `follow` gets every update before it is shown.
    """

    def __init__(
        self,
        screen: Screen,
        keyboard: AnswerInput | None,
        *,
        yes: bool,
        allowed: AllowedCommands,
        limited: bool,
        follow: Callable[[Mapping[str, Any]], None],
    ) -> None:
        super().__init__(screen, keyboard, yes=yes, edit=edit_text)
        self._shown = screen
        self._can_ask = keyboard is not None
        self._follow = follow
        self._allowed = allowed
        self._limited = limited
        self._said = False
        self._untrusted = ""
        """A hint for the next call that is asked about, or refused, only because the folder is not trusted; empty if
        there is none."""
        self._mcp_calls: set[str] = set()

    def update(self, update: Mapping[str, Any]) -> None:
        self._follow(update)
        super().update(update)
        if update["kind"] != "toolCall":
            return
        if update.get("name", "").startswith(MCP):
            self._mcp_calls.add(update["toolCallId"])
        if update["status"] == "rejected" and update["toolCallId"] in self._mcp_calls:
            self._hint_at_trust()

    async def permission(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Allows commands that match `--allow`. If a request has no grants, the user must always be asked: it is a
        dangerous command, or an ask rule applies."""
        command = request.get("command")
        tool = request["title"].partition(" ")[0]
        if is_grantable_mcp(request) and tool.startswith(MCP):
            answer = await super().permission(request)
            self._hint_at_rule(tool)
            return answer
        if not command or not request.get("grants") or _asks_for_more(command):
            return await super().permission(request)
        if self._allowed.find_pattern(command["text"]) is not None:
            self._say_once(command)
            return ALLOW
        self._hint_at_trust()
        answer = await super().permission(request)
        self._hint_at_rule(exact_rule(command["text"]))
        return answer

    async def input(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answers Tark's own questions about trust and limits by the options. The user answers the others."""
        answers = {option["id"] for option in request.get("options") or ()}
        if answers == {*TRUST_ANSWERS} and not request.get("byModel"):
            self._untrusted = NOT_TRUSTED
            return {"answer": ["not-now"]}
        if self._limited and answers == LIMIT_ANSWERS and not request.get("byModel"):
            return {"answer": None}
        return await super().input(request)

    def _hint_at_trust(self) -> None:
        if self._untrusted:
            self._shown.print_line(self._untrusted, "yellow")
            self._untrusted = ""

    def _hint_at_rule(self, rule: str | None) -> None:
        """Prints the rule that would allow the call, if nobody could be asked about it. None: there is no such rule."""
        if not self._can_ask and rule:
            self._shown.print_line(f"--allow {whole_line(shlex.quote(rule))} would allow it", "yellow")

    def _say_once(self, command: Mapping[str, Any]) -> None:
        if not self._said and not command.get("sandboxed"):
            patterns = ", ".join(whole_line(pattern) for pattern in self._allowed.patterns)
            self._shown.print_line(
                f"--allow: commands like {patterns} run without a sandbox, and without asking", "yellow"
            )
            self._said = True


def _asks_for_more(command: Mapping[str, Any]) -> bool:
    """Whether a sandboxed command needs the network or more writable paths, which no rule of `--allow` covers."""
    return bool(command.get("sandboxed") and (command.get("network") or command.get("writable")))
