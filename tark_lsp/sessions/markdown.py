"""Formats a session as Markdown for reading: what was asked, answered and done, in order. Pure."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from tark_lsp.messages import Text, Thinking, ToolCall, ToolResult
from tark_lsp.prose import prose_line, visible_prose
from tark_lsp.sessions.log_rows import clean
from tark_lsp.sessions.rows import SessionRow, StoredMessage, TurnRow
from tark_lsp.visible import code_block, code_span, visible

LONGEST_ARGUMENTS = 300
LONGEST_RESULT = 2_000
"""The number of characters of a tool result that are shown. The JSON export has the whole result."""


def to_markdown(row: SessionRow, messages: Sequence[StoredMessage], turns: Sequence[TurnRow]) -> str:
    """The prompts and answers as they were, and folded tool calls."""
    prompts = {turn.id: turn for turn in turns}
    results = {
        (stored.turn_id, part.call_id): part
        for stored in messages
        for part in stored.message.parts
        if isinstance(part, ToolResult)
    }
    blocks = [f"# {prose_line(' '.join(row.title.split()) or row.id)}", _facts(row)]
    begun: set[str] = set()
    for stored in messages:
        turn = prompts.get(stored.turn_id)
        if turn is not None and turn.id not in begun:
            begun.add(turn.id)
            blocks += [f"## You, {_moment(turn.began)}", _quoted(turn.prompt or f"({turn.kind})")]
            if stored.message.role == "user":
                continue
        if stored.message.role == "user":
            blocks.append(_quoted(stored.message.text))
        elif stored.message.role == "assistant":
            blocks += _answer(stored, results)
    for turn in turns:
        error = (turn.end or {}).get("error")
        if isinstance(error, Mapping):
            blocks.append(
                f"The turn of {_moment(turn.began)} ended with an error: {prose_line(str(error.get('message')))}"
            )
    return clean("\n\n".join(blocks) + "\n")


def _facts(row: SessionRow) -> str:
    facts = {
        "Created": _moment(row.created),
        "Last used": _moment(row.updated),
        "Workspace": ", ".join(code_span(str(folder)) for folder in row.folders),
        "Model": prose_line(row.model or ""),
        "Turns": str(row.turns),
        "Cost": "" if row.cost_usd is None else f"${row.cost_usd:.4f}",
    }
    return "\n".join(f"- {name}: {value}" for name, value in facts.items() if value)


def _answer(stored: StoredMessage, results: Mapping[tuple[str, str], ToolResult]) -> list[str]:
    blocks = [f"## {prose_line(stored.message.model or 'Model')}, {_moment(stored.time)}"]
    for part in stored.message.parts:
        match part:
            case Text(text) if text.strip():
                blocks.append(visible_prose(text))
            case Thinking(text) if text.strip():
                blocks.append(_folded("Thinking", text))
            case ToolCall(id_, name, arguments):
                result = results.get((stored.turn_id, id_))
                failed = " (failed)" if result is not None and result.is_error else ""
                told = _cut(arguments, LONGEST_ARGUMENTS)
                if result is not None:
                    told += f"\n\n{_cut(result.content, LONGEST_RESULT)}"
                blocks.append(_folded(f"{name}{failed}", told))
            case _:
                pass
    return blocks


def _folded(title: str, text: str) -> str:
    """Puts the text in a fence that it cannot close. `title` is the name of a tool, which the model chose."""
    safe = visible(title).replace("&", "&amp;").replace("<", "&lt;")
    return f"<details><summary>{safe}</summary>\n\n{code_block(text, 'text')}\n\n</details>"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in visible_prose(text).split("\n")) or ">"


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]} [{len(text) - longest:,} more characters]"


def _moment(seconds: float) -> str:
    """Accepts any number: a clock can be wrong, and a file can contain anything."""
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
    except (ValueError, OverflowError, OSError):
        return "at an unknown time"
