"""run_command and the checkpoint of its turn: what is recorded, what the result says, and what if it cannot be."""

from dataclasses import replace
from pathlib import Path

import pytest

from tark_lsp.agent.approval import Allow, Ask, Policy, decide_call
from tark_lsp.messages import ApprovalLevel
from tark_lsp.tools.checkpoint_access import CheckpointAccess
from tark_lsp.tools.sandbox_access import SandboxAccess
from tark_lsp.workspace.checkpoints.commands import survey
from tests.sandbox.conftest import MISSING, make_sandbox
from tests.tools.conftest import Bench
from tests.workspace.command_bench import TURN, CommandBench, picture

BALANCED = Policy(ApprovalLevel.BALANCED, trusted=True)
UNDONE = "cannot be undone"


@pytest.fixture
async def recorded(bench: Bench, tmp_path: Path) -> CommandBench:
    if MISSING:
        pytest.skip(MISSING)
    sandbox = make_sandbox(tmp_path, bench.root)
    bench.ctx.sandbox = SandboxAccess(lambda: sandbox)
    commands = CommandBench(bench.root, tmp_path.resolve() / "checkpoints")
    bench.ctx.checkpoint = CheckpointAccess(commands.commands, TURN)
    bench.write("a.txt", "one\n")
    bench.write("src/b", b"\0")
    return commands


async def decide(bench: Bench, command: str) -> Allow | Ask | object:
    return decide_call(
        "run_command", await bench.preview("run_command", command=command), BALANCED, bench.ctx.workspace
    )


async def test_it_is_recorded_and_undone(bench: Bench, recorded: CommandBench) -> None:
    before = picture(bench.root)
    assert isinstance(await decide(bench, "make"), Allow)
    told = await bench.call("run_command", command="rm -r src; echo two >>a.txt; echo x >made; mkdir hollow")
    assert "[created while it ran: made]" in told
    assert "[changed while it ran: a.txt]" in told
    assert "[deleted while it ran: src/b]" in told
    assert UNDONE not in told
    assert (await recorded.undo()).kept == ()
    assert picture(bench.root) == before


async def test_too_much_asks_and_says_so(bench: Bench, recorded: CommandBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "MOST_BYTES", 100_000)
    bench.write("huge", bytes(150_000))
    decision = await decide(bench, "make")
    assert isinstance(decision, Ask)
    assert "undo could not take back what it changes: its folders have 0 MB of files" in decision.why
    told = await bench.call("run_command", command="echo x >made")
    assert UNDONE in told
    assert "[created while it ran: made]" in told
    assert (await recorded.undo()).restored == ()


async def test_a_command_that_only_reads_is_not_recorded(bench: Bench, recorded: CommandBench) -> None:
    assert UNDONE not in await bench.call("run_command", command="cat a.txt")
    assert not (recorded.state / "checkpoint-copies").exists()


async def test_what_became_impossible_since_the_question_does_not_run(
    bench: Bench, recorded: CommandBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = bench.tools["run_command"]
    arguments = tool.arguments(command="echo x >made")
    preview = await tool.preview(arguments, bench.ctx)
    monkeypatch.setattr(survey, "MOST_FILES", 1)
    assert tool.run is not None
    with pytest.raises(Exception, match="did not run, because what it changes could not be undone"):
        await tool.run(arguments, bench.ctx, preview)
    assert not (bench.root / "made").exists()
    assert isinstance(await decide(bench, "make"), Ask)
    assert not list((recorded.state / "running-commands").glob("*"))


async def test_without_checkpoints_balanced_asks(bench: Bench, recorded: CommandBench) -> None:
    assert recorded.root == bench.root
    bench.ctx.checkpoint = None
    decision = await decide(bench, "make")
    assert isinstance(decision, Ask)
    assert "nothing records what it changes" in decision.why


async def test_a_command_that_was_not_started_leaves_nothing(bench: Bench, recorded: CommandBench) -> None:
    preview = await bench.preview("run_command", command="true")
    bench.ctx.sandbox = replace(bench.ctx.sandbox, find=lambda: None)
    tool = bench.tools["run_command"]
    assert tool.run is not None
    with pytest.raises(Exception, match="sandbox cannot be set up"):
        await tool.run(tool.arguments(command="true"), bench.ctx, preview)
    assert not list((recorded.state / "running-commands").glob("*"))
