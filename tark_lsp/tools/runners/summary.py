"""What the model and the user get of a run: how it ended, the failures with their places, and where the rest is."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tark_lsp.context.result_handles import LONGEST_KEPT, how_to_read
from tark_lsp.tools.output import HeadAndTail
from tark_lsp.tools.results import cap_result, character_limit, count_noun
from tark_lsp.tools.runners.choice import Choice
from tark_lsp.tools.runners.report import Failure, Report
from tark_lsp.tools.runners.runner import Purpose
from tark_lsp.tools.tool import Location, ToolContext

MOST_CHARACTERS = 8_000
"""Of the failures in a result."""
MOST_FAILURES = 2_000
"""That are kept for reading on."""
MOST_LINES = 8
"""Of the message of one failure."""
MOST_LINKS = 50
TAIL_LINES, TAIL_CHARACTERS = 40, 4_000
"""Of the output, if it says more than the failures do."""
SEVERITIES = ("error", "warning")


@dataclass(frozen=True, slots=True)
class Found:
    """A failure, and the file of the workspace that it is in."""

    failure: Failure
    path: Path | None


def places_of(report: Report, choice: Choice, ctx: ToolContext) -> list[Found]:
    """Errors come first."""
    known: dict[str, Path | None] = {}
    found = []
    for failure in report.failures:
        if failure.file not in known:
            known[failure.file] = find_file(failure.file, choice.cwd, ctx)
        found.append(Found(failure, known[failure.file]))
    rank = {severity: number for number, severity in enumerate(SEVERITIES)}
    return sorted(found, key=lambda one: rank.get(one.failure.severity, len(rank)))


def find_file(name: str, cwd: Path, ctx: ToolContext) -> Path | None:
    """The file of the workspace that the program means: from the folder where it ran, from one above it, or with a
    first part that is no folder (the import path of a Go package)."""
    if not name or "\0" in name:
        return None
    parts = Path(name.replace("\\", "/") if os.sep == "/" else name).parts
    above = [one for one in (cwd, *cwd.parents) if ctx.workspace.is_inside(one)]
    tries = [base.joinpath(*parts) for base in above]
    tries += [cwd.joinpath(*parts[start:]) for start in range(1, min(len(parts), 12))]
    for path in tries:
        try:
            real = Path(os.path.realpath(path))
            if real.is_file() and ctx.workspace.is_inside(real):
                return real
        except (OSError, ValueError):
            return None
    return None


def locations_of(found: Sequence[Found]) -> tuple[Location, ...]:
    """Each place once."""
    places: dict[tuple[Path, int | None], Location] = {}
    for one in found:
        if one.path is not None and len(places) < MOST_LINKS:
            line = one.failure.line
            whole = line is None or line < 1
            places[one.path, line] = Location(one.path) if whole else Location(one.path, (line or 1) - 1, line)
    return tuple(places.values())


def counts_in_words(report: Report) -> str:
    """`2 failed, 1 passed`, in the order of the program. Empty if nothing was counted."""
    return ", ".join(f"{number} {_word(name, number)}" for name, number in report.counts.items())


def verdict(choice: Choice, report: Report, code: int | None) -> str:
    """One sentence. The exit code decides; what the output says is told beside it."""
    counts = counts_in_words(report)
    told = f": {counts}" if counts else ""
    if choice.runner.purpose is Purpose.CHECK:
        if code != 0:
            return (
                f"problems were found{told}" if report.failures else "it failed; no problem is recognised in its output"
            )
        if choice.runner.name == "make" and not report.failures:
            return "it succeeded; no problem is recognised in its output"
        return f"it succeeded{told}" if report.failures else "no problems were found"
    if code != 0:
        if report.failures or report.counts.get("failed"):
            return f"it failed{told}"
        if report.understood and not report.ran:
            return f"it failed: no tests ran{f' ({counts})' if counts else ''}"
        return f"it failed; no failed test is recognised in its output{told}"
    if not report.understood:
        return "its output is not understood, so it is not known which tests ran, or whether any did"
    if report.failures or report.counts.get("failed"):
        return f"it succeeded by its exit code, but its output tells of failures{told}"
    return f"all tests that ran passed{told}" if report.ran else f"no tests ran{f' ({counts})' if counts else ''}"


def _word(name: str, number: int) -> str:
    return name[:-1] if number == 1 and name in ("errors", "warnings", "notes") else name


def summarize(report: Report, found: Sequence[Found], ctx: ToolContext) -> list[str]:
    """The failures, and of the output what they do not say."""
    limit = min(MOST_CHARACTERS, character_limit(ctx.result_tokens) // 2)
    parts = []
    if found:
        parts.append(cap_result(ctx, [_line(one, ctx) for one in found[:MOST_FAILURES]], limit=limit))
    if len(found) > MOST_FAILURES:
        parts.append(f"[of {count_noun(len(found), 'failure')} only the first {MOST_FAILURES:,} are kept]")
    if (tail := _output(report, found, ctx, limit)) and tail.strip():
        parts.append(tail)
    return parts


def _line(one: Found, ctx: ToolContext) -> str:
    """`path:line:column name` and the message below it; a problem of a checker in one line."""
    failure = one.failure
    file = ctx.workspace.display(one.path) if one.path is not None else failure.file
    place = ":".join(str(part) for part in (file, failure.line, failure.column) if part)
    severity = "" if failure.severity == "error" else failure.severity
    head = " ".join(part for part in (place, severity, failure.test) if part)
    lines = failure.message.split("\n")
    if len(lines) == 1:
        return f"{head}: {lines[0]}"
    shown = [f"    {line}".rstrip() for line in lines[:MOST_LINES]]
    more = [f"    [{count_noun(len(lines) - MOST_LINES, 'more line')}]"] if len(lines) > MOST_LINES else []
    return "\n".join([f"{head}:", *shown, *more])


def _output(report: Report, found: Sequence[Found], ctx: ToolContext, limit: int) -> str:
    """The whole output is stored. Its tail is shown if there is no failure to show, or the failures do not say why."""
    whole = ctx.masks.mask_text(_bounded(report.text).strip("\n"))
    if not whole.strip():
        return "" if found else "(no output)"
    lines = whole.split("\n")
    handle = how_to_read(ctx.results.keep_result(whole), 1)
    note = f"[the output, {count_noun(len(lines), 'line')}: {handle}]"
    if report.explained and (found or (report.understood and report.ran)):
        return note
    tail, used = [], 0
    for line in reversed(lines[-TAIL_LINES:]):
        used += len(line) + 1
        if used > min(limit, TAIL_CHARACTERS):
            break
        tail.append(line)
    tail = tail or [lines[-1][-limit:]]
    return "\n".join([*reversed(tail)] if len(tail) == len(lines) else [note, "its end:", *reversed(tail)])


def _bounded(text: str) -> str:
    if len(text) <= LONGEST_KEPT:
        return text
    kept = HeadAndTail(LONGEST_KEPT)
    kept.feed_bytes(text.encode("utf-8", "replace"))
    return kept.text(lambda _: "it is not kept")
