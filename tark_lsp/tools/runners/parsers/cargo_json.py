"""Parses the output of cargo with `--message-format json`: the compiler's messages are JSON, the tests write text."""

import json
import re
from collections.abc import Mapping
from typing import Any

from tark_lsp.tools.runners.report import Failure, Report, message_of

RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;", re.MULTILINE)
OUTPUT = re.compile(r"^---- (?P<test>.+?) stdout ----$", re.MULTILINE)
END = re.compile(r"^(?:---- .+ stdout ----|failures:|test result: .*)$", re.MULTILINE)
PANIC = re.compile(r"panicked at (?P<file>[^\n:']+):(?P<line>\d+):(?P<column>\d+):?\n(?P<said>.*)", re.DOTALL)
OLD_PANIC = re.compile(r"panicked at '(?P<said>.*)', (?P<file>[^\n:']+):(?P<line>\d+):(?P<column>\d+)", re.DOTALL)
FAILED = re.compile(r"^test (?P<test>.+?)(?: - .+)? \.\.\. FAILED$", re.MULTILINE)


def parse(text: str) -> Report:
    """Parse the output of `cargo test`. It is understood if the tests ended, or if the code does not compile."""
    compiled, told, _ = _messages(text)
    report = parse_tests(told)
    errors = [failure for failure in compiled if failure.severity == "error"]
    counts = {**report.counts, **({"errors": len(errors)} if errors else {})}
    return Report(report.understood or bool(errors), told, (*errors, *report.failures), counts)


def parse_check(text: str) -> Report:
    """Parse the output of `cargo check`."""
    failures, told, finished = _messages(text)
    counts: dict[str, int] = {}
    for failure in failures:
        counts[f"{failure.severity}s"] = counts.get(f"{failure.severity}s", 0) + 1
    return Report(bool(failures) or finished, told, failures, counts)


def parse_tests(told: str) -> Report:
    """Find the text of Rust tests in any output."""
    results = [tuple(map(int, match.groups())) for match in RESULT.finditer(told)]
    failures, seen = [], set()
    for match in OUTPUT.finditer(told):
        end = END.search(told, match.end() + 1)
        failures.append(_failure(match["test"], told[match.end() : end.start() if end else len(told)]))
        seen.add(match["test"])
    failures += [Failure("failed", test=name) for name in FAILED.findall(told) if name not in seen]
    passed, failed, skipped = (sum(column) for column in zip(*results, strict=True)) if results else (0, 0, 0)
    counts = {name: number for name, number in (("passed", passed), ("failed", failed), ("skipped", skipped)) if number}
    return Report(bool(results), told, tuple(failures), counts)


def _failure(test: str, output: str) -> Failure:
    match = PANIC.search(output) or OLD_PANIC.search(output)
    if match is None:
        return Failure(message_of(output.splitlines()) or "failed", test=test)
    said = re.split(r"\nnote: |\nstack backtrace:", match["said"])[0]
    return Failure(message_of(said.splitlines()), match["file"], int(match["line"]), int(match["column"]), test)


def _messages(text: str) -> tuple[tuple[Failure, ...], str, bool]:
    """The messages of the compiler, each once; the human-readable output; whether the build finished."""
    failures: dict[Failure, None] = {}
    told: list[str] = []
    finished = False
    for line in text.splitlines():
        try:
            found = json.loads(line) if line.startswith('{"reason":') else None
            if found is None:
                told.append(line)
            elif found["reason"] == "compiler-message":
                told.append(str(found["message"].get("rendered") or "").rstrip("\n"))
                if (failure := _of_compiler(found["message"])) is not None:
                    failures[failure] = None
            finished = finished or (found is not None and found["reason"] == "build-finished")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            told.append(line)
    return tuple(failures), "\n".join(told), finished


def _of_compiler(message: Mapping[str, Any]) -> Failure | None:
    """A message as a failure; None for a summary, such as "aborting due to 2 previous errors"."""
    severity = {"error: internal compiler error": "error"}.get(message["level"], message["level"])
    place = next((span for span in message["spans"] if span["is_primary"]), None)
    if severity not in ("error", "warning") or (place is None and not message.get("code")):
        return None
    code = (message.get("code") or {}).get("code", "")
    label = f"\n{place['label']}" if place and place.get("label") else ""
    text = message_of([f"{message['message']}{label}"])
    if place is None:
        return Failure(text, test=code, severity=severity)
    return Failure(text, place["file_name"], place["line_start"], place["column_start"], code, severity)
