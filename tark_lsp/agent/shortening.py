"""An old tool result as it is told from some point on: its first lines, and how to read the rest. Pure.

What comes out depends on the message alone, so that a session that is opened again tells the same.
"""

from collections.abc import Iterator
from dataclasses import replace

from tark_lsp.context.result_handles import how_to_read, lines_of, result_id
from tark_lsp.context.snippets import CLOSING, OPENING
from tark_lsp.messages import Message, Part, ToolResult

LONG = 1_500
"""Characters: a result up to this stays whole, and so does a shortened one, which has less."""

HEAD = 800


def shortened(message: Message) -> Message:
    """The very message, where nothing of it is long."""
    parts = tuple(map(_shortened_part, message.parts))
    return message if parts == message.parts else replace(message, parts=parts)


def long_texts(message: Message) -> Iterator[str]:
    """The texts that `shortened` cuts: to be kept where their handles lead."""
    yield from (part.content for part in message.parts if isinstance(part, ToolResult) and len(part.content) > LONG)


def _shortened_part(part: Part) -> Part:
    match part:
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
    note = f"[{len(lines) - count:,} more lines left out to save room; as they were: {rest}; a file: read it again]"
    return f"{_closed(head)}{note}"


def _closed(head: str) -> str:
    """A code snippet that is cut says of its lines what is there, and ends."""
    openings = list(OPENING.finditer(head))
    if not openings or CLOSING in head[openings[-1].end() :]:
        return head
    last = openings[-1]
    first = int(last[2])
    end = max(first, first + head.count("\n", last.end()) - 2)
    return f'{head[: last.start()]}<code="{last[1]}" #{first}:{end}>{head[last.end() :]}{CLOSING}\n'
