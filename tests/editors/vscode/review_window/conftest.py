"""The window of the tests of review and of permission requests."""

import subprocess
from collections.abc import Iterator

import pytest

from tests.editors.vscode.review_window.files import FILES, NUMBERS, reset_files
from tests.editors.vscode.review_window.hostile_command import scenario
from tests.editors.vscode.windows import Begin, windows
from tests.editors.vscode.workbench import Workbench


@pytest.fixture(scope="package")
def begin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Begin]:
    with windows(tmp_path_factory) as begin:
        yield begin


@pytest.fixture(scope="package")
def desk(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    """In a Git folder with uncommitted changes, whose marks and *Revert Change* stand beside the same lines."""
    settings = {
        "git.enabled": True,
        "git.openRepositoryInParentFolders": "never",
        "scm.countBadge": "off",  # the only badge is that of the chat
        "tark.chat.opensFor": [],
        "tark.editReview": "after",
    }
    bench = begin(scenario(tmp_path_factory.mktemp("scenario")), settings=settings)
    for name in FILES:
        (bench.workspace / name).write_text("pass\n")
    (bench.workspace / "numbers.txt").write_text(NUMBERS)
    git = ["git", "-C", str(bench.workspace), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *command], check=True)
    reset_files(bench.workspace)
    bench.open()
    return bench
