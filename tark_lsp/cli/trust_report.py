"""`tark-lsp trust-report`: tests the promises of docs/safety.md on this machine, and prints what held."""

import asyncio
import os
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path

from tark_lsp.cli.runtime import new_console
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.turn import DONE, NOT_DONE
from tark_lsp.cli.visible import visible
from tark_lsp.trust_report.corpora import VARIABLE, find_corpora
from tark_lsp.trust_report.promise import Promise, Row
from tark_lsp.trust_report.report import as_json, as_markdown, lines_of, load_promises, measure

EPILOG = """\
Each promise is an experiment with a number of cases. "held" means that all cases held, or as many as the row says are
needed. "not measured" says what is missing: it is never counted as held. The experiments run in temporary folders, and
change nothing of yours. Some need the corpora that the project is tested with; they are not part of this package.
Exit codes: 0 nothing is broken; 1 a promise is broken, or its experiment failed; 2 wrong usage."""
STYLES = {"held": "green", "not measured": "yellow", "BROKEN": "bold red", "FAILED": "bold red"}


def main(arguments: Sequence[str]) -> int:
    return report(load_promises(), arguments)


def new_parser() -> ArgumentParser:
    parser = ArgumentParser(
        "tark-lsp trust-report",
        description="Test the promises of docs/safety.md on this machine, and print what held.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--corpora", metavar="FOLDER", type=Path, help=f"the corpora (default: data/corpora below ${VARIABLE})"
    )
    parser.add_argument("--only", metavar="WORD", default="", help="only the promises whose text contains WORD")
    parser.add_argument("--thorough", action="store_true", help="try all cases, which takes minutes")
    parser.add_argument("--seed", metavar="N", type=int, default=1, help="for random cases (default: 1)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--markdown", action="store_true", help="print a table for a document")
    return parser


def report(promises: Sequence[Promise], arguments: Sequence[str]) -> int:
    """Measures the promises, and prints each row as soon as it is measured. Returns the exit code."""
    options = new_parser().parse_args(arguments)
    corpora = find_corpora(options.corpora, os.environ.get(VARIABLE))
    screen = Screen(new_console(), Path.cwd())
    rows: list[Row] = []
    for promise in promises:
        if options.only.casefold() not in promise.says.casefold():
            continue
        row = asyncio.run(measure(promise, corpora, thorough=options.thorough, seed=options.seed))
        rows.append(row)
        if not options.json and not options.markdown:
            for line in lines_of(row):
                screen.print_line(
                    visible(line), STYLES.get(row.verdict, "none") if line.startswith(row.verdict) else "none"
                )
    if options.json or options.markdown:
        print((as_json if options.json else as_markdown)(rows, corpora.digests))
    else:
        for name, digest in sorted(corpora.digests.items()):
            screen.print_line(f"corpus {name}: {digest}")
        broken = sum(row.is_broken for row in rows)
        measured = sum(row.outcome is not None for row in rows)
        screen.print_line(f"{broken} broken, {measured} of {len(rows)} measured")
    return NOT_DONE if any(row.is_broken for row in rows) else DONE
