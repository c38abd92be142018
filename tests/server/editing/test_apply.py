"""Edits of open documents, verified by the text, with editors that refuse, skip, apply stale edits or never answer."""

import asyncio
from collections.abc import Callable
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from tark_lsp.server.documents.sync import DocumentSync
from tark_lsp.server.editing import apply
from tark_lsp.server.editing.apply import with_typed
from tark_lsp.server.editing.edit_states import at_old_places
from tark_lsp.server.editing.edit_watch import Watch
from tark_lsp.server.editing.text_edits import TextEdit, find_text_edits
from tark_lsp.workspace.documents import Documents
from tark_lsp.workspace.edits import ProposedEdit, changed_lines
from tark_lsp.workspace.lines import Hunk, split_lines
from tark_lsp.workspace.outcomes import MISPLACED, Applied, Refused, Stale
from tark_lsp.workspace.snapshot import Snapshot
from tests.exhaustive import examples
from tests.server.scripted import Json, ScriptedEditor, line_starts, refuse
from tests.virtual_clock import VirtualLoop

pytestmark = pytest.mark.virtual_clock

TEXT = "".join(f"line {n}\n" for n in range(12))
AFTER = TEXT.replace("line 3\n", "THREE\n").replace("line 8\n", "EIGHT\nand a half\n")


@pytest.fixture
def editor(tmp_path: Path) -> ScriptedEditor:
    return ScriptedEditor(tmp_path.resolve())


def edit_of(editor: ScriptedEditor, path: Path, after: str = AFTER) -> ProposedEdit:
    return ProposedEdit.between(editor.workspace.read(path), after)


def sent(editor: ScriptedEditor) -> list[Json]:
    return [params for method, params in editor.connection.asked if method == "workspace/applyEdit"]


async def test_an_honest_editor(editor: ScriptedEditor) -> None:
    path = editor.open("f.py", TEXT)
    outcome = await editor.workspace.apply(edit_of(editor, path), "Tark: apply 2 changes")
    assert isinstance(outcome, Applied)
    assert outcome.snapshot.text == editor.text(path) == AFTER
    (params,) = sent(editor)
    assert params["label"] == "Tark: apply 2 changes"
    (change,) = params["edit"]["documentChanges"]
    assert change["textDocument"] == {"uri": editor.open_buffers[path].uri, "version": 1}
    assert [(edit["range"]["start"], edit["newText"]) for edit in change["edits"]] == [
        ({"line": 3, "character": 0}, "THREE\n"),
        ({"line": 8, "character": 0}, "EIGHT\nand a half\n"),
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("a\nb", "a\nB"),
        ("a\nb", "a\n"),
        ("a\nb", "a\nb\nc"),
        ("a\n", "a\nb\n"),
        ("a\n", ""),
        ("", "a\n"),
        ("", "a"),
        ("a", ""),
        ("🥧é", "é🥧\n"),
        ("x\n🥧 last", "x\n🥧 first"),
        ("a\r\nb\r\n", "a\r\nB\r\n"),
        ("a\rb\r", "a\rB\r"),
        ("a\r\nb", "a\r\nB\r\nc"),
    ],
)
async def test_the_ends_of_texts(tmp_path: Path, encoding: str, text: str, after: str) -> None:
    editor = ScriptedEditor(tmp_path.resolve(), encoding=encoding)
    path = editor.open("f.py", text)
    outcome = await editor.workspace.apply(edit_of(editor, path, after), "label")
    assert isinstance(outcome, Applied)
    assert editor.text(path) == after == editor.workspace.read(path).text


lines = st.lists(st.sampled_from(["a\n", "b\n", "🥧\n", "é\r\n", "\n"]), max_size=8)
whole_texts = st.tuples(lines, st.sampled_from(["", "end", "🥧"])).map(lambda parts: "".join(parts[0]) + parts[1])


