"""`tark-lsp usage`: the tokens, the cost and the time of requests to models: by model, day, session or turn."""

import csv
import json
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from rich.cells import cell_len

from tark_lsp.cli.screen import Screen
from tark_lsp.cli.session import new_console
from tark_lsp.cli.turn import DONE, NOT_DONE
from tark_lsp.cli.visible import one_line
from tark_lsp.cli.which_session import chosen
from tark_lsp.errors import TarkError
from tark_lsp.folders import sessions_path
from tark_lsp.sessions.usage import (
    By,
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
Input tokens include the cached ones, output tokens the reasoning ones. A request whose price nobody knows has no
cost: "unknown" in the table, empty in CSV, null in JSON, and it is counted beside the cost of the others.
Days are yours, by this machine's time zone. What is deleted of a session does not take its usage along.
Exit codes: 0 shown, also where there is nothing; 1 no such session, or the file cannot be read; 2 wrong usage."""
FORMATS = ("table", "csv", "json")
COLUMNS = ("requests", "input", "cached", "output", "reasoning", "cost", "time")
LONGEST_TITLE = 60


def main(arguments: Sequence[str]) -> int:
    parser = ArgumentParser(
        "tark-lsp usage",
        description="What requests to models used and cost.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--by", choices=get_args(By), default="model", help="one row for each (default: model)")
    parser.add_argument("--since", metavar="DATE|7d", type=_since, default=0.0, help="from that day, or so many days")
    parser.add_argument("--session", metavar="SESSION", help="only this one: an id, its start, or a part of the title")
    parser.add_argument("--format", choices=FORMATS, default="table")
    options = parser.parse_args(arguments)
    screen = Screen(new_console(), Path.cwd())
    try:
        with reading(sessions_path()) as read:
            sums, total, titles = [], UsageSum("total"), {}
            if read is not None:
                titles = usage_titles(read)
                session = None if options.session is None else chosen(titles, options.session)
                sums = usage_sums(read, options.by, options.since, session)
                total = usage_total(read, options.since, session)
    except TarkError as error:
        screen.error(error.message, error.hint)
        return NOT_DONE
    except OSError as error:
        screen.error(f"{error.filename}: {error.strerror}")
        return NOT_DONE
    match options.format:
        case "json":
            rows = [_row(each, options.by, titles) for each in sums]
            print(json.dumps({"by": options.by, "rows": rows, "total": usage_json(total)}, indent=2))
        case "csv":
            fields = list(_row(UsageSum(""), options.by, titles))
            writer = csv.DictWriter(sys.stdout, fields, lineterminator="\n")
            writer.writeheader()
            writer.writerows(_row(each, options.by, titles) for each in sums)
        case _:
            _show(screen, options.by, sums, total, titles)
    return DONE


def _since(text: str) -> float:
    try:
        return since_time(text, time.time())
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error


def _row(each: UsageSum, by: By, titles: Mapping[str, str]) -> dict[str, Any]:
    return {**usage_json(each, by), **({"title": titles.get(each.key, "")} if by == "session" else {})}


def _show(screen: Screen, by: By, sums: Sequence[UsageSum], total: UsageSum, titles: Mapping[str, str]) -> None:
    """As wide as it is: an id that is cut is none."""
    if not sums:
        screen.line("no requests to models are kept for that")
        return
    rows: list[tuple[str, ...]] = [(by, *COLUMNS, "title" if by == "session" else "")]
    rows += [
        (one_line(each.key) or "-", *usage_cells(each), one_line(titles.get(each.key, ""), LONGEST_TITLE))
        for each in sums
    ]
    rows += [("total", *usage_cells(total), "")] if len(sums) > 1 else []
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        gaps = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        middle = [gap + cell for gap, cell in zip(gaps[1:-1], row[1:-1], strict=True)]
        screen.line("  ".join((row[0] + gaps[0], *middle, row[-1])).rstrip())
