"""Shortens an old tool result to its first lines and a note on how to read the rest. Pure.

The shortened text depends only on the message, so a reopened session sends the same text.
"""

from collections.abc import Iterator
from dataclasses import replace

from tark_lsp.context.result_handles import how_to_read, lines_of, result_id
from tark_lsp.context.snippets import CLOSING, OPENING
from tark_lsp.messages import Message, Part, ToolResult

LONG = 1_500
"""Characters: a result up to this length is not shortened. A shortened result is also below it."""

HEAD = 800


def shorten_message(message: Message) -> Message:
    """The message with its long results shortened; the same object if none is long."""
    parts = tuple(map(_shortened_part, message.parts))
    return message if parts == message.parts else replace(message, parts=parts)


def texts_to_shorten(message: Message) -> Iterator[str]:
    """The texts that `shorten_message` cuts. They must be stored under their handles."""
    results = (part for part in message.parts if isinstance(part, ToolResult) and not part.found)
    yield from (result.content for result in results if len(result.content) > LONG)


def _shortened_part(part: Part) -> Part:
    match part:
        case ToolResult(found=found) if found:
            return part  # the model can call these tools as long as it has this result
        case ToolResult(content=content, images=images) if len(content) > LONG or images:
            note = f"\n[{len(images)} images left out to save room]" if images else ""
            return replace(part, content=_shortened_text(content) + note, images=())
    return part


def _shortened_text(text: str) -> str:
    if len(text) <= LONG:
        return text
    lines = lines_of(text)
    used = count = 0
    while used + len(lines[count]) < HEAD:
        used += len(lines[count]) + 1
        count += 1
    head = "".join(f"{line}\n" for line in lines[:count]) or f"{lines[0][:HEAD]} [cut]\n"
    rest = how_to_read(result_id(text), count + 1)
    note = f"[{len(lines) - count:,} more lines left out to save room; to see them: {rest}; a file: read it again]"
    return f"{_closed(head)}{note}"


def _closed(head: str) -> str:
    """`head`, with its cut snippet closed and the line range of that snippet corrected."""
    openings = list(OPENING.finditer(head))
    if not openings or CLOSING in head[openings[-1].end() :]:
        return head
    last = openings[-1]
    first = int(last[2])
    end = max(first, first + head.count("\n", last.end()) - 2)
    return f'{head[: last.start()]}<code="{last[1]}" #{first}:{end}>{head[last.end() :]}{CLOSING}\n'
