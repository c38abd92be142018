"""Variants of a command that bash reads in the same way, or that guards of other programs misread. Pure.

No variant makes a harmful command harmless: nothing is quoted that the shell would otherwise expand.
"""

import re
from collections.abc import Callable

FORMS = (
    *("{}", " {} ", "{};", "ls; {}", "ls && {}", "true || {}", "ls | {}", "{} | cat", "{} 2>&1", "{} >/dev/null"),
    *("timeout 5 {}", "nice {}", "nice -n 5 {}", "command {}", "time {}", "env {}", "exec {}", "nohup {}"),
    *("cd src && {}", "cd . ; {}", "X=1 {}", "git --no-pager {}", "timeout 5 nice {}", "echo x && {} && echo y"),
    *("({})", "{{ {}; }}", "! {}", "{} &", "ls &\n{}", "ls\n{}", "ls # \n{}", "ls\r\n{}", "ls \\\n{}", "\t{}"),
    *("if {}; then ls; fi", "while {}; do ls; done", "f() {{ {}; }}; f", "coproc {}", "builtin {}", "xargs {}"),
    *("busybox {}", "stdbuf -o0 {}", "setsid {}", "ls |& {}", "ls;;{}", "echo $({})", "echo `{}`", "cat <({})"),
    *("bash -c '{}'", "eval {}", "sudo {}", "nice timeout 5 {}", "timeout 1d nice -n 1 {}"),
)
"""Templates that put a command into another one."""

LONG_FLAG = re.compile(r"(?<=\s--)([a-z][a-z-]{4,})")
PROGRAM = re.compile(r"^[A-Za-z][A-Za-z0-9_-]+")


def _letters(change: Callable[[str], str]) -> Callable[[str], str]:
    """Return a function that changes the name of the program."""
    return lambda text: PROGRAM.sub(lambda found: change(found[0]), text, count=1)


SPELLINGS: dict[str, Callable[[str], str]] = {
    "single quotes in the name": _letters(lambda name: f"{name[0]}''{name[1:]}"),
    "double quotes in the name": _letters(lambda name: f'{name[0]}""{name[1:]}'),
    "the name in quotes": _letters(lambda name: f"'{name}'"),
    "a backslash in the name": _letters(lambda name: f"{name[0]}\\{name[1:]}"),
    "a backslash before the name": _letters(lambda name: f"\\{name}"),
    "a line break in the name": _letters(lambda name: f"{name[0]}\\\n{name[1:]}"),
    "a pattern in the name": _letters(lambda name: f"/*bin/{name[:-1]}?"),
    "an empty variable in the name": _letters(lambda name: f"{name[0]}$@{name[1:]}"),
    "an encoded name": _letters(lambda name: "$'" + "".join(f"\\x{ord(letter):02x}" for letter in name) + "'"),
    "a wide letter in the name": _letters(lambda name: chr(ord(name[0]) + 0xFEE0) + name[1:]),
    "an invisible character in the name": _letters(lambda name: f"{name[0]}\u200b{name[1:]}"),
    "the name in upper case": _letters(str.upper),
    "$IFS for blanks": lambda text: text.replace(" ", "${IFS}"),
    "$IFS$9 for blanks": lambda text: text.replace(" ", "$IFS$9"),
    "braces for blanks": lambda text: "{" + text.replace(" ", ",") + "}",
    "tabs for blanks": lambda text: text.replace(" ", "\t"),
    "no-break spaces for blanks": lambda text: text.replace(" ", "\u00a0"),
    "abbreviated flags": lambda text: LONG_FLAG.sub(lambda found: found[0][:-2], text),
    "flags with quotes": lambda text: re.sub(r"(?<=\s)-(\w)", r"-''\1", text),
    "a reversed text": lambda text: f"{text} \u202e",
}


def mutations(command: str) -> list[str]:
    """The command itself and all its variants."""
    return [*(form.format(command) for form in FORMS), *(spell(command) for spell in SPELLINGS.values())]
