"""request_code_context: the pieces of code that best match a question, as JSON, within a token budget."""

import asyncio
import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, Field

from tark_lsp.context.snippets import format_snippet
from tark_lsp.errors import ToolError, WorkspaceError
from tark_lsp.index.model import Hit
from tark_lsp.index.questions import Search
from tark_lsp.tools.facts import ALL_MODES, ALL_SCOPES, ToolFacts
from tark_lsp.tools.masking import mask_file
from tark_lsp.tools.results import CHARACTERS_PER_TOKEN, count_noun
from tark_lsp.tools.search_text import LEFT_OUT
from tark_lsp.tools.tool import Arguments, CallFacts, Counted, Preview, Risk, Tool, ToolContext, ToolKind
from tark_lsp.workspace.lines import line_changes, split_lines

DESCRIPTION = """\
Find the code that a question or some names are about, anywhere in the workspace, without knowing where it is. The \
result is JSON: {ok, query, top_k, results: [{id, score, path, start_line, end_line, snippet}]}, the best match first. \
Use it before you search for words; use search_text to find every occurrence of a text."""

TOKENS_PER_RESULT = 200
FEWEST, MOST = 5, 20
SPARE = 10
"""How many more hits are requested than shown, because some can be hidden or deleted."""
TITLE_CHARACTERS = 80
LONGEST_QUERY = 4000
"""Characters. The user's message, which is the default query, can contain a whole file."""


class RequestCodeContextArguments(Arguments):
    query: str | None = Field(
        default=None,
        validation_alias=AliasChoices("query", "hint"),
        description="A question, a description of the code, or names. Default: the user's last message.",
    )
    token_budget: int = Field(
        default=4000, ge=100, le=100_000, description="How long the result can be; 200 tokens for each of 5 to 20 hits."
    )


@dataclass(frozen=True, slots=True)
class FoundCode:
    """A piece of code as the model sees it. `lines`: with their line endings. `start`: the number of the first line."""

    id: str
    score: float
    file: Path
    path: str
    start: int
    lines: Sequence[str]

    def result(self, count: int) -> dict[str, Any]:
        """The result with the first `count` lines."""
        end = self.start + count - 1
        return {
            "id": self.id,
            "score": round(self.score, 4),
            "path": self.path,
            "start_line": self.start,
            "end_line": end,
            "snippet": format_snippet(self.file, self.start, end, "".join(self.lines[:count])),
        }


async def preview(args: RequestCodeContextArguments, ctx: ToolContext) -> Preview:
    shown = " ".join(_query_of(args, ctx).split())
    cut = shown if len(shown) <= TITLE_CHARACTERS else f"{shown[: TITLE_CHARACTERS - 1]}…"
    return Preview(f"request_code_context {cut}", ToolKind.SEARCH, Risk.READ_ONLY)


async def run(args: RequestCodeContextArguments, ctx: ToolContext, _: Preview) -> Counted:
    query = _query_of(args, ctx)
    top_k = min(max(args.token_budget // TOKENS_PER_RESULT, FEWEST), MOST)
    found = await ctx.index.ask(Search(query, top_k + SPARE))
    notes = list(found.notes)
    if ctx.may_hide_below(ctx.workspace.folders):
        notes.append(LEFT_OUT)
    limit = min(args.token_budget, ctx.result_tokens) * CHARACTERS_PER_TOKEN
    answer: dict[str, Any] = {"ok": True, "query": query[: limit // 8], "top_k": top_k, "results": []}
    if found.share < 1:
        answer["indexed"] = min(round(found.share, 2), 0.99)
        notes.append("The index is being built. Code that is not found can be there: use search_text as well.")
    code = await _visible_code(ctx, found.items, top_k)
    shown = _fit_results(answer, notes, code, limit)
    files = {one.path for one in code[:shown]}
    facts = CallFacts(matches=shown, files=len(files), more=shown < len(code))
    return Counted(_json(answer), facts)


def _query_of(args: RequestCodeContextArguments, ctx: ToolContext) -> str:
    """Raises ToolError `invalid_arguments` if there is nothing to search for."""
    query = (args.query or "").strip() or ctx.user_message.strip()
    if not query:
        raise ToolError("invalid_arguments", "query is empty, and so is the user's message", hint="give a query")
    return query[:LONGEST_QUERY]


async def _visible_code(ctx: ToolContext, hits: Sequence[Hit], limit: int) -> list[FoundCode]:
    """The hits that the model can see, without files that a rule hides or asks about before they are read."""
    code: list[FoundCode] = []
    for hit in hits:
        if len(code) == limit:
            break
        await asyncio.sleep(0)  # masking the secrets of a long file takes 20 ms
        with suppress(WorkspaceError):  # deleted, moved by this answer, or no longer text
            path = ctx.workspace.resolve(str(hit.path))
            if ctx.is_read_denied(path) or ctx.is_read_asked(path):
                continue
            snapshot = ctx.read_draft(path)
            masked = split_lines(mask_file(ctx, path, snapshot.text).text)
            start, end = hit.start_line, hit.end_line
            if ctx.draft_at(path) is not None:  # the index knows the file without the edits of this answer
                start, end = _moved_lines(ctx.workspace.read(path).text, snapshot.text, start, end)
            lines = masked[start - 1 : end]
            if not "".join(lines).strip():
                continue
            shown = ctx.workspace.display(path)
            key = "\0".join((shown, hit.symbol, "".join(lines)))
            code_id = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:12]
            code.append(FoundCode(code_id, hit.score, path, shown, start, lines))
    return code


def _moved_lines(old: str, new: str, start: int, end: int) -> tuple[int, int]:
    """The lines of the new text that correspond to the lines `start` to `end` of the old one, including changes."""
    changes = line_changes(old, new)
    before = sum(len(one.new) - len(one.old) for one in changes if one.end < start)
    inside = sum(len(one.new) - len(one.old) for one in changes if start <= one.end and one.start < end)
    return max(1, start + before), end + before + inside


def _fit_results(answer: dict[str, Any], notes: list[str], code: Sequence[FoundCode], limit: int) -> int:
    """Add results to the answer as long as its JSON has at most `limit` characters. The last one can have fewer lines.

    Returns how many results were added. If some are left out, a note says so.
    """
    for one in code:
        answer["results"].append(one.result(len(one.lines)))
    answer["note"] = " ".join(notes)
    shown = len(code)
    while len(_json(answer)) > limit and shown:
        shown -= 1
        del answer["results"][shown:]
        left = count_noun(len(code) - shown, "more result")
        answer["note"] = " ".join([*notes, f"{left} left out or cut: raise token_budget, or narrow the query."])
        spare = limit - len(_json(answer))
        if part := _part_of(code[shown], spare):
            answer["results"].append(part)
            shown += 1
            break
    if len(_json(answer)) > limit or not answer["note"]:
        del answer["note"]
    return shown


def _part_of(code: FoundCode, room: int) -> dict[str, Any] | None:
    """The result with as many of its first lines as fit; None if these are too few to be useful."""
    low, high = 0, len(code.lines)
    while low < high:
        middle = (low + high + 1) // 2
        if len(_json(code.result(middle))) + len(", ") <= room:
            low = middle
        else:
            high = middle - 1
    return code.result(low) if low >= min(3, len(code.lines)) else None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


FACTS = ToolFacts(reads=True, edits=False, runs=False, modes=ALL_MODES, scopes=ALL_SCOPES, of_workspace=True)
TOOL = Tool("request_code_context", DESCRIPTION, RequestCodeContextArguments, Risk.READ_ONLY, preview, run, facts=FACTS)
