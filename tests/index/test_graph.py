"""PageRank over references: ranks are parts of one, are always the same, and rise for what is wanted."""

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tark_lsp.index.graph import FileNames, name_number, rank_all

NAMES = [f"name{number}" for number in range(8)]
FILES = st.lists(
    st.tuples(
        st.lists(st.sampled_from(NAMES), max_size=4),
        st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=4),
        st.lists(st.sampled_from(NAMES), max_size=8),
    ),
    min_size=1,
    max_size=8,
).map(lambda files: [FileNames.of(*names) for names in files])


def imported(*names: str) -> list[tuple[str, str]]:
    """Each from a module of its own name."""
    return [(name, name) for name in names]


def numbers(*names: str) -> set[int]:
    return {*map(name_number, names)}


@settings(max_examples=50)
@given(FILES, st.sets(st.integers(-1, 9)), st.sets(st.sampled_from([*NAMES, "unknown"])))
def test_ranks_are_parts_of_one_and_always_the_same(files: list[FileNames], wanted: set[int], names: set[str]) -> None:
    ranks = rank_all(files, wanted, numbers(*names))
    assert sum(ranks.files) == pytest.approx(1)
    assert all(rank > 0 for rank in (*ranks.files, *ranks.names.values()))
    assert ranks == rank_all(files, wanted, numbers(*names))
    assert {*ranks.names} == {(index, name) for index, file in enumerate(files) for name in file.defines}


@settings(max_examples=50)
@given(FILES, st.data())
def test_what_is_wanted_rises(files: list[FileNames], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(files) - 1))
    plain = rank_all(files)
    assert rank_all(files, {index}).files[index] >= plain.files[index] * 0.999
    for name in files[index].defines:
        assert rank_all(files, wanted_names={name}).names[index, name] > plain.names[index, name]


def test_what_many_use_is_central() -> None:
    core, helper = FileNames.of(["core"], imported("helper"), []), FileNames.of(["helper"], [], [])
    others = [FileNames.of([f"other{number}"], imported("core"), []) for number in range(5)]
    ranks = rank_all([core, helper, *others])
    assert ranks.files[0] > max(ranks.files[2:])
    assert ranks.files[1] > max(ranks.files[2:]), "what the central one uses"
    by_name = sorted(ranks.names, key=lambda key: -ranks.names[key])
    assert [name for _, name in by_name[:2]] == [*map(name_number, ("helper", "core"))]


def test_one_file_has_an_order_too() -> None:
    (file,) = [FileNames.of(["main", "helper"], [], ["helper"])]
    ranks = rank_all([file]).names
    assert ranks[0, name_number("helper")] > ranks[0, name_number("main")]


def test_a_name_that_everybody_defines_says_nothing() -> None:
    files = [FileNames.of(["run", f"own{number}"], [], ["run"]) for number in range(30)]
    ranks = rank_all([*files, FileNames.of([], [], ["run"])])
    assert max(ranks.files) == pytest.approx(min(ranks.files))


def test_a_name_of_the_language_says_nothing() -> None:
    """Many files use `join` without importing it: it is not the one that a file defines."""
    mine = FileNames.of(["join", "area"], [], [])
    users = [FileNames.of([f"own{number}"], [], ["join"]) for number in range(30)]
    ranks = rank_all([mine, *users])
    assert ranks.names[0, name_number("join")] == ranks.names[0, name_number("area")]
    few = rank_all([mine, *users[:20]])
    assert few.names[0, name_number("join")] > few.names[0, name_number("area")]
    two = rank_all([mine, FileNames.of([], imported("area"), []), FileNames.of([], [], ["join"])])
    assert two.names[0, name_number("area")] == pytest.approx(two.names[0, name_number("join")])
    both = rank_all([mine, FileNames.of([], imported("area"), ["join"])])
    assert both.names[0, name_number("area")] > both.names[0, name_number("join")]


def test_what_is_imported_from_elsewhere_says_nothing() -> None:
    mine = FileNames.of(["/shapes", "Any", "area"], [], [])
    users = [FileNames.of([], [("/typing", "Any"), ("/shapes", "area")], ["Any", "area"])]
    ranks = rank_all([mine, *users])
    assert ranks.names[0, name_number("Any")] < ranks.names[0, name_number("area")]
    assert ranks.names[0, name_number("Any")] == ranks.names[0, name_number("/shapes")]


def test_languages_have_nothing_in_common() -> None:
    python = FileNames.of(["area"], [], [], family=".py")
    ranks = rank_all([python, FileNames.of([], imported("area"), [], family=".js")])
    assert ranks.files[0] == ranks.files[1]


def test_no_files() -> None:
    assert rank_all([], {0}, numbers("a")).files == ()


@pytest.mark.exhaustive
def test_a_hundred_thousand_definitions() -> None:
    """10,000 files with 10 definitions and 60 uses each are ranked within 3 s of processor time."""
    chance = random.Random(7)
    files = [
        FileNames.of(
            (f"n{file * 10 + number}" for number in range(10)),
            imported(*(f"n{(file * 7919 + number) % 100_000}" for number in range(5))),
            (f"n{int(chance.paretovariate(0.3)) % 100_000}" for _ in range(60)),
        )
        for file in range(10_000)
    ]
    start = time.process_time()
    ranks = rank_all(files, {5}, numbers("n77"))
    assert time.process_time() - start < 3
    assert sum(ranks.files) == pytest.approx(1)
