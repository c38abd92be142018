"""`tark-lsp audit`: lists the receipts of what agents did and who allowed it, and verifies their chain."""

import json
import sys
from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from tark_lsp.cli.runtime import new_console
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.turn import DONE, NOT_DONE
from tark_lsp.cli.visible import one_line
from tark_lsp.folders import receipts_path
from tark_lsp.receipts.chain import START, Entry, find_fault
from tark_lsp.receipts.receipt import Receipt, Step
from tark_lsp.receipts.store import ReceiptsUnusable, read_entries

EPILOG = """\
Each call of a tool has up to four receipts: shown (you were asked), approved or refused (by you, a rule, a grant or
the approval level), and ended. "no end" means that the call still runs, or that its process was killed.
Verifying finds an entry that was changed, removed, added or moved. To find out later whether the end was cut off, note
the last hash, which it prints, somewhere else, and give it as --hash.
Exit codes: 0 shown, or the chain is whole; 1 the chain is broken, or the file cannot be read; 2 wrong usage."""
LAST = 40


def main(arguments: Sequence[str]) -> int:
    options = new_parser().parse_args(arguments)
    screen = Screen(new_console(), Path.cwd())
    try:
        entries = read_entries(receipts_path())
    except (ReceiptsUnusable, OSError) as error:
        screen.print_error(str(error))
        return NOT_DONE
    if options.what == "verify":
        return _verify(screen, entries, options.hash)
    return _list(screen, entries, options.session, options.last, as_json=options.json)


def new_parser() -> ArgumentParser:
    parser = ArgumentParser(
        "tark-lsp audit",
        description="Show what agents did on this machine, and who allowed it.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest="what", metavar="list | verify")
    listing = actions.add_parser("list", help="list the receipts, the newest last (the default)")
    for accepting, own in ((parser, True), (listing, False)):  # both: an option before `list` is kept
        session, last, as_json = ("", LAST, False) if own else (SUPPRESS, SUPPRESS, SUPPRESS)
        accepting.add_argument(
            "--session", metavar="SESSION", default=session, help="only sessions whose id starts with this"
        )
        accepting.add_argument(
            "--last", metavar="N", type=_count, default=last, help=f"only the last N; 0: all (default: {LAST})"
        )
        accepting.add_argument("--json", action="store_true", default=as_json, help="print one JSON object per line")
    verify = actions.add_parser("verify", help="check that nothing was changed, removed or added")
    verify.add_argument("--hash", metavar="HASH", default="", help="a hash that you noted: it must be in the chain")
    return parser


def _count(text: str) -> int:
    if not text.isascii() or not text.isdecimal():
        raise ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def _verify(screen: Screen, entries: Sequence[Entry], noted: str) -> int:
    fault = find_fault(entries, noted.strip().lower())
    if fault is not None:
        screen.print_error(f"The chain of receipts is broken. {fault.what}")
        return NOT_DONE
    count = f"{len(entries):,} receipt{'s' * (len(entries) != 1)}"
    screen.print_line(f"The chain is whole: {count}. Last hash: {entries[-1].hash if entries else START}")
    return DONE


def _list(screen: Screen, entries: Sequence[Entry], session: str, last: int, *, as_json: bool) -> int:
    found: list[tuple[Entry, Receipt]] = []
    unreadable = 0
    for entry in entries:
        try:
            found.append((entry, entry.receipt))
        except ValueError:
            unreadable += 1
    ended = {(receipt.turn, receipt.call) for _, receipt in found if receipt.step is Step.ENDED}
    wanted = (session, f"session-{session}")
    kept = [(entry, receipt) for entry, receipt in found if receipt.session.startswith(wanted)]
    for entry, receipt in kept[-last:] if last else kept:
        is_open = receipt.step is Step.APPROVED and (receipt.turn, receipt.call) not in ended
        if as_json:
            values = {"number": entry.number, "hash": entry.hash, **receipt.to_json(), "noEnd": is_open}
            print(json.dumps(values, ensure_ascii=True))
        else:
            screen.print_line(_row(entry, receipt, is_open=is_open))
    if not kept and not as_json:
        screen.print_line("no receipts are stored for that" if entries else "no receipts are stored yet")
    if unreadable:
        print(f"{unreadable} cannot be read: run tark-lsp audit verify", file=sys.stderr)
    return DONE


def _row(entry: Entry, receipt: Receipt, *, is_open: bool) -> str:
    when = datetime.fromtimestamp(receipt.at).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    end = " (no end)" if is_open else ""
    return f"{entry.number:>6}  {when}  {receipt.step:8}  {one_line(receipt.subject)}: {one_line(receipt.detail)}{end}"
