"""What the VS Code extension costs: at the start, and while 500 updates a second come.

    uv run python -m tests.benchmarks.bench_vscode [STARTS [ROUNDS]]

Starts: how long the extension has a core to be loaded and activated, in as many windows of their own; the server starts
later. Told by a probe, another extension in the same host, which is there before the others. Goal: 50 ms. Beside it one
of nothing at all, and what VS Code itself says of each ("Show Running Extensions"): on the clock, with all that is
loaded in the same go, and with all that the machine does meanwhile.

Flood: a turn of flooding_server.py in the chat, which is open. Of the extension host: how late timers of 1 ms are, told
by the probe. Goal: 99 of 100 within 16 ms. `busy`: how much of a core the host used.
Of the chat: frames that its page draws. Goal: 30 a second. Both before the flood, and while it lasts; all that was said
must be in the chat then. Where there is more to do than cores to do it, all but `busy` tells of the machine.
"""

import itertools
import json
import re
import statistics
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil
from playwright.sync_api import Browser, Frame, sync_playwright

from tests.benchmarks import flooding_server
from tests.editors.vscode import installed
from tests.editors.vscode.windows import FLAGS
from tests.editors.vscode.workbench import Workbench, until

PROBE = Path(__file__).with_name("vscode_probe.js")
MANIFEST = {"publisher": "bench", "version": "1.0.0", "engines": {"vscode": "^1.91.0"}, "main": "./main.js"}
EXTENSIONS = {
    "probe": ("*", PROBE.read_text()),
    "nothing": ("onStartupFinished", "exports.activate = () => {};"),
}
"""When they are activated, and what they are."""
SCENARIO = Path(__file__).parents[1] / "editors" / "scenario.toml"
FLOOD = {"tark.server.command": [sys.executable, str(Path(flooding_server.__file__))]}
IDLE_SECONDS = 5.0
OURS = "Tark"
ACTIVATION = re.compile(r"^(.+?) \d+\.\d+\.\d+ .*?Activation: (\d+)ms")
PHRASES = ("times the square of its", "one more point, with a", "so long that most screens wrap it")
"""Of what is said, without marks of Markdown."""
COUNT_FRAMES = """() => {
    window.drawn = [];
    const next = (now) => { window.drawn.push(now); requestAnimationFrame(next); };
    requestAnimationFrame(next);
}"""


class Start(NamedTuple):
    """Of an extension, in milliseconds."""

    load: float
    activate: float
    told: int
    """What VS Code says that both took."""


