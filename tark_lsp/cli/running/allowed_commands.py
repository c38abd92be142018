"""Which commands `--allow 'run_command(...)'` allows: the words of one simple command, compared one by one. Pure.

No shell is interpreted here. So only commands count whose text every shell reads as plain words.
"""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from tark_lsp.agent.rules import Rule
from tark_lsp.tools.danger import ASSIGNMENT, KEYWORDS, SHELLS

TOOL = "run_command"
PLAIN = re.compile(r"[A-Za-z0-9_./=:,@%+ -]+")
"""Text without any character that a shell gives a meaning to: no quotes, variables, redirections or second commands."""

STARTERS = frozenset(
    """sudo sudoedit doas su pkexec run0 runas chroot nsenter env nohup timeout xargs nice ionice exec command builtin
    eval source . stdbuf setsid watch parallel ssh script flock chrt taskset strace ltrace busybox toybox unbuffer entr
    caffeinate systemd-run bwrap unshare time coproc trap alias""".split()  # noqa: SIM905  # a list reads best as words
)
"""Programs and shell words that run what their arguments say. (danger.py also counts interpreters and runners such as
python, make and uv. These can be allowed, by a rule that names what they run: `uv run pytest *`.)"""


class AllowedCommands:
    """The rules for commands among those of `--allow`."""

    def __init__(self, rules: Sequence[str]) -> None:
        """Raises SettingsError if one is not a rule."""
        parsed = map(Rule.parse, rules)
        self.patterns = [rule.specifier or "*" for rule in parsed if rule.tool == TOOL]

    def find_pattern(self, command: str) -> str | None:
        """The first pattern that the whole command matches."""
        words = plain_words(command)
        if words is None:
            return None
        return next((pattern for pattern in self.patterns if _matches(pattern.split(), words)), None)


def plain_words(command: str) -> list[str] | None:
    """The words of a command that every shell reads in the same way; None if there is any doubt."""
    if PLAIN.fullmatch(command) is None or not (words := command.split()):
        return None
    program = words[0].rsplit("/", 1)[-1].casefold()
    if ASSIGNMENT.fullmatch(words[0]) or program in STARTERS | SHELLS | KEYWORDS:
        return None
    return words


def _matches(pattern: Sequence[str], words: Sequence[str]) -> bool:
    """Each word of the pattern matches one word, `*` any part of one. A last word `*` matches any further words."""
    if pattern[-1:] == ["*"]:
        first = pattern[:-1]
        return len(words) >= len(first) and _all(first, words[: len(first)])
    return len(words) == len(pattern) and _all(pattern, words)


def _all(pattern: Sequence[str], words: Sequence[str]) -> bool:
    return all(fnmatchcase(word, _escaped(one)) for one, word in zip(pattern, words, strict=True))


def _escaped(pattern: str) -> str:
    """Only `*` is a wildcard."""
    return pattern.replace("[", "[[]").replace("?", "[?]")
