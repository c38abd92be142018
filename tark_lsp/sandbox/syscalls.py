"""The seccomp filter: tables of the system calls that a command cannot make, and their classic BPF instructions.

Only for x86_64 and aarch64. seccomp(2) describes filters. This is the second layer; the namespaces and mounts of
bubblewrap are the first one.
"""

import errno
import platform
import struct
from collections.abc import Mapping
from types import MappingProxyType

AUDIT_ARCH: Mapping[str, int] = MappingProxyType({"x86_64": 0xC000003E, "aarch64": 0xC00000B7})

DENIED: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        # other processes and their resources
        "ptrace": (101, 117),
        "process_vm_readv": (310, 270),
        "process_vm_writev": (311, 271),
        "kcmp": (312, 272),
        "pidfd_getfd": (438, 438),
        # mounts and namespaces
        "mount": (165, 40),
        "umount2": (166, 39),
        "pivot_root": (155, 41),
        "chroot": (161, 51),
        "setns": (308, 268),
        "open_tree": (428, 428),
        "move_mount": (429, 429),
        "fsopen": (430, 430),
        "fsconfig": (431, 431),
        "fsmount": (432, 432),
        "fspick": (433, 433),
        "mount_setattr": (442, 442),
        "open_tree_attr": (467, 467),
        "unshare": (272, 97),
        # keys of the kernel, which namespaces do not separate
        "add_key": (248, 217),
        "request_key": (249, 218),
        "keyctl": (250, 219),
        # parts of the kernel with many vulnerabilities
        "bpf": (321, 280),
        "perf_event_open": (298, 241),
        "userfaultfd": (323, 282),
        # the machine
        "kexec_load": (246, 104),
        "kexec_file_load": (320, 294),
        "init_module": (175, 105),
        "finit_module": (313, 273),
        "delete_module": (176, 106),
        "reboot": (169, 142),
        "syslog": (103, 116),
        "swapon": (167, 224),
        "swapoff": (168, 225),
        "acct": (163, 89),
        "quotactl": (179, 60),
        "settimeofday": (164, 170),
        "clock_settime": (227, 112),
        "vhangup": (153, 58),
        # files without a path
        "open_by_handle_at": (304, 265),
        "fanotify_init": (300, 262),
    }
)
"""By name: the numbers on x86_64 and aarch64. The error is EPERM."""

ABSENT: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "clone3": (435, 435),  # its flags are behind a pointer; the C library falls back to clone
        "io_uring_setup": (425, 425),
        "io_uring_enter": (426, 426),
        "io_uring_register": (427, 427),
    }
)
"""The error is ENOSYS, so that programs use a fallback."""

DEBUGGING = frozenset({"ptrace", "process_vm_readv"})
"""Allowed if a command needs a debugger."""

CLONE, IOCTL, SOCKET = (56, 220), (16, 29), (41, 198)
CLONE_NEW = 0x7E020000
"""All flags of clone(2) that create a namespace."""

INPUT_IOCTLS = (0x5412, 0x541C, 0x5423)
"""TIOCSTI, TIOCLINUX, TIOCSETD: they type into a terminal, or change how it works."""

FAMILIES = (1, 2, 10, 16)
"""AF_UNIX, AF_INET, AF_INET6, AF_NETLINK (which lists the network interfaces)."""

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCH, ARGUMENTS = 0, 4, 16
"""Offsets in struct seccomp_data."""

ALLOW, ERROR = 0x7FFF0000, 0x00050000
X32 = 0x40000000


def instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def refuse(number: int) -> bytes:
    return instruction(RETURN, ERROR | number)


def filter_for(machine: str | None = None, *, ptrace: bool = False) -> bytes:
    """The instructions for this machine (`platform.machine()`), 8 bytes each; empty if there is no table for it."""
    machine = machine or platform.machine()
    if machine not in AUDIT_ARCH:
        return b""
    column = list(AUDIT_ARCH).index(machine)
    load_number = instruction(LOAD, NUMBER)
    code = [
        instruction(LOAD, ARCH),
        instruction(EQUAL, AUDIT_ARCH[machine], 1, 0),
        refuse(errno.ENOSYS),  # a program for another architecture has other numbers
        load_number,
    ]
    if machine == "x86_64":
        code += [instruction(AT_LEAST, X32, 0, 1), refuse(errno.ENOSYS)]
    for table, error in ((DENIED, errno.EPERM), (ABSENT, errno.ENOSYS)):
        for name, numbers in table.items():
            if not (ptrace and name in DEBUGGING):
                code += [instruction(EQUAL, numbers[column], 0, 1), refuse(error)]
    code += [
        instruction(EQUAL, CLONE[column], 0, 4),
        instruction(LOAD, ARGUMENTS),
        instruction(ANY_BIT, CLONE_NEW, 0, 1),
        refuse(errno.EPERM),
        instruction(RETURN, ALLOW),
        instruction(EQUAL, IOCTL[column], 0, len(INPUT_IOCTLS) + 3),
        instruction(LOAD, ARGUMENTS + 8),
        *(instruction(EQUAL, value, len(INPUT_IOCTLS) - at, 0) for at, value in enumerate(INPUT_IOCTLS)),
        instruction(RETURN, ALLOW),
        refuse(errno.EPERM),
    ]
    # The comparison with ioctl jumps over its own part. The rest is socket(2) and all other calls.
    code += [
        instruction(EQUAL, SOCKET[column], 0, len(FAMILIES) + 2),
        instruction(LOAD, ARGUMENTS),
        *(instruction(EQUAL, value, len(FAMILIES) - at, 0) for at, value in enumerate(FAMILIES)),
        refuse(errno.EAFNOSUPPORT),
        instruction(RETURN, ALLOW),
    ]
    return b"".join(code)
