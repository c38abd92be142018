"""Decides which commands `--allow 'run_command(...)'` allows, by their words as bash reads them. Pure."""

from collections.abc import Sequence

from tark_lsp.agent.rules import Rule
from tark_lsp.commands.patterns import ANY, matches
from tark_lsp.commands.shell_text import read_command
from tark_lsp.tools.danger import SHELLS

TOOL = "run_command"

STARTERS = frozenset(
    """sudo sudoedit doas su pkexec run0 runas chroot nsenter env nohup timeout xargs nice ionice exec command builtin
    eval source . stdbuf setsid watch parallel ssh script flock chrt taskset strace ltrace busybox toybox unbuffer entr
    caffeinate systemd-run bwrap unshare time coproc trap alias""".split()  # noqa: SIM905  # a list reads best as words
)
"""Programs and shell keywords that run the command in their arguments. (danger.py also counts interpreters and runners
such as python, make and uv. A rule can allow these if it names the command that they run: `uv run pytest *`.)"""


class AllowedCommands:
    """The rules of `--allow` that are about commands."""

    def __init__(self, rules: Sequence[str]) -> None:
        """Raises SettingsError for an invalid rule."""
        parsed = map(Rule.parse, rules)
        self.patterns = [rule.specifier or ANY for rule in parsed if rule.tool == TOOL]

    def find_pattern(self, command: str) -> str | None:
        """A pattern that allows the command, or None. In a compound command, each part must match a pattern."""
        found = [next((one for one in self.patterns if matches(one, part)), None) for part in plain_parts(command)]
        return found[0] if found and None not in found else None


def plain_parts(command: str) -> tuple[tuple[str, ...], ...]:
    """The words of each simple command; empty if the command is not certain, or if a part runs its arguments."""
    parts = read_command(command).parts
    started = {part[0].rsplit("/", 1)[-1].casefold() for part in parts}
    return () if started & (STARTERS | SHELLS) else parts


def exact_rule(command: str) -> str | None:
    """The rule that allows this simple command and no other; None if there is no such rule."""
    parts = plain_parts(command)
    if len(parts) != 1 or any(not word or ANY in word or word.split() != [word] for word in parts[0]):
        return None
    return f"{TOOL}({' '.join(parts[0])})"
