"""read_changes against real repositories: what it shows, what it keeps back, and that nothing of theirs is executed."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tark_lsp.errors import OutsideWorkspace
from tark_lsp.tools.git import REVISION
from tark_lsp.tools.git_diff import files_of, unquoted
from tark_lsp.tools.tool import Risk
from tests.tools.conftest import Bench

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    **{f"GIT_{role}_{what}": "a@b.example" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


def git(folder: Path, *arguments: str) -> str:
    made = subprocess.run(["git", *arguments], cwd=folder, env=ENVIRONMENT, check=True, capture_output=True, text=True)
    return made.stdout.strip()


@pytest.fixture
def repository(bench: Bench) -> Bench:
    bench.write("a.py", "one\ntwo\nthree\n")
    bench.write("sub/b.py", "b\n")
    bench.write(".gitignore", "ignored\n")
    git(bench.root, "init", "-q", "-b", "main")
    git(bench.root, "add", ".")
    git(bench.root, "commit", "-q", "-m", "first")
    return bench


async def test_what_differs_staged_or_not_with_new_files_by_name(repository: Bench) -> None:
    repository.write("a.py", "one\n2\nthree\n")
    repository.write("sub/b.py", "bee\n")
    git(repository.root, "add", "sub/b.py")
    repository.write("new.py", "n\n")
    repository.write("ignored", "i\n")
    told = await repository.call("read_changes")
    assert told.startswith(
        "Changes against HEAD in .: 2 files.\nNot tracked by git: new.py.\ndiff --git a/a.py b/a.py\n"
    )
    assert "\n-two\n+2\n" in told
    assert "\n-b\n+bee" in told
    assert "ignored" not in told


@pytest.mark.parametrize(
    ("path", "has", "lacks"),
    [("sub", "+bee", "+2"), ("a.py", "+2", "+bee"), ("sub/b.py", "+bee", "+2"), ("gone.py", "-gone", "+2")],
)
async def test_only_one_path(repository: Bench, path: str, has: str, lacks: str) -> None:
    repository.write("gone.py", "gone\n")
    git(repository.root, "add", ".")
    git(repository.root, "commit", "-q", "-m", "second")
    (repository.root / "gone.py").unlink()
    repository.write("a.py", "one\n2\nthree\n")
    repository.write("sub/b.py", "bee\n")
    told = await repository.call("read_changes", path=path)
    assert (has in told, lacks in told) == (True, False), told


async def test_another_base(repository: Bench) -> None:
    git(repository.root, "tag", "v1")
    repository.write("a.py", "one\n2\nthree\n")
    git(repository.root, "commit", "-q", "-a", "-m", "second")
    assert "+2" not in await repository.call("read_changes")
    for base in ("v1", "main~1", "HEAD^"):
        assert "+2" in await repository.call("read_changes", base=base)


async def test_what_is_not_saved_is_a_diff_of_its_own(repository: Bench) -> None:
    path = repository.write("a.py", "one\n2\nthree\n")
    repository.buffers.open(path, "one\n2\nthree\nfour\n")
    told = await repository.call("read_changes")
    assert "Not saved, shown as separate diffs below: a.py." in told
    assert told.endswith("not saved: a.py\n--- a.py\n+++ a.py\n@@ -1,3 +1,4 @@\n one\n 2\n three\n+four")
    assert "four" not in await repository.call("read_changes", path="sub")


RULES = {"is_read_denied": "A rule hides the text from you", "is_read_asked": "A rule asks first"}


@pytest.mark.parametrize("rule", RULES)
async def test_what_a_rule_speaks_of_is_named_and_not_shown(repository: Bench, rule: str) -> None:
    secret = repository.write('sub/we"ird.py', "old secret\n")
    git(repository.root, "add", ".")
    git(repository.root, "commit", "-q", "-m", "second")
    # A line that would begin a new file's part, were the terminal's CR taken as the beginning of a line.
    repository.write('sub/we"ird.py', "x\rdiff --git a/z b/z\nnew secret\n")
    repository.write("a.py", "one\n2\nthree\n")
    repository.buffers.open(secret, "typed secret\n")
    setattr(repository.ctx, rule, lambda path: path == secret)
    told = await repository.call("read_changes")
    assert "secret" not in told
    assert 'Not saved, and left out by a rule: sub/we"ird.py.' in told
    (said,) = [line for line in told.split("\n") if line.startswith("A rule")]
    assert said.startswith(RULES[rule])
    assert said.endswith(': sub/we"ird.py.')
    assert "+2" in told


@pytest.mark.parametrize("what", ["HEAD:sub/b.py", "HEAD:sub", "HEAD^{tree}"])
@pytest.mark.parametrize("length", [4, 40])
async def test_only_a_commit_is_compared_with(repository: Bench, what: str, length: int) -> None:
    """Git shows the object of a hash under another name than the one a rule knows."""
    base = git(repository.root, "rev-parse", what)[:length]
    for path in (None, "a.py"):
        failure = await repository.failure("read_changes", base=base, path=path)
        assert (failure.code, failure.message) == ("not_found", f"there is no revision {base} in this repository")


async def test_a_long_diff_is_cut_and_says_how_to_get_the_rest(repository: Bench) -> None:
    repository.write("a.py", "".join(f"line {number}\n" for number in range(1000)))
    repository.write("sub/b.py", "bee\n")
    repository.ctx.result_tokens = 200
    told = await repository.call("read_changes")
    assert len(told) < 1000
    assert "left out; give one path: a.py, sub/b.py, or read on with read_file(" in told


KEYS = ("core.fsmonitor", "diff.external", "core.pager", "pager.diff", "diff.evil.command", "diff.evil.textconv")


async def test_nothing_the_repository_says_is_executed(repository: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    trap = repository.write("trap", f"#!/bin/sh\ntouch {repository.root}/executed\n")
    trap.chmod(0o755)
    for key in KEYS:
        git(repository.root, "config", key, str(trap))
    for hook in ("post-index-change", "pre-commit"):
        repository.write(f".git/hooks/{hook}", trap.read_bytes()).chmod(0o755)
    repository.write(".gitattributes", "*.py diff=evil\n")
    repository.write("a.py", "one\n2\nthree\n")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(trap))
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert "+2" in await repository.call("read_changes")
    assert not (repository.root / "executed").exists()
    # The trap works: without our options git falls into it.
    monkeypatch.delenv("GIT_DIR")
    git(repository.root, "diff")
    assert (repository.root / "executed").exists()


SETS_FILTER: dict[str, tuple[str, str, bool]] = {
    "clean": ("z", "clean", False),
    "process": ("z", "process", False),
    "required": ("z", "clean", True),
    "a name with a dot, a sign and case": ("A.b=c", "clean", False),
}


@pytest.mark.parametrize("included", [False, True])
@pytest.mark.parametrize("case", SETS_FILTER)
async def test_no_content_filter_of_the_repository_is_run(repository: Bench, case: str, included: bool) -> None:
    name, key, required = SETS_FILTER[case]
    trap = repository.write("trap", f"#!/bin/sh\ntouch {repository.root}/executed\ncat\n")
    trap.chmod(0o755)
    place = ["--file", str(repository.root / "more")] if included else []
    if included:
        git(repository.root, "config", "include.path", "../more")
    git(repository.root, "config", *place, f"filter.{name}.{key}", str(trap))
    git(repository.root, "config", *place, f"filter.{name}.required", str(required).lower())
    repository.write(".gitattributes", f"*.py filter={name}\n")
    repository.write("a.py", "one\n2\nthree\n")
    assert "+2" in await repository.call("read_changes")
    assert not (repository.root / "executed").exists()
    with suppress(subprocess.CalledProcessError):  # the trap does not speak the protocol of `process`
        git(repository.root, "diff")
    assert (repository.root / "executed").exists(), "the trap works"


async def test_a_git_that_does_not_know_our_settings_is_not_used(
    repository: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "bin" / "git"
    old.parent.mkdir()
    old.write_text(f'#!/bin/sh\nunset GIT_CONFIG_COUNT\nexec {shutil.which("git")} "$@"\n')
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{old.parent}:{os.environ['PATH']}")
    failure = await repository.failure("read_changes")
    assert (failure.code, "switched off" in failure.message) == ("unsupported", True)


async def test_a_committed_folder_that_looks_like_a_repository_is_none(bench: Bench, tmp_path: Path) -> None:
    """Opened as a workspace, it would win over the `.git` above it, and bring its own settings."""
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "f.txt").write_text("1\n")
    git(inner, "init", "-q")
    git(inner, "add", ".")
    git(inner, "commit", "-q", "-m", "first")
    for name in ("HEAD", "config", "index", "objects", "refs"):
        source = inner / ".git" / name
        if source.is_dir():
            shutil.copytree(source, bench.root / name)
        else:
            shutil.copy(source, bench.root / name)
    bench.write("info/attributes", "* filter=z\n")
    executed = tmp_path / "executed"
    with (bench.root / "config").open("a") as config:
        config.write(f'[filter "z"]\n\tclean = touch {executed}; cat\n')
    bench.write("f.txt", "1\n")
    git(bench.root.parent, "init", "-q")
    git(bench.root.parent, "add", "-f", "project")
    git(bench.root.parent, "commit", "-q", "-m", "first")
    bench.write("f.txt", "2\n")
    assert "-1\n+2" in await bench.call("read_changes")
    assert not executed.exists()
    git(bench.root, "--work-tree=.", "diff", "HEAD", "--")
    assert executed.exists(), "the trap works"


async def test_a_repository_cannot_lead_git_to_other_files(repository: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.py").write_text("secret\n")
    git(repository.root, "config", "core.worktree", str(outside))
    repository.write("a.py", "one\n2\nthree\n")
    told = await repository.call("read_changes")
    assert "secret" not in told
    assert "+2" in told


def gitfile(root: Path, other: Path) -> Path:
    (root / ".git").write_text(f"gitdir: {other}/.git\n")
    return other / ".git"


def link(root: Path, other: Path) -> Path:
    (root / ".git").symlink_to(other / ".git")
    return other / ".git"


def common_folder(root: Path, other: Path) -> Path:
    """One that says it is a worktree, which the other repository does not know of."""
    own = root / ".git" / "worktrees" / "w"
    own.mkdir(parents=True)
    shutil.copy(other / ".git" / "HEAD", own)
    (own / "commondir").write_text(f"{other}/.git\n")
    (own / "gitdir").write_text(f"{root}/sub/.git\n")
    (root / "sub").mkdir()
    (root / "sub" / ".git").write_text(f"gitdir: {own}\n")
    return other / ".git"


def alternates(root: Path, other: Path) -> Path:
    git(root, "init", "-q")
    (root / ".git" / "objects" / "info" / "alternates").write_text(f"# more\n{other}/.git/objects\n")
    return other / ".git" / "objects"


def alternates_of_alternates(root: Path, other: Path) -> Path:
    git(root, "init", "-q", "middle")
    git(root, "init", "-q")
    (root / ".git/objects/info/alternates").write_text('"../../middle/.git/objects"\n')
    (root / "middle/.git/objects/info/alternates").write_text(f"{other}/.git/objects\n")
    return other / ".git" / "objects"


def packs(root: Path, other: Path) -> Path:
    git(root, "init", "-q")
    git(other, "repack", "-q", "-a", "-d")
    shutil.rmtree(root / ".git" / "objects" / "pack")
    (root / ".git" / "objects" / "pack").symlink_to(other / ".git" / "objects" / "pack")
    return other / ".git" / "objects" / "pack"


@pytest.fixture
def other(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "other"
    folder.mkdir()
    (folder / "private.txt").write_text("private\n")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder


@pytest.mark.parametrize("lead", [gitfile, link, common_folder, alternates, alternates_of_alternates, packs])
async def test_a_repository_elsewhere_is_told(bench: Bench, other: Path, lead: Callable[[Path, Path], Path]) -> None:
    place = lead(bench.root, other)
    path = "sub" if lead is common_folder else None
    preview = await bench.preview("read_changes", path=path)
    assert preview.outside == (place,)
    assert f"(with {place}, outside the workspace)" in preview.title


async def test_a_worktree_belongs_to_its_repository(bench: Bench, other: Path) -> None:
    bench.root.rmdir()
    git(other, "worktree", "add", "-q", str(bench.root))
    bench.write("private.txt", "mine\n")
    preview = await bench.preview("read_changes")
    assert (preview.outside, preview.title) == ((), "read_changes HEAD .")
    assert "+mine" in await bench.call("read_changes")


async def test_what_leads_elsewhere_after_the_preview_is_not_read(repository: Bench, other: Path) -> None:
    arguments = {"base": "HEAD"}
    tool = repository.tools["read_changes"]
    preview = await repository.preview("read_changes", **arguments)
    shutil.rmtree(repository.root / ".git")
    gitfile(repository.root, other)
    assert tool.run is not None
    with pytest.raises(OutsideWorkspace, match="leads to another place"):
        await tool.run(tool.arguments(**arguments), repository.ctx, preview)


@pytest.mark.parametrize("content", ["gitdir: /nowhere/.git\n", "nothing\n", "x" * 100_000])
async def test_a_gitfile_that_leads_nowhere(bench: Bench, content: str) -> None:
    bench.write(".git", content)
    failure = await bench.failure("read_changes")
    assert (failure.code, "cannot be followed" in failure.message) == ("unsupported", True)


async def test_git_of_the_workspace_is_not_run(repository: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.write("bin/git", "#!/bin/sh\necho fake\n").chmod(0o755)
    monkeypatch.setenv("PATH", f"{repository.root}/bin:bin:{os.environ['PATH']}")
    preview = await repository.preview("read_changes")
    assert preview.command is not None
    program = Path(preview.command.argv[0])
    assert program.is_absolute()
    assert not program.is_relative_to(repository.root)
    monkeypatch.setenv("PATH", f"{repository.root}/bin")
    assert (await repository.failure("read_changes")).message == "git is not installed"


async def test_the_command_is_shown_as_it_runs(repository: Bench) -> None:
    preview = await repository.preview("read_changes", path="sub")
    command = preview.command
    assert command is not None
    assert preview.risk is Risk.RISKY
    assert command.cwd == repository.root
    listing, diff, others = (shlex.split(line) for line in command.text.splitlines())
    assert listing[-4:] == ["config", "--list", "--name-only", "-z"]
    assert diff == list(command.argv)
    assert "ls-files" in others
    for line in (listing, diff, others):
        assert f"--git-dir={repository.root}/.git" in line
    assert command.argv[-3:] == ("HEAD^{commit}", "--", "sub")
    for part in ("--no-pager", "core.fsmonitor=false", f"core.hooksPath={os.devnull}", "diff.external="):
        assert part in command.argv
    assert {"--no-ext-diff", "--no-textconv"} <= set(command.argv)
    assert {name: value for name, value in command.env.items() if name.startswith("GIT_")} == {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.bareRepository",
        "GIT_CONFIG_VALUE_0": "explicit",
        "GIT_PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_EDITOR": "true",
    }


async def test_a_repository_above_the_workspace_shows_only_the_workspace(bench: Bench) -> None:
    (bench.root.parent / "secret.py").write_text("secret\n")
    bench.write("a.py", "one\n")
    git(bench.root.parent, "init", "-q")
    git(bench.root.parent, "add", ".")
    git(bench.root.parent, "commit", "-q", "-m", "first")
    (bench.root.parent / "secret.py").write_text("other secret\n")
    bench.write("a.py", "two\n")
    told = await bench.call("read_changes")
    assert "secret" not in told
    assert "--- a/a.py\n+++ b/a.py\n" in told


async def test_a_repository_inside_the_workspace(repository: Bench) -> None:
    repository.write("nested/c.py", "c\n")
    git(repository.root / "nested", "init", "-q")
    git(repository.root / "nested", "add", ".")
    git(repository.root / "nested", "commit", "-q", "-m", "first")
    repository.write("nested/c.py", "sea\n")
    assert "Changes against HEAD in nested: 1 file." in await repository.call("read_changes", path="nested")
    assert "+sea" in await repository.call("read_changes", path="nested/c.py")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ({"base": "nope"}, "not_found", "no revision nope"),
        ({"base": "--output=/tmp/x"}, "invalid_arguments", "is not a revision"),
        ({"base": ""}, "invalid_arguments", "is not a revision"),
        ({"base": "main..main"}, "invalid_arguments", "is not a revision"),
        ({"base": "HEAD:a.py"}, "invalid_arguments", "is not a revision"),
        ({"base": "HEAD^@"}, "invalid_arguments", "is not a revision"),
        ({"base": "HEAD^-"}, "invalid_arguments", "is not a revision"),
        ({"base": "HEAD^-1"}, "invalid_arguments", "is not a revision"),
        ({"base": "HEAD^!"}, "invalid_arguments", "is not a revision"),
        ({"base": "HEAD a.py"}, "invalid_arguments", "is not a revision"),
        ({"path": "../x"}, "outside_workspace", "outside"),
    ],
)
async def test_bad_calls_are_told(repository: Bench, arguments: dict[str, str], code: str, words: str) -> None:
    failure = await repository.failure("read_changes", **arguments)
    assert (failure.code, words in failure.message) == (code, True), failure


async def test_no_repository_and_no_commit(bench: Bench) -> None:
    failure = await bench.failure("read_changes")
    assert (failure.code, failure.message) == ("unsupported", "the workspace is not in a git repository")
    git(bench.root, "init", "-q")
    failure = await bench.failure("read_changes")
    assert (failure.code, "first commit" in failure.hint) == ("not_found", True)


@pytest.mark.parametrize("base", ["HEAD", "HEAD~2", "v1.0^{commit}", "main@{u}", "@", "feature/x-1", "0a1b2c"])
def test_revisions(base: str) -> None:
    assert REVISION.fullmatch(base)


@pytest.mark.parametrize(("name", "plain"), [("a b", "a b"), ('"a\\"b\\\\\\t\\303\\251"', 'a"b\\\té'), ('"\\a"', "\a")])
def test_names_as_git_prints_them(name: str, plain: str) -> None:
    assert unquoted(name) == plain


def test_the_files_of_a_diff() -> None:
    diff = (
        "diff --git a/a.py b/b.py\nsimilarity index 50%\nrename from a.py\nrename to b.py\n"
        "--- a/a.py\n+++ b/b.py\n@@ -1 +1 @@\n--- a/no.py\n+rename to no.py\n"
        "diff --git a/new.py b/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+x\n"
    )
    assert [sorted(file.names) for file in files_of(diff)] == [["a.py", "b.py"], ["new.py"]]
    assert "".join(file.text for file in files_of(diff)) == diff
