"""read_skill: the instructions that the user or the project wrote for one kind of task."""

from pydantic import Field

from tark_lsp.context.skills import FILE_NAME, Skill, read_skill, skill_file
from tark_lsp.context.system_part import tagged
from tark_lsp.errors import ToolError
from tark_lsp.tools.facts import ALL_MODES, ALL_SCOPES, ToolFacts
from tark_lsp.tools.results import cap_result, count_noun
from tark_lsp.tools.tool import Arguments, Location, Preview, Risk, Tool, ToolContext, ToolKind

DESCRIPTION = """\
Read a skill: step-by-step instructions for one kind of task. You were given the names of the skills; read a skill \
before you begin such a task. Its folder can contain further files, which you read by their path."""


class ReadSkillArguments(Arguments):
    name: str = Field(min_length=1, description="The name of the skill, as listed.")
    path: str = Field(
        default=FILE_NAME, min_length=1, description="A file in the skill's folder, relative to that folder."
    )


def named(ctx: ToolContext, name: str) -> Skill:
    skill = ctx.skills.get(name)
    if skill is None:
        known = ", ".join(ctx.skills) or "there are none"
        raise ToolError("not_found", f"there is no skill {name!r}", hint=f"the skills: {known}")
    return skill


async def preview(args: ReadSkillArguments, ctx: ToolContext) -> Preview:
    skill = named(ctx, args.name)
    source = skill_file(ctx.workspace, skill, args.path)
    title = f"read_skill {skill.name}" if args.path == FILE_NAME else f"read_skill {skill.name}/{args.path}"
    # The user's own skills are outside the workspace and are read without a question.
    return Preview(title, ToolKind.READ, Risk.READ_ONLY, locations=(Location(source.path),))


async def run(args: ReadSkillArguments, ctx: ToolContext, preview: Preview) -> str:
    skill = named(ctx, args.name)
    for place in preview.locations:
        if ctx.is_read_denied(place.path):
            raise ToolError("denied", f"a rule hides {args.path} of the skill {skill.name} from you", hint="do without")
    found = read_skill(ctx.workspace, skill, args.path)
    notes = []
    if found.hidden:
        notes.append(f"[{count_noun(found.hidden, 'invisible character')} left out.]")
    if found.files:
        notes.append(f"Further files of {skill.folder.as_posix()}: {', '.join(found.files)}")
    text = cap_result(ctx, found.text.strip().split("\n"))
    return "\n".join([tagged("skill", text, whose=found.source.whose, name=skill.name, file=found.source.name), *notes])


FACTS = ToolFacts(
    reads=True, edits=False, runs=False, rule_subject="itself", modes=ALL_MODES, scopes=ALL_SCOPES, of_workspace=True
)
TOOL = Tool("read_skill", DESCRIPTION, ReadSkillArguments, Risk.READ_ONLY, preview, run, facts=FACTS)
