"""The pure parts: the filter of system calls, the command line, names of secrets; and the search of a tree."""

import errno
import os
import struct
from pathlib import Path, PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.sandbox.command_line import wrap
from tark_lsp.sandbox.plan import Launch, Needs, SandboxPlan
from tark_lsp.sandbox.planning import CannotPlan, Places, inside_environment, make_plan
from tark_lsp.sandbox.seatbelt import profile_of
from tark_lsp.sandbox.self_test import explained
from tark_lsp.sandbox.syscalls import (
    ABSENT,
    ALLOW,
    AUDIT_ARCH,
    CLONE,
    DENIED,
    ERROR,
    FAMILIES,
    INPUT_IOCTLS,
    IOCTL,
    SOCKET,
    filter_for,
)
from tark_lsp.sandbox.tree import Scan, TreeReader
from tark_lsp.secrets.file_names import is_secret

MACHINES = list(AUDIT_ARCH)


def judge(code: bytes, arch: int, number: int, *arguments: int) -> int:
    """What the filter returns, by an interpreter of the instructions that it uses."""
    data = struct.pack("=IIQ6Q", number, arch, 0, *(*arguments, *[0] * (6 - len(arguments))))
    lines = [struct.unpack_from("=HBBI", code, at) for at in range(0, len(code), 8)]
    at = accumulator = 0
    while True:
        operation, if_true, if_false, value = lines[at]
        at += 1
        if operation == 0x20:
            accumulator = struct.unpack_from("=I", data, value)[0]
        elif operation == 0x06:
            return int(value)
        else:
            holds = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: bool(accumulator & value)}[operation]
            at += if_true if holds else if_false


@pytest.mark.parametrize("machine", MACHINES)
def test_the_filter_refuses_what_the_tables_name_and_nothing_else(machine: str) -> None:
    code, arch, column = filter_for(machine), AUDIT_ARCH[machine], MACHINES.index(machine)
    expected = {numbers[column]: ERROR | errno.EPERM for numbers in DENIED.values()}
    expected |= {numbers[column]: ERROR | errno.ENOSYS for numbers in ABSENT.values()}
    special = {CLONE[column], IOCTL[column], SOCKET[column]}
    for number in set(range(600)) - special:
        assert judge(code, arch, number) == expected.get(number, ALLOW), number
    assert judge(code, arch ^ 1, 0) == ERROR | errno.ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
