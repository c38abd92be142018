"""What a save means for hunks that are applied and wait, by client; and what a formatter made of them."""

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from tark_lsp.review.formatting import BeforeSave, find_formatted
from tark_lsp.workspace.lines import split_lines
from tests.review.live_hunk import LiveHunk
from tests.review.review_desk import Desk

TEXT = "def area(side):\n    x = 1\n    return side\n\n\nprint(area(2))\n"
NEW = "    y = {'a':side, 'b':2}\n"
FORMATTED = '    y = {\n        "a": side,\n        "b": 2,\n    }\n'
BY_HAND, DELAY, FOCUS = 1, 2, 3


async def applied(folder: Path, *, in_place: bool) -> tuple[Desk, Path, LiveHunk]:
    desk = Desk(folder, in_place=in_place)
    path = desk.editor.open("f.py", TEXT)
    (hunk,) = desk.propose(path, (1, 2, [NEW]))
    await desk.reviews.accept([hunk], decide=False)
    return desk, path, hunk


def write(desk: Desk, path: Path, old: str, new: str) -> None:
    """Somebody replaces a part of the text."""
    start = desk.editor.text(path).index(old)
    desk.editor.type(path, (start, start + len(old), new))


# in place; how it is saved; the state then
SAVES = [
    (False, None, "accepted"),
    (False, BY_HAND, "accepted"),
    (False, DELAY, "pending"),
    (False, FOCUS, "pending"),
    (False, "ours", "pending"),
    *((True, how, "pending") for how in (None, BY_HAND, DELAY, FOCUS, "ours")),
]


@pytest.mark.parametrize(("in_place", "how", "state"), SAVES)
async def test_what_a_save_decides(tmp_path: Path, in_place: bool, how: int | str | None, state: str) -> None:
    desk, path, hunk = await applied(tmp_path, in_place=in_place)
    if how == "ours":
        desk.editor.documents.our_saves.add(path)
    desk.editor.will_save(path)
    desk.editor.save(path, reason=how if isinstance(how, int) else None)
    assert (hunk.state, hunk.applied) == (state, True)
    assert not desk.editor.documents.our_saves


# what changes, and whether the hunk has it then: (by the user, by a formatter after willSave or without a willSave)
CHANGES: dict[str, tuple[str, str, bool, bool]] = {
    #                              typed and saved | formatted between willSave and didSave
    "wrapped, other quotes": (NEW, FORMATTED, True, True),
    "indented": (NEW, "  y = {'a':side, 'b':2}\n", True, True),
    "other words": ("side, ", "aside, ", False, True),
    "another line": ("'b':2}\n", "'b':2}\n    z = 3\n", True, True),
    "all lines away": (NEW, "", False, True),
}


@pytest.mark.parametrize(("name", "announced", "in_place"), list(product(CHANGES, (True, False), (True, False))))
async def test_what_a_formatter_changes_is_part_of_the_hunk(
    tmp_path: Path, name: str, announced: bool, in_place: bool
) -> None:
    """`announced`: the change comes after `willSave`. Otherwise nobody knows that it was a formatter's."""
    old, new, unannounced, known = CHANGES[name]
    desk, path, hunk = await applied(tmp_path, in_place=in_place)
    if announced:
        desk.editor.will_save(path)
    write(desk, path, old, new)
    after = desk.editor.text(path)
    desk.editor.save(path, reason=DELAY)
    mine = known if announced else unannounced
    assert hunk.state == ("pending" if mine else "conflict")
    if mine:
        added = after.removeprefix(TEXT[: TEXT.index("    x")]).removesuffix(TEXT[TEXT.index("    return") :])
        # A line added right below is nobody's change of the hunk, which stays as it was.
        assert "".join(hunk.now.new) == (NEW if name == "another line" else added)
        await desk.reviews.reject([hunk])
        left = TEXT.replace("    x = 1\n", "    x = 1\n    z = 3\n") if name == "another line" else TEXT
        assert desk.editor.text(path) == left


@pytest.mark.parametrize("announced", [True, False])
async def test_undo_of_the_turn_takes_the_format_back(tmp_path: Path, announced: bool) -> None:
    desk, path, _ = await applied(tmp_path, in_place=True)
    write(desk, path, "print", "print  # mine\nprint")
    if announced:
        desk.editor.will_save(path)
    write(desk, path, NEW, FORMATTED)
    desk.editor.save(path)
    undone = await desk.outside.undo("turn", desk.editor.workspace)
    assert not undone.kept
    assert desk.editor.text(path) == TEXT.replace("print", "print  # mine\nprint")


async def test_what_the_user_typed_stays_a_conflict_whatever_is_saved(tmp_path: Path) -> None:
    desk, path, hunk = await applied(tmp_path, in_place=True)
    write(desk, path, "side, ", "my_side, ")
    assert (hunk.state, hunk.applied) == ("conflict", True)
    for _ in range(2):
        desk.editor.will_save(path)
        write(desk, path, "'b'", " 'b'")
        desk.editor.save(path)
        assert (hunk.state, hunk.applied) == ("conflict", True)
    assert "my_side" in desk.editor.text(path)


