"""Completions for bash."""

from collections.abc import Iterable, Iterator

from tark_lsp.cli.command_table import CommandRow

HEAD = """\
# bash completion of tark-lsp; put this into ~/.bashrc: source <(tark-lsp completions bash)
_tark_lsp() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
    local path=${COMP_WORDS[1]} words=""
    if (( COMP_CWORD == 1 )); then
        path=""
    elif (( COMP_CWORD > 2 )); then
        case "$path ${COMP_WORDS[2]}" in
"""
INNER = """\
            {}) path="$path ${{COMP_WORDS[2]}}" ;;
"""
VALUES = """\
        esac
    fi
    case "$path $prev" in
"""
WORDS = """\
    esac
    if [[ -z $words ]]; then
        case "$path" in
"""
TAIL = """\
        esac
        if [[ $cur != -* ]]; then
            local word kept=""
            for word in $words; do [[ $word == -* ]] || kept+=" $word"; done
            words=$kept
        fi
    fi
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _tark_lsp tark-lsp
"""


def bash_completions(commands: Iterable[CommandRow]) -> str:
    """The completion script. Files are completed if none of the words match (`-o default`)."""
    rows = list(_rows(commands))
    inner = [INNER.format(f'"{path}"') for path, _ in rows if " " in path]
    values = [
        f'        "{path} {name}") words="{" ".join(option.choices)}" ;;\n'
        for path, row in rows
        for option in row.options
        if option.choices
        for name in option.names
    ]
    words = [f'            "{path}") words="{" ".join(_words(row))}" ;;\n' for path, row in rows]
    names = " ".join([*(row.name for row in commands), "--help", "--version"])
    return "".join([HEAD, *inner, VALUES, *values, WORDS, f'            "") words="{names}" ;;\n', *words, TAIL])


def _rows(commands: Iterable[CommandRow], above: str = "") -> Iterator[tuple[str, CommandRow]]:
    for row in commands:
        yield f"{above}{row.name}", row
        yield from _rows(row.commands, f"{above}{row.name} ")


def _words(row: CommandRow) -> Iterator[str]:
    yield from (inner.name for inner in row.commands)
    for argument in row.arguments:
        yield from argument.choices
    for option in row.options:
        yield from option.names
    yield "--help"
