"""`tark-lsp completions`, in the shells themselves, and the man page: both are made of the parsers."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tark_lsp.cli.command_table import CommandRow, read_commands
from tark_lsp.cli.completions import SHELLS, main
from tark_lsp.cli.man_page import man_page
from tark_lsp.cli.subcommands import SUBCOMMANDS

ROOT = Path(__file__).parents[2]
TYPED: list[tuple[str, str]] = [
    ("tark-lsp se", "serve sessions"),
    ("tark-lsp run --m", "--max-requests --max-usd --mode --model"),
    ("tark-lsp run --mode ", "ask build plan"),
    ("tark-lsp run --output j", "json"),
    ("tark-lsp sessions ", "delete export import list rename show"),
    ("tark-lsp sessions export --format ", "json markdown"),
    ("tark-lsp install ", "neovim vscode"),
    ("tark-lsp completions z", "zsh"),
    ("tark-lsp run READ", "README.md"),
]
BASH = """
for line in "$@"; do
    read -ra COMP_WORDS <<<"$line"
    [[ $line == *" " ]] && COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
    _tark_lsp
    ((${#COMPREPLY[@]})) || COMPREPLY=($(compgen -f -- "${COMP_WORDS[-1]}"))
    echo $(printf '%s\\n' "${COMPREPLY[@]}" | LC_ALL=C sort)
done
"""
FISH = """
for line in $argv
    echo (complete -C $line | cut -f 1 | LC_ALL=C sort | string join ' ')
end
"""


def shell(name: str, script: str, folder: Path, *arguments: str) -> str:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    own = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[name]
    command = [name, *own, "-c", script, *(["bash"] if name == "bash" else []), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize(("name", "script"), [("bash", BASH), ("fish", FISH)])
def test_what_a_shell_completes(tmp_path: Path, name: str, script: str) -> None:
    (tmp_path / "README.md").touch()
    made = SHELLS[name](read_commands())
    said = shell(name, made + script, tmp_path, *(line for line, _ in TYPED))
    assert said.splitlines() == [words for _, words in TYPED]


def test_zsh_reads_it_and_has_a_function_for_each_command(tmp_path: Path) -> None:
    made = SHELLS["zsh"](read_commands())
    said = shell("zsh", f"compdef() {{ print $1; }}\n{made}\nprint -l ${{(ok)functions}}", tmp_path).splitlines()
    assert said[0] == "_tark_lsp"
    assert {f"_tark_lsp_{name}" for name in SUBCOMMANDS} <= {*said}
    assert "_tark_lsp_sessions_export" in said


def rows(commands: tuple[CommandRow, ...]) -> list[CommandRow]:
    return [row for command in commands for row in (command, *rows(command.commands))]


def test_every_option_is_in_all_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    """fish writes `--mode` as `-l mode`."""
    commands = read_commands()
    assert [row.name for row in commands] == list(SUBCOMMANDS)
    made = {"man": man_page(commands).replace("\\-", "-")}
    for name in SHELLS:
        assert main([name]) == 0
        made[name] = capsys.readouterr().out.replace("-l ", "--")
    options = {name for row in rows(commands) for option in row.options for name in option.names}
    assert {"--patch", "--allow", "--yes", "--all", "--uninstall"} <= options
    for where, text in made.items():
        assert [option for option in sorted(options) if option not in text] == [], where


def test_the_man_page_is_up_to_date() -> None:
    """If not: `python -m tark_lsp.cli.man_page >docs/tark-lsp.1`."""
    assert (ROOT / "docs" / "tark-lsp.1").read_text(encoding="utf-8") == man_page(read_commands())


def test_the_man_page_has_no_mistakes() -> None:
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    command = ["groff", "-man", "-Tascii", "-ww", str(ROOT / "docs" / "tark-lsp.1")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""
