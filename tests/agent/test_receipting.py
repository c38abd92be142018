"""The receipts of a turn: shown, approved, ended, with digests; and if they cannot be stored, nothing runs unasked."""

import asyncio
from collections.abc import Sequence

import pytest

from tark_lsp.agent.approval import Policy
from tark_lsp.agent.edit_review import EditReview
from tark_lsp.agent.events import CallChanged, CallStatus
from tark_lsp.agent.grants import Grant
from tark_lsp.agent.receipting import TurnReceipts
from tark_lsp.agent.rules import Rule
from tark_lsp.agent.turn import run_turn
from tark_lsp.agent.user_interface import Permitted, Rejected
from tark_lsp.messages import ApprovalLevel
from tark_lsp.receipts.receipt import Receipt, Step
from tark_lsp.receipts.store import ReceiptsUnusable
from tark_lsp.tools.command import Command
from tark_lsp.tools.shell import shell
from tests.agent.bench import Bench
from tests.agent.script import Answer, answer, call
from tests.agent.scripted_user import Decision, Some

EDIT = call("edit_file", path="a.py", old_text="one\n", new_text="1\n")
COMMAND = call("run_command", command="exit 3")


class Kept:
    """The receipts of a turn, in memory. `full`: none can be stored."""

    def __init__(self, *, full: bool = False) -> None:
        self.full = full
        self.receipts: list[Receipt] = []
        self.problems: list[str] = []

    def append(self, receipts: Sequence[Receipt]) -> None:
        if self.full:
            raise ReceiptsUnusable("the disk is full")
        self.receipts += receipts

    @property
    def steps(self) -> list[tuple[str, str]]:
        return [(str(receipt.step), receipt.detail) for receipt in self.receipts]

    @property
    def digests(self) -> list[str]:
        return [receipt.digest for receipt in self.receipts]


async def run(bench: Bench, kept: Kept, *answers: Answer, decisions: list[Decision] | None = None) -> None:
    turn = bench.make(*answers, answer("done"), decisions=decisions)
    turn.receipts = TurnReceipts(kept.append, "session-1", "turn-1", failed=kept.problems.append)
    await run_turn(turn)


def granted(bench: Bench) -> Grant:
    """The grant of `COMMAND`."""
    return Grant("g", "session", "`exit 3`, this session", command=Command((*shell(), "exit 3"), "exit 3", bench.root))


async def test_a_command_is_shown_approved_and_ended_with_one_digest(bench: Bench) -> None:
    kept = Kept()
    await run(bench, kept, answer(COMMAND))
    assert kept.steps == [
        ("shown", "it runs a command without a sandbox"),
        ("approved", "you"),
        ("ended", "completed, exit code 3"),
    ]
    assert len(set(kept.digests)) == 1
    assert {(receipt.session, receipt.turn, receipt.tool) for receipt in kept.receipts} == {
        ("session-1", "turn-1", "run_command")
    }
    assert kept.receipts[0].subject == "run_command exit 3"


async def test_a_no_is_a_receipt_and_so_is_the_same_call_again(bench: Bench) -> None:
    kept = Kept()
    await run(bench, kept, answer(COMMAND), answer(call("run_command", command="exit 3")), decisions=[Rejected("no")])
    assert kept.steps == [
        ("shown", "it runs a command without a sandbox"),
        ("refused", "you: no"),
        ("refused", "you, before"),
    ]


async def test_what_a_rule_or_the_level_decides_names_it(bench: Bench) -> None:
    bench.write("a.py", "one\n")
    bench.rules = Policy(
        ApprovalLevel.CAREFUL,
        allow=(Rule.parse("edit_file(a.py)"),),
        deny=(Rule.parse("read_file(secret/**)"),),
    )
    kept = Kept()
    calls = (call("read_file", path="a.py"), call("read_file", path="secret/b.py"), EDIT)
    bench.write("secret/b.py", "b\n")
    await run(bench, kept, answer(*calls))
    by_subject: dict[str, list[tuple[str, str]]] = {}
    for receipt in kept.receipts:
        by_subject.setdefault(receipt.subject, []).append((str(receipt.step), receipt.detail))
    (edit,) = (steps for steps in by_subject.values() if steps[-1] == ("ended", "1 applied"))
    assert edit[0] == ("approved", "the rule edit_file(a.py)")
    assert [step for subject, step in by_subject.items() if "secret" in subject] == [
        [("refused", "the rule read_file(secret/**) denies it")]
    ]
    read = [("approved", "the approval level careful: it reads inside the workspace"), ("ended", "completed")]
    assert read in by_subject.values()


