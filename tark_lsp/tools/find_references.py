"""find_references: where a symbol is used."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from tark_lsp.errors import ToolError
from tark_lsp.index.model import Found, FoundReference
from tark_lsp.index.questions import ReferencesTo
from tark_lsp.tools.facts import ALL_MODES, ALL_SCOPES, ToolFacts
from tark_lsp.tools.language_servers import CodeQuestion, Want
from tark_lsp.tools.results import cap_result, count_noun
from tark_lsp.tools.symbol_sight import Sight, Source
from tark_lsp.tools.symbols import ask_about, definitions_of, file_of, last_part, preview_of, use_in
from tark_lsp.tools.tool import Arguments, CallFacts, Counted, Preview, Risk, Tool, ToolContext

DESCRIPTION = """\
Find the uses of a symbol in the whole workspace, as `path:line: text [definition around it]`. A language server of \
the editor knows which symbol a name means; otherwise the uses are found by name, so those of other symbols with the \
same name can be among them. The definition is not listed."""

MOST = 500
BY_NAME = "Found by name: uses of other symbols with this name can be among them."


class FindReferencesArguments(Arguments):
    symbol: str = Field(min_length=1, max_length=300, description="The name, perhaps qualified: `area`, `Shape.area`.")
    path: str | None = Field(
        default=None, description="The file that defines or uses the symbol: needed if several have that name."
    )


@dataclass(frozen=True, slots=True)
class Use:
    path: Path
    line: int
    inside: str = ""


async def preview(args: FindReferencesArguments, ctx: ToolContext) -> Preview:
    return preview_of(ctx, "find_references", args.symbol, args.path)


async def run(args: FindReferencesArguments, ctx: ToolContext, _: Preview) -> Counted:
    sight = Sight(ctx)
    path = file_of(ctx, args.path) if args.path else None
    found: Found[FoundReference] | None = None
    uses = await _editor_uses(ctx, sight, args.symbol, path)
    source = Source.EDITOR
    if not uses:
        source = Source.INDEX
        found = await ctx.index.ask(ReferencesTo(last_part(args.symbol), MOST))
        uses = [Use(one.path, one.reference.line, one.reference.inside) for one in found.items]
    await sight.read(use.path for use in uses)
    shown = [use for use in dict.fromkeys(uses) if sight.line(use.path, use.line)]
    if not shown:
        await definitions_of(ctx, sight, args.symbol, path)  # raises if nothing has this name
        said = [f"{args.symbol} is defined, but not used ({source}).", *sight.notes(found)]
        return Counted(cap_result(ctx, said), CallFacts(matches=0, files=0))
    files = {use.path for use in shown}
    head = f"{count_noun(len(shown), 'use')} in {count_noun(len(files), 'file')}, {source}:"
    lines = [head, *(_line(ctx, sight, use) for use in shown)]
    more = found is not None and not found.complete
    lines += [f"[There are more than {MOST} uses.]"] if more else []
    lines += [f"[{BY_NAME}]"] if source is Source.INDEX else []
    lines += sight.notes(found)
    return Counted(
        cap_result(ctx, lines, "search_text with a path or glob finds those of some files"),
        CallFacts(matches=len(shown), files=len(files), more=more),
    )


async def _editor_uses(ctx: ToolContext, sight: Sight, symbol: str, path: Path | None) -> Sequence[Use]:
    """The uses that language servers find, from the definition, else from a use of the name in the file."""
    definitions: set[tuple[Path, int]] = set()
    try:
        known = await definitions_of(ctx, sight, symbol, path)
        definitions = {(one.path, one.name_line) for one in known.symbols}
        answers = [answer for _, answer in await ask_about(ctx, sight, Want.REFERENCES, known.symbols)]
    except ToolError:
        place = use_in(sight, symbol, path) if path is not None else None
        if path is None or place is None:
            return ()
        answer = await ctx.editor.ask_language_servers(CodeQuestion(Want.REFERENCES, path, *place))
        answers = [answer] if answer is not None else []
    uses = [(place.path, place.start_line) for answer in answers for place in answer.places]
    return [Use(*use) for use in uses if use not in definitions]  # some servers list the definition anyway


def _line(ctx: ToolContext, sight: Sight, use: Use) -> str:
    inside = f" [{use.inside}]" if use.inside else ""
    return f"{ctx.workspace.display(use.path)}:{use.line}: {sight.line(use.path, use.line)}{inside}"


FACTS = ToolFacts(reads=True, edits=False, runs=False, modes=ALL_MODES, scopes=ALL_SCOPES, of_workspace=True)
TOOL = Tool("find_references", DESCRIPTION, FindReferencesArguments, Risk.READ_ONLY, preview, run, facts=FACTS)
