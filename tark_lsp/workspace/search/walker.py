"""Replaces ripgrep if it is missing: a program with the few options that ripgrep.py uses.

It runs as a child process, so it is stopped the same way, and a slow regular expression never blocks the server. It is
much slower than ripgrep, and uses Python's regular expressions.
"""

# Strings and os.scandir: pathlib makes walking several times slower.
# ruff: noqa: PTH112, PTH118, PTH123, PTH206

import argparse
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tark_lsp.workspace.disk.folder import TEMPORARY
from tark_lsp.workspace.globs import Glob, Segments, match_segments, segments_of
from tark_lsp.workspace.search.ignore_files import IGNORE_FILES

FLAGS = (
    *("--files", "--hidden", "--ignore-case", "--line-number", "--max-columns-preview", "--no-config", "--no-heading"),
    *(
        "--no-ignore-dot",
        "--no-ignore-parent",
        "--no-messages",
        "--no-mmap",
        "--no-require-git",
        "--null",
        "--with-filename",
    ),
)
OPTIONS = ("--color", "--glob", "--ignore-file", "--max-columns", "--regexp", "--sort", "--type", "--type-add")
ESCAPED = re.compile(r"\\(.)")
BINARY_PROBE = 65536
NO_MATCH, BAD_PATTERN = 1, 2


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """One line of an ignore file (gitignore(5)): `segments` match the path relative to the folder of the file."""

    segments: Segments
    negated: bool
    folders_only: bool

    @classmethod
    def parse(cls, line: str) -> "IgnoreRule | None":
        line = line.rstrip("\r\n")
        if not line.endswith("\\ "):
            line = line.rstrip(" ")
        if not line or line.startswith("#"):
            return None
        negated = line.startswith("!")
        line = ESCAPED.sub(lambda found: f"[{found[1]}]" if found[1] in "*?[" else found[1], line[negated:])
        folders_only = line.endswith("/")
        line = line.rstrip("/")
        anchored = "/" in line
        glob = line.lstrip("/") if anchored else f"**/{line}"
        return cls(segments_of(glob), negated, folders_only)


Rules = tuple[tuple[str, tuple[IgnoreRule, ...]], ...]
"""The path of each folder and its rules, outermost first."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for flag in FLAGS:
        parser.add_argument(flag, action="store_true")
    for option in OPTIONS:
        parser.add_argument(option)
    parser.add_argument("--context", type=int, default=0)
    parser.add_argument("paths", nargs="*")
    options = parser.parse_args(arguments)
    names = Glob.parse(options.type_add.split(":", 1)[1]) if options.type_add else None
    above: Rules = ((os.sep, tuple(rules_in(options.ignore_file))),) if options.ignore_file else ()
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape", newline="\n")  # type: ignore[union-attr]  # a TextIOWrapper here
    ignore_files = IGNORE_FILES[:1] if options.no_ignore_dot else IGNORE_FILES
    if options.files:
        found = False
        for root in options.paths:
            for path in walk(root, hidden=options.hidden, names=names, above=above, ignore_files=ignore_files):
                sys.stdout.write(f"{path}\0")
                found = True
        return 0 if found else NO_MATCH
    try:
        pattern = re.compile(options.regexp, re.IGNORECASE if options.ignore_case else 0)
    except re.error as error:
        sys.stderr.write(f"regex parse error: {error}\n")
        return BAD_PATTERN
    matched = False
    for root in options.paths:
        if root == "-":
            matched |= search("<stdin>", sys.stdin.buffer.read(), pattern, options.context)
            continue
        for path in sorted(walk(root, hidden=options.hidden, names=names, above=above)):
            matched |= search(path, read(path), pattern, options.context)
    return 0 if matched else NO_MATCH


def walk(
    root: str, *, hidden: bool, names: Glob | None, above: Rules, ignore_files: Sequence[str] = IGNORE_FILES
) -> Iterator[str]:
    """The files at and below `root` that are not ignored, without following links; a file as `root` is itself.

    `above` are the rules of the folders above.
    """
    if not os.path.isdir(root):
        yield root
        return
    pending: list[tuple[str, Rules]] = [(root, above)]
    while pending:
        folder, rules = pending.pop()
        rules = (*rules, (folder, read_rules(folder, ignore_files)))
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:
            continue  # unreadable; ripgrep skips it, too
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name.startswith(".") and (
                not hidden or entry.name == ".git" or fnmatchcase(entry.name, TEMPORARY)
            ):
                continue
            if is_ignored(entry.path, is_folder, rules):
                continue
            if is_folder:
                pending.append((entry.path, rules))
            elif entry.is_file(follow_symlinks=False) and (names is None or names.matches(entry.name)):
                yield entry.path


def read_rules(folder: str, ignore_files: Sequence[str] = IGNORE_FILES) -> tuple[IgnoreRule, ...]:
    return tuple(rule for name in ignore_files for rule in rules_in(os.path.join(folder, name)))


def rules_in(path: str) -> list[IgnoreRule]:
    try:
        with open(path, encoding="utf-8", errors="replace") as lines:
            return [rule for line in lines if (rule := IgnoreRule.parse(line))]
    except OSError:
        return []  # usually there is no such file


def is_ignored(path: str, is_folder: bool, rules: Rules) -> bool:
    for folder, own in reversed(rules):
        below = os.path.relpath(path, folder).split(os.sep)
        for rule in reversed(own):
            if (is_folder or not rule.folders_only) and match_segments(rule.segments, below):
                return not rule.negated
    return False


def read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def search(path: str, data: bytes, pattern: re.Pattern[str], context: int) -> bool:
    """Write matches as `PATH NUL LINE:TEXT`, context lines as `PATH NUL LINE-TEXT`, and `--` between groups."""
    if b"\0" in data[:BINARY_PROBE]:
        return False
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    if lines[-1] == "":
        lines.pop()
    hits = {number for number, line in enumerate(lines) if pattern.search(line)}
    shown = sorted({near for hit in hits for near in range(max(0, hit - context), min(len(lines), hit + context + 1))})
    for before, number in zip([None, *shown], shown, strict=False):
        if context and before is not None and number > before + 1:
            sys.stdout.write("--\n")
        sys.stdout.write(f"{path}\0{number + 1}{':' if number in hits else '-'}{lines[number]}\n")
    return bool(hits)


if __name__ == "__main__":
    sys.exit(main())