async def test_a_grant_is_named_when_given_and_when_used(bench: Bench) -> None:
    kept = Kept()
    again = answer(call("run_command", command="exit 3"))
    await run(bench, kept, answer(COMMAND), again, decisions=[Permitted(granted(bench))])
    assert kept.steps[1] == ("approved", "you, with the grant of `exit 3`, this session")
    assert kept.steps[3:] == [
        ("approved", "the grant of `exit 3`, this session"),
        ("ended", "completed, exit code 3"),
    ]


async def test_edits_are_one_receipt_for_what_is_decided_together(bench: Bench) -> None:
    bench.open("a.py", "one\ntwo\n")
    kept = Kept()
    other = call("edit_file", path="a.py", old_text="two\n", new_text="2\n")
    await run(bench, kept, answer(EDIT, other))
    assert [step for step, _ in kept.steps] == ["shown", "approved", "ended"]
    assert kept.steps[1:] == [("approved", "you"), ("ended", "2 applied")]
    assert len(set(kept.digests)) == 1


async def test_what_was_applied_in_part_has_a_digest_of_its_own(bench: Bench) -> None:
    bench.open("a.py", "one\n" + "x\n" * 20 + "two\n")
    kept = Kept()
    other = call("edit_file", path="a.py", old_text="two\n", new_text="2\n")
    await run(bench, kept, answer(EDIT, other), decisions=[Some(lambda hunk: "1\n" in hunk.new)])
    assert kept.steps[1:] == [("approved", "you"), ("ended", "1 applied, 1 rejected")]
    shown, approved, ended = kept.digests
    assert shown == approved != ended


async def test_an_edit_that_is_reviewed_later_is_allowed_by_the_level(bench: Bench) -> None:
    bench.open("a.py", "one\n")
    bench.rules = Policy(ApprovalLevel.CAREFUL, edit_review=EditReview(setting="after"))
    kept = Kept()
    await run(bench, kept, answer(EDIT))
    assert kept.steps == [
        ("approved", "the approval level careful: it edits inside the workspace"),
        ("ended", "1 applied"),
    ]


@pytest.mark.parametrize("kind", ["read", "edit", "command"])
async def test_without_receipts_nothing_runs_unasked(bench: Bench, kind: str) -> None:
    bench.open("a.py", "one\n")
    bench.rules = Policy(
        ApprovalLevel.CAREFUL,
        edit_review=EditReview(setting="after"),
    )
    bench.session.grants.append(granted(bench))
    kept = Kept(full=True)
    calls = {"read": call("read_file", path="a.py"), "edit": EDIT, "command": COMMAND}
    await run(bench, kept, answer(calls[kind]))
    assert [request.why for request in bench.user.asked] == ["it would have no receipt: the disk is full"]
    assert bench.user.unasked == []
    assert bench.errors() == [None]  # the user said yes, so it ran
    assert kept.problems == ["the disk is full"]  # once, although several receipts were not stored


async def test_a_command_that_is_cancelled_has_an_end(bench: Bench) -> None:
    kept = Kept()
    turn = bench.make(answer(call("run_command", command="sleep 60")))
    turn.receipts = TurnReceipts(kept.append)
    running = asyncio.Event()

    def notice(event: object) -> None:
        if isinstance(event, CallChanged) and event.status is CallStatus.IN_PROGRESS:
            running.set()

    turn.listener = notice
    task = asyncio.create_task(run_turn(turn))
    await running.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert [receipt.step for receipt in kept.receipts] == [Step.SHOWN, Step.APPROVED, Step.ENDED]
    assert kept.steps[-1] == ("ended", "cancelled")


async def test_keys_are_masked_and_long_titles_cut(bench: Bench) -> None:
    kept = Kept()
    turn = bench.make(answer(call("run_command", command=f"echo hunter2; exit {'0' * 400}")), answer("done"))
    turn.receipts = TurnReceipts(kept.append, mask=lambda text: text.replace("hunter2", "***"))
    await run_turn(turn)
    assert all("hunter2" not in receipt.subject for receipt in kept.receipts)
    assert all(len(receipt.subject) <= 300 for receipt in kept.receipts)