@settings(max_examples=examples(100))
@given(whole_texts, whole_texts, st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_any_text_becomes_any_other(
    tmp_path_factory: pytest.TempPathFactory, text: str, after: str, units: str
) -> None:
    async def become() -> None:
        editor = ScriptedEditor(folder, encoding=units)
        path = editor.open("f.py", text)
        outcome = await editor.workspace.apply(edit_of(editor, path, after), "label")
        assert isinstance(outcome, Applied) or text == after
        assert editor.text(path) == after

    folder = tmp_path_factory.mktemp("texts").resolve()
    asyncio.run(become()) if text != after else None


async def test_a_text_that_changed_before_is_stale_and_nothing_is_sent(editor: ScriptedEditor) -> None:
    path = editor.open("f.py", TEXT)
    edit = edit_of(editor, path)
    editor.type(path, (0, 0, "x"))
    assert await editor.workspace.apply(edit, "label") == Stale("the text changed meanwhile")
    assert sent(editor) == []


async def test_one_is_in_flight_at_a_time(editor: ScriptedEditor) -> None:
    one, other = editor.open("one.py", TEXT), editor.open("other.py", TEXT)
    flying = 0

    async def slow(params: Any) -> Json:
        nonlocal flying
        flying += 1
        assert flying == 1
        await asyncio.sleep(0.01)
        flying -= 1
        return editor.apply(params)

    editor.connection.answers["workspace/applyEdit"] = slow
    edits = [edit_of(editor, path) for path in (one, other)]
    outcomes = await asyncio.gather(*(editor.workspace.apply(edit, "label") for edit in edits))
    assert all(isinstance(outcome, Applied) for outcome in outcomes)


async def test_a_refusal_is_tried_three_times_and_said(editor: ScriptedEditor) -> None:
    path = editor.open("f.py", TEXT)
    editor.connection.answers["workspace/applyEdit"] = lambda _: {"applied": False, "failureReason": "read-only"}
    assert await editor.workspace.apply(edit_of(editor, path), "label") == Refused(
        "the editor refused the edit: read-only"
    )
    assert len(sent(editor)) == 3


@pytest.mark.parametrize("answer", [None, {}, [], "yes", {"applied": None}])
async def test_an_answer_that_is_none_is_a_refusal(editor: ScriptedEditor, answer: object) -> None:
    path = editor.open("f.py", TEXT)
    editor.connection.answers["workspace/applyEdit"] = lambda _: answer
    assert await editor.workspace.apply(edit_of(editor, path), "label") == Refused("the editor refused the edit")


async def test_an_editor_that_cannot(editor: ScriptedEditor) -> None:
    path = editor.open("f.py", TEXT)
    editor.connection.answers["workspace/applyEdit"] = refuse
    outcome = await editor.workspace.apply(edit_of(editor, path), "label")
    assert outcome == Refused("the editor refused the edit: the editor failed")


async def test_an_editor_that_never_answers_is_asked_once(editor: ScriptedEditor) -> None:
    path = editor.open("f.py", TEXT)
    del editor.connection.answers["workspace/applyEdit"]
    outcome = await editor.workspace.apply(edit_of(editor, path), "label")
    assert outcome == Refused("the editor did not answer within 30 s")
    assert len(sent(editor)) == 1
    assert editor.connection.withdrawn == ["workspace/applyEdit"]


@pytest.mark.parametrize("name", ["Emacs (eglot)", "", "an editor of tomorrow"])
async def test_an_editor_that_may_ask_the_user_answers_whenever_they_do(tmp_path: Path, name: str) -> None:
    """eglot 1.9 does not say its name."""
    editor = ScriptedEditor(tmp_path.resolve(), name=name)
    path = editor.open("f.py", TEXT)

    async def late(params: Json) -> Any:
        await asyncio.sleep(3600)
        return editor.apply(params)

    editor.connection.answers["workspace/applyEdit"] = late
    assert isinstance(await editor.workspace.apply(edit_of(editor, path), "label"), Applied)
    assert editor.workspace.read(path).text == AFTER
    assert len(sent(editor)) == 1


async def test_an_editor_that_says_applied_and_does_nothing(editor: ScriptedEditor) -> None:
    path = editor.open("f.py", TEXT)
    editor.connection.answers["workspace/applyEdit"] = lambda _: {"applied": True}
    outcome = await editor.workspace.apply(edit_of(editor, path), "label")
    assert outcome == Refused("the editor said it applied the edit, but its text did not change")
    assert len(sent(editor)) == 1


@pytest.mark.parametrize("delay", [0.0, 0.1, 2.0, 5.0])
async def test_the_change_comes_after_the_answer(editor: ScriptedEditor, delay: float) -> None:
    path = editor.open("f.py", TEXT)

    def late(params: Any) -> Json:
        (change,) = params["edit"]["documentChanges"]
        changes = editor.type(path, *editor.spans(path, change["edits"]), tell=False)
        asyncio.get_running_loop().call_later(delay, editor.tell, path, changes)
        return {"applied": True}

    editor.connection.answers["workspace/applyEdit"] = late
    assert isinstance(await editor.workspace.apply(edit_of(editor, path), "label"), Applied)


@pytest.mark.parametrize("busy", [0.0, 1.0])
async def test_each_hunk_in_a_notification_of_its_own(editor: ScriptedEditor, busy: float) -> None:
    """The time for it can be over while the server is `busy` for so many seconds: what came meanwhile still counts."""
    path = editor.open("f.py", TEXT)
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)

    def one_by_one(params: Any) -> Json:
        (change,) = params["edit"]["documentChanges"]
        for number, span in enumerate(editor.spans(path, change["edits"])):
            changes = editor.type(path, span, tell=False)
            loop.call_later(0.1 * number, editor.tell, path, changes)
        loop.call_later(0.05, loop.stand_still, busy)
        return {"applied": True}

    editor.connection.answers["workspace/applyEdit"] = one_by_one
    assert isinstance(await editor.workspace.apply(edit_of(editor, path), "label"), Applied)
    assert editor.text(path) == AFTER


