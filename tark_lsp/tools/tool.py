"""`Tool`: its name, arguments, risk and facts, how it is previewed and run, and the context that it gets.

A tool is one module in this folder with one module-level `TOOL`. A call has two steps:

1. `preview` only reads. It describes what the call would do (title, risk, places, edits, command), before the user is
   asked.
2. `run` does it, and returns the text for the model, perhaps with figures for the user. If `run` is None, the call
   consists of its edits: the agent has them reviewed and applied, and writes the result.

Both raise `FailureForModel` (`ToolError`, `WorkspaceError`) for errors that the model should read.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from tark_lsp.errors import FileMissing
from tark_lsp.messages import Image, Loading, Mode, ToolDefinition
from tark_lsp.tools.checkpoint_access import CheckpointAccess
from tark_lsp.tools.command import Command
from tark_lsp.tools.editor import Editor
from tark_lsp.tools.facts import STRICTEST, ToolFacts, TurnScope
from tark_lsp.tools.mcp_call import McpCall
from tark_lsp.tools.result_store import MemoryResultStore, ResultStore
from tark_lsp.tools.sandbox_access import NO_SANDBOX, SandboxAccess
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.snapshot import Snapshot

if TYPE_CHECKING:  # needed only when a turn begins, long after this module is imported
    from tark_lsp.context.memory import Memory
    from tark_lsp.context.skills import Skill
    from tark_lsp.index.code_index import CodeIndex
    from tark_lsp.secrets.masks import SecretMasks
    from tark_lsp.tools.problem import Problem


class Risk(IntEnum):
    READ_ONLY = 0
    WRITE = 1
    RISKY = 2
    DANGEROUS = 3


class ToolKind(StrEnum):
    """How a client displays a call (protocol.md, `toolCall`)."""

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
    """The base of the arguments of all tools. An unknown field is an error that the model reads."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)  # built at the first call


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, slots=True)
class Location:
    """Lines count from 0, `end_line` is exclusive. Both None: the whole file."""

    path: Path
    start_line: int | None = None
    end_line: int | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    """What a call would do.

    - `title`: one line for the user.
    - `outside`: the paths outside the workspace that the call would read.
    - `atomic`: either all edits are applied or none.
    - `note`: a text that is kept for later sessions. The title shows it.
    - `url`: the page that the call would get, exactly as it would be requested.
    - `unsaved`: documents with unsaved changes, which a command does not see.
    - `mcp`: the call of an MCP server's tool. The title shows all its arguments.
    """

    title: str
    kind: ToolKind
    risk: Risk
    locations: tuple[Location, ...] = ()
    edits: tuple[ProposedEdit, ...] = ()
    command: Command | None = None
    outside: tuple[Path, ...] = ()
    atomic: bool = False
    note: str = ""
    url: str = ""
    unsaved: tuple[Path, ...] = ()
    mcp: McpCall | None = None


@dataclass(frozen=True, slots=True)
class CallFacts:
    """Figures of a finished call, for the row that clients show (protocol.md, `outcome`). None: not counted.

    A negative `exit_code` is the signal that ended the command. `more`: there are more results than were counted.
    `counts`: those of a test run or a check, as text (`2 failed, 1 passed`).
    """

    exit_code: int | None = None
    seconds: float | None = None
    matches: int | None = None
    files: int | None = None
    more: bool = False
    counts: str = ""


NO_FACTS = CallFacts()


@dataclass(frozen=True, slots=True)
class Counted:
    """A result for the model, with figures and places for the user, or images.

    `locations`: if empty, those of the preview are used. `found`: the names of the deferred tools that a search found.
    """

    text: str
    facts: CallFacts = NO_FACTS
    locations: tuple[Location, ...] = ()
    images: tuple[Image, ...] = ()
    found: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Selection:
    """What the user selected when the turn began: `text[start:end]` of `snapshot`, in code points."""

    snapshot: Snapshot
    start: int
    end: int


def _no_index() -> "CodeIndex":
    from tark_lsp.index.code_index import NO_INDEX

    return NO_INDEX


def _new_masks() -> "SecretMasks":
    from tark_lsp.secrets.masks import SecretMasks

    return SecretMasks()


