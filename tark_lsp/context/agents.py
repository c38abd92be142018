"""Custom agents: Markdown files `agents/NAME.md` beside the user's config.toml, and in `.tark` and `.claude` of a
project. An agent adds its text to a turn and can select a model. It can restrict the tools, mode and approval level of
the turn, but never extend them.

The files of a project are offers: they count only after the user saw the whole file and approved it (agent_offers.py).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tark_lsp.context.claude_tools import MCP, our_tools
from tark_lsp.context.front_matter import BadFrontMatter, FrontMatter, parse_front_matter
from tark_lsp.context.prompts import ENDING, MOST, NAME
from tark_lsp.context.sources import LARGEST, Source, Sources, error_reason
from tark_lsp.context.system_part import SystemPart, tagged
from tark_lsp.errors import WorkspaceError
from tark_lsp.messages import ApprovalLevel, Mode
from tark_lsp.workspace.snapshot import digest_of

FOLDER = "agents"
KEYS = ("name", "description", "tools", "disallowedTools", "model", "mode", "approval")
STRICTEST_MODE_FIRST = (Mode.ASK, Mode.PLAN, Mode.BUILD)
STRICTEST_LEVEL_FIRST = (ApprovalLevel.MANUAL, ApprovalLevel.CAREFUL, ApprovalLevel.BALANCED)
LONGEST_DESCRIPTION = 200
NO_AGENT = "none"
"""The name that means no agent."""
Tools = Callable[[], Mapping[str, bool]]
"""The names of all built-in tools, each with whether it only reads."""


@dataclass(frozen=True, slots=True)
class Agent:
    """One custom agent.

    tools        globs over names of tools; None: all
    without      globs of tools that the agent does not have
    model        empty: the session's model
    mode, level  the least strict that a turn can have
    text         the whole file
    remarks      a sentence for each entry of the file that has no effect
    """

    name: str
    description: str
    tools: tuple[str, ...] | None
    model: str
    mode: Mode
    level: ApprovalLevel
    body: str
    source: Source
    text: str = ""
    without: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def is_offer(self) -> bool:
        """Whether the agent is a project's."""
        return self.source.whose == "project"

    @property
    def digest(self) -> str:
        """The digest that the user's approval of an offer is bound to. Line endings do not matter, because an editor
        can have others than the disk."""
        return digest_of(self.text.replace("\r\n", "\n"))

    def has_tool(self, name: str) -> bool:
        wanted = self.tools is None or any(fnmatchcase(name, glob) for glob in self.tools)
        return wanted and not any(fnmatchcase(name, glob) for glob in self.without)

    def stricter_mode(self, mode: Mode) -> Mode:
        return min(self.mode, mode, key=STRICTEST_MODE_FIRST.index)

    def stricter_level(self, level: ApprovalLevel) -> ApprovalLevel:
        return min(self.level, level, key=STRICTEST_LEVEL_FIRST.index)

    @property
    def part(self) -> SystemPart:
        text = tagged("instructions", self.body, whose=self.source.whose, file=self.source.name, agent=self.name)
        return SystemPart(self.source.name, "instructions", text, self.source.path)


def find_agents(sources: Sources, tools: Tools, *, offers: bool, only: str = "") -> dict[str, Agent]:
    """The agents by name. The user's own take precedence over a project's.

    `sources.problems` gets a sentence for each invalid file, which is left out, and the remarks of the user's own
    agents. The remarks of an offer are shown with the offer. `offers`: also read the project's agents, approved or not.
    `only`: read only the files of this name, so only their problems are named.
    """
    agents: dict[str, Agent] = {}
    for folder in (folder for folder in sources.folders(FOLDER) if offers or folder.whose == "person"):
        for source in sources.folder_entries(folder, ENDING)[:MOST]:
            if only and _name(source) != only:
                continue
            try:
                agent = _read(sources, source, tools)
            except BadFrontMatter as error:
                sources.problems.append(f"{source.name} is left out: {error.message}")
                continue
            except WorkspaceError as error:
                sources.problems.append(f"{source.name} is left out: {error_reason(error)}")
                continue
            if agent is None:
                continue
            if not agent.is_offer:
                sources.problems.extend(f"{source.name}: {remark}" for remark in agent.remarks)
            known = agents.setdefault(agent.name, agent)
            if known is not agent:
                sources.problems.append(f"{source.name} is left out: {known.source.name} has the same name")
    return agents


