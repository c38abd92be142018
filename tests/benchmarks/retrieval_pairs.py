"""Pairs of a question and the function that answers it, made from public repositories on this machine.

Three sources: the first sentence of a function's documentation, the message of a commit that changed one or two
functions, and the title of a pull request that did. The documentation of all functions is removed from the copy of the
code that is searched. Nothing of the repositories is kept.
"""

import ast
import random
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tark_lsp.index.model import Definition, ParsedFile, SymbolKind
from tark_lsp.index.parsing import parse_file

Split = Literal["documentation", "commits", "pull requests"]
LANGUAGES = {
    ".py": "Python",
    ".js": "JavaScript",
    ".mjs": "JavaScript",
    ".ts": "JavaScript",
    ".tsx": "JavaScript",
    ".go": "Go",
}
"""TypeScript counts as JavaScript."""
NOT_SEARCHED = re.compile(r"(^|/)(dist|vendor|node_modules|third_party)/|\.min\.js$")
NO_TARGET = re.compile(r"(^|/)(tests?|__tests__|specs?|examples?|docs?|benchmarks?|fixtures?|perf)/|test|spec\.", re.I)
"""These files are searched, but no question is about them."""
FUNCTIONS = (SymbolKind.FUNCTION, SymbolKind.METHOD)
LARGEST_FILE = 1_000_000
LARGEST_CHANGED = 150_000
"""Characters of a file as it was at a commit: there are thousands of them to parse."""
MOST_COMMITS = 4000
MOST_PAIRS = 30
"""Of one repository and source."""
FEWEST_WORDS, MOST_WORDS = 4, 30
CHORE = re.compile(
    r"\b(merge|bump|release|typos?|lint\w*|format\w*|version|revert\w*|changelog|docs?|readme|rename[sd]?|refactor\w*"
    r"|pre-commit|prettier|flake8|ruff|black|eslint|gofmt|deps|wip|tests?|comments?|docstrings?|clean\w*|tidy)\b",
    re.I,
)
"""Messages that say nothing about what a function does."""
NUMBER = re.compile(r"\s*\(?#\d+\)?")
KIND = re.compile(r"^\w+(\([^)]*\))?!?:\s*")
"""`fix(scope): ` and the like."""


@dataclass(frozen=True, slots=True)
class Target:
    path: str
    symbol: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Pair:
    split: Split
    language: str
    query: str
    targets: tuple[Target, ...]


@dataclass(slots=True)
class Corpus:
    """`texts` and `parsed` are the searched copy, by path below its root, which begins with the repository's name."""

    texts: dict[str, str] = field(default_factory=dict)
    parsed: dict[str, ParsedFile] = field(default_factory=dict)
    pairs: list[Pair] = field(default_factory=list)


def load_corpus(repositories: Mapping[str, Path]) -> Corpus:
    """`repositories`: git folders by name. The same repositories give the same corpus."""
    corpus = Corpus()
    for name, git in sorted(repositories.items()):
        documented: dict[tuple[str, str], str] = {}
        functions: dict[tuple[str, str], Target] = {}
        for path, text in _files(git):
            shown = f"{name}/{path}"
            bare, found = _without_documentation(path, text)
            parsed = parse_file(path, bare)
            corpus.texts[shown], corpus.parsed[shown] = bare, parsed
            if not NO_TARGET.search(path):
                functions |= {(path, target.symbol): target for target in _targets(shown, parsed)}
                documented |= {(path, symbol): words for symbol, words in found.items()}
        made: dict[Split, list[Pair]] = {"documentation": [], "commits": [], "pull requests": []}
        for key, words in documented.items():
            if key in functions:
                made["documentation"].append(Pair("documentation", _language(key[0]), words, (functions[key],)))
        for split, message, touched in _changes(git):
            targets = tuple(functions[key] for key in touched if key in functions)
            if targets and len(targets) == len(touched):
                made[split].append(Pair(split, _language(touched[0][0]), message, targets))
        chance = random.Random(name)
        for pairs in made.values():
            unique = list({pair.query: pair for pair in pairs}.values())
            corpus.pairs += chance.sample(unique, min(len(unique), MOST_PAIRS))
    return corpus


def _language(path: str) -> str:
    return LANGUAGES[Path(path).suffix]


def _git(git: Path, *arguments: str, feed: bytes | None = None) -> bytes:
    return subprocess.run(["git", "-C", git, *arguments], input=feed, capture_output=True, check=True).stdout


def _files(git: Path) -> Iterator[tuple[str, str]]:
    names = _git(git, "ls-tree", "-r", "-z", "--name-only", "HEAD").decode("utf-8", "replace").split("\0")
    paths = [name for name in names if Path(name).suffix in LANGUAGES and not NOT_SEARCHED.search(name)]
    for path, text in zip(paths, _contents(git, [f"HEAD:{path}" for path in paths]), strict=True):
        if text is not None and len(text) < LARGEST_FILE:
            yield path, text


def _contents(git: Path, names: list[str]) -> list[str | None]:
    """The texts of git objects; None for one that is missing or no text."""
    output = _git(git, "cat-file", "--batch", feed="".join(f"{name}\n" for name in names).encode())
    texts: list[str | None] = []
    at = 0
    for _ in names:
        end = output.index(b"\n", at)
        head = output[at:end].split(b" ")
        at = end + 1
        text = None
        if head[-2] == b"blob":
            size = int(head[-1])
            with suppress(UnicodeDecodeError):
                text = output[at : at + size].decode().replace("\r\n", "\n")
            at += size + 1
        texts.append(text)
    return texts


