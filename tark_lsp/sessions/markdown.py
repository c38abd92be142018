"""A session as Markdown for people: what was asked, answered and done, in order. Pure."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from tark_lsp.messages import Text, Thinking, ToolCall, ToolResult
from tark_lsp.sessions.log import clean
from tark_lsp.sessions.rows import SessionRow, StoredMessage, TurnRow

LONGEST_ARGUMENTS = 300
LONGEST_RESULT = 2_000
"""Characters that are shown of a tool's result; JSON has all of it."""


def to_markdown(row: SessionRow, messages: Sequence[StoredMessage], turns: Sequence[TurnRow]) -> str:
    """The prompts as they were typed, the model's words as they came, tool calls folded up."""
    prompts = {turn.id: turn for turn in turns}
    results = {
        (each.turn_id, part.call_id): part
        for each in messages
        for part in each.message.parts
        if isinstance(part, ToolResult)
    }
    blocks = [f"# {' '.join(row.title.split()) or row.id}", _facts(row)]
    begun: set[str] = set()
    for each in messages:
        turn = prompts.get(each.turn_id)
        if turn is not None and turn.id not in begun:
            begun.add(turn.id)
            blocks += [f"## You, {_moment(turn.began)}", _quoted(turn.prompt or f"({turn.kind})")]
            if each.message.role == "user":
                continue
        if each.message.role == "user":
            blocks.append(_quoted(each.message.text))
        elif each.message.role == "assistant":
            blocks += _answer(each, results)
    for turn in turns:
        error = (turn.end or {}).get("error")
        if isinstance(error, Mapping):
            blocks.append(f"The turn of {_moment(turn.began)} ended with an error: {error.get('message')}")
    return clean("\n\n".join(blocks) + "\n")


def _facts(row: SessionRow) -> str:
    facts = {
        "Begun": _moment(row.created),
        "Last used": _moment(row.updated),
        "Workspace": ", ".join(f"`{folder}`" for folder in row.folders),
        "Model": row.model or "",
        "Turns": str(row.turns),
        "Cost": "" if row.cost_usd is None else f"${row.cost_usd:.4f}",
    }
    return "\n".join(f"- {name}: {value}" for name, value in facts.items() if value)


def _answer(each: StoredMessage, results: Mapping[tuple[str, str], ToolResult]) -> list[str]:
    blocks = [f"## {each.message.model or 'Model'}, {_moment(each.time)}"]
    for part in each.message.parts:
        match part:
            case Text(text) if text.strip():
                blocks.append(text)
            case Thinking(text) if text.strip():
                blocks.append(_folded("Thinking", text))
            case ToolCall(id_, name, arguments):
                result = results.get((each.turn_id, id_))
                failed = " (failed)" if result is not None and result.is_error else ""
                told = _cut(arguments, LONGEST_ARGUMENTS)
                if result is not None:
                    told += f"\n\n{_cut(result.content, LONGEST_RESULT)}"
                blocks.append(_folded(f"{name}{failed}", told))
            case _:
                pass
    return blocks


def _folded(title: str, text: str) -> str:
    """In a fence that the text cannot end; `title` is a tool's name, which the model chose."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    safe = title.replace("&", "&amp;").replace("<", "&lt;")
    return f"<details><summary>{' '.join(safe.split())}</summary>\n\n{fence}text\n{text}\n{fence}\n\n</details>"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines()) or ">"


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]} [{len(text) - longest:,} more characters]"


def _moment(seconds: float) -> str:
    """A clock can be set to anything, and a file can say anything."""
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
    except (ValueError, OverflowError, OSError):
        return "at an unknown time"
