"""Custom agents: Markdown files `agents/NAME.md` beside the user's config.toml. A turn that names one (`/agent NAME`)
has its text, its model, and no more than its tools, mode and approval level: it makes things stricter, never looser.

A project's files are not read: what they could change needs an approval that does not exist yet.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tark_lsp.context.front_matter import BadFrontMatter, FrontMatter, parse_front_matter
from tark_lsp.context.prompts import ENDING, MOST, NAME
from tark_lsp.context.sources import Source, Sources
from tark_lsp.context.system_part import SystemPart, tagged
from tark_lsp.messages import ApprovalLevel, Mode

FOLDER = "agents"
KEYS = ("name", "description", "tools", "model", "mode", "approval")
STRICTEST_MODE_FIRST = (Mode.ASK, Mode.PLAN, Mode.BUILD)
STRICTEST_LEVEL_FIRST = (ApprovalLevel.MANUAL, ApprovalLevel.CAREFUL, ApprovalLevel.BALANCED)
LONGEST_DESCRIPTION = 200
MCP = "mcp__"


@dataclass(frozen=True, slots=True)
class Agent:
    """`tools`: globs over names; None: all. `model`: empty means that of the session. `mode` and `level`: at most."""

    name: str
    description: str
    tools: tuple[str, ...] | None
    model: str
    mode: Mode
    level: ApprovalLevel
    body: str
    source: Source

    def has_tool(self, name: str) -> bool:
        return self.tools is None or any(fnmatchcase(name, glob) for glob in self.tools)

    def stricter_mode(self, mode: Mode) -> Mode:
        return min(self.mode, mode, key=STRICTEST_MODE_FIRST.index)

    def stricter_level(self, level: ApprovalLevel) -> ApprovalLevel:
        return min(self.level, level, key=STRICTEST_LEVEL_FIRST.index)

    @property
    def part(self) -> SystemPart:
        text = tagged("instructions", self.body, whose="person", file=self.source.name, agent=self.name)
        return SystemPart(self.source.name, "instructions", text, self.source.path)


def find_agents(sources: Sources, tools: Callable[[], Collection[str]]) -> dict[str, Agent]:
    """The user's agents by name. Invalid files are left out, see `sources.problems`. `tools`: the names of all."""
    agents: dict[str, Agent] = {}
    for folder in (folder for folder in sources.folders(FOLDER) if folder.whose == "person"):
        for source in sources.folder_entries(folder, ENDING)[:MOST]:
            text = sources.read_or_report(source)
            if text is None:
                continue
            try:
                agent = _agent(source, parse_front_matter(text), sources.problems, tools)
            except BadFrontMatter as error:
                sources.problems.append(f"{source.name} is left out: {error.message}")
                continue
            agents.setdefault(agent.name, agent)
    return agents


def _agent(source: Source, front: FrontMatter, problems: list[str], tools: Callable[[], Collection[str]]) -> Agent:
    """Raises BadFrontMatter."""
    name = source.path.name.removesuffix(ENDING).lower()
    if not NAME.fullmatch(name):
        raise BadFrontMatter("the name of an agent must be at most 40 letters, digits, - and _")
    if not front.body.strip():
        raise BadFrontMatter("it has no text")
    model = front.text_field("model")
    if model and ("/" not in model or " " in model):
        raise BadFrontMatter(f"model: {model[:60]!r} is not <provider>/<model>")
    mode, level = front.text_field("mode"), front.text_field("approval")
    if mode and mode not in [*Mode]:
        raise BadFrontMatter(f"mode: there is no {mode[:40]!r}; the modes are {', '.join(Mode)}")
    if level and level not in [*ApprovalLevel]:
        raise BadFrontMatter(f"approval: there is no {level[:40]!r}; the levels are {', '.join(ApprovalLevel)}")
    if ignored := [key[:40] for key in front.fields if key not in KEYS]:
        problems.append(f"{source.name}: ignored: {', '.join(ignored)} (an agent can only set {', '.join(KEYS)})")
    return Agent(
        name,
        front.text_field("description")[:LONGEST_DESCRIPTION],
        _tools(source, front, problems, tools) if "tools" in front.fields else None,
        model,
        Mode(mode) if mode else Mode.BUILD,
        ApprovalLevel(level) if level else ApprovalLevel.BALANCED,
        front.body.strip(),
        source,
    )


def _tools(
    source: Source, front: FrontMatter, problems: list[str], tools: Callable[[], Collection[str]]
) -> tuple[str, ...]:
    """Names that match no tool are dropped, with a notice."""
    wanted, known = front.list_field("tools"), tools()
    kept = tuple(glob for glob in wanted if glob.startswith(MCP) or any(fnmatchcase(tool, glob) for tool in known))
    if dropped := [glob[:40] for glob in wanted if glob not in kept]:
        problems.append(f"{source.name}: there are no tools {', '.join(dropped)}, so the agent does not have them")
    return kept
