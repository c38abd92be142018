"""Creates random bash scripts, and records which programs they really run with which arguments."""

import subprocess
from collections import Counter
from pathlib import Path
from random import Random

BASH = Path("/bin/bash")
PROGRAMS = (
    "ls",
    "cat",
    "grep",
    "git",
    "sort",
    "find",
    "python3",
    "make",
    "env",
    "timeout",
    "xargs",
    "sudo",
    "rm",
    "sh",
)
PLAIN = (
    "-la",
    "--color=auto",
    "-n5",
    "a",
    "b.py",
    "src/x",
    "./a",
    "../b",
    "/etc/passwd",
    ".",
    "..",
    "-",
    "--",
    "''",
    '""',
)
QUOTED = ("'a b'", '"c d"', "'$x'", "a'b'\"c\"d", "t''s", "'a;b'", '"a|b"', '"a&&b"', "HEAD~1", "'ä'", "!", "a@b")
WORDS = (
    *(*PROGRAMS, *PLAIN, *QUOTED),
    *('"$x"', "$x", "${x}", "$(ls)", "`ls`", '"$(ls)"', "$((1+1))", "$'a'", '$"a"', "$IFS"),
    *("a\\ b", "\\a", "l\\s", "*.py", "?", "[ab]", "{a,b}", "{1..3}", "{}", "~", "~/a", "a~"),
    *("HEAD~1", "a=~", "x=1", "a=b", "--x=~/y", "a:~", "!", "!x", "a!b", "^a", "@{u}", "%s", "+x", "#", "#x", "a#b"),
    *(
        "5",
        "2",
        "1",
        "if",
        "then",
        "fi",
        "time",
        "[[",
        "]]",
        "[",
        "]",
        "in",
        "do",
        "done",
        "function",
        "coproc",
        "eval",
    ),
    *("exec", "ä", "'ä'", "<(ls)", ">(ls)", "<<<x", "=ls", "a,b", "a;b", "a|b", "a&b", "'a;b'", '"a|b"', '"a&&b"'),
    *("a\tb", "\u00a0", "\u200b"),
)
PLAIN_SEPARATORS = (" && ", " || ", "; ", " | ", "&&", "||", ";", "|")
SEPARATORS = (*PLAIN_SEPARATORS, " & ", "\n", " |& ", ";;", "\r\n", "; ; ", " ; ", "  ")
REDIRECTIONS = (
    *("", "", "", " 2>&1", " >/dev/null", " 2>/dev/null", " > /dev/null", " </dev/null", " >&2", " &>/dev/null"),
    *(" >x", " 2 >&1", " 5>&1", " x2>&1", " 2>/dev/null x", " '2'>/dev/null", " 2 2>/dev/null", ">/dev/null"),
)
FRAMES = (
    "{}",
    "({})",
    "{{ {}; }}",
    "! {}",
    "x=1 {}",
    "{} &",
    "if {}; then ls; fi",
    "{} # end",
    " {} ",
    "{};",
    "sh -c '{}'",
)

RECORDER = """#!/bin/sh
{ printf '%s\\0' "${0##*/}" "$@"; printf '\\n\\0'; } >"$RECORDS/$$"
exit "$RECORDED_CODE"
"""


def random_script(random: Random) -> str:
    """A random script. In half of the scripts, most words are plain, so that many are understood."""
    plain = random.random() < 0.5
    words = (*PLAIN, *QUOTED) if plain else WORDS
    commands = []
    for _ in range(random.choice((1, 1, 1, 2, 2, 3))):
        chosen = [random.choice(words if random.random() < 0.95 else WORDS) for _ in range(random.randrange(5))]
        redirection = random.choice(REDIRECTIONS) if random.random() < 0.4 else ""
        commands.append(" ".join([random.choice(PROGRAMS), *chosen]) + redirection)
    script = commands[0]
    for command in commands[1:]:
        script += random.choice(PLAIN_SEPARATORS if plain else SEPARATORS) + command
    return script if plain or random.random() < 0.3 else random.choice(FRAMES).format(script)


class Recorder:
    """Runs scripts with a PATH in which all programs only record how they were called."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.bin = root / "bin"
        self.bin.mkdir()
        (self.bin / "recorder").write_text(RECORDER)
        (self.bin / "recorder").chmod(0o755)
        for name in PROGRAMS:
            (self.bin / name).symlink_to("recorder")

    def run(self, script: str, code: int) -> Counter[tuple[str, ...]]:
        """Run a script in which each program ends with this exit code. Returns the argument lists of the programs."""
        records = self.root / "records"
        records.mkdir()
        (self.root / "cwd").mkdir(exist_ok=True)
        environment = {"PATH": str(self.bin), "RECORDS": str(records), "RECORDED_CODE": str(code), "LC_ALL": "C.UTF-8"}
        subprocess.run(
            (BASH, "-c", script),
            cwd=self.root / "cwd",
            env={**environment, "HOME": "/nowhere"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=20,
        )
        found: Counter[tuple[str, ...]] = Counter()
        for path in records.iterdir():
            words = path.read_bytes().decode().split("\0")
            found[tuple(words[: words.index("\n")])] += 1
            path.unlink()
        records.rmdir()
        return found
