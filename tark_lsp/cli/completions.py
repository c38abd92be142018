"""`tark-lsp completions bash|zsh|fish`: prints the completion script of a shell."""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Mapping, Sequence

from tark_lsp.cli.command_table import CommandRow, read_commands
from tark_lsp.cli.shells.bash import bash_completions
from tark_lsp.cli.shells.fish import fish_completions
from tark_lsp.cli.shells.zsh import zsh_completions

SHELLS: Mapping[str, Callable[[Sequence[CommandRow]], str]] = {
    "bash": bash_completions,
    "zsh": zsh_completions,
    "fish": fish_completions,
}
EPILOG = """\
bash: source <(tark-lsp completions bash), in ~/.bashrc
zsh:  source <(tark-lsp completions zsh), in ~/.zshrc, after compinit
fish: tark-lsp completions fish >~/.config/fish/completions/tark-lsp.fish"""


def main(arguments: Sequence[str]) -> int:
    options = new_parser().parse_args(arguments)
    print(SHELLS[options.shell](read_commands()), end="")
    return 0


def new_parser() -> ArgumentParser:
    parser = ArgumentParser(
        "tark-lsp completions",
        description="Print what your shell needs to complete the commands and options of tark-lsp.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("shell", metavar="SHELL", choices=list(SHELLS), help="bash, zsh or fish")
    return parser
