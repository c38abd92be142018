"""The command line as data, read from the parsers of all subcommands, for completions (shells/) and the man page."""

from argparse import SUPPRESS, Action, ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from dataclasses import dataclass

from tark_lsp.cli.subcommands import SUBCOMMANDS, module_of

PLACEHOLDERS = {"words": ("[FILE[:START-END] | GLOB]... PROMPT", "")}
"""The usage of arguments for which the parser does not know it."""


@dataclass(frozen=True, slots=True)
class OptionRow:
    """`value`: the placeholder of the value in the help; "" if the option takes none. `choices`: the allowed values."""

    names: tuple[str, ...]
    value: str
    choices: tuple[str, ...]
    help: str
    can_repeat: bool = False


@dataclass(frozen=True, slots=True)
class ArgumentRow:
    """`shown`: the argument as in the usage. `choices`: the allowed values."""

    shown: str
    choices: tuple[str, ...]
    help: str


@dataclass(frozen=True, slots=True)
class CommandRow:
    """A subcommand, or one of its own subcommands: `sessions show`."""

    name: str
    summary: str
    description: str
    epilog: str
    options: tuple[OptionRow, ...]
    arguments: tuple[ArgumentRow, ...]
    commands: tuple["CommandRow", ...] = ()

    @property
    def takes_files(self) -> bool:
        return any("FILE" in argument.shown for argument in self.arguments)


def read_commands() -> tuple[CommandRow, ...]:
    """All subcommands, in the order of `--help`."""
    return tuple(
        _command(name, summary, None if name == "serve" else module_of(name).new_parser())
        for name, summary in SUBCOMMANDS.items()
    )


def _command(name: str, summary: str, parser: ArgumentParser | None) -> CommandRow:
    if parser is None:
        return CommandRow(name, summary, "", "", (), ())
    actions = [action for action in parser._actions if "--help" not in action.option_strings]
    return CommandRow(
        name,
        summary,
        parser.description or "",
        (parser.epilog or "").replace("%%", "%"),
        tuple(_option(action) for action in actions if action.option_strings),
        tuple(_argument(action) for action in actions if _is_argument(action)),
        tuple(row for action in actions for row in _inner(action)),
    )


def _is_argument(action: Action) -> bool:
    return not action.option_strings and not isinstance(action, _SubParsersAction)


def _inner(action: Action) -> Iterator[CommandRow]:
    if isinstance(action, _SubParsersAction):
        helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
        for name, parser in action.choices.items():
            yield _command(name, helps[name], parser)


def _option(action: Action) -> OptionRow:
    choices = tuple(map(str, action.choices or ()))
    takes = action.nargs != 0
    value = str(action.metavar or action.dest.upper().replace("_", "-")) if takes and not choices else "|".join(choices)
    if action.nargs == "?":
        value = f"[{value}]"
    repeats = type(action).__name__ == "_AppendAction"
    return OptionRow(tuple(action.option_strings), value, choices, _help(action), repeats)


def _argument(action: Action) -> ArgumentRow:
    if action.dest in PLACEHOLDERS:
        return ArgumentRow(*PLACEHOLDERS[action.dest][:1], (), PLACEHOLDERS[action.dest][1])
    name = str(action.metavar or action.dest.upper())
    shown = {"?": f"[{name}]", "+": f"{name}...", "*": f"[{name}]..."}.get(str(action.nargs), name)
    return ArgumentRow(shown, tuple(map(str, action.choices or ())), _help(action))


def _help(action: Action) -> str:
    return "" if action.help in (None, SUPPRESS) else str(action.help).replace("%%", "%")