@pytest.mark.parametrize("after", [AFTER, TEXT.replace("line 11\n", "ELEVEN\n")], ids=["two hunks", "the last line"])
@pytest.mark.parametrize("late", [0.15, 1.0, 9.0])
async def test_a_busy_neovim_reports_the_rest_of_an_edit_late(tmp_path: Path, after: str, late: float) -> None:
    """It reports the first change at once, and the rest by a timer. It changes the last line in two steps."""
    editor = ScriptedEditor(tmp_path.resolve(), name="Neovim")
    path = editor.open("f.py", TEXT)

    def in_two_steps(params: Any) -> Json:
        (change,) = params["edit"]["documentChanges"]
        first, *rest = editor.spans(path, change["edits"])
        at_end = first[1] == len(TEXT)
        editor.type(path, (first[0], first[1], first[2] + "\n" * at_end))
        rest += [(len(after), len(after) + 1, "")] * at_end
        changes = editor.type(path, *rest, tell=False)
        asyncio.get_running_loop().call_later(late, editor.tell, path, changes)
        return {"applied": True}

    editor.connection.answers["workspace/applyEdit"] = in_two_steps
    assert isinstance(await editor.workspace.apply(edit_of(editor, path, after), "label"), Applied)
    assert editor.text(path) == editor.workspace.read(path).text == after
    assert len(sent(editor)) == 1


async def test_in_pieces_of_its_lines_all_told_in_one_notification(editor: ScriptedEditor) -> None:
    """VS Code replaces only what differs in the lines, and reports it from the last part to the first."""
    path = editor.open("f.py", "import math\nreturn 3 * radius * radius\n")
    after = "import math\nreturn math.pi * radius**2\n"

    def in_pieces(_: Any) -> Json:
        old = editor.text(path)
        codes = SequenceMatcher(None, old, after, autojunk=False).get_opcodes()
        pieces = [(start, end, after[low:high]) for tag, start, end, low, high in reversed(codes) if tag != "equal"]
        assert len(pieces) > 1
        editor.type(path, *pieces)
        return {"applied": True}

    editor.connection.answers["workspace/applyEdit"] = in_pieces
    assert isinstance(await editor.workspace.apply(edit_of(editor, path, after), "label"), Applied)
    assert editor.text(path) == after
    assert len(sent(editor)) == 1, "there is nothing to put right"


async def test_hunks_at_one_place_told_one_after_the_other_are_not_repaired(editor: ScriptedEditor) -> None:
    """Applying half of it, and then all of it at the old places, makes the same text."""
    path = editor.open("f.py", TEXT)
    base = editor.workspace.read(path)
    lines_of = tuple(split_lines(TEXT))
    edit = ProposedEdit(path, base, (Hunk(0, (), ("A\n",)), Hunk(0, (), ("B\n",)), Hunk(0, lines_of, ("C\n",))))
    assert isinstance(await editor.workspace.apply(edit, "label"), Applied)
    assert editor.text(path) == "A\nB\nC\n"
    assert len(sent(editor)) == 1


async def test_closed_meanwhile(editor: ScriptedEditor) -> None:
    path = editor.open("f.py", TEXT)

    def close(_: Any) -> Json:
        editor.close(path)
        return {"applied": False}

    editor.connection.answers["workspace/applyEdit"] = close
    assert await editor.workspace.apply(edit_of(editor, path), "label") == Stale("the document was closed")


async def test_saved_and_closed_right_after_it_was_made(editor: ScriptedEditor) -> None:
    """As in an editor that reports changes late: the text that it reported last has the edit."""
    path = editor.open("f.py", TEXT)

    def then_close(params: Json) -> Json:
        editor.apply(params)
        editor.save(path)
        editor.close(path)
        return {"applied": True}

    editor.connection.answers["workspace/applyEdit"] = then_close
    outcome = await editor.workspace.apply(edit_of(editor, path), "label")
    assert isinstance(outcome, Applied)
    assert path.read_text() == AFTER


async def test_saved_and_closed_right_after_it_was_made_of_newer_text(editor: ScriptedEditor) -> None:
    """Neovim adds such an empty line at the end for the edit itself, and then goes on."""
    path = editor.open("f.py", "1\n2\n")

    def then_close(params: Json) -> Json:
        answer = at_once(editor, path, (4, 4, "\n"), params)
        editor.save(path)
        editor.close(path)
        return answer

    editor.connection.answers["workspace/applyEdit"] = then_close
    assert isinstance(await editor.workspace.apply(edit_of(editor, path, "new\n1\nmore\n"), "label"), Applied)
    assert path.read_text() == "new\n1\nmore\n\n"


async def test_closed_before(editor: ScriptedEditor) -> None:
    path = editor.open("f.py", TEXT)
    edit = edit_of(editor, path)
    editor.close(path)
    assert await editor.buffers.apply(edit, "label") == Stale("the document was closed")


# An editor without versions


