"""Makes all attempts without and with the sandbox, as the user who starts it, and prints the results.

Run as `python driver.py FOLDER`. FOLDER must belong to that user. It needs only tark_lsp/sandbox and its imports.
"""

import asyncio
import contextlib
import ctypes
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

from tark_lsp.sandbox.planning import Places
from tark_lsp.sandbox.sandbox import Run, Sandbox

SYSTEM_PYTHON = "/usr/bin/python3"
"""This Python is visible inside. The one that runs this module may be in the home folder."""
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
PACKAGE = "tark_lsp.trust_report.attempts"
"""The package that is copied into the workspace. The attempts import nothing else from Tark."""
PROTECTED = {
    ".git/config": "[core]",
    ".npmrc": "a=b",
    "sub/.vscode/tasks.json": "{}",
    "Makefile.d/.envrc": "true",
    "modules": "[submodule]",
}
"""The protected files in the workspace, with their texts."""
VISIBLE = "/opt" if os.access("/opt", os.W_OK) else None
"""Files in /tmp are hidden inside. In this folder they are visible, so that more than their absence stops attempts."""
LIBC = ctypes.CDLL(None, use_errno=True)


def make_files(root: Path) -> None:
    files = {
        "outside/file": "x",
        "outside/deleted": "x",
        "home/.ssh/id_rsa": "key",
        "home/.cache/pip/wheel": "wheel",
        "home/.cargo/bin/cargo": "program",
        "private/sessions": "private",
        "workspace/.git/config": "[core]",
        "workspace/.git/hooks/sample": "x",
        "workspace/.env": "KEY=1",
        "workspace/sub/server.key": "key",
        "workspace/sub/.vscode/tasks.json": "{}",
        "workspace/Makefile.d/.envrc": "true",
        "workspace/.npmrc": "a=b",
        "workspace/modules": "[submodule]",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    os.mkfifo(root / "outside" / "fifo")
    (root / "workspace" / "twin").hardlink_to(root / "workspace" / ".npmrc")
    (root / "workspace" / ".gitmodules").symlink_to("modules")


def serve(listener: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            if listener.type == socket.SOCK_DGRAM:
                _, sender = listener.recvfrom(512)
                listener.sendto(b"ok", sender)
            else:
                client, _ = listener.accept()
                client.sendall(b"hi")
                client.close()


@contextlib.contextmanager
def make_ground(root: Path) -> Iterator[dict[str, object]]:
    """Create the files, sockets and the process that the attempts target."""
    make_files(root)
    token = uuid.uuid4().hex
    streams = [str(root / "outside" / "docker.sock"), str(root / "home" / "agent.sock"), f"\0{token}"]
    listeners = []
    for address in (*streams, str(root / "workspace" / "editor.sock")):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(address)
        listener.listen()
        listeners.append(listener)
    tcp, udp = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    listeners += [tcp, udp]
    for listener in listeners:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
    victim = subprocess.Popen(["/bin/sleep", "600"], env={"SECRET_FOR_TESTS": "1"})
    shared = Path("/dev/shm", token)
    shared.write_bytes(b"good")
    segment = LIBC.shmget(key := int(token[:7], 16), 4096, 0o1600)
    try:
        yield {
            **{name: str(root / name) for name in ("workspace", "outside", "home", "private")},
            "tcp": tcp.getsockname()[1],
            "udp": udp.getsockname()[1],
            "abstract": token,
            "token": token,
            "victim": victim.pid,
            "victim_name": "(sleep)",
            "shm": token,
            "sysv": key,
        }
    finally:
        victim.kill()
        victim.wait()
        LIBC.shmctl(segment, 0, None)
        shared.unlink()
        for listener in listeners:
            listener.close()


def left_behind(token: str) -> list[int]:
    """Kill the processes with `token` in their command line, and return their ids."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if f"# {token}".encode() in path.read_bytes():
                found.append(int(path.parent.name))
                os.kill(found[-1], 9)
    return found


def command_of(root: Path, ground: dict[str, object]) -> list[str]:
    package = root / "workspace" / PACKAGE.replace(".", "/")
    package.mkdir(parents=True)
    for name in ("__init__", "__main__", "table", "on_files", "on_system"):
        shutil.copy(Path(__file__).with_name(f"{name}.py"), package)
    (root / "workspace" / "ground.json").write_text(json.dumps(ground))
    return [SYSTEM_PYTHON, "-B", "-m", PACKAGE, str(root / "workspace" / "ground.json")]


def run_plain(root: Path) -> dict[str, str]:
    with make_ground(root) as ground:
        done = subprocess.run(
            command_of(root, ground), cwd=root / "workspace", env={**ENVIRONMENT, "SECRET_FOR_TESTS": "1"}, stdout=-1
        )
        results: dict[str, str] = json.loads(done.stdout)
        if not left_behind(str(ground["token"])):
            results["leave_process_behind"] = "ended"
    return results


async def run_inside(root: Path) -> dict[str, object]:
    with make_ground(root) as ground:
        places = Places(root / "home", root / "home" / ".cache" / "tark", root / "state", (root / "private",))
        sandbox = Sandbox(places, [root / "workspace"])
        await sandbox.check()
        if not sandbox.is_effective:
            return {"why_not": sandbox.why_not}
        before = outside_of(root)
        command = command_of(root, ground)
        output = b""

        async def start(run: Run) -> int | None:
            nonlocal output
            # A secret in bubblewrap's own environment must not get inside.
            environment = {**ENVIRONMENT, "SECRET_FOR_TESTS": "1"}
            process = await asyncio.create_subprocess_exec(*run.argv, env=environment, stdout=-1)
            output, _ = await process.communicate()
            return process.returncode

        _, run = await sandbox.execute(command, root / "workspace", ENVIRONMENT, start)
        results: dict[str, str] = json.loads(output)
        if not left_behind(str(ground["token"])):
            results["leave_process_behind"] = "ended with the command"
        findings = run.findings
        return {
            "results": results,
            "changed": sorted(set(outside_of(root).items()) ^ set(before.items())),
            "protected": {name: (root / "workspace" / name).read_text() for name in PROTECTED},
            "left": sorted(path.name for path in (root / "workspace").iterdir() if path.name.startswith(".")),
            "quarantined": [one.path.name for one in findings.quarantined],
            "failed": [*map(str, findings.failed), findings.problem],
            "layers": sandbox.layers,
        }


def outside_of(root: Path) -> dict[str, str]:
    """The names and texts of the files outside the workspace, except Tark's own."""
    texts = {}
    for folder in ("outside", "home", "private"):
        for path in (root / folder).rglob("*"):
            own = path.is_relative_to(root / "home" / ".cache" / "tark")
            texts[str(path)] = path.read_text() if path.is_file() and not own else ""
    return {path: text for path, text in texts.items() if "/.cache/tark" not in path}


def main(folder: Path) -> None:
    plain = run_plain(folder / "plain")
    inside = asyncio.run(run_inside(folder / "inside"))
    print(json.dumps({"plain": plain, **inside}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
