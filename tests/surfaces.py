"""The surfaces of the server and the terminal on which foreign text is shown, and the texts of `hostile_text.json`.

`SURFACES` is a table: a new surface is one row, with its kind and a function that draws a text on it.
"""

import asyncio
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from rich.console import Console

from tark_lsp.agent.user_interface import PermissionRequest
from tark_lsp.cli.chatting.markdown import draw_block
from tark_lsp.cli.diff import draw_hunk
from tark_lsp.cli.person import TerminalPerson
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.visible import one_line
from tark_lsp.llm.catalog.facts import ModelFacts, ModelInfo
from tark_lsp.messages import ApprovalLevel, Message, Mode, Text, ToolCall
from tark_lsp.prose import Prose
from tark_lsp.review.hunk import ReviewHunk
from tark_lsp.review.life import Life
from tark_lsp.review.store import HunkStore
from tark_lsp.review.wording import list_entry, problem_text
from tark_lsp.server.actions.hunk_actions import _hover_text
from tark_lsp.server.asking.inputs import Inputs
from tark_lsp.server.asking.questions import Questions
from tark_lsp.server.asking.waiting_permission import WaitingPermission, message, whole_text
from tark_lsp.server.auth import keys_text
from tark_lsp.server.chat import completion, outline, transcript
from tark_lsp.server.chat.answer_text import AnswerText
from tark_lsp.server.chat.links import cite
from tark_lsp.server.model_list import model_table
from tark_lsp.server.protocol.readable_text import answer_document
from tark_lsp.server.sessions.title_text import first_words
from tark_lsp.sessions.markdown import to_markdown
from tark_lsp.sessions.rows import SessionRow, StoredMessage, TurnRow
from tark_lsp.tools.command import Command
from tark_lsp.tools.editor import Option
from tark_lsp.tools.problem import Problem
from tark_lsp.tools.tool import Risk, ToolKind
from tark_lsp.visible import cut, visible
from tark_lsp.workspace.documents import Documents, TextDocument
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.lines import Hunk
from tark_lsp.workspace.snapshot import Snapshot
from tests.server.scripted import ScriptedConnection

ROWS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "hostile_text.json").read_text(encoding="ascii"))
"""Lone surrogates are given as UTF-16 code units, since many readers of JSON refuse them."""
HOSTILE = {row["name"]: row["text"] if "text" in row else "".join(map(chr, row["units"])) for row in ROWS}

Kind: TypeAlias = Literal["line", "code", "prose", "terminal line", "terminal"]
Draw: TypeAlias = Callable[[str], str]
LINES = ("line", "terminal line")
WS = Path("/ws")
LOOP = asyncio.new_event_loop()
DRAWS_NOTHING = {0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180F, 0x2800, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10)}


@dataclass(frozen=True)
class Surface:
    """`exact`: all of the text is shown, and its characters can be read back from what is shown."""

    name: str
    kind: Kind
    draw: Draw
    exact: bool = True
    but: str = ""
    """The text that it cannot hold, by the rules of its own format."""


# The server: messages, questions and labels


def told(text: str) -> str:
    connection = ScriptedConnection()
    Questions(connection, Documents()).tell(text)
    return connection.notes()[0]


def told_lines(text: str) -> str:
    connection = ScriptedConnection()
    Questions(connection, Documents()).tell_lines(text, "ours")
    return connection.notes()[0].removesuffix("\n\nours")


async def _asked(text: str) -> list[str]:
    connection = ScriptedConnection()
    inputs = Inputs(connection, Questions(connection, Documents()))
    connection.answers["window/showMessageRequest"] = lambda params: params["actions"][0]
    await inputs.ask("turn", "session", text, (Option("a", text),), multiple=False, free_text=False, by_model=True)
    ((_, params),) = connection.asked
    return [params["message"], params["actions"][0]["title"]]


@cache
def asked(text: str) -> list[str]:
    return LOOP.run_until_complete(_asked(text))


def waiting(**fields: Any) -> WaitingPermission:
    known: dict[str, Any] = {"title": "a title", "why": "a reason", **fields}
    future: asyncio.Future[Any] = asyncio.Future(loop=LOOP)
    title, why = known.pop("title"), known.pop("why")
    request = PermissionRequest(("call",), title, ToolKind.EXECUTE, Risk.RISKY, why, "d", **known)
    return WaitingPermission("turn", "session", request, (), HunkStore(), future)


def command(text: str) -> WaitingPermission:
    return waiting(command=Command(("sh", "-c", text), text, WS))


def workspace() -> Workspace:
    return Workspace([WS], None)  # type: ignore[arg-type]  # only names are shown, and no file is read


def hunk(text: str, **more: Any) -> ReviewHunk:
    lines = (f"{text}\n",)
    path = WS / "a.py"
    fields: dict[str, Any] = {"turn_id": "turn", "proposed": Hunk(0, ("old\n",), lines), "origin": path, "path": path}
    return ReviewHunk(**fields, source=path, start=0, size=1, old=("old\n",), new=lines, **more)


def hover(text: str, **more: Any) -> str:
    document = TextDocument((WS / "a.py").as_uri(), WS / "a.py", text, 1, f"{text}\n")
    return _hover_text(document, hunk(text, **more))


def changed_file(text: str) -> str:
    edit = ProposedEdit.between(Snapshot(WS / "a.py", "", exists=False), f"{text}\n")
    return whole_text(waiting(edits=(edit,)), workspace())