async def test_without_versions_edits_wait_for_quiet(tmp_path: Path) -> None:
    editor = ScriptedEditor(tmp_path.resolve(), versions=False)
    path = editor.open("f.py", TEXT)
    editor.type(path, (0, 0, "x"))
    loop = asyncio.get_running_loop()
    begun = loop.time()
    outcome = await editor.workspace.apply(edit_of(editor, path), "label")
    assert isinstance(outcome, Applied)
    assert loop.time() - begun >= apply.QUIET_SECONDS
    assert sent(editor)[0]["edit"]["documentChanges"][0]["textDocument"]["version"] is None


async def test_without_versions_what_is_typed_in_the_quiet_makes_it_stale(tmp_path: Path) -> None:
    editor = ScriptedEditor(tmp_path.resolve(), versions=False)
    path = editor.open("f.py", TEXT)
    editor.type(path, (0, 0, "x"))
    edit = edit_of(editor, path)
    asyncio.get_running_loop().call_later(0.1, editor.type, path, (0, 0, "y"))
    assert await editor.workspace.apply(edit, "label") == Stale("the text changed meanwhile")
    assert sent(editor) == []


async def test_without_versions_closed_in_the_quiet(tmp_path: Path) -> None:
    editor = ScriptedEditor(tmp_path.resolve(), versions=False)
    path = editor.open("f.py", TEXT)
    editor.type(path, (0, 0, "x"))
    edit = edit_of(editor, path)
    asyncio.get_running_loop().call_later(0.1, editor.close, path)
    assert await editor.workspace.apply(edit, "label") == Stale("the document was closed")
    assert sent(editor) == []


async def test_closed_and_opened_again_before_the_edit_arrives(editor: ScriptedEditor) -> None:
    """Neovim counts versions from the same number again, so it makes the edit in the new document."""
    path = editor.open("f.py", TEXT)

    def reopen(params: Any) -> Json:
        editor.close(path)
        editor.open("f.py", TEXT)
        return editor.apply(params)

    editor.connection.answers["workspace/applyEdit"] = reopen
    assert isinstance(await editor.workspace.apply(edit_of(editor, path), "label"), Applied)
    assert editor.text(path) == AFTER


# The user types at the moment the edit arrives

TYPED = {
    "above": (0, 0, "typed\n"),
    "far below": (len(TEXT), len(TEXT), "typed\n"),
    "between": (TEXT.index("line 5"), TEXT.index("line 5"), "typed\n"),
    "inside": (TEXT.index("line 8") + 4, TEXT.index("line 8") + 4, "typed"),
    "a line less above": (0, 7, ""),
}
Editor = Callable[[ScriptedEditor, Path, tuple[int, int, str], Any], Json]


def at_once(editor: ScriptedEditor, path: Path, typed: tuple[int, int, str], params: Any) -> Json:
    """Reported before the edit."""
    editor.type(path, typed)
    return editor.apply(params, check=False)


def together(editor: ScriptedEditor, path: Path, typed: tuple[int, int, str], params: Any) -> Json:
    """Reported in one notification with the edit."""
    (change,) = params["edit"]["documentChanges"]
    changes = editor.type(path, typed, tell=False)
    changes += editor.type(path, *editor.spans(path, change["edits"]), tell=False)
    editor.tell(path, changes)
    return {"applied": True}


def one_by_one(editor: ScriptedEditor, path: Path, typed: tuple[int, int, str], params: Any) -> Json:
    """Reports each hunk by itself, the last one first."""
    editor.type(path, typed)
    (change,) = params["edit"]["documentChanges"]
    for span in editor.spans(path, change["edits"]):
        editor.type(path, span)
    return {"applied": True}


def line_by_line(editor: ScriptedEditor, path: Path, typed: tuple[int, int, str], params: Any) -> Json:
    """Reports each replaced line, the last hunk first, and then the added lines."""
    editor.type(path, typed)
    (change,) = params["edit"]["documentChanges"]
    for edit in reversed(change["edits"]):
        first, last = edit["range"]["start"]["line"], edit["range"]["end"]["line"]
        new = split_lines(edit["newText"])
        both = min(last - first, len(new))
        for n in range(both):
            starts = line_starts(editor.text(path))
            editor.type(path, (starts[first + n], starts[first + n + 1], new[n]))
        starts = line_starts(editor.text(path))
        editor.type(path, (starts[first + both], starts[last], "".join(new[both:])))
    return {"applied": True}


@pytest.mark.parametrize("typed", TYPED.values(), ids=TYPED)
@pytest.mark.parametrize("behaviour", [at_once, together, line_by_line])
async def test_an_editor_that_applies_stale_edits_loses_nothing(
    editor: ScriptedEditor, behaviour: Editor, typed: tuple[int, int, str]
) -> None:
    path = editor.open("f.py", TEXT)
    left = [typed]

    def stale(params: Any) -> Json:
        return behaviour(editor, path, left.pop(), params) if left else editor.apply(params)

    editor.connection.answers["workspace/applyEdit"] = stale
    outcome = await editor.workspace.apply(edit_of(editor, path), "label")
    start, end, new = typed
    mine = TEXT[:start] + new + TEXT[end:]
    right = mine.replace("line 3\n", "THREE\n").replace("line 8\n", "EIGHT\nand a half\n")
    if typed is TYPED["inside"]:
        assert isinstance(outcome, Stale)
        assert editor.text(path) == mine
    else:
        assert isinstance(outcome, Applied)
        assert editor.text(path) == right


