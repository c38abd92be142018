"""The gate after an edit: which errors are new, how long they are waited for, and who is told."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.agent.approval import Policy
from tark_lsp.agent.edit_check import (
    BeforeEdit,
    EditCheck,
    EditedFile,
    FoundErrors,
    ReportedLines,
    ShownDiagnostics,
    new_errors,
)
from tark_lsp.agent.rules import Rule
from tark_lsp.agent.user_interface import Rejected
from tark_lsp.messages import ApprovalLevel, Mode
from tark_lsp.tools.editor import Diagnostic
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.lines import line_changes, split_lines
from tark_lsp.workspace.snapshot import Snapshot
from tests.agent.bench import Bench
from tests.agent.script import Call, answer, call
from tests.agent.scripted_user import Some
from tests.patience import AT_ONCE, HANGS

pytestmark = pytest.mark.virtual_clock

HERE, OTHER, THERE = Path("/project/a.py"), Path("/project/b.py"), Path("/project/sub/a.py")


def error(line: int, message: str = "bad", path: Path = HERE, severity: int = 1) -> Diagnostic:
    return Diagnostic(path, line, 0, severity, message, "lint", "E1")


def changed(then: str, now: str, made: str | None = None, target: Path = HERE) -> EditedFile:
    return EditedFile(Snapshot(HERE, then, 1), now if made is None else made, Snapshot(target, now, 2))


ABC = "a\nb\nc\n"

# before, after, the edit of the file, and the lines of the errors that are new
CASES: dict[str, tuple[list[Diagnostic], list[Diagnostic], EditedFile, list[int]]] = {
    "none": ([], [], changed(ABC, "a\nX\nc\n"), []),
    "one": ([], [error(1)], changed(ABC, "a\nX\nc\n"), [1]),
    "an old one stays": ([error(2)], [error(2)], changed(ABC, "a\nX\nc\n"), []),
    "an old one moves down": ([error(2)], [error(3)], changed(ABC, "a\nX\nY\nc\n"), []),
    "an old one moves up": ([error(2)], [error(1)], changed(ABC, "a\nc\n"), []),
    "an old one stays in rewritten lines": ([error(1)], [error(2)], changed(ABC, "a\nX\nY\nc\n"), []),
    "the same one again": ([error(1)], [error(1), error(2)], changed(ABC, "a\nX\nY\nc\n"), [2]),
    "the same one elsewhere": ([error(0)], [error(2)], changed(ABC, "a\nX\nc\n"), [2]),
    "it names another line now": (
        [error(2, "see line 1")],
        [error(3, "see line 2")],
        changed(ABC, "new\na\nb\nc\n"),
        [],
    ),
    "another message": ([error(2)], [error(2, "worse")], changed(ABC, "a\nX\nc\n"), [2]),
    "only errors count": ([], [error(1, severity=2), error(2, severity=4)], changed(ABC, "a\nX\nc\n"), []),
    "a warning becomes an error": ([error(1, severity=2)], [error(1)], changed(ABC, "a\nX\nc\n"), [1]),
    "what the person types meanwhile": ([], [error(0), error(1)], changed(ABC, "ty\nX\nc\n", "a\nX\nc\n"), [1]),
    "in another file": ([], [error(7, path=OTHER)], changed(ABC, "a\nX\nc\n"), [7]),
    "an old one in another file": (
        [error(7, path=OTHER)],
        [error(7, path=OTHER)],
        changed(ABC, "a\nX\nc\n"),
        [],
    ),
    "a moved file takes its errors along": (
        [error(2)],
        [error(2, path=THERE), error(0, path=THERE)],
        changed(ABC, ABC, target=THERE),
        [0],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_new_errors(name: str) -> None:
    before, after, edit, lines = CASES[name]
    assert [
        item.line for item in new_errors(ShownDiagnostics(tuple(before)), ShownDiagnostics(tuple(after)), [edit])
    ] == lines


@given(
    st.lists(st.sampled_from(["a\n", "bad\n", "c\n", "bad d\n"]), max_size=12),
    st.lists(st.sampled_from(["a\n", "bad\n", "c\n", "bad d\n"]), max_size=12),
)
def test_only_lines_that_the_edit_wrote_have_new_errors(old: list[str], new: list[str]) -> None:
    then, now = "".join(old), "".join(new)

    def shown(lines: list[str]) -> ShownDiagnostics:
        return ShownDiagnostics(tuple(error(number, line) for number, line in enumerate(lines) if "bad" in line))

    written: set[int] = set()
    shift = 0
    for hunk in line_changes(then, now):
        written |= set(range(hunk.start + shift, hunk.start + shift + len(hunk.new)))
        shift += len(hunk.new) - len(hunk.old)
    found = new_errors(shown(old), shown(new), [changed(then, now)])
    assert {item.line for item in found} <= written
    more = {line: new.count(line) - old.count(line) for line in ("bad\n", "bad d\n")}
    assert all(sum(item.message == line for item in found) >= count for line, count in more.items())


def test_another_file_that_changed_meanwhile_is_not_the_edits_doing() -> None:
    edit = changed(ABC, "a\nX\nc\n")
    before, after = ShownDiagnostics((), {OTHER: 3}), ShownDiagnostics((error(7, path=OTHER),), {OTHER: 4})
    assert new_errors(before, after, [edit]) == []
    assert len(new_errors(before, ShownDiagnostics(after.diagnostics, {OTHER: 3}), [edit])) == 1


# what was known of the file before and after: (moment, lines from, to)
GLIMPSES = {
    "the same lines, later": ((1, 0, 3), (2, 0, 4), [1, 3]),
    "nothing newer": ((1, 0, 3), (1, 0, 3), []),
    "nothing before": (None, (2, 0, 4), []),
    "nothing after": ((1, 0, 3), None, []),
    "of other lines before": ((1, 2, 3), (2, 0, 4), [3]),
    "of the lines that were rewritten": ((1, 1, 2), (2, 0, 4), [1]),
}


@pytest.mark.parametrize("name", GLIMPSES)
def test_of_lines_not_known_before_nothing_is_said(name: str) -> None:
    one, other, lines = GLIMPSES[name]
    before = ShownDiagnostics((), {}, {} if one is None else {HERE: ReportedLines(*one)})
    after = ShownDiagnostics((error(1), error(3)), {}, {} if other is None else {HERE: ReportedLines(*other)})
    found = new_errors(before, after, [changed(ABC, "a\nX\nY\nc\n")])
    assert [item.line for item in found] == lines


@dataclass
class Linter:
    """A language server behind an editor: each line with BAD in it is an error, some looks after it was written."""

    bench: Bench
    late: int = 3
    looks: int = 0
    hangs: bool = False
    gone_after: int = 1000
    """Looks; then the editor cannot be asked any more."""
    extra: Callable[[], list[Diagnostic]] = list
    _known: list[tuple[int, str]] = field(default_factory=list)

    async def read_shown(self) -> ShownDiagnostics | None:
        self.looks += 1
        if self.hangs:
            await asyncio.sleep(HANGS)
        if self.looks > self.gone_after:
            return None
        path = self.bench.root / "a.py"
        text = self.bench.workspace.read(path).text
        if not self._known or self._known[-1][1] != text:
            self._known.append((self.looks, text))
        old = self._known[0][1]
        read = next((text for since, text in reversed(self._known) if self.looks - since >= self.late), old)
        bad = [error(number, line.strip(), path) for number, line in enumerate(split_lines(read)) if "BAD" in line]
        return ShownDiagnostics((*bad, *self.extra()))


@pytest.fixture
def linted(bench: Bench) -> Bench:
    bench.level = ApprovalLevel.BALANCED
    bench.open("a.py", "one\nBAD two\nthree\n" + "more\n" * 10)
    bench.edit_check = EditCheck(Linter(bench), bench.workspace, longest=HANGS, unchanged=HANGS, every=0.01)
    return bench


def wait_little(bench: Bench) -> None:
    """Where nothing changes, so that the wait must end by itself; else a busy machine would end it too soon."""
    assert bench.edit_check is not None
    bench.edit_check.unchanged = 1.0


def linter(bench: Bench) -> Linter:
    assert bench.edit_check is not None
    watch = bench.edit_check.watch
    assert isinstance(watch, Linter)
    return watch


def edit(old: str, new: str) -> Call:
    return call("edit_file", path="a.py", old_text=old, new_text=new)


async def test_new_errors_go_to_the_model_with_the_result(linted: Bench) -> None:
    await linted.run(answer(edit("one\n", "zero\nBAD one\n")), answer("Oh."))
    assert linted.results() == [
        "Applied to a.py.\n\nSince then the editor shows 1 new error:\na.py:2:1: error: BAD one (lint E1)"
    ]
    assert linted.user.alarms == [(["BAD one"], ["BAD one", "BAD two"])]


async def test_of_several_calls_the_last_that_changed_something_tells(linted: Bench) -> None:
    await linted.run(
        answer(edit("one\n", "BAD 1\n"), edit("three\n", "BAD 3\n"), edit("nowhere\n", "x\n")), answer("Oh.")
    )
    first, second, _ = linted.results()
    assert first == "Applied to a.py."
    assert second.endswith("2 new errors:\na.py:1:1: error: BAD 1 (lint E1)\na.py:3:1: error: BAD 3 (lint E1)")


async def test_no_new_error_is_no_word(linted: Bench) -> None:
    wait_little(linted)
    await linted.run(answer(edit("one\n", "1\n")), answer(edit("BAD two\n", "two\n")))
    assert linted.results() == ["Applied to a.py."] * 2
    assert linted.user.alarms == [([], ["BAD two"]), ([], [])]


async def test_many_errors_are_cut(linted: Bench) -> None:
    await linted.run(answer(edit("one\n", "".join(f"BAD {number}\n" for number in range(30)))))
    told = linted.results()[0]
    assert "30 new errors" in told
    assert told.count("error: BAD") == 10
    assert told.endswith("and 20 more")


async def test_nothing_is_looked_at_where_nothing_was_applied(linted: Bench) -> None:
    linted.level = ApprovalLevel.CAREFUL
    await linted.run(answer(edit("three\n", "BAD\n")), decisions=[Rejected()])
    assert linter(linted).looks == 1, "the look before, and none after"
    assert linted.user.alarms == []


async def test_only_what_was_accepted_counts(linted: Bench) -> None:
    linted.level = ApprovalLevel.CAREFUL
    await linted.run(
        answer(edit("one\n", "BAD one\n"), edit("more\n" * 5 + "more\n", "BAD more\n")),
        decisions=[Some(lambda hunk: hunk.start == 0)],
    )
    assert linted.user.alarms == [(["BAD one"], ["BAD one", "BAD two"])]


async def test_a_proposal_that_is_only_shown_is_not_looked_at(linted: Bench) -> None:
    linted.mode = Mode.PLAN
    await linted.run(answer(call("propose_edit", path="a.py", old_text="one\n", new_text="BAD\n")))
    assert linter(linted).looks == 0


async def test_a_file_that_a_rule_keeps_from_the_model(linted: Bench) -> None:
    wait_little(linted)
    linted.rules = Policy(ApprovalLevel.BALANCED, deny=(Rule("read_file", "secret/**"),))
    path = linted.write("secret/key.py", "x\n")
    written: list[Diagnostic] = []
    linter(linted).extra = lambda: written if "1" in linted.text("a.py") else []
    written.append(error(0, "the key is 1234", path))
    await linted.run(answer(edit("one\n", "1\n")))
    assert linted.results() == ["Applied to a.py."]
    assert linted.user.alarms[0][0] == ["the key is 1234"], "the person is told all the same"


@pytest.mark.parametrize(("hangs", "gone_after"), [(True, 1000), (False, 0), (False, 1)])
async def test_an_editor_that_does_not_answer_delays_little_and_says_nothing(
    linted: Bench, monkeypatch: pytest.MonkeyPatch, hangs: bool, gone_after: int
) -> None:
    monkeypatch.setattr("tark_lsp.agent.edit_check.READ_SECONDS", 0.05)
    linter(linted).hangs, linter(linted).gone_after = hangs, gone_after
    async with asyncio.timeout(AT_ONCE):
        await linted.run(answer(edit("one\n", "BAD\n")))
    assert linted.results() == ["Applied to a.py."]
    assert linted.user.alarms == []


async def test_a_cancelled_turn_does_not_wait(linted: Bench) -> None:
    turn = asyncio.create_task(linted.run(answer(edit("one\n", "1\n"))))
    async with asyncio.timeout(AT_ONCE):
        while linter(linted).looks < 2:  # noqa: ASYNC110  # what is waited for has no event
            await asyncio.sleep(0.01)
        turn.cancel()
        await turn
    assert linted.results() == ["Applied to a.py."], "what was done is told"


async def rest(
    bench: Bench, looks: Callable[[int], list[Diagnostic]], *, longest: float = HANGS, unchanged: float = HANGS
) -> tuple[FoundErrors | None, int, float]:
    """What is found where the nth look shows `looks(n)`, the number of looks, and the seconds it took."""

    @dataclass
    class Scripted:
        number: int = 0

        async def read_shown(self) -> ShownDiagnostics | None:
            self.number += 1
            return ShownDiagnostics(tuple(looks(self.number)))

    watch = Scripted()
    gate = EditCheck(watch, bench.workspace, longest=longest, unchanged=unchanged, every=0.01)
    base = bench.workspace.read(bench.root / "a.py")
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with asyncio.timeout(AT_ONCE):
        found = await gate.find_new_errors(
            BeforeEdit(ShownDiagnostics(()), {base.path: base}), [ProposedEdit(base.path, base, ())]
        )
    return found, watch.number, loop.time() - began


async def test_where_nothing_changes_the_wait_is_short(linted: Bench) -> None:
    found, _, seconds = await rest(linted, lambda _: [], unchanged=0.15)
    assert found == FoundErrors((), ())
    assert seconds >= 0.15


async def test_what_has_come_to_rest_is_not_waited_for(linted: Bench) -> None:
    late = error(0, path=linted.root / "a.py")
    found, looks, _ = await rest(linted, lambda number: [late] if number > 3 else [])
    assert found == FoundErrors((late,), (late,))
    assert looks == 5


async def test_what_does_not_come_to_rest_is_taken_as_it_is_in_the_end(linted: Bench) -> None:
    path = linted.root / "a.py"
    found, _, seconds = await rest(linted, lambda number: [error(0, "x" * number, path)], longest=0.3)
    assert found is not None
    assert len(found.new) == 1
    assert seconds > 0.29
