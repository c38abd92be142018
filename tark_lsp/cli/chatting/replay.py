"""Shows what was said in a session before: the answer of `tark.session.open`, as the screen would have shown it."""

from collections.abc import Mapping, Sequence
from typing import Any

from tark_lsp.cli.chatting.chat_screen import ChatScreen
from tark_lsp.cli.visible import one_line, visible

MOST_MESSAGES = 100
"""Of a longer session only the last ones are drawn; `/export` has all."""


def replay(opened: Mapping[str, Any], screen: ChatScreen) -> None:
    messages: Sequence[Mapping[str, Any]] = opened.get("messages") or ()
    screen.line(f"session: {one_line(opened.get('title') or opened['sessionId'])}", "bold")
    earlier = len(messages) - MOST_MESSAGES
    if earlier > 0:
        screen.line(f"{earlier} earlier messages are not shown; /export writes all of them to a file", "dim")
    for message in messages[-MOST_MESSAGES:]:
        _show(message, screen)
    screen.finish()
    turns: Sequence[Mapping[str, Any]] = opened.get("turns") or ()
    if turns and (error := turns[-1].get("error")):
        screen.line(f"the last turn: {visible(error['message'])}", "yellow")


def _show(message: Mapping[str, Any], screen: ChatScreen) -> None:
    if images := message.get("images"):
        screen.line(f"[{images} image{'s' * (images > 1)}]", "dim")
    if message["role"] == "user":
        screen.said(message["text"])
    else:
        screen.markdown(message["text"])
    for call in message.get("toolCalls") or ():
        screen.update({**call, "kind": "toolCall"})
