"""The man page of tark-lsp, from the same table as the completions.

`python -m tark_lsp.cli.man_page` prints it. docs/tark-lsp.1 is a copy, which the wheel installs in share/man. It is
stored because the build of a wheel does not have the packages that the table needs. A test compares them.
"""

from collections.abc import Iterable, Iterator, Sequence

from tark_lsp.cli.command_table import CommandRow, OptionRow, read_commands

FULL_LINE = 100
"""Characters. If a line of an epilog is shorter, a line break follows it."""
HEAD = """\
.TH TARK-LSP 1 "" "tark-lsp" "User Commands"
.SH NAME
tark-lsp \\- an AI agent for every editor that speaks LSP
.SH SYNOPSIS
.B tark-lsp
[\\fB\\-\\-stdio\\fR]
.br
.B tark-lsp
.I SUBCOMMAND
\\&...
.SH DESCRIPTION
Without a subcommand, and if standard input is not a terminal, tark-lsp is a language server on standard input and
output: your
editor starts it.
.SH SUBCOMMANDS
"""
TAIL = """\
.SH FILES
.TP
.I ~/.config/tark/config.toml
your settings ($XDG_CONFIG_HOME)
.TP
.I ~/.local/state/tark
sessions, changes that can be undone, logs ($XDG_STATE_HOME)
"""


def man_page(commands: Iterable[CommandRow]) -> str:
    return "".join([HEAD, *(line for row in commands for line in _command(row, "tark-lsp")), TAIL])


def _command(row: CommandRow, above: str) -> Iterator[str]:
    name = f"{above} {row.name}"
    yield f".SS {_escaped(name)}\n"
    arguments = [argument.shown for argument in row.arguments]
    usage = [*(["[OPTIONS]"] if row.options else []), *arguments, *(["COMMAND"] if row.commands else [])]
    if usage:
        yield f".B {_escaped(name)}\n{_escaped(' '.join(usage))}\n.PP\n"
    yield f"{_text(row.description or row.summary)}\n"
    for option in row.options:
        yield from _option(option)
    for argument in row.arguments:
        if argument.help:
            yield f".TP\n.I {_escaped(argument.shown)}\n{_text(argument.help)}\n"
    if row.epilog:
        yield ".PP\n" + "".join(_filled(line) for line in row.epilog.splitlines())
    for inner in row.commands:
        yield from _command(inner, name)


def _option(option: OptionRow) -> Iterator[str]:
    value = f" \\fI{_escaped(option.value)}\\fR" if option.value else ""
    names = ", ".join(f"\\fB{_escaped(name)}\\fR" for name in option.names)
    yield f".TP\n{names}{value}\n{_text(option.help)}\n"


def _filled(line: str) -> str:
    """A line of an epilog. A long line continues in the next one."""
    return f"{_text(line)}\n" + ("" if len(line) >= FULL_LINE else ".br\n")


def _text(text: str) -> str:
    """A line of text. A dot or a quote at its start is escaped, because it would be a roff request."""
    escaped = _escaped(text)
    return f"\\&{escaped}" if escaped[:1] in (".", "'") else escaped


def _escaped(text: str) -> str:
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")


def main(_: Sequence[str] = ()) -> None:
    print(man_page(read_commands()), end="")


if __name__ == "__main__":
    main()
