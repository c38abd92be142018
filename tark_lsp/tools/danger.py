"""Whether a command line is dangerous, by a table of programs. It also finds them after wrappers and in quotes.

This alone is no protection, because patterns cannot fully understand a shell. It only raises the risk of a command, so
that the user cannot allow it permanently with the offered options. If in doubt, it raises the risk.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Danger:
    """One of `programs`, followed by words of which one fully matches each of `arguments`.

    `anywhere`: the names are not common words, so they count in every position, for example as an argument of an
    unknown wrapper. Other names count only in the position of a program.
    """

    why: str
    programs: frozenset[str]
    arguments: tuple[re.Pattern[str], ...] = field(default=())
    anywhere: bool = True


def _danger(why: str, programs: str, *arguments: str, anywhere: bool = True) -> Danger:
    return Danger(why, frozenset(programs.split()), tuple(re.compile(argument) for argument in arguments), anywhere)


RECURSIVE = r"-[a-z0-9]*r[a-z0-9]*|--r\w*|/s"
CREDENTIALS = "it works on accounts or credentials"
MACHINE = "it works on services or the machine"

DANGERS: tuple[Danger, ...] = (
    _danger("it takes the rights of another user", "sudo sudoedit doas pkexec runas gsudo run0 chroot nsenter setpriv"),
    _danger("it takes the rights of another user", "su", anywhere=False),
    _danger("it deletes whole folders", "rm rd rmdir del erase remove-item ri srm", RECURSIVE),
    _danger("it deletes whole folders", "rimraf rmtree shred shutil.rmtree fs.rmsync trash-empty"),
    _danger("it deletes what it finds", "find fd gfind", r"-delete|--?exec.*|-ok.*|-x"),
    _danger("it changes the rights of whole folders", "chmod chown chgrp chattr setfacl icacls takeown", RECURSIVE),
    _danger(
        "it overwrites a branch elsewhere", "git", "push", r"-[a-z]*[fd][a-z]*|--(?:force|mirror|del|pru).*|\+.+|:.+"
    ),
    _danger("it throws away work in git", "git", "clean|filter-branch|filter-repo"),
    _danger("it throws away work in git", "git", "reset|checkout|switch", "--hard|--force|-f"),
    _danger(CREDENTIALS, "git", "credential.*"),
    _danger(
        CREDENTIALS,
        "gh glab npm yarn pnpm docker podman gcloud az aws heroku twine cargo",
        "auth|login|logout|token|adduser|configure",
    ),
    _danger(
        CREDENTIALS,
        """passwd chpasswd useradd userdel usermod adduser deluser groupadd groupdel groupmod gpasswd visudo vipw chsh
        ssh-keygen ssh-add ssh-copy-id gpg gpg2 gpgconf secret-tool keyctl kwallet-query cmdkey certutil aws-vault
        set-executionpolicy""",
    ),
    _danger(CREDENTIALS, "pass security op bw vault login", anywhere=False),
    _danger(
        "it works on disks",
        """mkfs fdisk sfdisk gdisk parted wipefs blkdiscard cryptsetup losetup hdparm mkswap diskutil diskpart lvremove
        vgremove pvremove umount format-volume clear-disk""",
    ),
    _danger("it works on disks", "dd mount format swapoff swapon", anywhere=False),
    _danger(
        MACHINE,
        """systemctl launchctl initctl rc-service update-rc.d crontab schtasks netsh iptables nft ufw sysctl modprobe
        insmod rmmod poweroff stop-service start-service set-service stop-computer restart-computer""",
    ),
    _danger(MACHINE, "service sc at batch halt reboot shutdown init telinit reg", anywhere=False),
    _danger("it runs text as a command", "eval invoke-expression iex"),
    _danger("it runs what it decodes", "base64 base32 xxd openssl uudecode", "-d|--d.*|-r|enc"),
)

STARTERS = frozenset(
    """env nohup timeout xargs nice ionice time exec command builtin stdbuf setsid watch parallel find fd ssh script
    flock chrt taskset strace ltrace busybox toybox unbuffer entr caffeinate systemd-run bwrap unshare docker podman
    kubectl make npx bunx uvx pipx uv""".split()  # noqa: SIM905  # a list reads best as words
)
SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "fish", "csh", "tcsh", "pwsh", "powershell", "cmd"))
SCRIPTED = frozenset(("python", "python2", "python3", "perl", "ruby", "node", "deno", "bun", "php", "lua"))
INTERPRETERS = SHELLS | SCRIPTED | {"awk", "gawk", "sed", "gdb", "vim", "vi", "ed", "ex"}
WRAPPERS = STARTERS | INTERPRETERS
"""Programs that start other programs: every word after one of them can be a program."""

INLINE = re.compile(r"-\w*[cer]\w*")
"""The option of an interpreter that passes a program as text."""

UNREADABLE: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("it writes words in an encoded form", re.compile(r"\$'|\\x[0-9a-f]{2}|\\[0-7]{3}|\\u[0-9a-f]{4}", re.IGNORECASE)),
    ("it runs the output of a command", re.compile(r"(?:^|[;&|(\n])[ \t]*(?:\$\(|`)")),
    ("it runs the output of a command", re.compile(r"(?:^|[\s;&|(/])(?:\w*sh|source|\.)[ \t]+<\(")),
)

LONGEST = 50_000
"""Characters. Nobody reads a longer command, and analysing it takes time."""

KEYWORDS = frozenset(("if", "then", "else", "elif", "while", "until", "do", "!", "time", "coproc"))
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=.*", re.DOTALL)
OBSCURED = re.compile(r"[$*?\[{\\]")
WHITE = re.compile(r"\$IFS\b|\$\{IFS[^}]{0,20}\}|\\\r?\n|[\t\r\f\v]")
NOTHING = re.compile(r"\$[0-9@*]|\$\{[0-9@*]\}")


def danger_of(command: str) -> str | None:
    """A clause that says why the command line is dangerous; None if nothing dangerous was found."""
    if len(command) > LONGEST:
        return "it is too long to analyse"
    for why, pattern in UNREADABLE:
        if pattern.search(command):
            return why
    plain = NOTHING.sub("", WHITE.sub(" ", command))
    joined = re.sub(r"['\"\\]", "", plain)  # r''m, \rm, "rm": one word to the shell
    spread = re.sub(
        r"['\"\\{}(),\[\]=]", " ", plain
    )  # {rm,-r,x}, ["rm", "-r"], --opt=rm: some programs see several words
    for text in (joined, spread):
        for words, piped in _simple_commands(text):
            names = [_name(word) for word in words]
            for danger in DANGERS:
                if not danger.programs.isdisjoint(names) and _matches(danger, words, names):
                    return danger.why
            if piped and _is_fed(words, names):
                return "it feeds a program to an interpreter"
    if any(_is_obscured(words) for words, _ in _simple_commands(joined)):
        return "its text does not show what it runs"
    return None


def _simple_commands(text: str) -> Iterator[tuple[list[str], bool]]:
    """The words of each simple command, as far as they can be determined, and whether it reads from a pipe."""
    before = ""
    for piece in re.split(r"(\|\||[;&|()`\n<>]|\$\()", text):
        words = piece.split()
        if words and words[0][0] not in ";&|()`<>" and words[0] != "$(":
            yield words, before == "|"
        before = piece if piece.strip() or piece == "\n" else before


def _matches(danger: Danger, words: list[str], names: list[str]) -> bool:
    """Whether the danger is in this command. Only the first position of the program counts: words after a later one
    also follow the first.
    """
    places = range(len(words)) if danger.anywhere else _program_positions(words, names)
    place = next((place for place in places if names[place] in danger.programs), None)
    if place is None:
        return False
    later = [word.casefold() for word in words[place + 1 :]]
    return all(any(pattern.fullmatch(word) for word in later) for pattern in danger.arguments)


def _is_fed(words: list[str], names: list[str]) -> bool:
    """Whether an interpreter runs its input: a shell at the end of a pipe does; others only without a script."""
    if names[0] in ("xargs", "parallel"):  # they take arguments from the pipe
        return False
    for place in _program_positions(words, names):
        if names[place] in SHELLS or (names[place] in SCRIPTED and words[place + 1 : place + 2] in ([], ["-"])):
            return True
    return False


def _is_obscured(words: list[str]) -> bool:
    """Whether the name of the program, or the text that an interpreter runs, consists of variables or patterns."""
    names = [_name(word) for word in words]
    if not INTERPRETERS.isdisjoint(names) and not any(INLINE.fullmatch(word) for word in words):
        return False
    place = next((place for place in _program_positions(words, names) if names[place] not in WRAPPERS), None)
    return place is not None and bool(OBSCURED.search(words[place])) and words[place] not in ("[", "[[")


def _program_positions(words: list[str], names: list[str]) -> Iterator[int]:
    """The positions where a program's name can be: the first word, and every word after a wrapper."""
    wrapped = False
    for place, word in enumerate(words):
        if wrapped:
            if not word.startswith("-"):
                yield place
        elif word not in KEYWORDS and not ASSIGNMENT.fullmatch(word) and not word.isdecimal():
            yield place
            if names[place] not in WRAPPERS:
                return
            wrapped = True


def _name(word: str) -> str:
    name = re.split(r"[/\\]", word.casefold())[-1].removesuffix(".exe")
    return "mkfs" if name.startswith("mkfs.") else name
