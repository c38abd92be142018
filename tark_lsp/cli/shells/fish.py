"""Completions for fish."""

from collections.abc import Iterable, Iterator

from tark_lsp.cli.command_table import CommandRow

HEAD = """\
# fish completion of tark-lsp; tark-lsp completions fish >~/.config/fish/completions/tark-lsp.fish
complete -c tark-lsp -f
complete -c tark-lsp -n __fish_use_subcommand -l help -d 'show the help'
complete -c tark-lsp -n __fish_use_subcommand -l version -d 'show the version'
"""


def fish_completions(commands: Iterable[CommandRow]) -> str:
    return "".join([HEAD, *_lines(commands, "__fish_use_subcommand", "")])


def _lines(commands: Iterable[CommandRow], here: str, above: str) -> Iterator[str]:
    """`here`: the condition for the completion of these commands."""
    rows = list(commands)
    for row in rows:
        yield f"complete -c tark-lsp -n '{here}' -a {row.name} -d {_quoted(row.summary)}\n"
        seen = f"{above}__fish_seen_subcommand_from {row.name}"
        for option in row.options:
            names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
            values = f" -x -a {_quoted(' '.join(option.choices))}" if option.choices else " -r" if option.value else ""
            values = "" if option.value.startswith("[") else values
            yield f"complete -c tark-lsp -n '{seen}' {names}{values} -d {_quoted(option.help)}\n"
        for argument in row.arguments:
            if argument.choices:
                yield f"complete -c tark-lsp -n '{seen}' -a {_quoted(' '.join(argument.choices))}\n"
        if row.takes_files:
            yield f"complete -c tark-lsp -n '{seen}' -F\n"
        names = " ".join(inner.name for inner in row.commands)
        yield from _lines(row.commands, f"{seen}; and not __fish_seen_subcommand_from {names}", f"{seen}; and ")


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
