"""Builds the system prompt and the first message of a turn: the user's text and its context. Pure.

The system prompt contains only parts that rarely change between turns, because providers cache a prompt by its prefix.
Kind, mode, selection, open documents and diagnostics are in the message of the turn.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tark_lsp.agent.kinds import Kind, read_prompt
from tark_lsp.context.snippets import escape_code, format_head
from tark_lsp.context.system_part import SystemPart
from tark_lsp.messages import Image, Message, Mode, Text
from tark_lsp.tools.editor import Diagnostic
from tark_lsp.tools.facts import TurnScope
from tark_lsp.tools.tool import Selection
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.lines import split_lines

LONGEST_ATTACHMENT = 32_000
"""The most characters of a selection, file or text that is sent with a prompt. Tools can read the rest."""

USER_SAYS = "The person says:\n\n"
"""Precedes the user's own text, which is a separate text at the end of the message. Stored sessions contain it."""

MOST_DIAGNOSTICS = 50
MOST_OPEN_DOCUMENTS = 50
SEVERITIES = {1: "error", 2: "warning", 3: "information", 4: "hint"}


@dataclass(frozen=True, slots=True)
class Pointer:
    """The document and selection that the prompt is about. `whole`: the whole document, not a range in it.

    `name` is the name for the model. If the document is not a file, `selection.snapshot.path` is not a path.
    """

    name: str
    selection: Selection
    is_file: bool = True
    whole: bool = False


@dataclass(frozen=True, slots=True)
class PromptContext:
    """The context that the model gets in addition to the prompt."""

    pointer: Pointer | None = None
    open_documents: Sequence[Path] = ()
    diagnostics: Sequence[Diagnostic] = ()
    extra: Sequence[tuple[str, str]] = ()
    """The named texts in `context` of the request."""
    images: Sequence[Image] = ()
    automatic: Sequence[str] = ()
    """Automatic context (context/automatic_snippets.py). Each is a separate text, so that no file can imitate one."""


def system_parts(workspace: Workspace, guidance: Sequence[SystemPart]) -> list[SystemPart]:
    """The parts of the system prompt, in order: Tark's own text, then the parts of the user and the project."""
    folders = "\n".join(f"- {folder}" for folder in workspace.folders)
    where = f"The workspace folders:\n{folders}" if folders else "No workspace folder is open."
    return [SystemPart("system prompt", "system", f"{read_prompt('system')}\n\n{where}"), *guidance]


def system_prompt(parts: Sequence[SystemPart]) -> str:
    return "\n\n".join(part.text for part in parts)


def turn_prompt(prompt: str, kind: Kind, mode: Mode, workspace: Workspace, around: PromptContext) -> Message:
    """The first message of a turn. The user's text is separate and comes last, so no file or page can imitate it."""
    parts = []
    if kind.scope is not TurnScope.ANSWER:
        parts.append(read_prompt(f"mode_{mode}"))
    if around.pointer is not None:
        parts.append(describe_pointer(around.pointer))
    if around.diagnostics:
        parts.append(
            "Diagnostics:\n"
            + "\n".join(_diagnostic(diagnostic, workspace) for diagnostic in around.diagnostics[:MOST_DIAGNOSTICS])
        )
    if around.open_documents:
        names = (workspace.display(path) for path in around.open_documents[:MOST_OPEN_DOCUMENTS])
        parts.append("Open in the editor: " + ", ".join(names))
    parts += [f"{name}:\n{text}" for name, text in around.extra]
    rest = "".join(f"\n\n{part}" for part in parts)
    found = tuple(map(Text, around.automatic))
    if prompt.strip():
        texts = (Text(f"{kind.instructions}{rest}\n\n"), *found, Text(f"{USER_SAYS}{prompt}"))
    else:
        texts = (Text(kind.instructions), *((Text(f"{rest}\n\n" if found else rest),) if rest else ()), *found)
    return Message("user", (*texts, *around.images))


def masked_prompt(message: Message, mask: Callable[[str], str]) -> Message:
    """The message of a turn, with secrets masked everywhere except in the user's own text."""
    parts = [
        replace(part, text=mask(part.text)) if isinstance(part, Text) and not part.text.startswith(USER_SAYS) else part
        for part in message.parts
    ]
    return replace(message, parts=tuple(parts))


def typed_text(message: Message) -> str:
    """The text that the user typed; empty if they typed nothing. It is the only text of a message (as sent to a running
    turn), or else the last text, if it begins with `USER_SAYS`.
    """
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    if len(texts) == 1:
        return texts[0].removeprefix(USER_SAYS).strip()
    return texts[-1].removeprefix(USER_SAYS).strip() if texts and texts[-1].startswith(USER_SAYS) else ""


def describe_pointer(pointer: Pointer) -> str:
    """The selection as a snippet of whole lines, and the exact text if the selection begins or ends inside a line."""
    selection = pointer.selection
    text = selection.snapshot.text
    if pointer.whole:
        return f"The person is in {pointer.name}."
    lines = split_lines(text)
    first = len(split_lines(text[: selection.start] + "|")) - 1
    last = max(first, len(split_lines(text[: max(selection.start, selection.end - 1)] + "|")) - 1)
    code = "".join(lines[first : last + 1])
    shown = f"The person selected this in {pointer.name}:\n\n"
    path = selection.snapshot.path if pointer.is_file else Path(pointer.name)
    shown += format_head(path, first + 1, code, LONGEST_ATTACHMENT, pointer.name)
    if len(code) > LONGEST_ATTACHMENT:
        return shown
    selected = text[selection.start : selection.end]
    if selected and selected.strip("\r\n") != code.strip("\r\n"):
        quoted = escape_code(selected).replace("</selected>", "<\\/selected>")
        shown += f"\n\nExactly this text of these lines is selected:\n\n<selected>\n{quoted}\n</selected>"
    return shown


def _diagnostic(diagnostic: Diagnostic, workspace: Workspace) -> str:
    """The diagnostic as one line, even if its message has several."""
    source = f" [{diagnostic.source}{' ' + diagnostic.code if diagnostic.code else ''}]" if diagnostic.source else ""
    words = " ".join(f"{SEVERITIES.get(diagnostic.severity, 'error')}: {diagnostic.message}{source}".split())
    return f"- {workspace.display(diagnostic.path)}:{diagnostic.line + 1}: {words}"
