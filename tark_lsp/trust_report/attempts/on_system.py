"""Attempts on sockets, on processes outside, and on the privileges of the machine."""

import ctypes
import fcntl
import mmap
import os
import pty
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tark_lsp.trust_report.attempts.table import attempt, call, for_root

# Sockets


def reach(family: int, kind: int, address: Any) -> None:
    with socket.socket(family, kind) as client:
        client.settimeout(2)
        client.connect(address)
        if kind == socket.SOCK_STREAM:
            assert client.recv(2) == b"hi"
        else:
            client.send(b"x")


@attempt
def tcp_loopback(g: SimpleNamespace) -> None:
    reach(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", g.tcp))


@attempt
def udp_loopback(g: SimpleNamespace) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(2)
        client.sendto(b"x", ("127.0.0.1", g.udp))
        assert client.recv(1)


@attempt
def dns(g: SimpleNamespace) -> None:
    """A DNS query over UDP to the name server that the test simulates."""
    question = b"\0\1\1\0\0\1\0\0\0\0\0\0\7example\3com\0\0\1\0\1"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(2)
        client.connect(("127.0.0.1", g.udp))
        client.send(question)
        assert client.recv(512)


@attempt
def docker_socket(g: SimpleNamespace) -> None:
    reach(socket.AF_UNIX, socket.SOCK_STREAM, str(Path(g.outside, "docker.sock")))


@attempt
def dbus_abstract_socket(g: SimpleNamespace) -> None:
    reach(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + g.abstract)


@attempt
def ssh_agent_socket(g: SimpleNamespace) -> None:
    reach(socket.AF_UNIX, socket.SOCK_STREAM, str(Path(g.home, "agent.sock")))


@attempt
def socket_in_workspace(g: SimpleNamespace) -> None:
    reach(socket.AF_UNIX, socket.SOCK_STREAM, str(Path(g.workspace, "editor.sock")))


# Processes


@attempt
def read_memory_of_server(g: SimpleNamespace) -> None:
    assert b"SECRET_FOR_TESTS" in Path(f"/proc/{g.victim}/environ").read_bytes()


@attempt
def root_of_server(g: SimpleNamespace) -> None:
    Path(f"/proc/{g.victim}/root{g.outside}/by-proc").write_text("x")


@attempt
def trace_server(g: SimpleNamespace) -> None:
    attach, detach = 16, 17
    call("ptrace", attach, g.victim, None, None)
    os.waitpid(g.victim, 0x40000000)
    call("ptrace", detach, g.victim, None, None)


@attempt
def signal_server(g: SimpleNamespace) -> None:
    os.kill(g.victim, signal.SIGCONT)
    assert Path(f"/proc/{g.victim}/stat").read_text().split()[1] == g.victim_name


@attempt
def shared_memory(g: SimpleNamespace) -> None:
    with Path("/dev/shm", g.shm).open("r+b") as file, mmap.mmap(file.fileno(), 4) as view:
        view[:4] = b"evil"


@attempt
def system_v_memory(g: SimpleNamespace) -> None:
    call("shmget", g.sysv, 0, 0o600)


@attempt
def watch_home(g: SimpleNamespace) -> None:
    handle = call("inotify_init")
    call("inotify_add_watch", handle, str(Path(g.home, ".ssh", "id_rsa")).encode(), 1)


# Privileges


@for_root
def mount_something(g: SimpleNamespace) -> None:
    Path(g.workspace, "mnt").mkdir(exist_ok=True)
    call("mount", b"none", str(Path(g.workspace, "mnt")).encode(), b"tmpfs", 0, None)
    call("umount2", str(Path(g.workspace, "mnt")).encode(), 0)


@for_root
def remount_root(_: SimpleNamespace) -> None:
    remount, bind = 32, 4096
    call("mount", None, b"/proc", None, remount | bind | 2 | 4 | 8, None)


@attempt
def user_namespace(_: SimpleNamespace) -> None:
    call("unshare", 0x10000000)


@for_root
def become_another_user(_: SimpleNamespace) -> None:
    os.setuid(12345)


@for_root
def chroot_away(g: SimpleNamespace) -> None:
    os.chroot(g.workspace)


@for_root
def make_device(g: SimpleNamespace) -> None:
    os.mknod(Path(g.workspace, "device"), 0o20666, os.makedev(1, 3))


@for_root
def type_into_terminal(_: SimpleNamespace) -> None:
    terminal = pty.openpty()[1]
    fcntl.ioctl(terminal, 0x5412, b"x")


@for_root
def change_kernel_setting(_: SimpleNamespace) -> None:
    path = Path("/proc/sys/kernel/core_pattern")
    path.write_text(path.read_text())


@attempt
def io_uring(_: SimpleNamespace) -> None:
    call("syscall", 425, 4, ctypes.create_string_buffer(256))


@attempt
def kernel_keys(_: SimpleNamespace) -> None:
    call("syscall", 250 if os.uname().machine == "x86_64" else 219, 0, -3, 1)


@attempt
def leave_process_behind(g: SimpleNamespace) -> None:
    """The process continues in its own session. The test searches for it."""
    sleeper = [sys.executable, "-I", "-S", "-c", f"import time; time.sleep(60)  # {g.token}"]
    subprocess.Popen(sleeper, start_new_session=True, stdin=-3, stdout=-3, stderr=-3)
