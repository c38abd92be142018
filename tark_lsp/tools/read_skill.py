"""read_skill: how a kind of task is done, as the person or the project wrote it down."""

from pydantic import Field

from tark_lsp.context.skills import FILE_NAME, Skill, read_skill, skill_file
from tark_lsp.context.system_part import fenced
from tark_lsp.errors import ToolError
from tark_lsp.tools.results import capped, counted
from tark_lsp.tools.tool import Arguments, Location, Preview, Risk, Tool, ToolContext, ToolKind

DESCRIPTION = """\
Read a skill: step-by-step knowledge for one kind of task, of which you were told the names. Read it before you begin \
such a task. Its folder may hold further files, which you get by their path."""


class ReadSkillArguments(Arguments):
    name: str = Field(min_length=1, description="The skill's name, as it is listed.")
    path: str = Field(
        default=FILE_NAME, min_length=1, description="A file of the skill's folder, by its path from there."
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
    # The person's own skills are outside the workspace, and theirs to be read without asking.
    return Preview(title, ToolKind.READ, Risk.READ_ONLY, locations=(Location(source.path),))


async def run(args: ReadSkillArguments, ctx: ToolContext, preview: Preview) -> str:
    skill = named(ctx, args.name)
    for place in preview.locations:
        if ctx.closed(place.path):
            raise ToolError("denied", f"a rule keeps {args.path} of the skill {skill.name} from you", hint="do without")
    found = read_skill(ctx.workspace, skill, args.path)
    notes = []
    if found.hidden:
        notes.append(f"[{counted(found.hidden, 'character')} that nobody sees left out.]")
    if found.files:
        notes.append(f"Further files of {skill.folder.as_posix()}: {', '.join(found.files)}")
    text = capped(ctx, found.text.strip().split("\n"))
    return "\n".join([fenced("skill", text, whose=found.source.whose, name=skill.name, file=found.source.name), *notes])


TOOL = Tool("read_skill", DESCRIPTION, ReadSkillArguments, Risk.READ_ONLY, preview, run)