def _name(source: Source) -> str:
    return source.path.name.removesuffix(ENDING).lower()


def _read(sources: Sources, source: Source, tools: Tools) -> Agent | None:
    """The agent in a file; None if the file is gone. Raises BadFrontMatter and WorkspaceError."""
    text = sources.read_whole(source)
    if text is None:
        return None
    if source.whose == "project" and len(text) > LARGEST:
        raise BadFrontMatter(f"it is longer than {LARGEST:,} characters")
    return _agent(source, text, parse_front_matter(sources.text_for_model(source, text)), tools)


def _agent(source: Source, text: str, front: FrontMatter, tools: Tools) -> Agent:
    """Raises BadFrontMatter."""
    name = _name(source)
    if not NAME.fullmatch(name) or name == NO_AGENT:
        raise BadFrontMatter(
            f"the name of an agent must be at most 40 letters (a-z), digits, - and _, and not {NO_AGENT}"
        )
    if not front.body.strip():
        raise BadFrontMatter("it has no text")
    mode, level = front.text_field("mode"), front.text_field("approval")
    if mode and mode not in [*Mode]:
        raise BadFrontMatter(f"mode: there is no {mode[:40]!r}; the modes are {', '.join(Mode)}")
    if level and level not in [*ApprovalLevel]:
        raise BadFrontMatter(f"approval: there is no {level[:40]!r}; the levels are {', '.join(ApprovalLevel)}")
    remarks: list[str] = []
    if ignored := [key[:40] for key in front.fields if key not in KEYS]:
        remarks.append(f"ignored: {', '.join(ignored)} (an agent can only set {', '.join(KEYS)})")
    if (written := front.text_field("name")) and written.lower() != name:
        remarks.append(f"its name is that of the file, {name}; the key name ({written[:40]}) is ignored")
    return Agent(
        name,
        front.text_field("description")[:LONGEST_DESCRIPTION],
        _tools(source, front, remarks, tools),
        _model(source, front, remarks),
        Mode(mode) if mode else Mode.BUILD,
        ApprovalLevel(level) if level else ApprovalLevel.BALANCED,
        front.body.strip(),
        source,
        text,
        tuple(ours for name in front.list_field("disallowedTools") for ours in our_tools(name.partition("(")[0])),
        tuple(remarks),
    )


def _model(source: Source, front: FrontMatter, remarks: list[str]) -> str:
    """The agent's model; empty for the session's. Raises BadFrontMatter."""
    model = front.text_field("model")
    if not model or model == "inherit" or ("/" in model and " " not in model):
        return "" if model == "inherit" else model
    if source.whose == "person":
        raise BadFrontMatter(f"model: {model[:60]!r} is not <provider>/<model>")
    remarks.append(f"its model {model[:60]} is not <provider>/<model>, so it has the model of the session")
    return ""


def _tools(source: Source, front: FrontMatter, remarks: list[str], tools: Tools) -> tuple[str, ...] | None:
    """The globs in `tools`. Names that match no tool are dropped, with a remark. If the file does not set `tools`, a
    project's agent has only the tools that read, and the user's own has all."""
    if "tools" not in front.fields:
        if source.whose == "person":
            return None
        return tuple(name for name, only_reads in tools().items() if only_reads)
    if front.fields["tools"] == "":
        remarks.append("tools is empty, so the agent has no tools (to say that, write []; otherwise remove the key)")
    wanted, known = front.list_field("tools"), tools()
    kept = {name: tuple(filter(_exists(known), our_tools(name))) for name in wanted}
    if dropped := [name[:40] for name, ours in kept.items() if not ours]:
        remarks.append(f"unknown tools: {', '.join(dropped)} (the agent does not have them)")
    return tuple(dict.fromkeys(glob for ours in kept.values() for glob in ours))


def _exists(known: Mapping[str, bool]) -> Callable[[str], bool]:
    return lambda glob: glob.startswith(MCP) or any(fnmatchcase(tool, glob) for tool in known)
