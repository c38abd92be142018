"""Converts texts of models and tools for users: code snippets as Markdown, failures as their message. Pure."""

import json
import re
from collections.abc import Callable
from pathlib import Path

from tark_lsp.context.result_handles import MCP_HEAD
from tark_lsp.context.snippets import Reference, parse_snippets
from tark_lsp.prose import Prose
from tark_lsp.visible import code_block, code_span, visible
from tark_lsp.workspace.uris import uri_from_path

MCP_FAILURE = re.compile(rf"(?s)(?:the MCP server [a-z0-9-]+: )?{MCP_HEAD.pattern}(?P<said>.*)\n</mcp>")
LONGEST_FAILURE = 100_000
"""In characters. No tool writes a longer failure, and a longer text is not read as JSON."""

OWN_WORDS = {
    "the person does not": "you do not",
    "the person stays": "you stay",
    "the person": "you",
}


def readable_answer(text: str) -> str:
    """Each code snippet becomes a link to its lines, then the code in a fence. The text around it is unchanged."""
    parts, at = [], 0
    for snippet in parse_snippets(text):
        parts += [text[at : snippet.start], _cited(snippet, str)]
        at = snippet.end
    return "".join([*parts, text[at:]])


def answer_document(text: str) -> str:
    """The same for a document. Nothing in it is loaded, hidden or run."""
    parts, at, prose = [], 0, Prose()
    text = text.replace("\r\n", "\n")
    for snippet in parse_snippets(text):
        parts += [prose.add(text[at : snippet.start]), prose.put(_cited(snippet, code_span))]
        at = snippet.end
    return "".join([*parts, prose.add(text[at:]), prose.end()])


def _cited(snippet: Reference, show: Callable[[str], str]) -> str:
    first, last = snippet.first_line, snippet.last_line
    lines = f"{first}-{last}" if last > first else str(first)
    path = Path(snippet.path)
    name = re.sub(r"[\[\]`<\\]", "", visible(path.name))
    link = f"[{name}:{lines}]({uri_from_path(path)}#L{first})" if path.is_absolute() else show(f"{path}:{lines}")
    return f"{link}\n\n{code_block(snippet.code, path.suffix[1:])}\n" if snippet.code else link


def readable_result(text: str, *, failed: bool) -> str:
    """The result of a tool, or only the message if the tool failed."""
    return (failed and _failure_message(text)) or readable_answer(text)


def _failure_message(text: str) -> str:
    """The message, with what was done before the failure, if anything. Empty if the text is not a failure line."""
    if len(text) > LONGEST_FAILURE or not text.startswith("{"):
        return ""
    try:
        failure = json.loads(text)
    except (ValueError, RecursionError):  # the text may come from a file
        return ""
    match failure:
        case {"ok": False, "error": {"message": str(message), "result": str(done)}}:
            return f"{done} ({message_for_user(message)})"
        case {"ok": False, "error": {"message": str(message)}}:
            return message_for_user(message)
    return ""


def message_for_user(message: str) -> str:
    """Reword a failure for the user. Only its first words are Tark's; a reason that the user typed stays.

    What an MCP server says about its failure is shown without the marks that tell a model that the text is foreign.
    """
    if (foreign := MCP_FAILURE.fullmatch(message)) is not None:
        return f"the MCP server {foreign['server']}: {foreign['said']}"
    for words, own in OWN_WORDS.items():
        if words in message:
            return message.replace(words, own, 1)
    return message
