"""Completions for zsh."""

from collections.abc import Iterable, Iterator

from tark_lsp.cli.command_table import ArgumentRow, CommandRow, OptionRow

HEAD = """\
#compdef tark-lsp
# zsh completion of tark-lsp; put this into ~/.zshrc, after compinit: source <(tark-lsp completions zsh)
"""
TAIL = """\
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _tark_lsp "$@"
else
    compdef _tark_lsp tark-lsp
fi
"""


def zsh_completions(commands: Iterable[CommandRow]) -> str:
    return "".join(
        [HEAD, *_function("_tark_lsp", commands, ["'--help[show the help]'", "'--version[show the version]'"]), TAIL]
    )


def _function(name: str, commands: Iterable[CommandRow], options: Iterable[str]) -> Iterator[str]:
    """A shell function that completes the commands, and then calls the function of the command."""
    rows = list(commands)
    for row in rows:
        own = [_option(option) for option in row.options]
        inner = f"{name}_{row.name}"
        if row.commands:
            yield from _function(inner, row.commands, [*own, "'--help[show the help]'"])
        else:
            specs = [*own, "'--help[show the help]'", *_arguments(row)]
            yield f"{inner}() {{\n    _arguments {' '.join(specs)}\n}}\n"
    yield f"{name}() {{\n    local state line\n"
    yield f"    _arguments -C {' '.join(options)} '1: :->command' '*:: :->rest'\n"
    yield "    case $state in\n    command)\n        local -a commands=(\n"
    for row in rows:
        yield f"            {_quoted(f'{row.name}:{row.summary}')}\n"
    yield "        )\n        _describe command commands ;;\n    rest)\n        case $line[1] in\n"
    for row in rows:
        yield f"        {row.name}) {name}_{row.name} ;;\n"
    yield "        esac ;;\n    esac\n}\n"


def _option(option: OptionRow) -> str:
    value = ""
    if option.value:
        optional = ":" if option.value.startswith("[") else ""
        value = f":{optional}{_plain(option.value.strip('[]'))}:{_choices(option.choices, option.value)}"
    repeat = "*" if option.can_repeat else ""
    return " ".join(_quoted(f"{repeat}{name}[{_plain(option.help)}]{value}") for name in option.names)


def _arguments(row: CommandRow) -> Iterator[str]:
    for argument in row.arguments:
        every = "*" if "..." in argument.shown else ""
        yield _quoted(f"{every}:{_plain(argument.shown)}:{_choices(argument.choices, _kind(argument))}")


def _kind(argument: ArgumentRow) -> str:
    return argument.shown


def _choices(choices: tuple[str, ...], shown: str) -> str:
    return f"({' '.join(choices)})" if choices else "_files" if "FILE" in shown else " "


def _plain(text: str) -> str:
    """The text without the characters that separate the parts of a completion specification."""
    return text.replace("[", "(").replace("]", ")").replace(":", " -")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
