"""Which files the index may have: the same by the quick way and by all rules."""

from pathlib import Path

import pytest

from tark_lsp.agent.approval import Policy
from tark_lsp.agent.rules import Rule
from tark_lsp.messages import ApprovalLevel
from tark_lsp.server.indexing.rules import IndexRules
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.private import PrivatePaths
from tests.memory import MemoryBuffers

FILES = (
    *("a.py", "src/b.py", "src/deep/c.py", "docs/d.md", "Docs/e.md", "tests/fixtures/key.pem", "key.pem", ".env"),
    *("src/.env.local", ".env.example", ".github/f.yml", "AGENTS.md", "src/HEAD", ".config/nvim/g.lua", "talk.tark.md"),
    *(".ssh/h", "own/i.py", "src/gen_1.py", "src/.config/nvim/j.lua", "linked/k.py"),
)
ALWAYS_OUT = {
    *("key.pem", ".env", "src/.env.local", ".github/f.yml", "AGENTS.md", "src/HEAD", ".config/nvim/g.lua"),
    *("talk.tark.md", ".ssh/h", "own/i.py", "src/.config/nvim/j.lua", "linked/k.py"),
}


@pytest.mark.parametrize(
    ("deny", "ask", "out"),
    [
        ((), (), set()),
        (("read_file(docs/**)",), (), {"docs/d.md", "Docs/e.md"}),
        ((), ("read_file(src/deep/**)",), {"src/deep/c.py"}),
        (("search_text(**/gen_*)",), (), {"src/gen_1.py"}),
        (("read_file",), (), set(FILES)),
        (("edit_file(src/**)", "run_command(rm *)"), ("fetch",), set()),
    ],
    ids=["no rules", "a folder", "asked", "names", "everything", "other rules"],
)
def test_the_files_that_the_index_may_have(
    tmp_path: Path, deny: tuple[str, ...], ask: tuple[str, ...], out: set[str]
) -> None:
    root = tmp_path.resolve() / "workspace"
    for name in FILES:
        if not name.startswith("linked"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).touch()
    (root / "linked").symlink_to(root / ".ssh")
    workspace = Workspace([root], MemoryBuffers(), [root / "own"], PrivatePaths(root, ()))
    policy = Policy(ApprovalLevel.CAREFUL, (), tuple(map(Rule.parse, ask)), tuple(map(Rule.parse, deny)))
    rules = IndexRules(policy, workspace)
    paths = [root / name for name in FILES]
    assert {name for name in FILES if not rules.allows(root / name)} == ALWAYS_OUT | out
    assert rules.allow_each(paths) == [rules.allows(path) for path in paths]
    assert not rules.allows(tmp_path / "outside.py")
    assert rules.allow_each([tmp_path.resolve() / "outside.py", root / ".." / "a.py"]) == [False, False]
