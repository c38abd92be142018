"""The summary of a run for the model and the user: how it ended, the failures with their positions, and the output."""

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
"""Characters of all failures in a result."""
MOST_FAILURES = 2_000
"""Failures that are kept, so that the model can read more of them."""
MOST_LINES = 8
"""Lines of the message of one failure."""
MOST_LINKS = 50
TAIL_LINES, TAIL_CHARACTERS = 40, 4_000
"""Limits for the end of the output, which is shown if the failures do not explain enough."""
SEVERITIES = ("error", "warning")


@dataclass(frozen=True, slots=True)
class Found:
    """A failure, and its file in the workspace; None if there is none."""

    failure: Failure
    path: Path | None


def places_of(report: Report, choice: Choice, ctx: ToolContext) -> list[Found]:
    """The failures with their files. Errors come first."""
    known: dict[str, Path | None] = {}
    found = []
    for failure in report.failures:
        if failure.file not in known:
            known[failure.file] = find_file(failure.file, choice.cwd, ctx)
        found.append(Found(failure, known[failure.file]))
    rank = {severity: number for number, severity in enumerate(SEVERITIES)}
    return sorted(found, key=lambda one: rank.get(one.failure.severity, len(rank)))


def find_file(name: str, cwd: Path, ctx: ToolContext) -> Path | None:
    """The file of the workspace that the program means.

    The name is relative to the folder where the program ran or to a parent of it, or its first parts are not folders,
    as in the import path of a Go package.
    """
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
    """The positions of the failures, each once."""
    places: dict[tuple[Path, int | None], Location] = {}
    for one in found:
        if one.path is not None and len(places) < MOST_LINKS:
            line = one.failure.line
            whole = line is None or line < 1
            places[one.path, line] = Location(one.path) if whole else Location(one.path, (line or 1) - 1, line)
    return tuple(places.values())


def counts_in_words(report: Report) -> str:
    """Text such as `2 failed, 1 passed`, in the order of the program. Empty if nothing was counted."""
    return ", ".join(f"{number} {_word(name, number)}" for name, number in report.counts.items())


def verdict(choice: Choice, report: Report, code: int | None) -> str:
    """One sentence about the result. The exit code decides; the counts from the output are added."""
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
    """The failures, and a part of the output if they do not explain enough."""
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
    """`path:line:column name` with the message below it. A message of one line is on the same line."""
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
    """Store the whole output. Show its end if there are no failures, or they do not explain what is wrong."""
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
