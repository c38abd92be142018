"""Attempts to get out of the sandbox. Run as `python attempts.py GROUND.json` in the workspace, inside or outside.

Each attempt returns if it succeeded and raises otherwise. Only the standard library, because it runs in the sandbox.
"""

import ctypes
import fcntl
import json
import mmap
import os
import pty
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

LIBC = ctypes.CDLL(None, use_errno=True)
Attempt = Callable[[SimpleNamespace], object]
ATTEMPTS: dict[str, Attempt] = {}
ROOT_ONLY: set[str] = set()
"""Attempts that without a sandbox succeed only as root."""


def attempt(function: Attempt) -> Attempt:
    ATTEMPTS[function.__name__] = function
    return function


def for_root(function: Attempt) -> Attempt:
    ROOT_ONLY.add(function.__name__)
    return attempt(function)


def call(name: str, *arguments: object) -> int:
    result: int = getattr(LIBC, name)(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result


# Files outside


@attempt
def write_outside(g: SimpleNamespace) -> None:
    Path(g.outside, "new").write_text("x")


@attempt
def append_outside(g: SimpleNamespace) -> None:
    with Path(g.outside, "file").open("a") as file:
        file.write("x")


@attempt
def delete_outside(g: SimpleNamespace) -> None:
    Path(g.outside, "deleted").unlink()


@attempt
def chmod_outside(g: SimpleNamespace) -> None:
    Path(g.outside, "file").chmod(0o777)


@attempt
def link_to_outside(g: SimpleNamespace) -> None:
    link = Path(g.workspace, "link-out")
    link.symlink_to(g.outside)
    (link / "by-link").write_text("x")


@attempt
def hard_link_to_outside(g: SimpleNamespace) -> None:
    os.link(Path(g.outside, "file"), Path(g.workspace, "hard-out"))
    Path(g.workspace, "hard-out").write_text("x")


@attempt
def swap_workspace(g: SimpleNamespace) -> None:
    Path(g.workspace).rename(g.workspace + "-moved")
    Path(g.workspace + "-moved").rename(g.workspace)


@attempt
def fifo_outside(g: SimpleNamespace) -> None:
    os.write(os.open(Path(g.outside, "fifo"), os.O_RDWR | os.O_NONBLOCK), b"x")


@attempt
def write_to_home_cache(g: SimpleNamespace) -> None:
    with Path(g.home, ".cache", "pip", "wheel").open("r+") as file:
        file.write("x")


@attempt
def write_to_toolchain(g: SimpleNamespace) -> None:
    Path(g.home, ".cargo", "bin", "cargo").write_text("x")


# Keys


@attempt
def read_key_in_home(g: SimpleNamespace) -> None:
    assert Path(g.home, ".ssh", "id_rsa").read_text()


@attempt
def read_env_file(g: SimpleNamespace) -> None:
    assert Path(g.workspace, ".env").read_text()


@attempt
def read_key_in_workspace(g: SimpleNamespace) -> None:
    assert Path(g.workspace, "sub", "server.key").read_text()


@attempt
def read_private_state(g: SimpleNamespace) -> None:
    assert Path(g.private, "sessions").read_text()


@attempt
def read_environment(g: SimpleNamespace) -> None:
    assert os.environ["SECRET_FOR_TESTS"]


# Protected paths


@attempt
def change_git_config(g: SimpleNamespace) -> None:
    Path(g.workspace, ".git", "config").write_text("x")


@attempt
def add_git_hook(g: SimpleNamespace) -> None:
    Path(g.workspace, ".git", "hooks", "post-checkout").write_text("x")


@attempt
def move_git_away(g: SimpleNamespace) -> None:
    Path(g.workspace, ".git").rename(Path(g.workspace, "git-away"))
    Path(g.workspace, "git-away").rename(Path(g.workspace, ".git"))


@attempt
def replace_protected(g: SimpleNamespace) -> None:
    Path(g.workspace, "evil").write_text("x")
    Path(g.workspace, "evil").rename(Path(g.workspace, "Makefile.d", ".envrc"))


@attempt
def change_deep_protected(g: SimpleNamespace) -> None:
    Path(g.workspace, "sub", ".vscode", "tasks.json").write_text("x")


@attempt
def change_hard_link_of_protected(g: SimpleNamespace) -> None:
    Path(g.workspace, "twin").write_text("x")


@attempt
def change_target_of_protected_link(g: SimpleNamespace) -> None:
    Path(g.workspace, "modules").write_text("x")


@attempt
def hard_link_protected(g: SimpleNamespace) -> None:
    os.link(Path(g.workspace, ".npmrc"), Path(g.workspace, "made-twin"))
    Path(g.workspace, "made-twin").write_text("x")


@attempt
def create_absent_protected(g: SimpleNamespace) -> None:
    Path(g.workspace, ".idea").mkdir(exist_ok=True)
    Path(g.workspace, ".idea", "workspace.xml").write_text("x")


@attempt
def move_over_absent_protected(g: SimpleNamespace) -> None:
    Path(g.workspace, "made").mkdir()
    Path(g.workspace, "made", "settings").write_text("x")
    Path(g.workspace, "made").rename(Path(g.workspace, ".zed"))


@attempt
def link_absent_protected(g: SimpleNamespace) -> None:
    Path(g.workspace, ".claude").symlink_to(g.workspace)


# Sockets


def reach(family: int, kind: int, address: object) -> None:
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
    """A question to a name server: UDP with the bytes of DNS, to the one that the test plays."""
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
def remount_root(g: SimpleNamespace) -> None:
    remount, bind = 32, 4096
    call("mount", None, b"/proc", None, remount | bind | 2 | 4 | 8, None)


@attempt
def user_namespace(g: SimpleNamespace) -> None:
    call("unshare", 0x10000000)


@for_root
def become_another_user(g: SimpleNamespace) -> None:
    os.setuid(12345)


@for_root
def chroot_away(g: SimpleNamespace) -> None:
    os.chroot(g.workspace)


@for_root
def make_device(g: SimpleNamespace) -> None:
    os.mknod(Path(g.workspace, "device"), 0o20666, os.makedev(1, 3))


@for_root
def type_into_terminal(g: SimpleNamespace) -> None:
    _, terminal = pty.openpty()
    fcntl.ioctl(terminal, 0x5412, b"x")


@for_root
def change_kernel_setting(g: SimpleNamespace) -> None:
    path = Path("/proc/sys/kernel/core_pattern")
    path.write_text(path.read_text())


@attempt
def io_uring(g: SimpleNamespace) -> None:
    call("syscall", 425, 4, ctypes.create_string_buffer(256))


@attempt
def kernel_keys(g: SimpleNamespace) -> None:
    call("syscall", 250 if os.uname().machine == "x86_64" else 219, 0, -3, 1)


@attempt
def leave_process_behind(g: SimpleNamespace) -> None:
    """It lives on in a session of its own. The test looks for it."""
    sleeper = [sys.executable, "-I", "-S", "-c", f"import time; time.sleep(60)  # {g.token}"]
    subprocess.Popen(sleeper, start_new_session=True, stdin=-3, stdout=-3, stderr=-3)


def main() -> None:
    ground = SimpleNamespace(**json.loads(Path(sys.argv[1]).read_text()))
    results = {}
    for name, function in ATTEMPTS.items():
        reading, writing = os.pipe()
        if (child := os.fork()) == 0:
            try:
                signal.alarm(5)
                function(ground)
                os.write(writing, b"done")
            except BaseException as error:  # noqa: BLE001  # all of it is the result
                os.write(writing, f"{type(error).__name__}: {error}".encode()[:300])
            os._exit(0)
        os.close(writing)
        os.waitpid(child, 0)
        with open(reading, "rb") as pipe:  # noqa: PTH123  # a handle
            results[name] = pipe.read().decode() or "ended"
    shutil.rmtree(Path(ground.workspace, "mnt"), ignore_errors=True)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
