"""What a tool is: its name and arguments, how risky it is, how it is previewed and run, and what it is given.

A tool is one file in this folder with one module-level `TOOL`. A call goes through two steps:

1. `preview` only reads. It says what the call would do (title, risk, places, edits, command) before anyone is asked.
2. `run` does it and returns the text for the model. A tool whose `run` is None is done by its edits alone: the agent
   has them reviewed and applied, and writes the result from what became of them.

Both raise `FailureForModel` (`ToolError`, `WorkspaceError`) for what the model should read about.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

from tark_lsp.context.result_handles import result_id
from tark_lsp.errors import FileMissing
from tark_lsp.messages import Mode, ToolDefinition
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.snapshot import Snapshot

if TYPE_CHECKING:  # first needed when a turn begins, long after this file is
    from tark_lsp.context.memory import Memory
    from tark_lsp.context.skills import Skill


class Risk(IntEnum):
    READ_ONLY = 0
    WRITE = 1
    RISKY = 2
    DANGEROUS = 3


class ToolKind(StrEnum):
    """How a client draws a call (protocol.md, `toolCall`)."""

    READ = "read"
    EDIT = "edit"
    DELETE = "delete"
    MOVE = "move"
    SEARCH = "search"
    EXECUTE = "execute"
    THINK = "think"
    FETCH = "fetch"
    OTHER = "other"


class Arguments(BaseModel):
    """The base of every tool's arguments: a field the tool does not know is an error the model reads."""

    model_config = ConfigDict(extra="forbid", frozen=True)


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, slots=True)
class Location:
    """Lines count from 0, `end_line` excluded; both None: the whole file."""

    path: Path
    start_line: int | None = None
    end_line: int | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """A command exactly as it will be executed."""

    argv: tuple[str, ...]
    text: str
    cwd: Path
    env: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class Preview:
    """`title` is one line for people. `outside` are the places outside the workspace the call would read.

    `whole`: all of the edits, or none, are to be applied. `note`: a text kept for later sessions; the title shows it.
    `url`: the page it would get, exactly as it would be asked for.
    """

    title: str
    kind: ToolKind
    risk: Risk
    locations: tuple[Location, ...] = ()
    edits: tuple[ProposedEdit, ...] = ()
    command: Command | None = None
    outside: tuple[Path, ...] = ()
    whole: bool = False
    note: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Lines and characters count from 0; `severity` is LSP's: 1 error, 2 warning, 3 information, 4 hint."""

    path: Path
    line: int
    character: int
    severity: int
    message: str
    source: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    id: str
    label: str


class Editor(Protocol):
    """What a tool may ask of the person's editor. `server/` implements it; tests have one in memory."""

    async def diagnostics(self, path: Path | None) -> Sequence[Diagnostic]:
        """Those of one file, or of all."""
        ...

    async def ask(
        self,
        question: str,
        options: Sequence[Option] = (),
        *,
        multiple: bool = False,
        free_text: bool = True,
        by_model: bool = False,
    ) -> str | list[str] | None:
        """The person's words, the ids they chose, or None: no answer. `by_model`: it is said whose question it is.

        Raises ToolError `unsupported` where the editor cannot ask this.
        """
        ...

    async def save(self, paths: Sequence[Path]) -> Sequence[Path]:
        """Ask the editor to save; gives those it saved (none where it cannot)."""
        ...

    def unsaved(self, folder: Path) -> Sequence[Path]:
        """Open documents below `folder` whose text is not what is on disk."""
        ...


@dataclass(frozen=True, slots=True)
class Selection:
    """What the person selected when the turn began: `text[start:end]` of `snapshot`, in code points."""

    snapshot: Snapshot
    start: int
    end: int


class Results(Protocol):
    """The whole texts of results that the model was told a part of, of one session; `read_file` reads on in them."""

    def keep(self, text: str) -> str:
        """Gives the id it has from now on: `context.result_handles.result_id(text)`."""
        ...

    def find(self, result_id: str) -> str | None:
        """None: this session has none of that id."""
        ...


