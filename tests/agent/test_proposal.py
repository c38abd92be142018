"""The edits of one answer: previewed on top of each other, one question, and each call told what became of its own."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tark_lsp.agent.approval import Policy
from tark_lsp.agent.edit_review import EditReview
from tark_lsp.agent.grants import Grant
from tark_lsp.agent.rules import Rule
from tark_lsp.agent.user_interface import HunkState, PermissionRequest, Permitted, Rejected, ReviewResult
from tark_lsp.errors import StaleText
from tark_lsp.messages import ApprovalLevel, Mode
from tark_lsp.tools.tool import Preview, Tool, ToolContext
from tests.agent.bench import Bench, error_of
from tests.agent.script import Call, answer, call
from tests.agent.scripted_user import ScriptedUser, Some

LINES = "".join(f"line {number}\n" for number in range(1, 41))


def edit(old: str, new: str, path: str = "a.py") -> Call:
    return call("edit_file", path=path, old_text=old, new_text=new)


async def test_all_edits_of_an_answer_are_one_question(bench: Bench) -> None:
    bench.open("a.py", LINES)
    bench.write("b.py", "b\n")
    await bench.run(
        answer(
            edit("line 2\n", "two\n"),
            call("write_file", path="b.py", content="bee\n"),
            call("write_file", path="sub/c.py", content="c\n"),
            edit("line 30\n", "thirty\n"),
        )
    )
    (request,) = bench.user.asked
    assert len(request.call_ids) == 4
    assert [edit.path.name for edit in request.edits] == ["a.py", "b.py", "c.py"]
    assert request.title == "edit 3 files: a.py, b.py, sub/c.py"
    assert bench.results() == ["Applied to a.py.", "Applied to b.py.", "Applied to sub/c.py.", "Applied to a.py."]
    assert bench.text("a.py") == LINES.replace("line 2\n", "two\n").replace("line 30\n", "thirty\n")
    assert bench.text("b.py") == "bee\n"
    assert bench.text("sub/c.py") == "c\n"


async def test_later_edits_are_previewed_on_top_of_earlier_ones(bench: Bench) -> None:
    bench.open("a.py", LINES)
    await bench.run(
        answer(
            edit("line 2\n", "two\nand a half\n"),
            edit("and a half\n", "and three quarters\n"),
            call("write_file", path="new.py", content="one\n"),
            edit("one\n", "two\n", "new.py"),
        )
    )
    assert bench.errors() == [None] * 4
    assert bench.text("a.py") == LINES.replace("line 2\n", "two\nand three quarters\n")
    assert bench.text("new.py") == "two\n"
    (request,) = bench.user.asked
    assert [len(edit.hunks) for edit in request.edits] == [1, 1]


async def test_an_edit_that_cannot_be_placed_leaves_the_others_alone(bench: Bench) -> None:
    bench.open("a.py", LINES)
    await bench.run(answer(edit("line 2\n", "two\n"), edit("nowhere", "x"), edit("two\n", "zwei\n")))
    assert bench.errors() == [None, "not_found", None]
    assert bench.text("a.py") == LINES.replace("line 2\n", "zwei\n")


async def test_an_edit_that_is_there_already_succeeds_and_is_not_asked_about(bench: Bench) -> None:
    text = "pub struct S;\n" + LINES
    bench.open("a.py", text)
    await bench.run(answer(edit("struct S", "pub struct S")))
    assert (bench.errors(), bench.results()) == ([None], ["nothing changed: already there"])
    assert (bench.user.asked, bench.text("a.py")) == ([], text)


PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n line 2\n+more\n line 3\n*** End Patch"


@pytest.mark.parametrize(
    "made",
    [
        edit("line 2\n", "line 2\nmore\n"),
        edit("line 2", "more\nline 2"),
        edit("line 2\n", "two\n"),
        edit("line 2\n", ""),
        call("apply_patch", patch=PATCH),
        call("write_file", path="a.py", content="all of it\n"),
    ],
    ids=["insert below", "insert above", "replace", "remove", "patch", "write"],
)
async def test_an_edit_that_you_undid_is_made_again(bench: Bench, made: Call) -> None:
    """What the model knows of the file has the edit, the file does not."""
    path = bench.open("a.py", LINES)
    await bench.run(answer(made))
    once = bench.text("a.py")
    assert once != LINES
    bench.buffers.type(path, LINES)
    await bench.run(answer(made))
    assert bench.text("a.py") == once, bench.results()
    assert bench.results()[-1].startswith(("Applied to", "Wrote", "Changed")), bench.results()


async def test_an_edit_that_another_one_of_the_answer_made_already(bench: Bench) -> None:
    bench.open("a.py", LINES)
    grown = ("line 2\n", "line 2\nmore\n")
    again = call("apply_patch", patch="*** Begin Patch\n*** Update File: a.py\n line 2\n+more\n")
    await bench.run(answer(edit(*grown), edit(*grown), again, edit("line 30\n", "thirty\n")))
    already = "nothing changed: already there"
    assert bench.results() == ["Applied to a.py.", already, already, "Applied to a.py."]
    assert bench.text("a.py") == LINES.replace("line 2\n", "line 2\nmore\n").replace("line 30\n", "thirty\n")


async def test_each_call_is_told_of_its_own_hunks(bench: Bench) -> None:
    bench.open("a.py", LINES)
    both = LINES.replace("line 20\n", "zwanzig\n").replace("line 40\n", "vierzig\n").replace("line 5\n", "fünf\n")
    await bench.run(
        answer(edit("line 5\n", "fünf\n"), call("write_file", path="a.py", content=both), edit("line 30\n", "30\n")),
        decisions=[Some(lambda hunk: hunk.start in (4, 19), "not these")],
    )
    first, second, third = bench.results()
    assert first == "Applied to a.py."
    assert second.startswith("Applied in part: 1 of 2 changes to a.py. Not applied: a.py:40 (rejected: not these).")
    assert error_of(third)["code"] == "denied"
    assert "not these" in error_of(third)["message"]
    assert sorted(bench.statuses().values()) == ["completed", "completed", "rejected"]


@pytest.mark.parametrize("apart", [1, 2, 3, 4])
async def test_near_changes_of_two_calls_are_decided_apart(bench: Bench, apart: int) -> None:
    bench.open("a.py", LINES)
    below = f"line {20 + apart}\n"
    await bench.run(
        answer(edit("line 20\n", "twenty\n"), edit(below, "below\n")),
        decisions=[Some(lambda hunk: hunk.new == ("below\n",), "not this")],
    )
    first, second = bench.results()
    assert error_of(first)["code"] == "denied"
    assert second == "Applied to a.py."
    assert bench.text("a.py") == LINES.replace(below, "below\n")


async def test_insertions_of_two_calls_at_one_place_are_decided_apart(bench: Bench) -> None:
    bench.open("a.py", LINES)
    await bench.run(
        answer(edit("line 20\n", "line 20\nfirst\n"), edit("first\n", "first\nsecond\n")),
        decisions=[Some(lambda hunk: hunk.new == ("second\n",), "not this")],
    )
    assert error_of(bench.results()[0])["code"] == "denied"
    assert bench.results()[1] == "Applied to a.py."
    assert bench.text("a.py") == LINES.replace("line 20\n", "line 20\nsecond\n")


async def test_a_call_that_changes_what_an_earlier_one_wrote_is_decided_with_it(bench: Bench) -> None:
    bench.open("a.py", LINES)
    await bench.run(
        answer(edit("line 20\n", "one\ntwo\n"), edit("two\n", "zwei\n"), edit("line 21\n", "x\n")),
        decisions=[Some(lambda hunk: hunk.new == ("x\n",), "not this")],
    )
    first, second, third = bench.results()
    assert error_of(first)["code"] == error_of(second)["code"] == "denied"
    assert third == "Applied to a.py."
    assert bench.text("a.py") == LINES.replace("line 21\n", "x\n")


async def test_a_replacement_of_all_occurrences_around_another_calls_lines(bench: Bench) -> None:
    bench.open("a.py", "a\nx\na\nx\na\n")
    every = call("edit_file", path="a.py", old_text="a\n", new_text="b\n", replace_all=True)
    await bench.run(
        answer(edit("x\na\nx\n", "y\na\ny\n"), every),
        decisions=[Some(lambda hunk: "y\n" in hunk.new, "not these")],
    )
    assert bench.results()[0] == "Applied to a.py."
    assert bench.text("a.py") == "a\ny\na\ny\na\n"


async def test_neighbouring_lines_of_a_patch_and_another_call(bench: Bench) -> None:
    """A patch is applied as a whole with what other calls change in its files, and each of them is told of its own."""
    bench.open("a.py", LINES)
    patch = call("apply_patch", patch="*** Begin Patch\n*** Update File: a.py\n-line 20\n+patched\n")
    await bench.run(answer(patch, edit("line 21\n", "x\n")))
    (request,) = bench.user.asked
    assert request.atomic
    assert [hunk.new for hunk in request.edits[0].hunks] == [("patched\n",), ("x\n",)]
    assert bench.text("a.py") == LINES.replace("line 20\n", "patched\n").replace("line 21\n", "x\n")


async def test_a_rejected_edit_is_rejected_again_without_asking(bench: Bench) -> None:
    bench.open("a.py", LINES)
    await bench.run(
        answer(edit("line 2\n", "two\n"), edit("line 30\n", "thirty\n")),
        answer(edit("line 2\n", "two\n")),
        answer(edit("line 2\n", "zwei\n")),
        decisions=[Rejected("why?")],
    )
    assert bench.errors() == ["denied", "denied", "denied", None]
    assert "why?" in bench.results()[0]
    assert "already" in bench.results()[2]
    assert len(bench.user.asked) == 2


async def test_only_the_rejected_part_counts_as_rejected(bench: Bench) -> None:
    bench.open("a.py", LINES)
    await bench.run(
        answer(edit("line 2\n", "two\n"), edit("line 30\n", "thirty\n")),
        answer(edit("line 30\n", "thirty\n")),
        decisions=[Some(lambda hunk: hunk.start == 1)],
    )
    assert bench.errors() == [None, "denied", "denied"]
    assert len(bench.user.asked) == 1


async def test_edits_that_take_each_other_back_leave_nothing(bench: Bench) -> None:
    bench.open("a.py", LINES)
    await bench.run(answer(edit("line 2\n", "two\n"), edit("two\n", "line 2\n")))
    assert bench.errors() == [None, None]
    assert all("Nothing is left" in result for result in bench.results())
    assert bench.text("a.py") == LINES


async def test_what_the_person_types_meanwhile_is_kept(bench: Bench) -> None:
    path = bench.open("a.py", LINES)
    bench.user.meanwhile = lambda: bench.buffers.type(path, "# typed\n" + LINES)
    await bench.run(answer(edit("line 20\n", "twenty\n")))
    assert bench.results() == ["Applied to a.py."]
    assert bench.text("a.py") == "# typed\n" + LINES.replace("line 20\n", "twenty\n")


async def test_what_the_person_types_into_the_lines_is_a_conflict(bench: Bench) -> None:
    path = bench.open("a.py", LINES)
    typed = LINES.replace("line 20\n", "line 20 typed\n")
    bench.user.meanwhile = lambda: bench.buffers.type(path, typed)
    end = await bench.run(answer(edit("line 20\n", "twenty\n")))
    assert bench.errors() == ["conflict"]
    assert bench.text("a.py") == typed
    assert end.edits == {path: "failed"}


async def test_what_the_person_typed_during_a_question_is_not_what_the_model_knows(bench: Bench) -> None:
    """A file written whole afterwards, from what the model read, does not take it away."""
    path = bench.open("a.py", LINES)
    typed = LINES.replace("line 30\n", "line 30\nmine\n")

    def type_once() -> None:
        if len(bench.user.asked) == 1:
            bench.buffers.type(path, typed)

    bench.user.meanwhile = type_once
    after = LINES.replace("line 2\n", "two\n")
    await bench.run(
        answer(call("read_file", path="a.py")),
        answer(edit("line 2\n", "two\n")),
        answer(call("write_file", path="a.py", content=after.replace("line 39\n", "the one before the last\n"))),
    )
    assert bench.errors() == [None, None, None]
    assert "line 30\nmine\nline 31\n" in bench.text("a.py")
    assert "two\n" in bench.text("a.py")
    assert "the one before the last\n" in bench.text("a.py")


async def test_under_balanced_edits_are_applied_unasked_and_protected_ones_are_asked(bench: Bench) -> None:
    bench.level = ApprovalLevel.BALANCED
    bench.open("a.py", LINES)
    await bench.run(
        answer(edit("line 2\n", "two\n")),
        answer(call("write_file", path=".github/workflows/ci.yml", content="on: push\n")),
    )
    assert len(bench.user.unasked) == 1
    (request,) = bench.user.asked
    assert "protected" in request.why
    assert request.grants == ()


async def test_a_protected_path_holds_up_nothing_else(bench: Bench) -> None:
    bench.level = ApprovalLevel.BALANCED
    bench.open("a.py", LINES)
    bench.user.meanwhile = lambda: applied.append(bench.text("a.py") != LINES)
    applied: list[bool] = []
    await bench.run(
        answer(edit("line 2\n", "two\n"), call("write_file", path="AGENTS.md", content="obey\n")),
        decisions=[Rejected("no orders")],
    )
    (request,) = bench.user.asked
    assert [edit.path.name for edit in request.edits] == ["AGENTS.md"]
    assert request.grants == ()
    assert applied == [True], "while it is asked, the harmless edit is in place"
    assert bench.results()[0] == "Applied to a.py."
    assert "no orders" in error_of(bench.results()[1])["message"]


async def test_a_grant_for_a_folder_covers_later_edits_there(bench: Bench) -> None:
    for name in ("src/a.py", "src/b.py", "c.py"):
        bench.open(name, LINES)

    def grant() -> None:
        if len(bench.user.asked) == 1:
            bench.user.decisions = [Permitted(bench.user.asked[0].grants[0])]

    bench.user.meanwhile = grant
    await bench.run(
        *(answer(edit("line 2\n", "two\n", name)) for name in ("src/a.py", "src/b.py", "c.py")),
    )
    assert bench.user.asked[0].grants[0].covers == "edits below src, this turn"
    assert [request.title for request in bench.user.asked] == ["edit src/a.py", "edit c.py"]
    assert [request.title for request in bench.user.unasked] == ["edit src/b.py"]


async def test_an_edit_outside_the_workspace_is_refused(bench: Bench) -> None:
    outside = bench.root.parent / "outside.py"
    outside.write_text("secret\n")
    await bench.run(answer(edit("secret", "x", "../outside.py"), edit("secret", "x", str(outside))))
    assert bench.errors() == ["outside_workspace", "outside_workspace"]
    assert bench.user.asked == []


async def test_in_plan_mode_edits_are_only_shown(bench: Bench) -> None:
    bench.mode = Mode.PLAN
    path = bench.open("a.py", LINES)
    proposals = [
        call("propose_edit", path="a.py", old_text=f"line {n}\n", new_text=f"{n}\n", replace_all=False) for n in (2, 30)
    ]
    end = await bench.run(answer(*proposals))
    assert all("Shown as a proposal" in result for result in bench.results())
    assert bench.text("a.py") == LINES
    assert (len(bench.user.shown), bench.user.asked, bench.user.unasked) == (1, [], [])
    assert end.edits == {path: "pending"}


class TestFence:
    """Kind `edit`: nothing outside the selection can change."""

    @pytest.fixture
    def fenced(self, bench: Bench) -> Bench:
        bench.kind = "edit"
        path = bench.open("a.py", LINES)
        bench.open("b.py", LINES)
        start = LINES.index("line 10\n")
        bench.select(path, start, LINES.index("line 13\n"))
        return bench

    async def test_inside(self, fenced: Bench) -> None:
        await fenced.run(answer(edit("line 11\n", "eleven\n"), edit("line 12\n", "twelve\nand more\n")))
        assert fenced.errors() == [None, None]
        (request,) = fenced.user.asked
        assert request.grants != ()

    async def test_outside(self, fenced: Bench) -> None:
        await fenced.run(
            answer(
                edit("line 2\n", "two\n"),
                edit("line 12\nline 13\n", "x\n"),
                edit("line 2\n", "two\n", "b.py"),
                edit("line 11\n", "eleven\n"),
            )
        )
        assert fenced.errors() == ["denied", "denied", "denied", None]
        assert fenced.text("b.py") == LINES
        assert fenced.text("a.py") == LINES.replace("line 11\n", "eleven\n")

    async def test_the_selection_is_what_was_written_into_it(self, fenced: Bench) -> None:
        await fenced.run(
            answer(call("replace_selection", new_text="one\ntwo\nthree\nfour\n")),
            answer(edit("four\n", "4\n")),
            answer(call("replace_selection", new_text="all new\n")),
            answer(edit("line 13\n", "x\n")),
        )
        assert fenced.errors() == [None, None, None, "denied"]
        assert fenced.text("a.py") == LINES.replace("line 10\nline 11\nline 12\n", "all new\n")

    async def test_the_person_types_above(self, fenced: Bench) -> None:
        path = fenced.root / "a.py"

        def type_once() -> None:
            if len(fenced.user.asked) == 1:
                fenced.buffers.type(path, "# typed\n" + fenced.text("a.py"))

        fenced.user.meanwhile = type_once
        await fenced.run(
            answer(call("replace_selection", new_text="new\n")), answer(call("replace_selection", new_text="newer\n"))
        )
        assert fenced.errors() == [None, None]
        assert fenced.text("a.py") == "# typed\n" + LINES.replace("line 10\nline 11\nline 12\n", "newer\n")

    async def test_a_part_of_a_line(self, bench: Bench) -> None:
        bench.kind = "edit"
        path = bench.open("a.py", "x = foo(1) + foo(2)\n")
        bench.select(path, 4, 10)
        await bench.run(
            answer(
                call("edit_file", path="a.py", old_text="foo(2)", new_text="bar(2)"),
                call("edit_file", path="a.py", old_text="foo(1)", new_text="bar(1)"),
            )
        )
        assert bench.errors() == ["denied", None]
        assert bench.text("a.py") == "x = bar(1) + foo(2)\n"

    async def test_with_no_selection_nothing_can_change(self, bench: Bench) -> None:
        bench.kind = "edit"
        bench.open("a.py", LINES)
        await bench.run(answer(edit("line 2\n", "two\n")))
        assert bench.errors() == ["denied"]
        assert bench.text("a.py") == LINES


class TestOutside:
    """Kinds without a fence: what is outside the selection is asked about by itself, each time."""

    @pytest.fixture
    def selected(self, bench: Bench) -> Bench:
        """Lines 10 to 12 are selected; edits are applied unasked."""
        bench.level = ApprovalLevel.BALANCED
        path = bench.open("a.py", LINES)
        bench.select(path, LINES.index("line 10\n"), LINES.index("line 13\n"))
        return bench

    async def test_inside_is_applied_and_outside_is_asked(self, selected: Bench) -> None:
        await selected.run(answer(edit("line 11\n", "eleven\n")), answer(edit("line 30\n", "thirty\n")))
        assert [request.edits[0].hunks[0].start for request in selected.user.unasked] == [10]
        (request,) = selected.user.asked
        assert "outside the selection" in request.why
        assert request.grants == ()

    @pytest.mark.parametrize("accepted", [True, False])
    async def test_one_edit_on_both_sides(self, selected: Bench, accepted: bool) -> None:
        """Lines 11 and 14 are near each other, and yet decided apart."""
        both = LINES.replace("line 11\n", "eleven\n").replace("line 14\n", "fourteen\n")
        await selected.run(
            answer(call("write_file", path="a.py", content=both)),
            answer(edit("line 14\n", "fourteen\n")),
            decisions=[Permitted() if accepted else Rejected("stay inside")],
        )
        (request,) = selected.user.asked
        (inside,) = selected.user.unasked
        assert [hunk.new for hunk in inside.edits[0].hunks] == [("eleven\n",)]
        assert [hunk.new for hunk in request.edits[0].hunks] == [("fourteen\n",)]
        if accepted:
            assert selected.text("a.py") == both
            assert selected.results()[0] == "Applied to a.py."
        else:
            assert selected.text("a.py") == LINES.replace("line 11\n", "eleven\n")
            assert selected.results()[0].startswith(
                "Applied in part: 1 of 2 changes to a.py. Not applied: a.py:14 (rejected: stay inside)."
            )
            assert error_of(selected.results()[1])["code"] == "denied", "what was rejected is not asked about again"

    async def test_a_hunk_that_reaches_out_is_outside_as_a_whole(self, selected: Bench) -> None:
        await selected.run(answer(edit("line 12\nline 13\n", "x\n")))
        assert selected.user.unasked == []
        (request,) = selected.user.asked
        assert request.edits[0].hunks[0].old == ("line 12\n", "line 13\n")

    async def test_other_files_are_outside(self, selected: Bench) -> None:
        selected.open("b.py", LINES)
        await selected.run(answer(edit("line 2\n", "two\n", "b.py"), edit("line 11\n", "eleven\n")))
        assert [request.title for request in selected.user.unasked] == ["edit a.py"]
        assert [request.title for request in selected.user.asked] == ["edit b.py"]

    async def test_no_grant_and_no_rule_covers_it(self, selected: Bench) -> None:
        selected.level = ApprovalLevel.CAREFUL
        selected.rules = Policy(ApprovalLevel.CAREFUL, allow=(Rule("edit_file"),), edit_review=EditReview("after"))

        def grant() -> None:
            selected.session.grants.append(Grant("g", "session", "all", folder=selected.root))

        selected.user.meanwhile = grant
        await selected.run(answer(edit("line 30\n", "thirty\n")), answer(edit("line 31\n", "thirty-one\n")))
        assert len(selected.user.asked) == 2

    async def test_inside_and_outside_are_two_questions_where_both_are_asked(self, selected: Bench) -> None:
        selected.level = ApprovalLevel.CAREFUL
        await selected.run(answer(edit("line 30\n", "thirty\n"), edit("line 11\n", "eleven\n")))
        inside, outside = selected.user.asked
        assert (inside.grants != (), outside.grants) == (True, ())
        assert "outside the selection" not in inside.why
        assert selected.results() == ["Applied to a.py."] * 2

    async def test_the_selection_follows_an_edit_made_on_both_sides(self, selected: Bench) -> None:
        await selected.run(
            answer(edit("line 2\n", "one\nmore\n"), edit("line 11\n", "eleven\n")),
            answer(call("replace_selection", new_text="all new\n")),
        )
        assert selected.text("a.py") == LINES.replace("line 2\n", "one\nmore\n").replace(
            "line 10\nline 11\nline 12\n", "all new\n"
        )
        assert len(selected.user.asked) == 1

    async def test_what_was_applied_is_told_where_the_turn_is_cancelled_at_the_second_question(
        self, selected: Bench
    ) -> None:
        selected.user.seconds = 60
        asked = asyncio.Event()
        selected.user.meanwhile = asked.set
        turn = asyncio.create_task(selected.run(answer(edit("line 11\n", "eleven\n"), edit("line 30\n", "x\n"))))
        await asked.wait()
        turn.cancel()
        await turn
        first, second = selected.results()
        assert first == "Applied to a.py."
        assert error_of(second)["code"] == "cancelled"
        assert selected.text("a.py") == LINES.replace("line 11\n", "eleven\n")
        assert selected.session.seen[selected.root / "a.py"].text == selected.text("a.py")

    async def test_what_was_applied_is_told_where_the_second_question_fails(self, selected: Bench) -> None:
        selected.user = BrokenUser(selected.workspace, breaks_at=2)
        both = LINES.replace("line 11\n", "eleven\n").replace("line 30\n", "thirty\n")
        await selected.run(answer(call("write_file", path="a.py", content=both), edit("line 35\n", "thirty-five\n")))
        first, second = selected.results()
        assert first.startswith("Applied in part: 1 of 2 changes to a.py. Not applied: a.py:30 (failed: not")
        assert error_of(second)["code"] == "stale"


@dataclass(slots=True)
class BrokenUser(ScriptedUser):
    """The editor lets an edit down on the way: the first, or a later one."""

    error: Exception = field(default_factory=lambda: StaleText("the editor is gone", hint="try again"))
    breaks_at: int = 1

    async def review_edits(self, request: PermissionRequest, *, ask: bool) -> ReviewResult:
        self.breaks_at -= 1
        if not self.breaks_at:
            raise self.error
        return await ScriptedUser.review_edits(self, request, ask=ask)


@pytest.mark.parametrize(("error", "code"), [(StaleText("gone"), "stale"), (ZeroDivisionError(), "internal")])
async def test_an_editor_that_fails_is_told_to_each_call(bench: Bench, error: Exception, code: str) -> None:
    bench.user = BrokenUser(bench.workspace, error=error)
    bench.open("a.py", LINES)
    await bench.run(answer(edit("line 2\n", "two\n"), edit("line 3\n", "three\n")), answer("Pity."))
    assert bench.errors() == [code, code]
    assert bench.context.drafts == {}


async def test_a_defect_in_a_preview_is_told_and_the_other_edits_go_on(bench: Bench) -> None:
    tool = bench.tools["edit_file"]

    async def preview(args: object, ctx: ToolContext) -> Preview:
        if getattr(args, "old_text", "") == "line 2\n":
            raise ZeroDivisionError
        return await tool.preview(args, ctx)

    bench.tools["edit_file"] = Tool(tool.name, tool.description, tool.arguments, tool.risk, preview, None)
    bench.open("a.py", LINES)
    await bench.run(answer(edit("line 2\n", "two\n"), edit("line 3\n", "three\n")))
    assert bench.errors() == ["internal", None]
    assert bench.text("a.py") == LINES.replace("line 3\n", "three\n")


async def test_what_the_model_reads_in_the_same_answer_is_the_edited_text(bench: Bench, tmp_path: Path) -> None:
    bench.write("a.py", LINES)
    await bench.run(answer(edit("line 2\n", "two\n"), call("read_file", path="a.py", start_line=1, end_line=3)))
    assert "two" in bench.results()[1]
    assert (tmp_path / "project" / "a.py").read_text() == LINES.replace("line 2\n", "two\n")


def test_states_are_those_of_the_contract() -> None:
    assert {state.value for state in HunkState} == {"applied", "rejected", "conflict", "failed", "pending"}
