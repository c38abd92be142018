"""Runs inside the sandbox before the command: applies limits, Landlock and the seccomp filter, then runs the command.

Run as `python -I -S launcher.py FOLDER FILTER LANDLOCK LIMITS COUNT PATH... COMMAND...`. It imports nothing from Tark,
because each command waits for it.

- FOLDER: device and inode of the folder that it must be in, or `-`.
- FILTER: BPF instructions in hex, or `-`.
- LANDLOCK: the version to use, or 0.
- LIMITS: four numbers for setrlimit.
- COUNT, PATH: the number of writable paths, and the paths.

Exit code 125: a layer could not be applied, and the command did not run.
"""

import ctypes
import os
import resource
import stat
import struct
import sys
from collections.abc import Iterable, Sequence

FAILED = 125
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""Landlock's system calls, which have the same numbers on all architectures."""

RULE_PATH_BENEATH = 1
WRITES = (1 << 1) | sum(1 << bit for bit in range(4, 13))
"""WRITE_FILE, REMOVE_DIR, REMOVE_FILE, MAKE_* (linux/landlock.h)."""

REFER, TRUNCATE = 1 << 13, 1 << 14
FOR_FILES = (1 << 1) | TRUNCATE
SCOPE_ABSTRACT_SOCKETS, SCOPE_SIGNALS = 1 << 0, 1 << 1
FIRST_WITH_REFER, FIRST_WITH_TRUNCATE, FIRST_WITH_SCOPES = 2, 3, 6
NEEDED_BY_PROGRAMS = ("/dev", "/proc")
LIMITS = (resource.RLIMIT_DATA, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE)

LIBC = ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def landlock_version() -> int:
    """0 if the kernel has no Landlock, or it is not enabled."""
    version: int = LIBC.syscall(CREATE_RULESET, None, 0, 1)
    return max(0, version)


def set_limits(values: Iterable[int]) -> None:
    for kind, value in zip(LIMITS, values, strict=True):
        _, hard = resource.getrlimit(kind)
        limit = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (limit, limit))


def restrict_writes(version: int, paths: Sequence[str]) -> None:
    """Allow writes only to `paths`. Version 1 is not used, because it does not allow moving files between folders."""
    if version < FIRST_WITH_REFER:
        return
    handled = WRITES | REFER | (TRUNCATE if version >= FIRST_WITH_TRUNCATE else 0)
    scoped = SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS if version >= FIRST_WITH_SCOPES else 0
    attributes = struct.pack("QQQ", handled, 0, scoped) if scoped else struct.pack("Q", handled)
    ruleset = check(LIBC.syscall(CREATE_RULESET, attributes, len(attributes), 0), "landlock_create_ruleset")
    for path in paths:
        try:
            handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        rights = handled if stat.S_ISDIR(os.fstat(handle).st_mode) else handled & FOR_FILES
        rule = struct.pack("=Qi", rights, handle)
        check(LIBC.syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, rule, 0), f"landlock_add_rule {path}")
        os.close(handle)
    check(LIBC.syscall(RESTRICT_SELF, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)


def filter_system_calls(instructions: bytes) -> None:
    code = ctypes.create_string_buffer(instructions, len(instructions))
    program = struct.pack("HxxxxxxP", len(instructions) // 8, ctypes.addressof(code))
    check(LIBC.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0), "seccomp")


def main(arguments: Sequence[str]) -> int:
    folder, instructions, landlock, limits, count, *rest = arguments
    paths, command = rest[: int(count)], rest[int(count) :]
    try:
        found = os.stat(".")  # noqa: PTH116  # pathlib takes 10 ms to import
        if folder not in ("-", f"{found.st_dev}:{found.st_ino}"):
            raise OSError("the folder of the command was replaced since the call was previewed")
        check(LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
        set_limits(map(int, limits.split(",")))
        restrict_writes(int(landlock), (*NEEDED_BY_PROGRAMS, *paths))
        if instructions != "-":
            filter_system_calls(bytes.fromhex(instructions))
    except (OSError, ValueError) as error:
        print(f"tark-lsp: the command did not run, because the sandbox could not be set up: {error}", file=sys.stderr)
        return FAILED
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"tark-lsp: {command[0]} could not be started: {error.strerror}", file=sys.stderr)
        return 127 if isinstance(error, FileNotFoundError) else 126


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