def _functions(parsed: ParsedFile) -> list[Definition]:
    """Those whose qualified name is unique in the file."""
    found: dict[str, list[Definition]] = {}
    for definition in parsed.definitions:
        found.setdefault(definition.qualified_name, []).append(definition)
    return [same[0] for same in found.values() if len(same) == 1 and same[0].kind in FUNCTIONS]


def _targets(path: str, parsed: ParsedFile) -> Iterator[Target]:
    for definition in _functions(parsed):
        yield Target(path, definition.qualified_name, definition.start_line, definition.end_line)


def _without_documentation(path: str, text: str) -> tuple[str, dict[str, str]]:
    """The text without the documentation of its definitions, and its first sentence by qualified name."""
    lines = text.split("\n")
    ranges = dict(_docstrings(text) if path.endswith(".py") else _comments(lines, parse_file(path, text)))
    sentences = {}
    for symbol, (start, end) in ranges.items():
        sentence = _first_sentence(lines[start - 1 : end], symbol.rpartition(".")[2])
        if FEWEST_WORDS <= len(sentence.split()) <= MOST_WORDS:
            sentences[symbol] = sentence
    removed = {number for start, end in ranges.values() for number in range(start, end + 1)}
    return "\n".join(line for number, line in enumerate(lines, 1) if number not in removed), sentences


def _docstrings(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Of functions and classes, where something else is left in the body."""

    def visit(node: ast.AST, around: str) -> Iterator[tuple[str, tuple[int, int]]]:
        for child in ast.iter_child_nodes(node):
            name = around
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{around}.{child.name}".lstrip(".")
                first = child.body[0]
                if len(child.body) > 1 and ast.get_docstring(child) is not None and first.end_lineno is not None:
                    yield name, (first.lineno, first.end_lineno)
            yield from visit(child, name)

    with suppress(SyntaxError):
        yield from visit(ast.parse(text), "")


def _comments(lines: list[str], parsed: ParsedFile) -> Iterator[tuple[str, tuple[int, int]]]:
    """The comments directly above definitions."""
    for definition in parsed.definitions:
        end = definition.start_line - 1
        start = end
        while start > 0 and re.match(r"\s*(//|/\*|\*)", lines[start - 1]):
            start -= 1
        if start < end:
            yield definition.qualified_name, (start + 1, end)


def _first_sentence(lines: list[str], name: str) -> str:
    """Without marks of comments, of reStructuredText and of Markdown, and without the name in front (Go)."""
    stripped = [
        re.sub(r"^\s*(///?|/?\*+/?|[rRuUbB]*(\"{3}|'{3}|[\"']))\s?|\*/\s*$", "", line).strip() for line in lines
    ]
    text = ""
    for line in stripped:
        if text and (not line or line.startswith(("@", ":param", "- ", "Args:"))):
            break
        text = f"{text} {line}".strip()
    text = re.split(r"(?<=[a-z\)`])\.(\s|$)|\"{3}|'{3}", text)[0]
    text = re.sub(r":\w+:`~?\.?([^`]*)`", r"\1", text).replace("`", "").replace("*", "")
    text = re.sub(rf"^{re.escape(name)}\b[:\s-]*", "", text)
    return "" if re.match(r"@|TODO|FIXME|Copyright|eslint|Deprecated", text) else text.strip()


def _changes(git: Path) -> Iterator[tuple[Split, str, tuple[tuple[str, str], ...]]]:
    """Which functions the commits changed: source, message, and path and qualified name of one or two functions."""
    commits = [
        *_log(git, "--no-merges", f"-n{MOST_COMMITS}"),
        *_log(git, "--merges", "--first-parent", "-m", f"-n{MOST_COMMITS // 4}"),
    ]
    texts = _contents(git, [f"{commit}:{path}" for commit, _, _, path, _ in commits])
    for (_, split, message, path, changed), text in zip(commits, texts, strict=True):
        if text is None or len(text) > LARGEST_CHANGED:
            continue
        touched = set()
        functions = _functions(parse_file(path, text))
        for number in changed:
            around = [one for one in functions if one.start_line <= number <= one.end_line]
            if around:
                touched.add((path, max(around, key=lambda one: one.start_line).qualified_name))
        if 1 <= len(touched) <= 2:
            yield split, message, tuple(sorted(touched))


def _log(git: Path, *which: str) -> Iterator[tuple[str, Split, str, str, list[int]]]:
    """Commits that changed one file of code beside tests: commit, source, message, path, numbers of changed lines."""
    endings = [f"*{ending}" for ending in LANGUAGES]
    output = _git(git, "log", *which, "--format=%x00%H%x01%s%x01%b%x02", "-p", "-U0", "--no-renames", "--", *endings)
    for entry in output.decode("utf-8", "replace").split("\0")[1:]:
        head, _, diff = entry.partition("\2")
        commit, subject, body = head.split("\1")
        split: Split = "pull requests" if NUMBER.search(subject) else "commits"
        if subject.startswith("Merge pull request"):
            split, subject = "pull requests", body.strip().split("\n")[0]
        message = KIND.sub("", NUMBER.sub("", subject)).strip()
        if not FEWEST_WORDS <= len(message.split()) <= MOST_WORDS or CHORE.search(subject):
            continue
        changed: dict[str, list[int]] = {}
        for part in re.split(r"^diff --git ", diff, flags=re.MULTILINE)[1:]:
            path = re.search(r"^\+\+\+ b/(.*)$", part, re.MULTILINE)
            if path is None or NO_TARGET.search(path[1]) or NOT_SEARCHED.search(path[1]):
                continue
            for start, count in re.findall(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", part, re.MULTILINE):
                changed.setdefault(path[1], []).extend(range(int(start), int(start) + max(1, int(count or 1))))
        if len(changed) == 1:
            ((only, numbers),) = changed.items()
            yield commit, split, message, only, numbers