@dataclass(slots=True)
class ToolContext:
    """Shared by the tools of one turn. Only `agent/` changes it, except for `seen`: tools that read files fill it."""

    workspace: Workspace
    editor: Editor
    selection: Selection | None = None
    seen: dict[Path, Snapshot] = field(default_factory=dict)
    """The text of each file that the model read last. Edits are placed in it, then rebased onto the current text."""
    drafts: dict[Path, ProposedEdit] = field(default_factory=dict)
    """The edits of earlier calls in the same answer, on which later ones build: one per file, by its current path."""
    results: ResultStore = field(default_factory=MemoryResultStore)
    mode: Mode = Mode.BUILD
    result_tokens: int = 8000
    """The limit of one result (`limits.toolResultTokens`): tools cut to `result_tokens * 4` characters and say so."""
    report_progress: Callable[[str], None] = lambda _: None  # for a slow tool ("41 lines")
    notify_user: Callable[[str], None] = lambda _: None  # one sentence about something that was done without asking
    skills: "Mapping[str, Skill]" = field(default_factory=dict)  # by name; `read_skill` reads them
    memory: "Memory | None" = None  # None: no folder is open to which notes could belong
    set_mode: Callable[[Mode], None] = lambda _: None
    set_plan: Callable[[Sequence[Mapping[str, str]]], None] = lambda _: None
    report_problem: "Callable[[Problem], None]" = lambda _: None
    outside_sources: list[str] = field(default_factory=list)  # sources of text in this turn: agent/taint.py
    sandbox: SandboxAccess = NO_SANDBOX
    checkpoint: CheckpointAccess | None = None  # None: changes of commands are not recorded
    changed_by_command: Callable[[Sequence[Path]], None] = lambda _: None
    is_read_denied: Callable[[Path], bool] = lambda _: False
    """Whether a rule hides the text of this file from the model. Then no result and no error may show any of it."""
    may_hide_below: Callable[[Sequence[Path]], bool] = lambda _: False
    """Whether `is_read_denied` can be true for a file below these folders, by the rules alone."""
    is_read_asked: Callable[[Path], bool] = lambda _: False
    """Whether a rule asks the user before this file is read. A call that reads many files leaves such files out."""
    may_ask_below: Callable[[Sequence[Path]], bool] = lambda _: False
    """Whether `is_read_asked` can be true for a file below these folders."""
    shows_secrets_of: Callable[[Path], bool] = lambda _: False  # whether a rule of the user says so
    masks: "SecretMasks" = field(default_factory=_new_masks)  # those of the session
    index: "CodeIndex" = field(default_factory=_no_index)
    user_message: str = ""
    """The user's last message. It is the query of a search without one."""

    def draft_at(self, path: Path) -> ProposedEdit | None:
        """The draft of the file that is at `path` after the drafts, else of the file that was there before."""
        return next((draft for draft in self.drafts.values() if draft.target == path), None) or self.drafts.get(path)

    def read_draft(self, path: Path) -> Snapshot:
        """The file with the drafts of this answer applied. Raises WorkspaceError."""
        draft = self.draft_at(path)
        if draft is None:
            return self.workspace.read(path)
        drafted, name = draft.drafted, self.workspace.display(path)
        if drafted.path != path:
            to = self.workspace.display(drafted.path)
            raise FileMissing(f"{name} is moved to {to} by this answer", hint=f"use the path {to} from now on")
        if not drafted.exists:
            message = f"{name} no longer exists after the earlier calls of this answer"
            raise FileMissing(message, hint="this answer itself deletes or moves it; continue without it")
        return drafted


PreviewFunction = Callable[[A, ToolContext], Awaitable[Preview]]
RunFunction = Callable[[A, ToolContext, Preview], Awaitable[str | Counted]]


@dataclass(frozen=True)  # without slots, so that `definition` is cached
class Tool(Generic[A]):
    """`seconds`: the tool's timeout if it differs from `limits.toolSeconds`; inf if the tool waits for the user."""

    name: str
    description: str
    arguments: type[A]
    risk: Risk
    preview: PreviewFunction[A]
    run: RunFunction[A] | None
    seconds: float | None = None
    facts: ToolFacts = STRICTEST
    loading: Loading = "always"

    def __post_init__(self) -> None:
        """Raises ValueError for a tool that changes something but is offered to reading turns."""
        reading = self.facts.modes != {Mode.BUILD} or TurnScope.ANSWER in self.facts.scopes
        if reading and self.risk is not Risk.READ_ONLY:
            raise ValueError(f"{self.name} is not read-only, so only writing turns in mode build may offer it")

    @cached_property
    def definition(self) -> ToolDefinition:
        return ToolDefinition(self.name, self.description, _schema_of(self.arguments), self.loading)


@cache
def _schema_of(arguments: type[Arguments]) -> dict[str, Any]:
    """Cached, because building it takes a millisecond, and some tools are created for each session."""
    made: dict[str, Any] = arguments.model_json_schema()
    schema = {key: value for key, value in made.items() if key not in ("title", "description")}
    for field_schema in schema.get("properties", {}).values():
        field_schema.pop("title", None)
    return schema
