"""read_changes in the sandbox: the same text without a question, in a repository that the user trusts."""

from dataclasses import replace
from pathlib import Path

import pytest

from tark_lsp.agent.approval import Allow, Ask, Policy, decide_call
from tark_lsp.messages import ApprovalLevel
from tark_lsp.tools.sandbox_access import SandboxAccess
from tests.sandbox.conftest import MISSING, make_sandbox
from tests.tools.conftest import Bench
from tests.tools.test_read_changes import git, repository

__all__ = ["repository"]  # a fixture

CAREFUL = Policy(ApprovalLevel.CAREFUL, trusted=True)
FILTER = "*.txt filter=loud\n"


async def is_asked(bench: Bench, policy: Policy = CAREFUL) -> bool:
    decision = decide_call("read_changes", await bench.preview("read_changes"), policy, bench.ctx.workspace)
    assert isinstance(decision, Allow | Ask)
    return isinstance(decision, Ask)


async def test_the_same_text_without_a_question(repository: Bench, tmp_path: Path) -> None:  # the fixture
    if MISSING:
        pytest.skip(MISSING)
    expected = await repository.call("read_changes")
    assert await is_asked(repository)
    sandbox = make_sandbox(tmp_path, repository.root)
    repository.ctx.sandbox = SandboxAccess(lambda: sandbox)
    git(repository.root, "config", "filter.loud.clean", "touch ran; cat")
    repository.write(".gitattributes", FILTER)
    assert not await is_asked(repository)
    assert await is_asked(repository, replace(CAREFUL, level=ApprovalLevel.MANUAL))
    assert set(expected.splitlines()) <= {
        *(await repository.call("read_changes")).splitlines(),
        expected.splitlines()[0],
    }
    assert not (repository.root / "ran").exists()
    missing = await repository.failure("read_changes", base="no-such-branch")
    assert missing.code == "not_found"
    assert await is_asked(repository, replace(CAREFUL, trusted=False))
    (repository.root / ".git").rename(tmp_path / "elsewhere")
    repository.write(".git", f"gitdir: {tmp_path / 'elsewhere'}\n")
    assert await is_asked(repository)
