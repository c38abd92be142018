"""`tark-lsp usage`: tokens, cost and time of model requests, by model, day, session or turn; tool calls by name."""

import csv
import json
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from rich.cells import cell_len

from tark_lsp.cli.runtime import new_console
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.session_lookup import find_session_id
from tark_lsp.cli.tool_usage import show_tools
from tark_lsp.cli.turn import DONE, NOT_DONE
from tark_lsp.cli.visible import one_line
from tark_lsp.errors import TarkError
from tark_lsp.folders import sessions_path
from tark_lsp.sessions.tool_calls import failed_calls, tool_sums
from tark_lsp.sessions.usage import (
    By,
    Read,
    UsageSum,
    since_time,
    usage_cells,
    usage_json,
    usage_sums,
    usage_titles,
    usage_total,
)
from tark_lsp.sessions.usage_file import reading

EPILOG = """\
Input tokens include cached tokens, output tokens include reasoning tokens. A request with an unknown price has no
cost: "unknown" in the table, empty in CSV, null in JSON. The number of such requests is shown next to the cost.
Days are in this machine's time zone. The usage of deleted sessions is kept.
For tools, p50 and p95 are the times that 50 and 95 of 100 calls took at most, without waiting for you. A retry is a
call of a tool whose last call in the same turn failed.
Exit codes: 0 shown, even if it is empty; 1 no such session, or the file cannot be read; 2 wrong usage."""
FORMATS = ("table", "csv", "json")
COLUMNS = ("requests", "input", "cached", "output", "reasoning", "cost", "time")
MAX_TITLE = 60


def main(arguments: Sequence[str]) -> int:
    parser = new_parser()
    options = parser.parse_args(arguments)
    if options.tools and options.by is not None:
        parser.error("--tools has one row for each tool, so it cannot be combined with --by")
    screen = Screen(new_console(), Path.cwd())
    try:
        with reading(sessions_path()) as read:
            titles = {} if read is None else usage_titles(read)
            session = None if options.session is None or read is None else find_session_id(titles, options.session)
            if options.tools:
                return _show_tools(screen, read, options, session)
            by: By = options.by or "model"
            sums = [] if read is None else usage_sums(read, by, options.since, session)
            total = UsageSum("total") if read is None else usage_total(read, options.since, session)
    except TarkError as error:
        screen.print_error(error.message, error.hint)
        return NOT_DONE
    except OSError as error:
        screen.print_error(f"{error.filename}: {error.strerror}")
        return NOT_DONE
    match options.format:
        case "json":
            rows = [_row(usage, by, titles) for usage in sums]
            print(json.dumps({"by": by, "rows": rows, "total": usage_json(total)}, indent=2))
        case "csv":
            fields = list(_row(UsageSum(""), by, titles))
            writer = csv.DictWriter(sys.stdout, fields, lineterminator="\n")
            writer.writeheader()
            writer.writerows(_row(usage, by, titles) for usage in sums)
        case _:
            _show(screen, by, sums, total, titles)
    return DONE


def _show_tools(screen: Screen, read: Read | None, options: Namespace, session: str | None) -> int:
    """Prints the tool calls by name; for a single session, the failed calls, too."""
    failed = None if session is None or read is None else failed_calls(read, options.since, session)
    show_tools(screen, [] if read is None else tool_sums(read, options.since, session), failed, options.format)
    return DONE


def new_parser() -> ArgumentParser:
    parser = ArgumentParser(
        "tark-lsp usage",
        description="Show what model requests used and cost, or how tool calls went.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--by", choices=get_args(By), help="what each row stands for (default: model)")
    parser.add_argument("--since", metavar="DATE|7d", type=_since, default=0.0, help="since that day, or the last days")
    parser.add_argument(
        "--session", metavar="SESSION", help="only this session: an id, its start, or a part of the title"
    )
    parser.add_argument(
        "--tools",
        action="store_true",
        help="tool calls instead of requests: count, errors, times by tool; for one session, also the failed calls",
    )
    parser.add_argument("--format", choices=FORMATS, default="table")
    parser.add_argument("--json", dest="format", action="store_const", const="json", help="short for --format json")
    return parser


def _since(text: str) -> float:
    try:
        return since_time(text, time.time())
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error


def _row(usage: UsageSum, by: By, titles: Mapping[str, str]) -> dict[str, Any]:
    return {**usage_json(usage, by), **({"title": titles.get(usage.key, "")} if by == "session" else {})}


def _show(screen: Screen, by: By, sums: Sequence[UsageSum], total: UsageSum, titles: Mapping[str, str]) -> None:
    """Prints a table. It is as wide as its content, because a cut id would be useless."""
    if not sums:
        screen.print_line("no model requests are recorded for that")
        return
    rows: list[tuple[str, ...]] = [(by, *COLUMNS, "title" if by == "session" else "")]
    rows += [
        (one_line(usage.key) or "-", *usage_cells(usage), one_line(titles.get(usage.key, ""), MAX_TITLE))
        for usage in sums
    ]
    rows += [("total", *usage_cells(total), "")] if len(sums) > 1 else []
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        gaps = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        middle = [gap + cell for gap, cell in zip(gaps[1:-1], row[1:-1], strict=True)]
        screen.print_line("  ".join((row[0] + gaps[0], *middle, row[-1])).rstrip())
