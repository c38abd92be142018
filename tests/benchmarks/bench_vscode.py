"""What the VS Code extension costs: at the start, and while 500 updates a second come.

    uv run python -m tests.benchmarks.bench_vscode [STARTS [ROUNDS]]

Starts: what VS Code itself says it took to load and to activate the extension ("Show Running Extensions"), in as many
windows of their own. Goal: 50 ms.

Flood: a turn of flooding_server.py in the chat, which is open. Of the extension host: how late timers of 1 ms are, told
by a probe, another extension in the same host. Goal: 99 of 100 within 16 ms. `busy`: how much of a core the host used.
Of the chat: frames that its page draws. Goal: 30 a second. Both before the flood, and while it lasts; all that was said
must be in the chat then. Where there is more to do than cores to do it, all but `busy` tells of the machine.
"""

import itertools
import json
import os
import re
import statistics
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from playwright.sync_api import Browser, Frame, sync_playwright

from tests.benchmarks import flooding_server
from tests.editors.vscode import installed
from tests.editors.vscode.conftest import FLAGS
from tests.editors.vscode.workbench import Workbench, until

PROBE = Path(__file__).with_name("vscode_probe.js")
MANIFEST = {
    "name": "probe",
    "publisher": "tark",
    "version": "1.0.0",
    "engines": {"vscode": "^1.91.0"},
    "activationEvents": ["onStartupFinished"],
    "main": "./main.js",
}
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


class Probed(Workbench):
    """One with the probe in its extension host."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self.probe = folder / "probe"
        self.probe.mkdir()
        self.busy = 0.0
        """Of one core, how much the extension host has used in what was measured last."""
        os.environ["PROBE_FOLDER"] = str(self.probe)  # it is the server's, and so the host's
        super().__init__(browser, folder, SCENARIO, machine=FLOOD)
        with zipfile.ZipFile(folder / "probe.vsix", "w") as packed:
            packed.writestr("extension/package.json", json.dumps(MANIFEST))
            packed.write(PROBE, "extension/main.js")
        self.install(folder / "probe.vsix")

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


def activation(bench: Workbench) -> dict[str, int]:
    """Milliseconds by the name of the extension, of a window that is opened for it."""
    bench.open()
    bench.status().wait_for()
    bench.run("Developer: Show Running Extensions")
    rows = bench.page.locator(".runtime-extensions-editor .monaco-list-row")

    def read() -> dict[str, int]:
        found = [ACTIVATION.search(" ".join(text.split())) for text in rows.all_inner_texts()]
        return {each[1]: int(each[2]) for each in found if each}

    until(lambda: OURS in read(), "the time of our activation")
    return read()


def bench_starts(bench: Workbench, rounds: int) -> None:
    activation(bench)  # files are in memory
    took = [activation(bench) for _ in range(rounds)]
    for name in sorted(set.intersection(*map(set, took))):
        times = [each[name] for each in took]
        median = statistics.median(times)
        verdict = _verdict("50 ms", median < 50) if name == OURS else ""
        print(f"start  {name:30} {median:5.0f} ms  {min(times)} to {max(times)}{verdict}", flush=True)


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
    shown = " ".join(chat.locator(".answer").first.inner_text().split())
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
