"""Which code is found for a prompt, and which of it is shown: tables, with an index that answers from a table."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.context.automatic import LEVELS, Candidate, Reason, Subject, find_candidates
from tark_lsp.context.automatic_snippets import HEAD, LATE, Snippet, choose_snippets, texts_of, told_snippets
from tark_lsp.context.prompt_names import NamedFile, names_of, telling_words
from tark_lsp.context.snippets import parse_snippets
from tark_lsp.index.model import Definition, Found, FoundDefinition, Hit, SymbolKind
from tark_lsp.index.questions import Callees, Callers, DefinitionsOf, Search, SymbolsIn
from tark_lsp.index.status import IndexState, IndexStatus

LIGHT, FULL = LEVELS["light"], LEVELS["full"]
FOLDER = Path("/work")
A, B, TEST = FOLDER / "a.py", FOLDER / "src" / "b.py", FOLDER / "tests" / "test_a.py"


@pytest.mark.parametrize(
    ("prompt", "symbols", "capitalized", "files"),
    [
        ("why does `area` fail?", ["area"], [], []),
        ("`Shape.area(1, 2)` and make_file() or do_it", ["Shape.area", "make_file", "do_it"], [], []),
        (
            "use parseHTTPHeader, HTTPClient, Shape::area, a.b.cd",
            ["parseHTTPHeader", "HTTPClient", "Shape::area", "a.b.cd"],
            [],
            [],
        ),
        ("Does the Workspace read it? Then go on, Anna", [], ["Workspace", "Anna"], []),
        (
            "look at src/b.py:10-20, turns.py and ./x.ts.",
            [],
            [],
            [("src/b.py", 10, 20), ("turns.py", None, None), ("x.ts", None, None)],
        ),
        ('File "/app/src/b.py", line 12, in do_it', ["do_it"], [], [("/app/src/b.py", 12, 12)]),
        ("see https://a.org/some_name.py#x_y and e.g. this. And 3.5", [], [], []),
        ("`` ` `x` ---- // .py", [], [], []),
    ],
)
def test_what_a_prompt_names(prompt: str, symbols: list[str], capitalized: list[str], files: list[Any]) -> None:
    names = names_of(prompt)
    assert [*names.symbols] == symbols
    assert [*names.capitalized] == capitalized
    assert [*names.files] == [NamedFile(*file) for file in files]


@given(st.text() | st.text("aA_.`/:- \n(1", max_size=60))
def test_every_prompt_can_be_read(prompt: str) -> None:
    names = names_of(prompt)
    assert all(name in prompt for name in names.symbols)
    telling_words(prompt)


@pytest.mark.parametrize("piece", ["a\\", "a/", "a.", "a_", "aA", "::a", "../", "a.py:", "`a", "w:", "\\"])
def test_a_prompt_of_one_piece_takes_no_time(piece: str) -> None:
    """The prompt is read in the event loop."""
    began = time.process_time()
    names_of(piece * 20_000)
    assert time.process_time() - began < 1


def test_words_that_say_nothing() -> None:
    assert telling_words("thanks, please go on and fix the tests") == set()
    assert telling_words("How are parseHTTPHeaders written?") == {"pars", "http", "header", "written"}


def definition(name: str, start: int, end: int, kind: SymbolKind = SymbolKind.FUNCTION) -> Definition:
    return Definition(name.rpartition(".")[2], name, kind, start, end, start, 4, "")


class Table:
    """A CodeIndex with these definitions, calls (caller -> callees) and hits."""

    def __init__(
        self, definitions: Mapping[Path, Sequence[Definition]], calls: Mapping[str, Sequence[str]], *hits: Hit
    ) -> None:
        self.all = [FoundDefinition(path, one) for path, found in definitions.items() for one in found]
        self.calls = calls
        self.hits = hits
        self.searched: list[str] = []

    async def status(self) -> IndexStatus:
        return IndexStatus(IndexState.READY)

    async def ask(self, question: Any) -> Found[Any]:
        match question:
            case DefinitionsOf(name):
                parts = name.replace("::", ".").split(".")
                return Found(
                    [one for one in self.all if one.definition.qualified_name.split(".")[-len(parts) :] == parts]
                )
            case SymbolsIn(path):
                return Found([one for one in self.all if one.path == path])
            case Callees(center, limit):
                called = self.calls.get(center.definition.name, ())
                return Found([one for one in self.all if one.definition.name in called][:limit])
            case Callers(center, limit):
                calling = [name for name, called in self.calls.items() if center.definition.name in called]
                return Found([one for one in self.all if one.definition.name in calling][:limit])
            case Search(query, limit):
                self.searched.append(query)
                return Found(self.hits[:limit])
        raise AssertionError(question)


INDEX = Table(
    {
        A: [
            definition("Shape", 1, 9, SymbolKind.CLASS),
            definition("Shape.__init__", 2, 3, SymbolKind.METHOD),
            definition("Shape.area", 4, 9, SymbolKind.METHOD),
            definition("width", 11, 11, SymbolKind.VARIABLE),
        ],
        B: [
            definition("area_of_all", 1, 4),
            definition("squared", 6, 7),
            *(definition(f"Kind{n}.run", 10 + n, 10 + n, SymbolKind.METHOD) for n in range(6)),
            definition("len", 30, 30),
        ],
        TEST: [definition("test_area", 1, 5), definition("squared", 7, 8)],
    },
    {"area": ["squared", "len"], "area_of_all": ["area", "Shape"], "test_area": ["area"]},
    Hit(B, 6, 7, "squared", 2.0),
)


async def found(prompt: str, level: Any = LIGHT, lines: tuple[int, int] | None = None, selected: str = "") -> list[str]:
    candidates: list[Candidate] = []
    subject = Subject(prompt, [FOLDER], A if lines else None, lines, selected)
    await find_candidates(INDEX, subject, level, candidates)
    return [f"{one.reason.split()[0]} {one.path.name}:{one.start} {one.name}".strip() for one in candidates]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("`Shape.area`", ["named a.py:4 Shape.area"]),
        ("`area` and squared()", ["named a.py:4 Shape.area", "named b.py:6 squared"]),  # not the one of the tests
        ("a.width or `test_area`", ["named a.py:11 width", "named test_a.py:1 test_area"]),  # `a` is the module
        ("the Shape is wrong, Kind0 too", ["named a.py:1 Shape"]),
        ("`run` it", []),  # six definitions: it names none of them
        ("`Kind3.run` it", ["named b.py:13 Kind3.run"]),
        ("src/b.py:7", ["named b.py:6 squared"]),
        ("src/b.py and `len`", ["named b.py:30 len"]),  # the beginning of its file says nothing more
        ("src/b.py:50", ["named b.py:35"]),
        ("go on", []),
        ("where is a number multiplied by itself", ["matches b.py:6 squared"]),
    ],
)
async def test_named(prompt: str, expected: list[str]) -> None:
    assert await found(prompt) == expected


async def test_neighbours_of_a_selection() -> None:
    body = "    def area(self):\n        return squared(len(self.sides))\n"
    called, calls = ["called b.py:6 squared"], ["calls b.py:1 area_of_all", "calls test_a.py:1 test_area"]
    INDEX.all = [one for one in INDEX.all if (one.path, one.definition.name) != (TEST, "squared")]
    assert await found("right?", LIGHT, (4, 9), body) == [*called, *calls]  # `len` is likely the language's
    assert await found("right?", LIGHT, (5, 5), "return self.sides") == calls  # a part calls what is named in it
    assert await found("right?", LIGHT, (2, 3)) == ["calls b.py:1 area_of_all"]  # a constructor is called by its class
    assert await found("right?", LIGHT, (20, 20)) == []


async def test_only_a_level_that_shows_more_searches_for_what_is_named() -> None:
    prompt = "why is `Shape.area` of the number squared itself"
    assert [one.split()[0] for one in await found(prompt)] == ["named"]
    assert [one.split()[0] for one in await found(prompt, FULL)] == ["named", "matches"]


LINES = [f"line {n} of the file\n" for n in range(1, 101)]


def chosen(*candidates: Candidate, shown: str = "", prompt: str = "", tokens: float = 4000) -> list[Snippet]:
    return choose_snippets(
        candidates, lambda path: LINES if path == A else [], parse_snippets(shown), prompt, LIGHT, tokens
    )


def named(start: int, end: int, path: Path = A) -> Candidate:
    return Candidate(path, start, end, Reason.NAMED, "area")


def places(snippets: Sequence[Snippet]) -> list[tuple[int, int]]:
    return [(one.start, one.end) for one in snippets]


def test_each_line_once_within_the_limits() -> None:
    assert places(chosen(named(1, 10), named(1, 10), named(5, 20))) == [(1, 10), (11, 20)]
    assert places(chosen(named(1, 10), named(9, 12))) == [(1, 10)], "two more lines are not worth it"
    assert places(chosen(named(1, 100))) == [(1, 60)]
    assert places(chosen(named(90, 500))) == [(90, 100)]
    assert places(chosen(named(200, 300), named(1, 3, B))) == []
    assert len(chosen(*(named(n, n + 5) for n in range(1, 80, 10)))) == LIGHT.portions[Reason.NAMED].snippets
    small = chosen(named(1, 60), named(61, 64), tokens=100)
    assert places(small) == [(61, 64)], "what does not fit is left out, the next one can fit"
    assert sum(one.tokens for one in small) <= 100
    call = Candidate(A, 1, 100, Reason.CALLS, "far", call="50")
    assert places(chosen(call)) == [(40, 59)], "around the call"


def test_what_is_shown_already_is_left_out_if_it_is_still_so() -> None:
    shown = f'<code="{A}" #1:10>\n{"".join(LINES[:10])}</code>'
    assert places(chosen(named(1, 10), shown=shown)) == []
    assert places(chosen(named(1, 20), shown=shown)) == [(11, 20)]
    assert places(chosen(named(1, 10), shown=shown.replace("line 3 ", "line three "))) == [(1, 10)]
    assert (
        places(chosen(named(2, 4), prompt="see:\n  line 2 of the file\n  line 3 of the file\nline 4 of the file")) == []
    )


@pytest.mark.parametrize(
    ("prompt", "is_shown"),
    [
        ("where is the digest challenge of a header parsed", True),
        ("parse the gzip of the header", False),  # two words of three
        ("digest a haiku about the challenges of the sea, winter and love in a header", False),  # three of eight
        ("digest it", False),
    ],
)
def test_hits_must_have_the_words_of_the_prompt(prompt: str, is_shown: bool) -> None:
    lines = ["def parseDigestChallenge(header):\n", "    return None\n"]
    hit = Candidate(A, 1, 2, Reason.MATCHES)
    assert bool(choose_snippets([hit], lambda _: lines, (), prompt, LIGHT, 4000)) is is_shown


def test_a_history_shows_the_same_snippets_and_a_file_cannot_pass_for_one() -> None:
    snippets = chosen(named(1, 3), Candidate(A, 10, 12, Reason.CALLS, "x]y\nz".replace("\n", "")))
    texts = ["Do what the person asks.\n\n", *texts_of(snippets), "The person says:\n\nhello"]
    again = [*told_snippets(texts)]
    assert [(one.path, one.start, one.end, one.reason, one.tokens) for one in again] == [
        (one.path, one.start, one.end, one.reason, one.tokens) for one in snippets
    ]
    assert [one.reason.shown for one in again] == ["named in your prompt", "calls the selection"]
    assert [*told_snippets([f"a file with {HEAD}", *texts_of(snippets)[1:]])] == []
    assert texts_of([]) == []
    assert [*told_snippets(texts_of(snippets, late=True))] == again
    assert texts_of([], late=True) == [LATE]
    early = [*told_snippets(texts_of(snippets, building=True))]
    assert [one.why for one in early] == [f"{one.why}, while the index was being built" for one in again]