class Probed(Workbench):
    """One with the probe in its extension host."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self.probe = folder / "probe"
        self.probe.mkdir()
        self.busy = 0.0
        """Of one core, how much the extension host has used in what was measured last."""
        super().__init__(browser, folder, SCENARIO, machine=FLOOD, env={"PROBE_FOLDER": str(self.probe)})
        for name, (activation, source) in EXTENSIONS.items():
            path = folder / f"{name}.vsix"
            with zipfile.ZipFile(path, "w") as packed:
                manifest = {**MANIFEST, "name": name, "displayName": name, "activationEvents": [activation]}
                packed.writestr("extension/package.json", json.dumps(manifest))
                packed.writestr("extension/main.js", source)
            self.install(path)

    def starts(self) -> dict[str, Start]:
        """By the name of the extension, in a window that is opened for it."""
        self.open()
        self.status().wait_for()
        told = self._told()
        for name in ("tell", "told.json"):
            (self.probe / name).unlink(missing_ok=True)
        (self.probe / "tell").touch()
        until((self.probe / "told.json").exists, "what the probe found")
        took = json.loads((self.probe / "told.json").read_text())
        return {name: Start(**took[name], told=told[name]) for name in took.keys() & told.keys()}

    def _told(self) -> dict[str, int]:
        """By VS Code."""
        self.run("Developer: Show Running Extensions")
        rows = self.page.locator(".runtime-extensions-editor .monaco-list-row")

        def read() -> dict[str, int]:
            found = [ACTIVATION.search(" ".join(text.split())) for text in rows.all_inner_texts()]
            return {item[1]: int(item[2]) for item in found if item}

        until(lambda: OURS in read(), "the time of our activation")
        return read()

    @contextmanager
    def measured(self) -> Iterator[list[float]]:
        """Milliseconds by which timers were late meanwhile, once it is over."""
        found: list[float] = []
        (self.probe / "measured.json").unlink(missing_ok=True)
        (self.probe / "measure").touch()
        host = psutil.Process(int((self.probe / "host").read_text()))
        begun, used = time.perf_counter(), _seconds(host)
        yield found
        self.busy = (_seconds(host) - used) / (time.perf_counter() - begun)
        (self.probe / "measure").unlink()
        until((self.probe / "measured.json").exists, "what the probe found")
        found += json.loads((self.probe / "measured.json").read_text())


def bench_starts(bench: Probed, rounds: int) -> None:
    bench.starts()  # files are in memory
    found = [bench.starts() for _ in range(rounds)]
    for name in sorted(set.intersection(*map(set, found))):
        starts = [item[name] for item in found]
        took = [start.load + start.activate for start in starts]
        load, activate, told = map(statistics.median, zip(*starts, strict=True))
        median = statistics.median(took)
        verdict = _verdict("50 ms", median < 50) if name == OURS else ""
        print(
            f"start  {name:24} load {load:5.1f}  activate {activate:5.1f}  both {median:5.1f} ms"
            f"  {min(took):.1f} to {max(took):.1f}  VS Code says {told:4.0f} ms{verdict}",
            flush=True,
        )


def bench_flood(bench: Probed) -> None:
    bench.open()
    until((bench.probe / "host").exists, "the probe")
    bench.status().wait_for()  # the palette knows our commands
    bench.run("Tark: Open Chat")
    chat = bench.chat()
    chat.evaluate(COUNT_FRAMES)
    _during(bench, chat, "before the flood", IDLE_SECONDS, goals=False)
    prompt = chat.locator("textarea#prompt")
    prompt.fill("go")
    prompt.press("Enter")
    _during(bench, chat, "in the flood", flooding_server.SECONDS, goals=True)
    _check(chat)


def _during(bench: Probed, chat: Frame, when: str, seconds: float, *, goals: bool) -> None:
    chat.evaluate("() => { window.drawn = [] }")
    with bench.measured() as late:
        time.sleep(seconds)
        drawn: list[float] = chat.evaluate("() => window.drawn")
    late.sort()
    p50, p99 = statistics.median(late), late[int(len(late) * 0.99)]
    print(
        f"host   {when:16} {len(late):5} timers  p50 {p50:5.2f}  p99 {p99:5.2f}  max {late[-1]:6.2f} ms"
        f"  busy {bench.busy:.0%}{_verdict('16 ms', p99 < 16) if goals else ''}",
        flush=True,
    )
    gaps = [after - before for before, after in itertools.pairwise(drawn)]
    rate = len(gaps) / sum(gaps) * 1e3
    print(
        f"chat   {when:16} {rate:5.1f} frames a second  longest {max(gaps):.0f} ms"
        f"{_verdict('30', rate > 30) if goals else ''}",
        flush=True,
    )


def _verdict(goal: str, reached: bool) -> str:
    return f"  goal {goal}: {'reached' if reached else 'MISSED'}"


def _seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _check(chat: Frame) -> None:
    """Nothing that was said is missing, and no call."""
    chat.get_by_role("button", name="Stop").wait_for(state="hidden")
    shown = " ".join((chat.locator(".answer").first.text_content() or "").split())
    said = [" ".join(text.split()) for text in flooding_server.said()]
    for phrase in PHRASES:
        assert shown.count(phrase) == sum(text.count(phrase) for text in said), phrase
    calls = {update["toolCallId"] for update in flooding_server.updates() if update["kind"] == "toolCall"}
    assert chat.locator("details.call").count() == len(calls)


def main(starts: int, rounds: int) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed.browser(), args=list(FLAGS))
        for number in range(max(rounds, 1)):
            with tempfile.TemporaryDirectory(prefix="tark-") as folder:
                bench = Probed(browser, Path(folder))
                try:
                    if number == 0 and starts:
                        bench_starts(bench, starts)
                    if rounds:
                        bench_flood(bench)
                finally:
                    bench.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5, int(sys.argv[2]) if len(sys.argv) > 2 else 1)
