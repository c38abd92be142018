"""Notices about what a request asks for and the model cannot do: no downgrade is silent. Pure."""

from collections.abc import Iterator
from dataclasses import replace

from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.wire.thinking import effort_for
from tark_lsp.llm.wire.wire import TargetModel, Wire
from tark_lsp.messages import Image, Message, Text, ToolResult

SMALLEST = ChatRequest("", (Message("user", (Text("Hello"),)),))


def downgrades(request: ChatRequest, target: TargetModel) -> Iterator[str]:
    """Yields one sentence for each downgrade."""
    level, style = request.thinking, target.thinking
    if level not in ("auto", "off") and style == "none":
        yield f"{target.ref} has no thinking levels, so the level {level} has no effect"
    elif level == "off" and target.off == "never":
        yield f"thinking cannot be turned off for {target.ref}"
    elif level == "off" and target.off == "between_tools":
        yield f"{target.ref} still thinks between tool calls; its thinking cannot be turned off completely"
    elif level != "auto" and style in ("effort", "adaptive") and target.efforts:
        effort = effort_for(level, target.efforts)
        if level == "off" and style == "effort" and effort != "none":
            yield f"thinking cannot be turned off for {target.ref}; its lowest level, {effort}, is used"
        elif level != "off" and effort != level:
            yield f"{target.ref} has no thinking level {level}; {effort or 'its default'} is used"
    images = sum(map(_images, (part for message in request.messages for part in message.parts)))
    if images and not target.quirks.images:
        yield f"{target.ref} does not accept images; {images} left out"


def thinking_left_on(request: ChatRequest, target: TargetModel, wire: Wire) -> Iterator[str]:
    """Yields a sentence if thinking is to be turned off, and the wire sends nothing for it."""
    if request.thinking != "off" or target.off != "unknown" or target.thinking in ("none", "budget"):
        return  # the table knows; or it cannot think; or it thinks only with a budget
    silent = replace(
        target, quirks=replace(target.quirks, reasoning_summary=False)
    )  # hiding the thinking does not stop it
    if wire.encode(replace(SMALLEST, thinking="off"), silent) == wire.encode(SMALLEST, silent):
        yield f"Tark does not know how to turn off thinking for {target.ref}, so `off` has no effect"


def _images(part: object) -> int:
    match part:
        case Image():
            return 1
        case ToolResult(images=images):
            return len(images)
    return 0
