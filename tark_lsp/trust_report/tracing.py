"""Runs commands of the table under strace in the sandbox, and finds what they do besides reading."""

import asyncio
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tark_lsp.commands.program import Row, split_example
from tark_lsp.sandbox.plan import Needs
from tark_lsp.sandbox.sandbox import Run, Sandbox
from tark_lsp.trust_report.promise import NotMeasured

SAMPLES = {"path": "a", "text": "x", "number": "1", "word": "x", "print": "1p", "date": "+%F", "format": "%s"}
SAMPLES |= {"revisions": "%H", "duration": "5", "command": "ls", "bracket": "(", "filter": "."}
"""A sample value for each kind of operand or flag."""
WORDS = {"color": "always", "colour": "always", "regextype": "posix-extended", "type": "f", "xtype": "f", "t": "c"}
WORDS |= {"user": "root", "group": "root", "diff-filter": "M", "porcelain": "v1", "dirty": "x", "k": "1", "f": "1"}
WORDS |= {"untracked-files": "no", "u": "no", "A": "n", "b": "1", "c": "1", "I": "seconds", "iso-8601": "seconds"}
WORDS |= {"rfc-3339": "seconds", "n": "ln", "decorate": "short", "time-style": "iso", "time": "atime", "bytes": "1"}
WORDS |= {"characters": "1", "fields": "1", "key": "1", "sort": "size", "e": "py", "T": "py", "extension": "py"}
"""A valid value for each flag that takes a word."""
OF_PROGRAM = {"rg": {"sort": "path", "sortr": "path", "t": "py", "T": "py", "type": "py", "type-not": "py"}}
OF_PROGRAM |= {
    "git": {"sort": "refname", "stat": "80", "t": ""},
    "fd": {"t": "f", "type": "f"},
    "od": {"t": "x1", "w": "8"},
}

WRITES = "openat,open,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,symlink,symlinkat,link"
WRITES += ",linkat,truncate,ftruncate,chmod,fchmod,fchmodat,chown,fchown,fchownat,lchown,utimensat,mknod,mknodat"
TRACED = f"{WRITES},execve,execveat,connect,bind,sendto,sendmsg"
OPENS = re.compile(r"^(?:\d+ +)?(?:open|openat|creat)\(")
FOR_WRITING = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|^(?:\d+ +)?creat\(")
NOTHING_WRITTEN = re.compile(r'"/dev/(?:null|tty)"|"/proc/self/')
OWN_SOCKETS = re.compile(r'"/(?:var/)?run/(?:nscd/socket|systemd/userdb)|AF_NETLINK')
"""Sockets that the C library uses to look up user names."""
CALL = re.compile(r"^(?:\d+ +)?(\w+)\(")
STARTED = re.compile(r'execve\("([^"]*)"')
FAILED_SEARCH = re.compile(r"= -1 ENOENT")
STARTERS = frozenset({"timeout", "nice"})
CONTROLS = (("cp", "a", "/tmp/z"), ("env", "true"), ("bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/9"))
"""Commands that write, start a program and connect. If the trace does not show this, it is not reliable."""


@dataclass(frozen=True, slots=True)
class Traced:
    """`code`: its exit code. `beyond`: system calls that are not needed for reading."""

    words: tuple[str, ...]
    code: int
    beyond: tuple[str, ...]


def commands_of(row: Row) -> Iterator[tuple[str, ...]]:
    """Each example of the row, and one command for each flag."""
    for text in row.yes:
        yield split_example(text)
    name = tuple(row.name.split())

    def spelled(flag: str) -> str:
        return f"-{flag}" if row.words or len(flag) == 1 else f"--{flag}"

    needed = tuple(spelled(flag) for flag in row.needs.split())
    operands = tuple(SAMPLES[kind.rstrip("?*")] for kind in row.operands.split() if not kind.endswith("?"))
    places = () if row.raw else operands
    for flag in row.flags.split():
        yield _ordered(row, name, (*needed, spelled(flag)), places)
    for entry in row.values.split():
        flag, _, kind = entry.partition(":")
        optional, flag = flag.endswith("?"), flag.removesuffix("?")
        words = {**WORDS, **OF_PROGRAM.get(name[0], {})}
        value = words.get(flag, SAMPLES[kind]) if kind == "word" else SAMPLES[kind]
        if optional:
            given: tuple[str, ...] = (f"{spelled(flag)}{'' if len(flag) == 1 else '='}{value}",)
        else:
            given = (spelled(flag), value)
        rest = places[1:] if flag in row.without_first.split() else places
        yield _ordered(row, name, (*needed, *given), rest)


def _ordered(row: Row, name: tuple[str, ...], flags: tuple[str, ...], operands: tuple[str, ...]) -> tuple[str, ...]:
    return (*name, *operands, *flags) if row.words else (*name, *flags, *operands)


def make_project(folder: Path) -> None:
    """Create the files that the examples name, and a repository with two commits."""
    for name, text in (("a", "1 x\n2 y\n3 z\n"), ("b", "1 x\n2 w\n"), ("c", "x\n"), ("src/a.py", "x = 1\n")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "a.json").write_text('{"name": "x"}\n')
    (folder / "package.json").write_text('{"name": "x"}\n')
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(folder))
    for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-qm", "one"), ("tag", "v1")):
        subprocess.run((*git, *words), check=True, capture_output=True)
    (folder / "a").write_text("1 x\n2 changed\n")
    subprocess.run((*git, "commit", "-qam", "two"), check=True, capture_output=True)
    (folder / "b").write_text("changed\n")


