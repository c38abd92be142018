"""What a turn begins with: the system prompt, and the person's words with what they point at. Pure.

The system prompt holds only what mostly stays the same from turn to turn (a stable prefix is a cached prefix);
kind, mode, selection, open documents and diagnostics belong to the one message of the turn.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tark_lsp.agent.kinds import Kind, read_prompt
from tark_lsp.context.snippets import escape_code, format_head
from tark_lsp.context.system_part import SystemPart
from tark_lsp.messages import Image, Message, Mode, Text
from tark_lsp.tools.tool import Diagnostic, Selection
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.lines import split_lines

LONGEST_GIVEN = 32_000
"""Characters of one thing that is told with a prompt: a selection, a file, a text; what is longer can be read on."""

SAYS = "The person says:\n\n"
"""What the person's own words come after, in a text of their own at the end of a turn's message."""

MOST_DIAGNOSTICS = 50
MOST_OPEN_DOCUMENTS = 50
SEVERITIES = {1: "error", 2: "warning", 3: "information", 4: "hint"}


@dataclass(frozen=True, slots=True)
class Pointer:
    """What the person points at. `whole`: the document and no range in it.

    `name` is what the model is told it is; `selection.snapshot.path` of a document that is no file is not a path.
    """

    name: str
    selection: Selection
    is_file: bool = True
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a turn is told beside the prompt."""

    pointer: Pointer | None = None
    open_documents: Sequence[Path] = ()
    diagnostics: Sequence[Diagnostic] = ()
    extra: Sequence[tuple[str, str]] = ()
    """Named texts of the request's `context`."""
    images: Sequence[Image] = ()


def system_parts(workspace: Workspace, guidance: Sequence[SystemPart]) -> list[SystemPart]:
    """All of the system prompt, in its order: our own words, then what the person and the project add."""
    folders = "\n".join(f"- {folder}" for folder in workspace.folders)
    where = f"The workspace folders:\n{folders}" if folders else "No workspace folder is open."
    return [SystemPart("Tark's own words", "system", f"{read_prompt('system')}\n\n{where}"), *guidance]


def system_prompt(parts: Sequence[SystemPart]) -> str:
    return "\n\n".join(part.text for part in parts)


def turn_prompt(prompt: str, kind: Kind, mode: Mode, workspace: Workspace, around: Surroundings) -> Message:
    """The person's words are the last text, alone: nobody who writes a file or a page can speak for them."""
    parts = []
    if kind.writes:
        parts.append(read_prompt(f"mode_{mode}"))
    if around.pointer is not None:
        parts.append(pointed_at(around.pointer))
    if around.diagnostics:
        parts.append(
            "Diagnostics:\n" + "\n".join(_diagnostic(each, workspace) for each in around.diagnostics[:MOST_DIAGNOSTICS])
        )
    if around.open_documents:
        names = (workspace.display(path) for path in around.open_documents[:MOST_OPEN_DOCUMENTS])
        parts.append("Open in the editor: " + ", ".join(names))
    parts += [f"{name}:\n{text}" for name, text in around.extra]
    rest = "".join(f"\n\n{part}" for part in parts)
    if prompt.strip():
        texts = (Text(f"{kind.instructions}{rest}\n\n"), Text(f"{SAYS}{prompt}"))
    else:
        texts = (Text(kind.instructions), *((Text(rest),) if rest else ()))
    return Message("user", (*texts, *around.images))


def own_words(message: Message) -> str:
    """What the person typed of a message of theirs: all of one that holds but one text, as what is said to a running
    turn does, else the last text where it begins with `SAYS`. Empty where they typed nothing.
    """
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    if len(texts) == 1:
        return texts[0].removeprefix(SAYS).strip()
    return texts[-1].removeprefix(SAYS).strip() if texts and texts[-1].startswith(SAYS) else ""


def pointed_at(pointer: Pointer) -> str:
    """The selected lines, whole, as a snippet; a selection within lines is quoted beside them."""
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
    shown += format_head(path, first + 1, code, LONGEST_GIVEN, pointer.name)
    if len(code) > LONGEST_GIVEN:
        return shown
    selected = text[selection.start : selection.end]
    if selected and selected.strip("\r\n") != code.strip("\r\n"):
        quoted = escape_code(selected).replace("</selected>", "<\\/selected>")
        shown += f"\n\nOf these lines, exactly this is selected:\n\n<selected>\n{quoted}\n</selected>"
    return shown


def _diagnostic(each: Diagnostic, workspace: Workspace) -> str:
    """One line, whatever other servers put into it."""
    source = f" [{each.source}{' ' + each.code if each.code else ''}]" if each.source else ""
    words = " ".join(f"{SEVERITIES.get(each.severity, 'error')}: {each.message}{source}".split())
    return f"- {workspace.display(each.path)}:{each.line + 1}: {words}"
