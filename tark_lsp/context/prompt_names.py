"""Finds the definitions and files that a prompt names, and the words that say what it is about. Pure."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from tark_lsp.index.identifiers import identifier_words

LONGEST_READ = 20_000
"""The characters of a prompt that are read. A prompt can be a pasted log of megabytes."""
MOST_NAMES = 20
LONGEST_QUERY = 1_000
STOP_WORDS = frozenset(
    """a about after all also an and any are as at be because been before but by can change could code do does don done
    each explain file find fix for from function get give go has have help here how i if in into is it its just let like
    line look make may me more my need new no not now of on one only or other our out please run s see should show so
    some such t tell test tests than that the their them then there these they this thanks to try up us use used using
    want was we well were what when where whether which who why will with without work works would write you your add
    method class implement implemented""".split()  # noqa: SIM905  # a list of 150 quoted words is harder to read
)

ENDINGS = (
    "py|pyi|js|mjs|cjs|jsx|ts|tsx|mts|cts|go|rs|java|kt|kts|c|h|cc|cpp|cxx|hpp|hh|cs|rb|php|swift|scala|lua|sh|bash|sql|"
    "vue|svelte|css|scss|html|md|rst|txt|toml|yaml|yml|json|ini|cfg|proto"
)
URL = re.compile(r"\b\w+://\S+")
FILE = re.compile(
    rf"(?<![\w@/\\.-])\\*(?P<path>/?(?:[\w.-]+[/\\])*[\w.-]*[\w-]\.(?:{ENDINGS}))(?![\w/]|\.\w)"
    r"(?:(?::|\", line )(?P<first>\d{1,7})(?:-(?P<last>\d{1,7}))?)?"
)
"""`shapes.py`, `src/shapes.py:10-20`, or a line of a traceback. It matches only at the start of a path: to try each
position of a long path would take quadratic time."""
SYMBOL = re.compile(
    r"""
    `([^`\s]{2,100})`
    | \b([A-Za-z_]\w*(?:(?:\.|::|\#)\w+)+ | [A-Za-z]\w*_\w+ | _\w+ | [a-z]+[A-Z]\w* | [A-Z]+[a-z]\w*[A-Z]\w*
         | [A-Z]{2,}[a-z]\w+)
    | \b([A-Za-z_]\w+)\(
    """,
    re.VERBOSE,
)
"""Words that are names: in backticks, qualified, with an underscore or capitals inside, or called."""
NAME = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|\#)\w+)*")
CAPITALIZED = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]\w+\b(?!\.\w|::|#)")
"""A capitalized word inside a sentence: perhaps the name of a class."""


@dataclass(frozen=True, slots=True)
class NamedFile:
    """`path` as the prompt has it, with `/`. Lines count from 1. None: the whole file."""

    path: str
    first: int | None = None
    last: int | None = None


@dataclass(frozen=True, slots=True)
class PromptNames:
    """`symbols` are certainly names, with or without qualifier. `capitalized` are perhaps names of classes. Each occurs
    once, in the order of the prompt."""

    symbols: tuple[str, ...]
    capitalized: tuple[str, ...]
    files: tuple[NamedFile, ...]


def names_of(prompt: str) -> PromptNames:
    text = URL.sub(" ", prompt[:LONGEST_READ])
    files = dict.fromkeys(_file(match) for match in FILE.finditer(text))
    rest = FILE.sub(" ", text)
    symbols = symbols_of(rest)
    capitalized = dict.fromkeys(word for word in CAPITALIZED.findall(rest) if word not in symbols)
    return PromptNames(symbols, tuple(capitalized)[:MOST_NAMES], tuple(files)[:MOST_NAMES])


def symbols_of(text: str) -> tuple[str, ...]:
    """The names in a text, each once and as it is written, in order."""
    written = (group for match in SYMBOL.finditer(text) for group in match.groups() if group)
    found = (name[0] for words in written if (name := NAME.match(words)) is not None)
    return tuple(dict.fromkeys(name for name in found if re.search(r"\w\w$", name)))[:MOST_NAMES]


def _file(match: re.Match[str]) -> NamedFile:
    first = int(match["first"]) if match["first"] else None
    last = int(match["last"]) if match["last"] else first
    return NamedFile(match["path"].replace("\\", "/").removeprefix("./"), first, last)


def telling_words(prompt: str) -> frozenset[str]:
    """The words that say what the prompt is about, in the form of `words_in`."""
    return frozenset(word for word in words_in(prompt[:LONGEST_QUERY], STOP_WORDS) if len(word) > 1)


def words_in(text: str, without: Collection[str] = ()) -> frozenset[str]:
    """The words of a text in lower case. Identifiers are split into words, and endings are removed."""
    return frozenset(_stem(word) for word in identifier_words(text) if word not in without)


def _stem(word: str) -> str:
    """A crude stem: `files`, `filed` and `file` become the same word."""
    return re.sub(r"(?<=\w{3})(ing|ed|es|s|e|ion)$", "", word)
