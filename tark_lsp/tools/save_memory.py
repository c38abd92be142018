"""save_memory: saves a note about this workspace for later sessions, in a file that the user can read and edit."""

from pydantic import Field

from tark_lsp.context.hidden import without_hidden
from tark_lsp.context.memory import Memory
from tark_lsp.context.secrets import looks_secret
from tark_lsp.errors import ToolError
from tark_lsp.tools.facts import ToolFacts
from tark_lsp.tools.tool import Arguments, Preview, Risk, Tool, ToolContext, ToolKind

DESCRIPTION = """\
Keep a note about this workspace for later sessions: what the person asked you to remember, or a lasting fact that was \
hard to find out (how to run the tests, why something is done this way). Never keep keys, passwords, facts that are in \
the repository, or the progress of the current task. The person can read, edit and delete the notes."""


class SaveMemoryArguments(Arguments):
    text: str = Field(
        min_length=1, max_length=2000, description="The note: one fact, understandable without other context."
    )
    tags: list[str] = Field(default=[], max_length=10, description="A few search words, such as build, tests.")


def memory_of(ctx: ToolContext) -> Memory:
    if ctx.memory is None:
        raise ToolError("unsupported", "no folder is open, so there is no memory", hint="do without it")
    return ctx.memory


async def preview(args: SaveMemoryArguments, ctx: ToolContext) -> Preview:
    memory_of(ctx)
    text, _ = without_hidden(args.text)
    tags, _ = without_hidden(" ".join(f"#{tag}" for tag in args.tags))
    if not text.strip():
        raise ToolError("invalid_arguments", "text is empty", hint="give the note")
    if kind := looks_secret(f"{text}\n{tags}"):
        raise ToolError(
            "denied",
            f"the note seems to contain {kind}, and keys are never kept",
            hint="name the place of the key (a variable, a file) instead of the key",
        )
    # The user sees only the title when they decide, so it contains the whole note.
    title = " ⏎ ".join(line.strip() for line in f"save_memory {text.strip()} {tags}".strip().splitlines())
    return Preview(title, ToolKind.OTHER, Risk.WRITE, note=text)


async def run(args: SaveMemoryArguments, ctx: ToolContext, preview: Preview) -> str:
    memory = memory_of(ctx)
    if not await memory.add_note(preview.note, args.tags):
        return "This note already exists."
    ctx.notify_user(f"kept for later sessions in {memory.path}: {preview.title.removeprefix('save_memory ')}")
    return "The note is kept."


FACTS = ToolFacts(reads=False, edits=False, runs=False, untrusted_output=False)
TOOL = Tool("save_memory", DESCRIPTION, SaveMemoryArguments, Risk.WRITE, preview, run, facts=FACTS)