def test_the_filter_looks_at_arguments(machine: str) -> None:
    code, arch, column = filter_for(machine), AUDIT_ARCH[machine], MACHINES.index(machine)
    for request in INPUT_IOCTLS:
        assert judge(code, arch, IOCTL[column], 0, request) == ERROR | errno.EPERM
        assert judge(code, arch, IOCTL[column], 0, request | 1 << 40) == ERROR | errno.EPERM  # the kernel cuts it off
    assert judge(code, arch, IOCTL[column], 0, 0x5401) == ALLOW
    for family in range(50):
        assert (judge(code, arch, SOCKET[column], family) == ALLOW) == (family in FAMILIES)
    assert judge(code, arch, CLONE[column], 0x01200011) == ALLOW  # fork
    assert judge(code, arch, CLONE[column], 0x003D0F00) == ALLOW  # a thread
    for flag in (0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
        assert judge(code, arch, CLONE[column], flag | 17) == ERROR | errno.EPERM


def test_debuggers_and_unknown_machines() -> None:
    ptrace = DENIED["ptrace"][0]
    assert judge(filter_for("x86_64", ptrace=True), AUDIT_ARCH["x86_64"], ptrace) == ALLOW
    assert judge(filter_for("x86_64"), AUDIT_ARCH["x86_64"], 0x40000000) == ERROR | errno.ENOSYS
    assert filter_for("riscv64") == b""


def test_the_command_line() -> None:
    """Masks come last, so that nothing that was asked for shows a key."""
    home, workspace = Path("/h"), Path("/h/w")
    launch = Launch(Path("/usr/bin/python3"), Path("/x/launcher.py"), 0, b"")
    plan = SandboxPlan(
        (workspace,),
        home,
        workspace,
        Needs(readable=(Path("/h/.ssh"),)),
        masked_folders=(Path("/h/.ssh"),),
        read_only_paths=(workspace / ".git",),
        covers=(workspace / ".vscode",),
        environment={"A": "b c"},
        launch=launch,
    )
    argv = wrap(plan, Path("/usr/bin/bwrap"), ("sh", "-c", "x"))
    assert argv == wrap(plan, Path("/usr/bin/bwrap"), ("sh", "-c", "x"))
    text = " ".join(argv)
    order = ("--tmpfs /h", "--bind /h/w /h/w", "--ro-bind /h/w/.git", "--ro-bind /h/w/.vscode", "--ro-bind /h/.ssh")
    places = [text.index(part) for part in (*order, "--perms 0000 --tmpfs /h/.ssh", "--clearenv", "--chdir", " -- ")]
    assert places == sorted(places)
    assert argv[-3:] == ("sh", "-c", "x")
    assert "--unshare-net" in argv
    assert "--unshare-net" not in wrap(SandboxPlan((), home, home, Needs(network=True)), Path("/b"), ("x",))


@given(st.text("abAB./-_ \n$'\"", min_size=1, max_size=20))
def test_arguments_are_passed_as_they_are(word: str) -> None:
    plan = SandboxPlan((Path("/w"),), Path("/h"), Path("/w"))
    assert wrap(plan, Path("/b"), ("printf", word))[-2:] == ("printf", word)


def test_variables_of_the_inside() -> None:
    given_variables = {"PATH": "/bin", "GIT_SSH_COMMAND": "x", "SSH_AUTH_SOCK": "y", "XDG_RUNTIME_DIR": "/run/user/1"}
    inside = inside_environment(given_variables, Path("/c"), Path("/h"), Needs())
    assert inside["PATH"] == "/bin"
    assert inside["npm_config_cache"] == "/c/npm"
    assert "UV_TOOL_DIR" not in inside  # without the network, the tools that you installed
    with_network = inside_environment(given_variables, Path("/c"), Path("/h"), Needs(network=True))
    assert (with_network["UV_TOOL_DIR"], inside["GOPROXY"][:7]) == ("/c/uv/tools", "file://")
    assert "GOPROXY" not in with_network
    assert not {"GIT_SSH_COMMAND", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR"} & set(inside)
    count = int(inside["GIT_CONFIG_COUNT"])
    git = {inside[f"GIT_CONFIG_KEY_{number}"]: inside[f"GIT_CONFIG_VALUE_{number}"] for number in range(count)}
    assert git["core.fsmonitor"] == "false"
    assert git["core.hooksPath"] == "/dev/null"


@pytest.mark.parametrize(
    ("path", "secret"),
    [
        (".env", True),
        ("sub/.env.production", True),
        (".ENV", True),
        (".env.example", False),
        ("server.key", True),
        ("tests/server.key", False),
        ("tests/.env", True),
        ("id_ed25519", True),
        ("id_ed25519.pub", False),
        ("keyboard.py", False),
        ("environment.py", False),
    ],
)
def test_names_of_secrets(path: str, secret: bool) -> None:
    assert is_secret(PurePath(path)) == secret


def test_a_tree_is_searched_again_only_where_it_changed(tmp_path: Path) -> None:
    """Also right after a change, when the times of a folder cannot show the next one."""
    reader = TreeReader()
    (tmp_path / "a" / "b").mkdir(parents=True)
    for number in range(30):
        name = tmp_path / "a" / "b" / f".nvim{number}"
        name.write_text("x")
        assert name in reader.scan(tmp_path).protected
        name.rename(tmp_path / "a" / f"plain{number}")
        assert reader.scan(tmp_path).protected == {}
    os.utime(tmp_path / "a", (0, 0))
    (tmp_path / "a" / ".envrc").mkdir()
    os.utime(tmp_path / "a", (0, 0))
    assert set(reader.scan(tmp_path).protected) == {tmp_path / "a" / ".envrc"}


def test_packages_bring_names_that_do_not_count(tmp_path: Path) -> None:
    for name in ("node_modules/x/.github", "node_modules/x/.git", "src/.github"):
        (tmp_path / name).mkdir(parents=True)
    found = TreeReader().scan(tmp_path).protected
    assert {str(path.relative_to(tmp_path)) for path in found} == {"node_modules/x/.git", "src/.github"}


def test_too_large_a_tree_is_not_sandboxed(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / "w" / str(number)).mkdir(parents=True)
    scan = TreeReader(most_folders=3).scan(tmp_path / "w")
    assert "too many folders" in scan.problem
    places = Places(tmp_path / "home", tmp_path / "caches", tmp_path)
    with pytest.raises(CannotPlan, match="too many folders"):
        make_plan((tmp_path / "w",), tmp_path / "w", {}, Needs(), places, (scan,))
    for number in range(500):
        (tmp_path / "w" / f"{number}.env").write_text("x")
    many = Scan(secrets=tuple(tmp_path / "w" / f"{number}.env" for number in range(500)))
    with pytest.raises(CannotPlan, match="protected or secret paths"):
        make_plan((tmp_path / "w",), tmp_path / "w", {}, Needs(), places, (many,))


def test_what_bubblewrap_says_is_explained() -> None:
    assert explained("bwrap: Can't mount proc on /newroot/proc").startswith("this container does not let")
    assert explained("something else") == "something else"


def test_the_profile_of_macos() -> None:
    """Only its text: no test here runs it."""
    plan = SandboxPlan((Path('/h/a "b"'),), Path("/h"), Path("/h"), masked_files=(Path('/h/a "b"/.env'),))
    profile = profile_of(plan)
    lines = profile.splitlines()
    assert r'(allow file-write* (subpath "/h/a \"b\""))' in lines
    assert lines.index('(deny file-read* (subpath "/h"))') < lines.index(r'(allow file-read* (subpath "/h/a \"b\""))')
    assert r'(deny file-read* (subpath "/h/a \"b\"/.env"))' in lines
    assert lines[-1] == "(deny network*)"