def can_trace() -> str:
    """The path of strace. Raises NotMeasured if it is not installed."""
    found = shutil.which("strace")
    if found is None:
        raise NotMeasured("strace is not installed")
    return found


async def trace(
    sandbox: Sandbox, workspace: Path, output: Path, commands: Sequence[tuple[str, ...]], path: str
) -> list[Traced]:
    """Run the commands one by one in one sandbox that cannot write to the workspace.

    Raises RuntimeError if the trace does not show what the controls do.
    """
    strace = can_trace()
    commands = (*CONTROLS, *commands)
    lines = ["export LC_ALL=C.UTF-8"]
    for number, words in enumerate(commands):
        name = shlex.quote(str(output / str(number)))
        # `type`, `command` and `cd` are builtins of bash.
        line = shlex.join(("/bin/bash", "-c", shlex.join(words)))
        lines.append(
            f"timeout 20 {strace} -f -qq -s 200 -e signal=none -e trace={TRACED} -o {name} {line} </dev/null "
            f">/dev/null 2>&1; echo $? >{name}.code"
        )
    (output / "all").write_text("\n".join(lines) + "\n")
    needs = Needs(read_only=True, writable=(output,), ptrace=True)

    async def start(run: Run) -> int | None:
        process = await asyncio.create_subprocess_exec(*run.argv, env=run.env, stdin=asyncio.subprocess.DEVNULL)
        return await process.wait()

    await sandbox.execute(("/bin/bash", str(output / "all")), workspace, {"PATH": path}, start, needs)
    traced = [
        Traced(words, int((output / f"{number}.code").read_text()), tuple(beyond(words, output / str(number))))
        for number, words in enumerate(commands)
    ]
    if not all(one.beyond for one in traced[: len(CONTROLS)]):
        raise RuntimeError(f"strace does not show what {CONTROLS} do")
    return traced[len(CONTROLS) :]


def beyond(words: Sequence[str], log: Path) -> Iterator[str]:
    """Lines of the trace that show more than reading by bash and the programs in `words`."""
    own = {"bash", words[0], *(words if words[0] in STARTERS else ())}
    for line in log.read_text(errors="replace").splitlines():
        found = CALL.match(line)
        if found is None:
            continue
        if found[1].startswith("exec"):
            started = STARTED.search(line)
            name = Path(started[1]).name if started else ""
            if name not in own and not FAILED_SEARCH.search(line):
                yield line
        elif OPENS.match(line):
            if FOR_WRITING.search(line) and not NOTHING_WRITTEN.search(line):
                yield line
        elif not (found[1] in ("connect", "bind", "sendto", "sendmsg") and OWN_SOCKETS.search(line)):
            yield line
