"""Shows the messages of an opened session (the answer of `tark.session.open`) as the screen showed them before."""

from collections.abc import Mapping, Sequence
from typing import Any

from tark_lsp.cli.chatting.chat_screen import ChatScreen
from tark_lsp.cli.visible import one_line, visible

MAX_MESSAGES = 100
"""Only the last messages, up to this number, are shown. `/export` writes all of them."""


def replay(opened: Mapping[str, Any], screen: ChatScreen) -> None:
    messages: Sequence[Mapping[str, Any]] = opened.get("messages") or ()
    screen.print_line(f"session: {one_line(opened.get('title') or opened['sessionId'])}", "bold")
    earlier = len(messages) - MAX_MESSAGES
    if earlier > 0:
        screen.print_line(f"{earlier} earlier messages are not shown; /export writes all messages to a file", "dim")
    for message in messages[-MAX_MESSAGES:]:
        _show(message, screen)
    screen.finish_turn()
    turns: Sequence[Mapping[str, Any]] = opened.get("turns") or ()
    if turns and (error := turns[-1].get("error")):
        screen.print_line(f"the last turn: {visible(error['message'])}", "yellow")


def _show(message: Mapping[str, Any], screen: ChatScreen) -> None:
    if images := message.get("images"):
        screen.print_line(f"[{images} image{'s' * (images > 1)}]", "dim")
    if message["role"] == "user":
        screen.show_prompt(message["text"])
    else:
        screen.show_markdown(message["text"])
    for call in message.get("toolCalls") or ():
        screen.update({**call, "kind": "toolCall"})