def symbol(text: str) -> str:
    lines = ["## You\n", *text.splitlines(keepends=True)]
    return str(outline.symbols(lines, transcript.parse(lines), "utf-16")[0]["name"])


def chat(text: str) -> str:
    answer, prose = AnswerText(lambda path, first, last: cite(path, first, last, WS, workspace())), Prose()
    return prose.add(answer.add_text(text)) + prose.add(answer.end_text()) + prose.end()


def noted(text: str) -> str:
    answer, prose = AnswerText(lambda path, *_: path), Prose()
    return prose.add(answer.add_note(cut(visible(text), 300))) + prose.add(answer.end_text()) + prose.end()


def snippet(text: str) -> str:
    code = text.replace("</code>", "<\\/code>")
    return answer_document(f'See <code="a.py" #1:2>\n{code}\n</code>\n')


def keys(text: str) -> str:
    return keys_text([{"provider": text, "status": "ready", "source": text}])


def exported(text: str) -> str:
    row = SessionRow("session", text, 0.0, 0.0, (WS / text,), text, Mode.BUILD, ApprovalLevel.CAREFUL)
    calls = (Text(text), ToolCall("call", text, text))
    said = StoredMessage(1, "turn", 0.0, Message("assistant", calls, model=text))
    turn = TurnRow("turn", "session", text, "agent", text, 0.0, None, {"error": {"message": text}})
    return to_markdown(row, [said], [turn])


# The terminal


def terminal(draw: Callable[[Screen], object]) -> str:
    out = io.StringIO()
    draw(Screen(Console(file=out, highlight=False, markup=False, width=20_000), WS))
    return out.getvalue()


def streamed(text: str) -> str:
    return terminal(lambda screen: screen.update({"kind": "text", "delta": text}))


def notice(text: str) -> str:
    return terminal(lambda screen: screen.update({"kind": "notice", "level": "info", "message": text}))


def error(text: str) -> str:
    return terminal(lambda screen: screen.print_error(text, text))


def drawn_block(text: str) -> str:
    out = io.StringIO()
    Console(file=out, highlight=False, markup=False, width=80).print(draw_block(text))
    return out.getvalue()


def drawn_hunk(text: str) -> str:
    lines = {"range": {"start": {"line": 0}}, "oldText": "", "newText": text}
    return draw_hunk(lines, []).plain


def permission(text: str) -> str:
    """What stands above the question in the terminal."""
    request = {"title": text, "why": text, "command": {"text": text, "cwd": text, "env": {text: text}}, "grants": []}
    return terminal(lambda screen: TerminalPerson(screen, None, yes=False)._show(request, ordinary=True))


SURFACES = [
    Surface("a message", "line", told),
    Surface("the question of a model", "line", lambda text: asked(text)[0], exact=False),
    Surface("an answer to choose", "line", lambda text: asked(text)[1]),
    Surface("the question about a command", "line", lambda text: message(command(text), workspace())),
    Surface("the question about a tool", "line", lambda text: message(waiting(title=text), workspace())),
    Surface("why it is asked", "line", lambda text: message(waiting(why=text), workspace())),
    Surface("a problem", "line", lambda text: list_entry(hunk(text)), exact=False),
    Surface("a problem of a review", "line", lambda text: problem_text(Problem(WS, 0, ("x",), 2, text)), exact=False),
    Surface("why a hunk is in conflict", "line", lambda text: list_entry(hunk("", life=Life.CONFLICT, reason=text))),
    Surface("a symbol", "line", symbol, exact=False),
    Surface("a title", "line", first_words, exact=False),
    Surface("a completion", "line", lambda text: str(completion._item("file", text, 17, 0, {})["label"])),
    Surface("a command, shown", "code", lambda text: whole_text(command(text), workspace())),
    Surface("a tool, shown", "code", lambda text: whole_text(waiting(title=text), workspace())),
    Surface("its reason, shown", "prose", lambda text: whole_text(waiting(why=text), workspace())),
    Surface("a change, shown", "code", changed_file, exact=False),
    Surface("the hover of a hunk", "code", hover, exact=False),
    Surface("the hover of a conflict", "code", lambda text: hover(text, life=Life.CONFLICT, reason=text), exact=False),
    Surface("an answer", "prose", answer_document),
    Surface("code in an answer", "code", snippet, but="ends of chat notes"),
    Surface("a chat", "prose", chat),
    Surface("a note in a chat", "prose", noted),
    Surface("a citation", "code", lambda text: cite(text, 1, 2, WS, workspace()), exact=False),
    Surface("a table", "code", lambda text: model_table([ModelInfo(text, "", facts=ModelFacts())], [])),
    Surface("below a table", "prose", lambda text: model_table([], [text])),
    Surface("the list of keys", "code", keys),
    Surface("an exported session", "prose", exported),
    Surface("text in the terminal", "terminal", streamed),
    Surface("a notice in the terminal", "terminal", notice),
    Surface("a message in the terminal", "terminal", lambda text: terminal(lambda screen: screen.message(text, 2))),
    Surface("an error in the terminal", "terminal", error),
    Surface("a line in the terminal", "terminal line", one_line, exact=False),
    Surface("a permission in the terminal", "terminal", permission),
    Surface("Markdown in the terminal", "terminal", drawn_block, exact=False),
    Surface("a diff in the terminal", "terminal", drawn_hunk, exact=False),
]
