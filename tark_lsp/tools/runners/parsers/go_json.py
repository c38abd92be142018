"""Parses the events of `go test -json`, one object per line, and the plain text of `go test`."""

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from tark_lsp.tools.runners.parsers.located import failure_in
from tark_lsp.tools.runners.report import Failure, Report, message_of

FRAMES = re.compile(r"^\s*(?:=== |--- )")
PLACE = re.compile(r"^ +(?P<file>[^\s:]+\.go):(?P<line>\d+): ?(?P<said>.*)$")
STACK = re.compile(r"^\t(?P<file>.+?_test\.go):(?P<line>\d+)")
TEXT_FAIL = re.compile(r"^(?P<indent> *)--- FAIL: (?P<test>\S+)")
TEXT_END = re.compile(r"^(?:ok|FAIL|\?) *\t(?P<package>\S+)")


def parse(text: str) -> Report:
    """Parse events. Before version 1.24, Go writes build errors as text between the events."""
    events, rest = _events(text)
    if not events:
        return Report(False, text)
    output: dict[tuple[str, str], list[str]] = defaultdict(list)
    errors: dict[tuple[str, str], list[str]] = defaultdict(list)
    ended: dict[tuple[str, str], str] = {}
    built: list[str] = list(rest)
    told: list[str] = []
    for event in events:
        key = (str(event.get("Package", "")), str(event.get("Test", "")))
        written = str(event.get("Output", ""))
        match event["Action"]:
            case "build-output":
                built.append(written.rstrip("\n"))
            case "output":
                output[key].append(written)
                if str(event.get("OutputType", "")).startswith("error"):  # Go 1.25 and later
                    errors[key].append(written)
            case "pass" | "fail" | "skip" as action:
                ended[key] = action
        told.append(written)
    return _report(ended, {**output, **errors}, built, "".join([*(f"{line}\n" for line in rest), *told]).rstrip("\n"))


def _events(text: str) -> tuple[list[dict[str, Any]], list[str]]:
    events, rest = [], []
    for line in text.splitlines():
        try:
            found = json.loads(line) if line.startswith("{") else None
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict) and isinstance(found.get("Action"), str):
            events.append(found)
        elif line:
            rest.append(line)
    return events, rest


def _report(
    ended: Mapping[tuple[str, str], str], output: Mapping[tuple[str, str], list[str]], built: Sequence[str], told: str
) -> Report:
    """Leave out tests that fail only because of their subtests, and packages that fail only because of their tests."""
    failures = [failure for line in built if (failure := failure_in(line)) is not None]
    failed = [key for key, action in ended.items() if action == "fail" and key[1]]
    for package, test in failed:
        if not any(other == package and name.startswith(f"{test}/") for other, name in failed):
            failures.append(_failure(package, test, "".join(output.get((package, test), ()))))
    packages = {package for package, _ in failed}
    for (package, test), action in ended.items():
        if action == "fail" and not test and package not in packages:
            said = "".join(output.get((package, ""), ()))
            if "[build failed]" not in said or not built:
                failures.append(Failure(message_of(said.splitlines()) or "failed", test=package))
    names = {"pass": "passed", "fail": "failed", "skip": "skipped"}
    counts: dict[str, int] = {}
    parents = {(package, test.rpartition("/")[0]) for package, test in ended}
    for key, action in ended.items():
        if key[1] and key not in parents:
            counts[names[action]] = counts.get(names[action], 0) + 1
    errors = sum(not failure.test for failure in failures)
    return Report(bool(ended), told, tuple(failures), {**counts, **({"errors": errors} if errors else {})})


def _failure(package: str, test: str, output: str) -> Failure:
    lines = [line for line in output.splitlines() if not FRAMES.match(line)]
    places = [match for line in lines if (match := PLACE.match(line))]
    place = places[-1] if places else None  # the last one ends the test; earlier ones can be notes
    stack = next((match for line in lines if (match := STACK.match(line))), None)
    panic = next((line for line in lines if line.startswith("panic: ")), None)
    if panic is not None and stack is not None:
        return Failure(message_of([panic]), stack["file"], int(stack["line"]), test=test)
    message = message_of(line.strip() for line in lines) or "failed"
    if place is None:
        return Failure(message, test=f"{package}.{test}" if package else test)
    file = f"{package}/{place['file']}" if package else place["file"]
    return Failure(message, file, int(place["line"]), test=test)


def parse_text(text: str) -> Report:
    """Find the plain text of `go test` in any output."""
    lines = text.splitlines()
    packages = [(at, match["package"]) for at, line in enumerate(lines) if (match := TEXT_END.match(line))]
    failures = []
    for at, line in enumerate(lines):
        if (match := TEXT_FAIL.match(line)) is None:
            continue
        body = []
        for following in lines[at + 1 : at + 100]:
            other = TEXT_FAIL.match(following)
            if TEXT_END.match(following) or (other and len(other["indent"]) <= len(match["indent"])):
                break
            body.append(following)
        if any(TEXT_FAIL.match(one) for one in body):
            continue  # its subtests show what failed
        package = next((name for number, name in packages if number > at), "")
        failures.append(_failure(package, match["test"], "\n".join(body)))
    counts = {"failed": len(failures)} if failures else {}
    return Report(bool(packages), text, tuple(failures), counts)