async def test_a_save_that_failed_makes_nothing_of_what_is_typed_later(tmp_path: Path) -> None:
    """No didSave came after the first willSave."""
    desk, path, hunk = await applied(tmp_path, in_place=True)
    desk.editor.will_save(path)
    write(desk, path, "side, ", "my_side, ")
    desk.editor.will_save(path)
    desk.editor.save(path)
    assert (hunk.state, hunk.applied) == ("conflict", True)


async def test_a_save_while_it_is_taken_back(tmp_path: Path) -> None:
    desk, path, hunk = await applied(tmp_path, in_place=True)

    def saved_before(params: object) -> object:
        desk.editor.will_save(path)
        desk.editor.save(path)
        return desk.editor.apply(params)  # type: ignore[arg-type]  # the params of the editor's own request

    desk.editor.connection.answers["workspace/applyEdit"] = saved_before
    await desk.reviews.reject([hunk])
    assert (hunk.state, hunk.applied, desk.editor.text(path)) == ("rejected", False, TEXT)


REFORMATS: dict[str, Callable[[str], str]] = {
    "two spaces": lambda text: text.replace("    ", "  "),
    "blank lines between": lambda text: text.replace("\n", "\n\n"),
    "all wrapped": lambda text: text.replace(" = ", " = (\n        ").replace("1\n", "1\n    )\n"),
    "other line ends": lambda text: text.replace("\n", "\r\n"),
}


@pytest.mark.parametrize(("name", "announced"), list(product(REFORMATS, (True, False))))
async def test_a_formatter_that_changes_the_whole_file(tmp_path: Path, name: str, announced: bool) -> None:
    """Two hunks that touch, and lines around them, become other lines at once; nothing of it is a conflict."""
    desk = Desk(tmp_path, in_place=True)
    path = desk.editor.open("f.py", TEXT)
    hunks = desk.propose(path, (1, 2, ["    y = 1\n", "    z = 1\n"]), (2, 3, ["    return y + z\n"]))
    await desk.reviews.accept(hunks, decide=False)
    if announced:
        desk.editor.will_save(path)
    desk.editor.replace(path, REFORMATS[name](desk.editor.text(path)))
    after = desk.editor.text(path)
    desk.editor.save(path)
    assert [hunk.state for hunk in hunks] == ["pending", "pending"]
    assert all(desk.standing(path, hunk) for hunk in hunks)
    await desk.reviews.reject(hunks)
    assert [hunk.state for hunk in hunks] == ["rejected", "rejected"]
    assert "y" not in desk.editor.text(path).replace("\r", "")
    assert after.count("print") == desk.editor.text(path).count("print") == 1
    assert "x = 1" in desk.editor.text(path)
    assert "return side" in desk.editor.text(path)


@pytest.mark.parametrize(
    ("new", "text", "near", "found"),
    [
        ("a = 1\n", "a=1\n", (0, 1), (0, 1)),
        ("a = 1\n", "\n\nb\na=1\n", (0, 1), (3, 4)),
        ("f(a, b)\n", "x\nf(\n    a,\n    b,\n)\n", (1, 2), (1, 4)),
        ("a = 1\n", "a = 2\n", (0, 1), None),
        ("a = 1\n", "ba = 1\n", (0, 1), None),
        ("a\nb\n", "a\nc\nb\n", (0, 2), None),
        ("\n", "x\n", (0, 1), None),
        ("a\n", "a \nx\na \n", (2, 2), (2, 3)),
        ("a\n", "x\n" * 100 + "a\n", (0, 1), None),
        ("a\n", "x\na \ny\n", (0, 3), (1, 2)),  # a formatter made more lines of those beside it
        ("a\n\n", "\ta\n\ttyped\n", (0, 2), None),  # there was an empty line, in which the user typed
        ("\na\n", "\ttyped\n\ta\n", (0, 2), None),
        ("a\n\n", "\ta\nbelow\n", (0, 1), (0, 1)),
    ],
)
def test_lines_that_say_the_same(new: str, text: str, near: tuple[int, int], found: tuple[int, int] | None) -> None:
    assert find_formatted(split_lines(new), split_lines(text), near) == found


@pytest.mark.parametrize(
    ("after", "place"),
    [
        ("a\nb\nc\nd\n", (1, 3)),
        ("0\na\nb\nc\nd\n", (2, 4)),
        ("a\nB\nc\nd\n", (1, 3)),
        ("a\nb\n1\nc\nd\n", (1, 4)),
        ("a\nd\n", (1, 1)),
        ("a\nb\nc\n1\nd\n", (1, 3)),
        ("A\nB\nc\nd\n", None),
        ("a\nb\nC\nD\n", None),
    ],
)
def test_the_place_of_lines_after_a_save(after: str, place: tuple[int, int] | None) -> None:
    before = BeforeSave(split_lines("a\nb\nc\nd\n"), {"hunk": (1, 3)})
    assert before.place_now("hunk", split_lines(after)) == place
    assert before.place_now("another", split_lines(after)) is None
