"""Memory of one server before and after its first turn over HTTP, and how long that turn takes.

    python -m tests.benchmarks.bench_first_turn [ROUNDS]

The key comes from the environment, or is looked up in the system's keyring: in a session with one, such as
`dbus-run-session -- sh -c 'echo | gnome-keyring-daemon --unlock; exec python -m tests.benchmarks.bench_first_turn'`.
The bench stores a key of its own there, and deletes it. Goal: below 70 MB after the turn in both cases.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import psutil

from tark_lsp.errors import SettingsError
from tark_lsp.llm.keys.credentials import origin_of
from tark_lsp.llm.keys.store import KEYRING, KeyStore
from tests.key_provider import MODELS, RIGHT_KEY, KeyProvider
from tests.server.raw import RawServer, python

PROVIDER = "bench-first-turn"
CONFIG = """\
model = "{provider}/{model}"
[providers.{provider}]
wire = "openai-chat"
baseUrl = "{url}"
apiKeyEnv = "BENCH_KEY"
"""
GOAL_MB = 70
COLUMNS = ("memory at start, MB", "after the turn, MB", "first turn, ms", "second turn, ms", "processes after it")


def measure(config: str, environment: Mapping[str, str]) -> tuple[float, ...]:
    """The values of `COLUMNS`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        workspace, home = folder / "workspace", folder / "config" / "tark"
        workspace.mkdir()
        home.mkdir(parents=True)
        (workspace / "a.py").write_text("x = 1\n")
        (home / "config.toml").write_text(config)
        env = {"XDG_CONFIG_HOME": str(folder / "config"), "XDG_STATE_HOME": str(folder / "state"), **environment}
        with RawServer(python("tark_lsp"), cwd=workspace, env=env) as server:
            folders = [{"uri": workspace.as_uri(), "name": "workspace"}]
            server.call("initialize", {"processId": os.getpid(), "capabilities": {}, "workspaceFolders": folders})
            server.notify("initialized", {})
            process = psutil.Process(server.process.pid)
            server.call("workspace/executeCommand", {"command": "tark.state", "arguments": [{}]})
            before = process.memory_info().rss
            first = turn(server)
            second = turn(server)
            after = process.memory_info().rss
            children = len(process.children(recursive=True))
            server.call("shutdown")
            server.notify("exit")
            server.wait()
    return before / 2**20, after / 2**20, first * 1e3, second * 1e3, children


def turn(server: RawServer) -> float:
    """Seconds from the command to the end of the turn."""
    began = time.perf_counter()
    start = {"prompt": "say hello", "kind": "ask"}
    started = server.call("workspace/executeCommand", {"command": "tark.turn.start", "arguments": [start]})
    waiting = {"turnId": started["result"]["turnId"]}
    end = server.call("workspace/executeCommand", {"command": "tark.turn.wait", "arguments": [waiting]})["result"]
    assert end["stopReason"] == "end_turn", end
    return time.perf_counter() - began


def show(where: str, config: str, environment: Mapping[str, str], rounds: int) -> None:
    measure(config, environment)  # byte code is compiled, files are in memory
    rows = [measure(config, environment) for _ in range(rounds)]
    print(f"key in {where}")
    for index, name in enumerate(COLUMNS):
        values = [row[index] for row in rows]
        print(f"  {name:22} {statistics.median(values):7.1f} ({min(values):.1f} to {max(values):.1f})")
    print(f"  goal {GOAL_MB} MB: {max(row[1] for row in rows) < GOAL_MB}")


def main(rounds: int) -> None:
    # An installed server has its byte code; without it, compiling needs memory.
    plain = {"PYTHONDONTWRITEBYTECODE": "", "BENCH_KEY": ""}
    with KeyProvider() as provider:
        config = CONFIG.format(provider=PROVIDER, model=MODELS[0], url=provider.url)
        show("the environment", config, plain | {"BENCH_KEY": RIGHT_KEY}, rounds)
        with tempfile.TemporaryDirectory() as folder:
            keys = KeyStore(Path(folder))
            try:
                where = keys.write_secret(PROVIDER, RIGHT_KEY, origin_of(provider.url))
                if where == KEYRING:
                    show(keys.describe_location(), config, plain, rounds)
                else:
                    print("key in a keyring: not measured, this session has none")
            finally:
                try:
                    keys.delete_secret(PROVIDER)
                except SettingsError as error:
                    print(f"not deleted: {error}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