@pytest.mark.parametrize("after", ["", "a\n", "a\nb\nC", "a\nb\nC\n", "a\nb\nC\nd\n", "A\nb\nC", "A\nb\n"])
@pytest.mark.parametrize("typed", ["typed\n", "a longer line that you typed\n", "1\n2\n3\n4\n"])
@pytest.mark.parametrize("behaviour", [at_once, together, one_by_one])
async def test_at_the_end_of_a_text_without_a_last_ending_stale_edits_lose_nothing(
    editor: ScriptedEditor, behaviour: Editor, typed: str, after: str
) -> None:
    """The edit ends at the last character of the old text, which is inside another line by then."""
    path = editor.open("f.py", "a\nb\nlast")
    left = [typed]

    def stale(params: Any) -> Json:
        return behaviour(editor, path, (0, 0, left.pop()), params) if left else editor.apply(params)

    editor.connection.answers["workspace/applyEdit"] = stale
    outcome = await editor.workspace.apply(edit_of(editor, path, after), "label")
    assert isinstance(outcome, Applied)
    assert editor.text(path) == typed + after


async def test_what_is_typed_while_a_misplaced_edit_is_put_right_is_kept(editor: ScriptedEditor) -> None:
    path = editor.open("f.py", TEXT)
    typed = ["one\n", "two\n", "three\n"]

    def stale(params: Any) -> Json:
        if len(sent(editor)) == 3:
            return {"applied": False}
        return at_once(editor, path, (0, 0, typed.pop(0)), params) if typed else editor.apply(params)

    editor.connection.answers["workspace/applyEdit"] = stale
    outcome = await editor.workspace.apply(edit_of(editor, path), "label")
    assert isinstance(outcome, Applied)
    assert sorted(editor.text(path).split("\n")) == sorted(f"{AFTER}one\ntwo\nthree\n".split("\n"))
    assert [line for line in split_lines(editor.text(path)) if line in AFTER] == split_lines(AFTER)


def test_what_is_typed_into_removed_lines_is_not_written_over_by_what_is_typed_above() -> None:
    base = Snapshot(Path("f"), "1\n2\n3\n4\n5\n6\n7\n")
    typed = "one\ntwo\nthree\n4\n5\nsix\n7\n"
    assert with_typed(base, typed, "above\n1\n2\n3\n7\n") == ("above\none\ntwo\nthree\nsix\n7\n", True)


def test_a_line_typed_above_a_changed_line_is_not_written_over_by_it() -> None:
    """The line between them is removed, so both begin at the same line then."""
    base = Snapshot(Path("f"), "removed\nold\n")
    assert with_typed(base, "above\nremoved\nchanged\n", "old\n") == ("above\nchanged\n", False)


def test_what_is_typed_below_a_last_line_without_an_ending_stays_a_line() -> None:
    """The misplaced last line was joined to the next line, below which the user typed."""
    base = Snapshot(Path("f"), "1\r\nlast2\r\n")
    assert with_typed(base, base.text + "below\r\n", "1\r\nlast") == ("1\r\nlast\r\nbelow\r\n", False)


async def test_what_is_typed_into_a_misplaced_edit_is_kept_and_said(editor: ScriptedEditor) -> None:
    path = editor.open("f.py", TEXT)

    def stale(params: Any) -> Json:
        if len(sent(editor)) == 1:
            at_once(editor, path, TYPED["inside"], params)
            at = editor.text(path).index("THREE")
            editor.type(path, (at, at, "typed "))
            return {"applied": True}
        return editor.apply(params)

    editor.connection.answers["workspace/applyEdit"] = stale
    assert await editor.workspace.apply(edit_of(editor, path), "label") == Refused(MISPLACED)
    kept = split_lines(editor.text(path))
    assert "typed THREE\n" in kept
    assert [line for line in kept if line != "typed THREE\n"] == split_lines(TEXT.replace("line 8", "linetyped 8"))


async def test_what_is_typed_after_the_edit_is_not_taken_for_typed_before_it(editor: ScriptedEditor) -> None:
    path = editor.open("f.py", "1\n2\n3\n")

    def typed_after(params: Any) -> Json:
        answer = editor.apply(params)
        editor.type(path, (3, 3, " "))
        editor.type(path, (3, 4, ""))
        return answer

    editor.connection.answers["workspace/applyEdit"] = typed_after
    outcome = await editor.workspace.apply(edit_of(editor, path, "new\n"), "label")
    assert isinstance(outcome, Applied)
    assert (editor.text(path), len(sent(editor))) == ("new\n", 1)


