"""Formats a file or a stored result, or some of its lines, for `read_file` and `read_files`."""

from tark_lsp.context.result_handles import how_to_read, lines_of, page_head
from tark_lsp.context.snippets import format_snippet
from tark_lsp.errors import ToolError
from tark_lsp.tools.masking import mask_file
from tark_lsp.tools.places import Place, read_place
from tark_lsp.tools.results import character_limit, count_noun, fit_lines
from tark_lsp.tools.tool import ToolContext
from tark_lsp.workspace.lines import split_lines


def show_file(ctx: ToolContext, place: Place, start_line: int | None, end_line: int | None, limit: int) -> str:
    """At most about `limit` characters of the requested lines as a snippet, and notes about lines that are not shown.

    A file of the workspace is recorded in `ctx.seen`. Raises WorkspaceError, and ToolError for lines that do not exist.
    """
    snapshot = read_place(ctx, place)
    lines = split_lines(mask_file(ctx, place.path, snapshot.text).text)
    total = len(lines)
    first, last = start_line or 1, end_line or total
    if last < first and end_line is not None:
        raise ToolError("invalid_arguments", f"end_line {last} is before start_line {first}")
    if first > max(total, 1):
        raise ToolError(
            "invalid_arguments",
            f"start_line {first} is past the end: {place.shown} has {count_noun(total, 'line')}",
            details={"lines": total},
        )
    if not place.outside:
        ctx.seen[place.path] = snapshot
    if not lines:
        return f"{place.shown} is empty."
    notes = []
    if last > total:
        notes.append(f"Line {last} is past the end: the file has {count_noun(total, 'line')}.")
    shown, used = [], 0
    for line in lines[first - 1 : last]:
        if used + len(line) > limit:
            break
        shown.append(line)
        used += len(line)
    if not shown:
        shown = [lines[first - 1][:limit]]
        notes.append(f"Line {first} is {count_noun(len(lines[first - 1]), 'character')} long and was cut.")
    end = first + len(shown) - 1
    if end < min(last, total):
        notes.append(f"Lines {first}-{end} of {total} are shown; read on with start_line = {end + 1}.")
    elif first > 1 or end < total:
        notes.append(f"These are lines {first}-{end} of {total}.")
    if end == total and lines[-1] and not lines[-1].endswith(("\n", "\r")):
        notes.append("The last line has no line ending.")
    return "\n".join([format_snippet(place.path, first, end, "".join(shown)), *notes])


def show_result(ctx: ToolContext, result_id: str, first: int, last: int | None) -> str:
    """Unchanged lines of a stored result. They are not put into a snippet, because they can contain snippets.

    Raises ToolError if this session has no such result, or the result does not have these lines.
    """
    text = ctx.results.find_result(result_id)
    if text is None:
        hint = "repeat the call that gave this result"
        raise ToolError("not_found", f"this session has no result:{result_id}", hint=hint)
    lines = lines_of(text)
    total = len(lines)
    if first > total or (last is not None and last < first):
        raise ToolError("invalid_arguments", f"result:{result_id} has {count_noun(total, 'line')}")
    wanted = lines[first - 1 : last]
    kept = fit_lines(wanted, character_limit(ctx.result_tokens))
    if not kept:
        kept = [f"{wanted[0][: character_limit(ctx.result_tokens)]} [cut]"]
    end = first + len(kept) - 1
    left = f"; read on with {how_to_read(result_id, end + 1)}" if end < total else ""
    place = f"[lines {first}-{end} of {total:,} of result:{result_id}{left}]"
    if (head := page_head(text)) and first > head.count("\n"):
        end_mark = "</mcp>" if "\n<mcp" in head else "</page>"
        return "\n".join([f"{head}{kept[0]}", *kept[1:], end_mark, place])
    return "\n".join([*kept, place])


def line_range(start_line: int | None, end_line: int | None) -> str:
    """`:3-9`, `:3-` or "", to append to a path in a title."""
    if start_line is None and end_line is None:
        return ""
    return f":{start_line or 1}-{'' if end_line is None else end_line}"
