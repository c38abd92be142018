"""Which names are refused and which are protected, in every spelling."""

import unicodedata
from pathlib import PurePosixPath
from typing import Literal

import pytest

from tark_lsp.errors import OutsideWorkspace
from tark_lsp.workspace.names import check_name
from tark_lsp.workspace.protected import PROTECTED, is_protected_path, plain_name
from tests.cases import every


@pytest.mark.parametrize(
    "path",
    [
        r"\\host\share\a.py",
        "//host/share/a.py",
        r"\\?\C:\a.py",
        r"\\.\pipe\a",
        r"\??\C:\a",
        "C:a.py",
        "a.py:stream",
        "a.py::$DATA",
        "nul",
        "src/CON",
        "src/com1.txt",
        "con.d/x",
        "COM¹",
        "aux .txt",
        "conin$",
        "a.py.",
        "a.py ",
        ".git. /config",
        "a\0b",
    ],
)
def test_refused_on_windows(path: str) -> None:
    with pytest.raises(OutsideWorkspace):
        check_name(path, windows=True)


@pytest.mark.parametrize("path", ["a.py", "C:/src/a.py", r"C:\src\a.py", "./a", "../a", "src/..", "console", "nully"])
def test_taken_on_windows(path: str) -> None:
    check_name(path, windows=True)


@pytest.mark.parametrize("path", ["a.py:stream", "nul", "a.", "//a", r"a\b", "\udcff"])
def test_taken_elsewhere(path: str) -> None:
    check_name(path, windows=False)


@pytest.mark.parametrize("path", ["a\0b", "\0", "\ud800"])
def test_refused_everywhere(path: str) -> None:
    with pytest.raises(OutsideWorkspace):
        check_name(path, windows=False)


PROTECTED_PATHS = [
    ".git/config",
    ".GIT/hooks/pre-commit",
    "sub/.Git",
    ".g\u200cit/config",
    ".git./config",
    ".git /config",
    "GIT~1/config",
    ".v\u017fcode/tasks.json",
    ".VSCODE/settings.json",
    ".idea/x",
    ".zed/settings.json",
    ".nvim.lua",
    ".nvimrc",
    "a.CODE-WORKSPACE",
    ".envrc",
    "web/.npmrc",
    ".tark/config.toml",
    ".bashrc",
    ".Zshrc",
    ".github/workflows/ci.yml",
    ".gitlab-ci.yml",
    "Jenkinsfile",
    "AGENTS.md",
    "src/agents.MD",
    "CLAUDE.md",
    "claude.local.md",
    ".cursor/rules/a.mdc",
    ".cursorru\u200bles",
    "skills/release/SKILL.md",
    ".tark/rules/python.md",
    ".tark/skills/release/scripts/run.sh",
    ".cursor\u00adrules",
    "notes.tark.md",
    "docs/Plan.TARK.md",
    ".tark.md",
    ".cargo/config.toml",
    "crates/a/.cargo/config",
    "mise.toml",
    "lefthook.yml",
    ".githooks/pre-commit",
    ".vim/coc-settings.json",
    ".pylintrc",
    "opencode.json",
    ".kiro/steering/a.md",
    "QWEN.md",
    ".config/git/config",
    "dotfiles/.config/nvim/lua/init.lua",
    ".Config/Nvim",
    ".emacs",
    ".config/fish/conf.d/a.fish",
    "x/conf.d/a.fish",
    ".config/autostart/a.desktop",
]


@every("path", PROTECTED_PATHS)
@every("form", ["NFC", "NFD", "NFKC"])
def test_protected(path: str, form: Literal["NFC", "NFD", "NFKC"]) -> None:
    assert is_protected_path(PurePosixPath(unicodedata.normalize(form, path)))


@pytest.mark.parametrize(
    "path",
    [
        *("a.py", "git/a", ".gitignore", "docs/agents.py", "my.git", "src/profile", "README.md", "tark.md", "."),
        *(".cargo/registry/a", "cargo/config.toml", ".config/app/nvim", "conf.d/nginx.conf", "mise/toml", "config"),
    ],
)
def test_not_protected(path: str) -> None:
    assert not is_protected_path(PurePosixPath(path))


def test_the_table_is_in_the_form_names_are_compared_in() -> None:
    assert [plain_name(pattern) for pattern in PROTECTED] == list(PROTECTED)