async def test_a_removal_that_the_user_made_just_before_is_not_made_of_what_they_typed_then(
    editor: ScriptedEditor,
) -> None:
    path = editor.open("f.py", "1\n2\n3\n")

    def stale(params: Any) -> Json:
        if len(sent(editor)) > 1:
            return editor.apply(params)
        editor.type(path, (4, 6, ""))
        return at_once(editor, path, (0, 0, "typed\n"), params)

    editor.connection.answers["workspace/applyEdit"] = stale
    assert isinstance(await editor.workspace.apply(edit_of(editor, path, "1\n2\n"), "label"), Applied)
    assert editor.text(path) == "typed\n1\n2\n"


async def test_a_removal_that_the_user_made_just_before_is_not_made_twice(editor: ScriptedEditor) -> None:
    path = editor.open("f.py", "1\n2\n3\n")

    def stale(params: Any) -> Json:
        return at_once(editor, path, (0, 2, ""), params) if len(sent(editor)) == 1 else editor.apply(params)

    editor.connection.answers["workspace/applyEdit"] = stale
    assert isinstance(await editor.workspace.apply(edit_of(editor, path, "2\n3\n"), "label"), Applied)
    assert editor.text(path) == "2\n3\n"


async def test_an_empty_line_typed_and_removed_after_a_removal_does_not_bring_back_a_line(tmp_path: Path) -> None:
    editor = ScriptedEditor(tmp_path.resolve())
    path = editor.open("f.py", "1\n2\n3\n")

    def typed_after(params: Any) -> Json:
        answer = editor.apply(params)
        if len(sent(editor)) == 1:
            editor.type(path, (2, 2, "\n"))
            editor.type(path, (2, 3, ""))
        return answer

    editor.connection.answers["workspace/applyEdit"] = typed_after
    assert isinstance(await editor.workspace.apply(edit_of(editor, path, "1\n3\n"), "label"), Applied)
    assert (editor.text(path), len(sent(editor))) == ("1\n3\n", 1)


async def test_a_line_typed_between_two_equal_removals_is_not_lost(editor: ScriptedEditor) -> None:
    """The user makes the removal, types a line there, and then the editor makes the removal again."""
    path = editor.open("f.py", "1\n2\n3\n")

    def stale(params: Any) -> Json:
        if len(sent(editor)) > 1:
            return editor.apply(params)
        editor.type(path, (2, 4, ""))
        return at_once(editor, path, (2, 2, "typed\n"), params)

    editor.connection.answers["workspace/applyEdit"] = stale
    assert await editor.workspace.apply(edit_of(editor, path, "1\n3\n"), "label") == Refused(MISPLACED)
    assert editor.text(path) == "1\ntyped\n3\n"


async def test_a_line_typed_and_removed_after_a_removal_is_said(editor: ScriptedEditor) -> None:
    """It reads like the case above. Either way you are told to look, and the change does not count as yours."""
    path = editor.open("f.py", "1\n2\n3\n")

    def typed_after(params: Any) -> Json:
        answer = editor.apply(params)
        if len(sent(editor)) == 1:
            editor.type(path, (2, 2, "typed\n"))
            editor.type(path, (2, 8, ""))
        return answer

    editor.connection.answers["workspace/applyEdit"] = typed_after
    assert await editor.workspace.apply(edit_of(editor, path, "1\n3\n"), "label") == Refused(MISPLACED)


@pytest.mark.parametrize("pause", [0.0, 0.05])
async def test_closed_and_opened_again_with_the_edit(editor: ScriptedEditor, pause: float) -> None:
    path = editor.open("f.py", TEXT)

    async def made_and_reloaded(params: Any) -> Json:
        editor.apply(params, tell=False)
        text = editor.text(path)
        editor.close(path)
        await asyncio.sleep(pause)
        editor.open("f.py", text)
        return {"applied": True}

    editor.connection.answers["workspace/applyEdit"] = made_and_reloaded
    outcome = await editor.workspace.apply(edit_of(editor, path), "label")
    assert isinstance(outcome, Applied)
    assert (outcome.snapshot.text, len(sent(editor))) == (AFTER, 1)


async def test_opened_again_with_the_edit_after_the_answer(editor: ScriptedEditor) -> None:
    path = editor.open("f.py", TEXT)

    async def later() -> None:
        await asyncio.sleep(0.05)
        editor.close(path)
        await asyncio.sleep(0.05)
        editor.open("f.py", AFTER)

    def made(_: Any) -> Json:
        tasks.append(asyncio.ensure_future(later()))
        return {"applied": True}

    tasks: list[asyncio.Future[None]] = []
    editor.connection.answers["workspace/applyEdit"] = made
    assert isinstance(await editor.workspace.apply(edit_of(editor, path), "label"), Applied)
    await tasks[0]


