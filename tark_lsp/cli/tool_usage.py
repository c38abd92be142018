"""The output of `tark-lsp usage --tools`: tool calls by name, and the failed ones of a session."""

import csv
import json
import sys
from collections.abc import Sequence
from datetime import datetime

from tark_lsp.cli.screen import Screen
from tark_lsp.cli.visible import one_line
from tark_lsp.sessions.tool_calls import FailedCall, ToolSum, tool_json

COLUMNS = ("tool", "calls", "errors", "timeouts", "rejected", "cancelled", "retries", "p50", "p95", "time", "waited")
FAILED = ("failed at", "tool", "error", "time", "turn")


def show_tools(screen: Screen, sums: Sequence[ToolSum], failed: Sequence[FailedCall] | None, form: str) -> None:
    """`failed`: the failed calls of one session; None if the report is about several sessions."""
    tools, total = sums[:-1], sums[-1] if sums else ToolSum("total")
    match form:
        case "json":
            whole = {name: value for name, value in tool_json(total).items() if name != "tool"}
            calls = {} if failed is None else {"failed": [tool_json(one) for one in failed]}
            print(json.dumps({"tools": [tool_json(one) for one in tools], "total": whole, **calls}, indent=2))
        case "csv":
            writer = csv.DictWriter(sys.stdout, list(tool_json(ToolSum(""))), lineterminator="\n")
            writer.writeheader()
            writer.writerows(tool_json(one) for one in tools)
        case _ if not sums:
            screen.print_line("no tool calls are recorded for that")
        case _:
            shown = [*tools, total] if len(tools) > 1 else tools
            _table(screen, [COLUMNS, *map(_cells, shown)], left=1)
            if failed:
                screen.print_line("")
                _table(screen, [FAILED, *map(_failed_cells, failed)], left=len(FAILED))


def _cells(one: ToolSum) -> tuple[str, ...]:
    counts = (one.calls, one.errors, one.timeouts, one.rejected, one.cancelled, one.retries)
    times = (one.p50, one.p95, one.seconds, one.waited)
    return (one_line(one.tool), *(f"{count:,}" for count in counts), *map(_seconds, times))


def _failed_cells(one: FailedCall) -> tuple[str, ...]:
    at = datetime.fromtimestamp(one.time).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    return (at, one_line(one.tool), one_line(one.code), _seconds(one.seconds), one_line(one.turn_id))


def _seconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:,.2f} s"


def _table(screen: Screen, rows: Sequence[Sequence[str]], left: int) -> None:
    """The first `left` columns are aligned to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.ljust(width) if number < left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        screen.print_line("  ".join(cells).rstrip())
