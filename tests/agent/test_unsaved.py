"""A command whose files are not saved: its own question says so, and it never runs unasked."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tark_lsp.agent.approval import Policy
from tark_lsp.agent.grants import Grant
from tark_lsp.agent.lasting import NothingLasts
from tark_lsp.agent.rules import Rule
from tark_lsp.agent.turn import run_turn
from tark_lsp.agent.user_interface import Permitted, Rejected
from tark_lsp.messages import ApprovalLevel
from tark_lsp.tools.command import Command
from tark_lsp.tools.sandbox_access import SandboxAccess
from tark_lsp.tools.shell import shell
from tark_lsp.tools.unsaved import describe_unsaved
from tests.agent.bench import Bench
from tests.agent.script import answer, call
from tests.sandbox.conftest import MISSING, make_sandbox

CAT = call("run_command", command="cat a.txt")
WHY = "it runs a command without a sandbox"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.buffers.open(bench.write("a.txt", "disk\n"), "typed\n")
    return bench


def allow_cat(bench: Bench) -> None:
    grant = Grant("g", "turn", "cat", command=Command((*shell(), "cat a.txt"), "cat a.txt", bench.root))
    bench.rules = Policy(ApprovalLevel.CAREFUL)
    bench.session.grants.append(grant)


@pytest.mark.parametrize(
    ("decision", "outcome"),
    [(Permitted(), "disk"), (Permitted(save=True), "typed"), (Rejected(), "denied")],
    ids=["run anyway", "save and run", "reject"],
)
@pytest.mark.parametrize("granted", [False, True])
async def test_one_question(bench: Bench, decision: Permitted | Rejected, outcome: str, granted: bool) -> None:
    if granted:
        allow_cat(bench)
    await bench.run(answer(CAT), answer("ok"), decisions=[decision])
    (asked,) = bench.user.asked
    assert asked.why == ("a.txt is not saved" if granted else f"{WHY}, and a.txt is not saved")
    assert asked.unsaved == (bench.root / "a.txt",)
    assert bool(asked.grants) == (not granted)
    (result,) = bench.results()
    assert outcome in result.split("\n")[1] if outcome != "denied" else bench.errors() == ["denied"]
    assert ("not saved" in result) == (outcome == "disk")


async def test_what_is_saved_runs_unasked(bench: Bench) -> None:
    allow_cat(bench)
    await bench.editor.save_documents([bench.root / "a.txt"])
    await bench.run(answer(CAT), answer("ok"))
    assert not bench.user.asked


async def test_an_editor_that_does_not_save_runs_nothing(bench: Bench) -> None:
    bench.editor.saves = False
    await bench.run(answer(call("run_command", command="touch ran")), answer("ok"), decisions=[Permitted(save=True)])
    assert bench.errors() == ["unsupported"]
    assert not (bench.root / "ran").exists()


async def test_what_is_typed_while_the_question_is_open(bench: Bench) -> None:
    """It was not asked about, so the call is made and asked about again."""
    other = bench.open("b.txt", "b\n")
    bench.user.meanwhile = lambda: bench.buffers.type(other, "typed\n")
    await bench.run(answer(CAT), answer(CAT), answer("ok"), decisions=[Permitted(), Permitted()])
    assert bench.errors() == ["stale", None]
    assert [request.why for request in bench.user.asked] == [
        f"{WHY}, and a.txt is not saved",
        f"{WHY}, and a.txt and b.txt are not saved",
    ]


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (1, "0 is not saved"),
        (2, "0 and 1 are not saved"),
        (5, "0, 1, 2, 3 and 4 are not saved"),
        (6, "0, 1, 2, 3, 4 and 1 other are not saved"),
        (9, "0, 1, 2, 3, 4 and 4 others are not saved"),
    ],
)
def test_in_words(count: int, words: str) -> None:
    assert describe_unsaved([Path(str(number)) for number in range(count)], str) == words


class AskedAboutTrust(NothingLasts):
    """`meanwhile` is done while the question about trust is open. The answer is *Trust*."""

    def __init__(self, meanwhile: Callable[[], object]) -> None:
        self.meanwhile = meanwhile
        self.trusted = False

    def is_trusted(self) -> bool:
        return self.trusted

    def can_ask_trust(self) -> bool:
        return not self.trusted

    async def ask_trust(self) -> bool:
        self.meanwhile()
        self.trusted = True
        return True


@pytest.mark.parametrize("types", [False, True])
async def test_what_is_typed_during_the_question_about_trust(bench: Bench, tmp_path: Path, types: bool) -> None:
    """The call is previewed again after each question."""
    if MISSING:
        pytest.skip(MISSING)
    await bench.editor.save_documents([bench.root / "a.txt"])
    (tmp_path.parent / "sandbox").mkdir(exist_ok=True)
    sandbox = make_sandbox(tmp_path.parent / "sandbox", bench.root)
    bench.context.sandbox = SandboxAccess(lambda: sandbox)
    bench.rules = Policy(ApprovalLevel.CAREFUL, allow=(Rule.parse("run_command(cat *)"),))
    turn = bench.make(answer(CAT), answer("ok"))
    turn.lasting = AskedAboutTrust(lambda: bench.buffers.type(bench.root / "a.txt", "more\n") if types else None)
    await run_turn(turn)
    assert not bench.user.asked
    assert bench.errors() == (["stale"] if types else [None])
