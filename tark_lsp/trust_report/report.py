"""Finds the promises, measures them one by one, and writes the report."""

import json
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

from tark_lsp.trust_report import promises
from tark_lsp.trust_report.corpora import Corpora, CorpusMissing
from tark_lsp.trust_report.promise import SHOWN_FAILURES, Ground, NotMeasured, Promise, Row


def load_promises(*packages: ModuleType) -> list[Promise]:
    """All promises of Tark and of these packages, in their order."""
    found = []
    for package in (promises, *packages):
        for module in iter_modules(package.__path__):
            promise = getattr(import_module(f"{package.__name__}.{module.name}"), "PROMISE", None)
            if promise is not None:
                found.append(promise)
    return sorted(found, key=lambda promise: promise.order)


async def measure(promise: Promise, corpora: Corpora, *, thorough: bool = False, seed: int = 1) -> Row:
    """Run one experiment. Never raises: if the experiment itself fails, its row counts as broken."""
    started = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="tark-trust-", ignore_cleanup_errors=True) as name:
            ground = Ground(Path(name).resolve(), corpora, thorough, seed)
            outcome = await promise.measure(ground)
    except (NotMeasured, CorpusMissing) as error:
        return Row(promise.says, None, time.monotonic() - started, str(error))
    except Exception as error:  # noqa: BLE001  # the report shows any error
        why = f"{type(error).__name__}: {error}"
        return Row(promise.says, None, time.monotonic() - started, why, is_error=True)
    return Row(promise.says, outcome, time.monotonic() - started)


def lines_of(row: Row) -> list[str]:
    """The row for a terminal. Failures and reasons are on separate lines."""
    if row.outcome is None:
        return [f"{row.verdict:12} {row.promise}", f"             {row.why_not}"]
    outcome = row.outcome
    figures = f"{outcome.held:,} of {outcome.count:,}, {row.seconds:.1f} s"
    needed = "" if outcome.needed is None else f"; at least {outcome.needed:,} are needed"
    note = f"; {outcome.note}" if outcome.note else ""
    lines = [f"{row.verdict:12} {row.promise}", f"             {outcome.tried}: {figures}{needed}{note}"]
    if not outcome.is_kept:
        lines += [f"             - {failure}" for failure in outcome.failures[:SHOWN_FAILURES]]
        if len(outcome.failures) > SHOWN_FAILURES:
            lines.append(f"             - and {len(outcome.failures) - SHOWN_FAILURES} more")
    return lines


def as_markdown(rows: Sequence[Row], digests: Mapping[str, str]) -> str:
    """The report as a Markdown table."""
    lines = ["| promise | tried | cases | held | seconds | |", "|---|---|---|---|---|---|"]
    for row in rows:
        if row.outcome is None:
            lines.append(f"| {row.promise} | {row.why_not} | | | | {row.verdict} |")
            continue
        outcome = row.outcome
        tried = f"{outcome.tried}{f' ({outcome.note})' if outcome.note else ''}"
        needed = "" if outcome.needed is None else f" (at least {outcome.needed:,})"
        figures = f"{outcome.count:,} | {outcome.held:,}{needed} | {row.seconds:.1f} | {row.verdict}"
        lines.append(f"| {row.promise} | {tried} | {figures} |")
    if digests:
        lines += [
            "",
            "| corpus | SHA-256 |",
            "|---|---|",
            *(f"| {name} | `{digest}` |" for name, digest in _sorted(digests)),
        ]
    return "\n".join(lines)


def as_json(rows: Iterable[Row], digests: Mapping[str, str]) -> str:
    found = []
    for row in rows:
        one: dict[str, object] = {"promise": row.promise, "verdict": row.verdict, "seconds": round(row.seconds, 3)}
        if row.outcome is None:
            one["whyNot"] = row.why_not
        else:
            outcome = row.outcome
            one |= {"tried": outcome.tried, "cases": outcome.count, "held": outcome.held, "note": outcome.note}
            one |= {"needed": outcome.count if outcome.needed is None else outcome.needed}
            one |= {"failures": list(outcome.failures)}
        found.append(one)
    return json.dumps({"rows": found, "corpora": dict(_sorted(digests))}, indent=2)


def _sorted(digests: Mapping[str, str]) -> list[tuple[str, str]]:
    return sorted(digests.items())
