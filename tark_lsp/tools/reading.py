"""The text of a file, or some lines of it, as `read_file` and `read_files` show it."""

from tark_lsp.context.snippets import format_snippet
from tark_lsp.errors import ToolError
from tark_lsp.tools.places import Place, read_place
from tark_lsp.tools.results import counted
from tark_lsp.tools.tool import ToolContext
from tark_lsp.workspace.lines import split_lines


def show_file(ctx: ToolContext, place: Place, start_line: int | None, end_line: int | None, limit: int) -> str:
    """At most about `limit` characters of the lines asked for, as a snippet, and a sentence about what is not shown.

    A file of the workspace is noted in `ctx.seen`. Raises WorkspaceError, and ToolError for lines that are not there.
    """
    snapshot = read_place(ctx, place)
    lines = split_lines(snapshot.text)
    total = len(lines)
    first, last = start_line or 1, end_line or total
    if last < first and end_line is not None:
        raise ToolError("invalid_arguments", f"end_line {last} is before start_line {first}")
    if first > max(total, 1):
        raise ToolError(
            "invalid_arguments",
            f"start_line {first} is past the end: {place.shown} has {counted(total, 'line')}",
            details={"lines": total},
        )
    if not place.outside:
        ctx.seen[place.path] = snapshot
    if not lines:
        return f"{place.shown} is empty."
    notes = []
    if last > total:
        notes.append(f"Line {last} is past the end: the file has {counted(total, 'line')}.")
    shown, used = [], 0
    for line in lines[first - 1 : last]:
        if used + len(line) > limit:
            break
        shown.append(line)
        used += len(line)
    if not shown:
        shown = [lines[first - 1][:limit]]
        notes.append(f"Line {first} is {counted(len(lines[first - 1]), 'character')} long and was cut.")
    end = first + len(shown) - 1
    if end < min(last, total):
        notes.append(f"Lines {first}-{end} of {total} are shown; read on with start_line = {end + 1}.")
    elif first > 1 or end < total:
        notes.append(f"These are lines {first}-{end} of {total}.")
    if end == total and lines[-1] and not lines[-1].endswith(("\n", "\r")):
        notes.append("The last line has no line ending.")
    return "\n".join([format_snippet(place.path, first, end, "".join(shown)), *notes])


def line_range(start_line: int | None, end_line: int | None) -> str:
    """`:3-9`, `:3-`, or nothing, to follow a path in a title."""
    if start_line is None and end_line is None:
        return ""
    return f":{start_line or 1}-{'' if end_line is None else end_line}"
