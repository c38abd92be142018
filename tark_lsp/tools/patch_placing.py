"""Finds the place of each chunk of a patch in the text of its file, or raises an error that says why not. Pure.

The context and removed lines of a chunk are placed as `edit_file` places whole lines, never more loosely. If they occur
at several places, the text after `@@` and the order of the chunks can leave one; otherwise the chunk is refused.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tark_lsp.errors import ToolError
from tark_lsp.tools.patch_format import Chunk
from tark_lsp.workspace.lines import split_lines
from tark_lsp.workspace.placing.placing import SHOWN_CHARACTERS, Place, find_line_places, not_found

CALLED = "the text of the lines with a space and `-`"
"""What errors call the old text of a chunk."""
BRACKETS = tuple("(){}[]")
"""A line that begins with one of them opens or closes the block of the line above, and begins no block of its own."""
SHOWN_PLACES = 10


@dataclass(frozen=True, slots=True)
class Core:
    """The lines `start` (from 0) to `end` (excluded) of the file become `new`, without the context around them."""

    start: int
    end: int
    new: tuple[str, ...]


def patched(text: str, chunks: Sequence[Chunk]) -> str:
    """The whole text with all chunks. Raises ToolError `not_found`, `not_unique` or `invalid_arguments`."""
    lines = split_lines(text)
    candidates = []
    for chunk in chunks:
        try:
            candidates.append([_core(lines, place, chunk) for place in _places(text, lines, chunk)])
        except ToolError as error:
            raise _of(chunk, error) from error
    out: list[str] = []
    at = 0
    for core in _in_order(lines, chunks, candidates):
        out += [*lines[at : core.start], *core.new]
        at = core.end
    return "".join([*out, *lines[at:]])


def _of(chunk: Chunk, error: ToolError) -> ToolError:
    return ToolError(
        error.code,
        f"the lines at line {chunk.line} of the patch: {error.message}",
        hint=error.hint,
        details={**error.details, "patch_line": chunk.line},
    )


def _places(text: str, lines: Sequence[str], chunk: Chunk) -> list[Place]:
    """The possible places of the chunk, considered alone, in order; at least one. Raises ToolError."""
    old, new = _joined(chunk.old), _joined(chunk.new)
    if not chunk.old:
        if not lines:
            return [Place(0, 0, 0, new)]
        if not chunk.at_end:
            raise ToolError(
                "invalid_arguments",
                "they are only added, and nothing says where",
                hint="repeat a line that comes before or after them, with a space in front; to add them at the end of "
                "the file, put *** End of File after them",
            )
        old, new = _joined([_bare(lines[-1])]), _joined([_bare(lines[-1]), *chunk.new])
    found = [
        place for place in find_line_places(text, old, new, CALLED) if not _sign_lost(chunk.old, lines[place.line :])
    ]
    if not found:
        raise not_found(text, old, CALLED)
    scopes = _scopes(text, lines, chunk.headers)
    within = [place for place in found if any(start <= place.line < end for start, end in scopes)]
    if not within:
        raise ToolError(
            "not_found",
            f"they are at {_numbered(place.line for place in found)}, which is not where @@ {chunk.headers[-1]} is",
            hint="correct the @@ line, or leave it out if the lines occur only once",
        )
    if not chunk.at_end:
        return within
    at_end = [place for place in within if place.line + _size(lines, chunk) == len(lines)]
    if not at_end:
        raise ToolError(
            "not_found",
            f"they are at {_numbered(place.line for place in within)}, which is not the end of the file",
            hint="leave *** End of File out, or read the end of the file again",
        )
    return at_end


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _bare(line: str) -> str:
    return line.rstrip("\r\n")


def _size(lines: Sequence[str], chunk: Chunk) -> int:
    """How many lines of the file it replaces; a chunk that only adds replaces the last line and repeats it."""
    return len(chunk.old) or min(1, len(lines))


def _sign_lost(old: Iterable[str], here: Iterable[str]) -> bool:
    """Whether they differ by one column: then the space that marks context is missing, not indentation."""
    widths = ((_width(wanted), _width(line)) for wanted, line in zip(old, here, strict=False) if wanted.strip())
    wanted, stands = next(widths, (0, 0))
    return abs(wanted - stands) == 1


def _width(line: str) -> int:
    shown = line.expandtabs()
    return len(shown) - len(shown.lstrip())


def _scopes(text: str, lines: Sequence[str], headers: Sequence[str]) -> list[tuple[int, int]]:
    """The ranges of lines in which a chunk with these headers can begin. Raises ToolError `not_found`."""
    scopes = [(0, len(lines) + 1)]
    for header in headers:
        some = [at for at, line in enumerate(lines) if header in line and any(a <= at < b for a, b in scopes)]
        named = [at for at in some if lines[at].strip() == header]
        named = named or [at for at in some if _begins_with(lines[at].strip(), header)]
        if not named:
            raise not_found(text, header, f"@@ {header}")
        last = max(end for _, end in scopes)
        scopes = [(at, _end_of_block(lines, at, last)) for at in named]
    return scopes


def _begins_with(line: str, header: str) -> bool:
    """Whether the line begins with the header as whole words: `def run` fits `def run(self):`, not `def runner():`."""
    after = line.removeprefix(header)[:1]
    return line.startswith(header) and not (header[-1:].isidentifier() and (after.isalnum() or after == "_"))


def _end_of_block(lines: Sequence[str], at: int, last: int) -> int:
    """The end of the block that line `at` begins, with its closing line; `last` if it begins no block."""
    width, inside = _width(lines[at]), False
    for number in range(at + 1, min(last, len(lines))):
        line = lines[number]
        if not line.strip():
            continue
        if _width(line) > width:
            inside = True
        elif not line.strip().startswith(BRACKETS):
            return number + 1 if inside else last
    return last


def _core(lines: Sequence[str], place: Place, chunk: Chunk) -> Core:
    """The place without its unchanged context. The last line of the file can change by getting a line ending."""
    start, end = place.line, place.line + _size(lines, chunk)
    new = split_lines(place.new)
    before, after = (chunk.before, chunk.after) if chunk.old else (end - start, 0)
    first, last = 0, len(new)
    while first < before and new[first] == lines[start]:
        first, start = first + 1, start + 1
    while len(new) - last < after and new[last - 1] == lines[end - 1]:
        last, end = last - 1, end - 1
    return Core(start, end, tuple(new[first:last]))


def _in_order(lines: Sequence[str], chunks: Sequence[Chunk], candidates: Sequence[Sequence[Core]]) -> list[Core]:
    """One core for each chunk, in order. Raises ToolError if the earliest and the latest choice differ."""
    earliest: list[Core] = []
    for chunk, cores in zip(chunks, candidates, strict=True):
        after = earliest[-1].end if earliest else 0
        first = next((core for core in cores if core.start >= after), None)
        if first is None:
            message = f"they are at {_numbered(core.start for core in cores)}, before the end of the previous chunk"
            hint = "give the chunks in the order of the file, and each line in only one of them"
            raise _of(chunk, ToolError("invalid_arguments", message, hint=hint))
        earliest.append(first)
    before = len(lines)
    for chunk, cores, first in reversed(list(zip(chunks, candidates, earliest, strict=True))):
        last = next(core for core in reversed(cores) if core.end <= before)
        if last != first:
            among = [core for core in cores if first.start <= core.start <= last.start]
            shown = [{"line": core.start + 1, "text": _shown(lines, core.start)} for core in among[:SHOWN_PLACES]]
            message = f"they occur at {len(among)} places: {_numbered(core.start for core in among)}"
            hint = "give more of the lines around them, or put @@ with the enclosing function or class before them"
            raise _of(chunk, ToolError("not_unique", message, hint=hint, details={"places": shown}))
        before = last.start
    return earliest


def _numbered(lines: Iterable[int]) -> str:
    numbers = [str(at + 1) for at in lines]
    listed = ", ".join(numbers[:SHOWN_PLACES]) + (" and more" if len(numbers) > SHOWN_PLACES else "")
    return f"line {listed}" if len(numbers) == 1 else f"lines {listed}"


def _shown(lines: Sequence[str], at: int) -> str:
    return _bare(lines[at]).strip()[:SHOWN_CHARACTERS] if at < len(lines) else ""