@pytest.mark.parametrize(
    ("base", "after", "typed", "right"),
    [
        # The user removes the line that the first hunk removes.
        ("0\n1\n2\n3\n4\n5\n6\n7", "1\n2\n3\n4\nA\nB\nC\n", (0, 2, ""), "1\n2\n3\n4\nA\nB\nC\n"),
        # The user removes as many lines as the first hunk does.
        ("0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n", "A\n3\n4\n5\n6\nB\n8\n9\nC\n", (2, 6, ""), "0\n3\n4\n5\n6\n7\n8\n9\n"),
    ],
)
async def test_what_is_typed_can_look_like_a_part_of_the_edit(
    editor: ScriptedEditor, base: str, after: str, typed: tuple[int, int, str], right: str
) -> None:
    path = editor.open("f.py", base)
    edit = edit_of(editor, path, after)

    def hunk_by_hunk(params: Any) -> Json:
        if len(sent(editor)) > 1:
            return editor.apply(params)
        editor.type(path, typed)
        for hunk in reversed(changed_lines(edit).hunks):
            lines = split_lines(editor.text(path))
            start, end = (len("".join(lines[:at])) for at in (hunk.start, hunk.end))
            editor.type(path, (start, end, hunk.new_text))
        return {"applied": True}

    editor.connection.answers["workspace/applyEdit"] = hunk_by_hunk
    await editor.workspace.apply(edit, "label")
    assert editor.text(path) == right


@pytest.mark.parametrize("end", ["", "\n"], ids=["no ending", "an ending"])
async def test_hunks_that_are_past_the_end_by_then_told_one_after_the_other(editor: ScriptedEditor, end: str) -> None:
    """The user removes lines, so the last hunk adds its lines at the end. These are not the user's."""
    path = editor.open("f.py", f"0\n1\n2\n3\n4\n5\n6{end}")

    def stale(params: Any) -> Json:
        return one_by_one(editor, path, (6, 12, ""), params) if len(sent(editor)) == 1 else editor.apply(params)

    editor.connection.answers["workspace/applyEdit"] = stale
    await editor.workspace.apply(edit_of(editor, path, "0\nONE\n2\nTHREE\n5\nSIX\n"), "label")
    assert editor.text(path) == f"0\n1\n2\n6{end}"


def bodies(text: str) -> list[str]:
    """The lines without their endings: a last line gets one if others follow it."""
    return text.splitlines()


@pytest.mark.parametrize("behaviour", [at_once, together, one_by_one])
@settings(max_examples=examples(60))
@given(st.data())
def test_any_stale_edit_is_made_right_or_taken_back(
    tmp_path_factory: pytest.TempPathFactory, behaviour: Editor, data: st.DataObject
) -> None:
    """The user removes lines or adds some, and the text can end without a line ending."""
    old = [f"line {number}\n" for number in range(data.draw(st.integers(2, 9)))]
    hunks: list[tuple[int, int, tuple[str, ...]]] = []
    at = 0
    while at < len(old):
        start = data.draw(st.integers(at, len(old) - 1))
        size = data.draw(st.integers(0, min(3, len(old) - start)))
        new = tuple(f"new {len(hunks)} {n}\n" for n in range(data.draw(st.integers(0 if size else 1, 2))))
        hunks.append((start, size, new))
        at = start + size + 1
    text = "".join(old)[: data.draw(st.sampled_from([None, -1]))]
    first = data.draw(st.integers(0, len(old) - 1))
    last = data.draw(st.integers(first, len(old)))
    offsets = [*line_starts(text), len(text)]
    typed = offsets[first], min(offsets[last], len(text)), data.draw(st.sampled_from(["", "typed\n", "typed\n\n"]))
    mine = text[: typed[0]] + typed[2] + text[typed[1] :]

    async def run() -> None:
        editor = ScriptedEditor(tmp_path_factory.mktemp("stale").resolve())
        path = editor.open("f.py", text)
        base, lines = editor.workspace.read(path), split_lines(text)
        edit = ProposedEdit(path, base, tuple(Hunk(at, tuple(lines[at : at + size]), new) for at, size, new in hunks))

        def stale(params: Any) -> Json:
            return behaviour(editor, path, typed, params) if len(sent(editor)) == 1 else editor.apply(params)

        editor.connection.answers["workspace/applyEdit"] = stale
        outcome = await editor.workspace.apply(edit, "label")
        now = bodies(editor.text(path))
        event(type(outcome).__name__)
        # If both are told as one change, lines of the edit can look like typed ones.
        assert not isinstance(outcome, Stale) or behaviour is together or now == bodies(mine)
        removed = [line for hunk in edit.hunks for line in bodies(hunk.old_text)]
        assert [line for line in now if not line.startswith("new")] == [
            line for line in bodies(mine) if line in now or line not in removed
        ]
        assert not isinstance(outcome, Refused)

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(run())