@dataclass(slots=True)
class ResultsInMemory:
    """Where nothing is stored."""

    texts: dict[str, str] = field(default_factory=dict)

    def keep(self, text: str) -> str:
        self.texts[result_id(text)] = text
        return result_id(text)

    def find(self, result_id: str) -> str | None:
        return self.texts.get(result_id)


@dataclass(slots=True)
class ToolContext:
    """What the tools of one turn share. Only `agent/` writes it, but for `seen`, which reading tools fill."""

    workspace: Workspace
    editor: Editor
    selection: Selection | None = None
    seen: dict[Path, Snapshot] = field(default_factory=dict)
    """The text of each file as the model last read it: edits are placed in that, then carried to the text of now."""
    drafts: dict[Path, ProposedEdit] = field(default_factory=dict)
    """Edits of earlier calls of the same answer, not yet applied: later ones build on them. A file has one, by the path
    it has now, which holds all that the answer makes of it: its text, its end, its new place."""
    results: Results = field(default_factory=ResultsInMemory)
    mode: Mode = Mode.BUILD
    result_tokens: int = 8000
    """The cap of one result (`limits.toolResultTokens`); tools cut to `result_tokens * 4` characters and say so."""
    report: Callable[[str], None] = lambda _: None
    """Says what a slow tool is at ("41 lines"); shown as progress."""
    notify: Callable[[str], None] = lambda _: None
    """Says to the person what was done without asking, in one sentence."""
    skills: "Mapping[str, Skill]" = field(default_factory=dict)
    """By name: what `read_skill` can read."""
    memory: "Memory | None" = None
    """None: no folder is open whose notes these would be."""
    set_mode: Callable[[Mode], None] = lambda _: None
    set_plan: Callable[[Sequence[Mapping[str, str]]], None] = lambda _: None
    changed_by_command: Callable[[Sequence[Path]], None] = lambda _: None
    closed: Callable[[Path], bool] = lambda _: False
    """Whether a rule keeps the text of this file from the model: no result and no failure may show any of it."""
    asked_about: Callable[[Path], bool] = lambda _: False
    """Whether a rule has the person asked before this file is read: a call about many files leaves it out."""

    def draft_at(self, path: Path) -> ProposedEdit | None:
        """The draft of the file that stands at `path` once the drafts are applied, else of the one that stood there."""
        moved = (draft for draft in self.drafts.values() if draft.target == path)
        return next(moved, None) or self.drafts.get(path)

    def read(self, path: Path) -> Snapshot:
        """The file as the proposal so far would leave it. Raises WorkspaceError."""
        draft = self.draft_at(path)
        if draft is None:
            return self.workspace.read(path)
        drafted = draft.drafted
        if drafted.path != path:
            to = self.workspace.display(drafted.path)
            raise FileMissing(
                f"{self.workspace.display(path)} is moved to {to} by this answer", hint=f"name it {to} from now on"
            )
        if not drafted.exists:
            raise FileMissing(
                f"{self.workspace.display(path)} is not there any more after the calls before this one",
                hint="this answer itself deletes or moves it; go on without it",
            )
        return drafted


PreviewFunction = Callable[[A, ToolContext], Awaitable[Preview]]
RunFunction = Callable[[A, ToolContext, Preview], Awaitable[str]]


@dataclass(frozen=True)  # without slots, so that the definition can be kept: to make the schema takes a millisecond
class Tool(Generic[A]):
    """`seconds`: the tool's own time-out where it differs from `limits.toolSeconds`; inf: it waits for the person."""

    name: str
    description: str
    arguments: type[A]
    risk: Risk
    preview: PreviewFunction[A]
    run: RunFunction[A] | None
    seconds: float | None = None

    @cached_property
    def definition(self) -> ToolDefinition:
        schema: dict[str, Any] = self.arguments.model_json_schema()
        schema.pop("title", None)
        schema.pop("description", None)
        for field_schema in schema.get("properties", {}).values():
            field_schema.pop("title", None)
        return ToolDefinition(self.name, self.description, schema)