async def test_an_empty_line_typed_at_the_end_is_not_taken_for_the_edit(editor: ScriptedEditor) -> None:
    path = editor.open("f.py", "\n")
    edit = edit_of(editor, path, "new\n\n")

    def stale(params: Any) -> Json:
        return at_once(editor, path, (0, 0, "\n"), params)

    editor.connection.answers["workspace/applyEdit"] = stale
    await editor.workspace.apply(edit, "label")
    assert sorted(split_lines(editor.text(path))) == ["\n", "\n", "new\n"]


@pytest.mark.parametrize("typed", TYPED.values(), ids=TYPED)
@pytest.mark.parametrize("says", [True, False], ids=["skips", "refuses"])
@pytest.mark.parametrize("delay", [0.0, 0.15])
async def test_an_editor_that_does_not_apply_stale_edits(
    editor: ScriptedEditor, typed: tuple[int, int, str], says: bool, delay: float
) -> None:
    path = editor.open("f.py", TEXT)

    def skip(_: Any) -> Json:
        changes = editor.type(path, typed, tell=False)
        asyncio.get_running_loop().call_later(delay, editor.tell, path, changes)
        return {"applied": says}

    editor.connection.answers["workspace/applyEdit"] = skip
    assert await editor.workspace.apply(edit_of(editor, path), "label") == Stale("the text changed meanwhile")
    assert len(sent(editor)) == 1


async def test_typing_after_the_edit_was_applied(editor: ScriptedEditor) -> None:
    path = editor.open("f.py", TEXT)

    def and_type(params: Any) -> Json:
        answer = editor.apply(params)
        editor.type(path, (0, 0, "typed"))
        return answer

    editor.connection.answers["workspace/applyEdit"] = and_type
    outcome = await editor.workspace.apply(edit_of(editor, path), "label")
    assert isinstance(outcome, Applied)
    assert outcome.snapshot.text == "typed" + AFTER


async def test_what_cannot_be_put_right_is_said(editor: ScriptedEditor) -> None:
    """It applies the stale edit and refuses every further one."""
    path = editor.open("f.py", TEXT)
    left = [TYPED["above"]]

    def stale(params: Any) -> Json:
        return at_once(editor, path, left.pop(), params) if left else {"applied": False}

    editor.connection.answers["workspace/applyEdit"] = stale
    outcome = await editor.workspace.apply(edit_of(editor, path), "label")
    assert isinstance(outcome, Refused)
    assert "in the wrong place" in outcome.reason
    assert "typed\n" in editor.text(path)


def test_old_places_past_the_end_of_a_shorter_text() -> None:
    base = Snapshot(Path("f"), TEXT)
    edit = ProposedEdit(base.path, base, (Hunk(10, ("line 10\n",), ("TEN\n",)),))
    sent = find_text_edits(split_lines(TEXT), edit, "utf-16")
    assert at_old_places(sent, "utf-16", ["short\n"]) == ["short\n", "TEN\n"]
    assert at_old_places(sent, "utf-16", ["no ending"]) == ["no endingTEN\n"]


def test_old_places_inside_of_lines() -> None:
    sent = [TextEdit((1, 3), (2, 2), "new\nX")]
    assert at_old_places(sent, "utf-16", ["0\n", "\N{GRINNING FACE}ab\n", "cde\n", "3"]) == [
        *("0\n", "\N{GRINNING FACE}anew\n", "Xe\n", "3")
    ]
    assert at_old_places(sent, "utf-16", ["0\n", "a\n", "b\n"]) == ["0\n", "anew\n", "X\n"]
    assert at_old_places(sent, "utf-16", ["0"]) == ["0new\n", "X"]


async def test_an_edit_at_the_end_as_neovim_tells_it() -> None:
    """Neovim replaces the end of the text with one empty line too many, and then removes it."""
    documents = Documents("utf-8")
    text = "# remove\n\ndef f(a):\n    return a\n"
    DocumentSync(documents).did_open(
        {"textDocument": {"uri": "file:///f.py", "languageId": "python", "version": 0, "text": text}}
    )
    document = documents.find_document("file:///f.py")
    assert document is not None
    hunks = (
        Hunk(0, ("# remove\n",), ()),
        Hunk(2, ("def f(a):\n", "    return a\n"), ("def f(b):\n", "    return b\n")),
    )
    edit = ProposedEdit(Path("/f.py"), document.snapshot(), hunks)
    told = [((2, 6), (3, 12), "b):\n    return b\n"), ((0, 0), (1, 0), ""), ((3, 0), (4, 0), "")]
    changes = [
        {"range": {side: {"line": at[0], "character": at[1]} for side, at in (("start", a), ("end", b))}, "text": new}
        for a, b, new in told
    ]
    with Watch(documents, document, edit) as watch:
        DocumentSync(documents).did_change(
            {"textDocument": {"uri": "file:///f.py", "version": 6}, "contentChanges": changes}
        )
        outcome = await watch.outcome(0.1, 0.1)
    assert document.text == edit.after
    assert isinstance(outcome, Applied)
