"""Keys in a real Neovim while the server indexes a workspace: from a key to the cell it changes.

    uv run --group benchmarks python -m tests.benchmarks.bench_neovim_index [FOLDER [SECONDS]]

FOLDER: what is indexed; a copy of it is used (default: the installed packages). The same is typed into a Python file of
the workspace with the index off and on. Goal: no difference beyond the spread, and 99 of 100 keys within 16 ms.
"""

import random
import shutil
import statistics
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from tests.benchmarks.bench_neovim import LETTERS, LINE, PLUGIN, Place

INIT = f"""
vim.opt.runtimepath:prepend('{PLUGIN}')
require('tark').setup({{ cmd = {{ '{sys.executable}', '-m', 'tark_lsp' }}, root_markers = {{ '.git' }} }})
"""
INITIALIZED = "local c = vim.lsp.get_clients({ name = 'tark' })[1]; return c and c.initialized"
STATE = """
local client = vim.lsp.get_clients({ name = 'tark' })[1]
local answer = client:request_sync('workspace/executeCommand', { command = 'tark.index.status' }, 5000)
return answer and answer.result and answer.result.state or 'unknown'
"""


def typing(place: Place, *, enabled: bool, seconds: float) -> tuple[list[float], str]:
    """Seconds from each key to the screen, and the state of the index at the end."""
    settings = place.folder / "config" / "tark" / "config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(f"workspaceTrusted = true\n[index]\nenabled = {str(enabled).lower()}\n")
    screen = place.start("index", INIT, "typed.py")
    screen.until(INITIALIZED, "the server")
    screen.input(":TarkChat<CR>")
    screen.until("return vim.bo.filetype == 'tark_prompt'", "the prompt")
    screen.input("<Esc>:stopinsert<CR>:wincmd p<CR>:edit typed.py<CR>i")
    if enabled:
        screen.until(f"return (function() {STATE} end)() == 'building'", "the index")
    screen.rest(1.0)
    chance, took = random.Random(0), []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        took.append(screen.press(chance.choice(LETTERS)))
        if len(took) % LINE == 0:
            screen.input("<CR>")
        screen.rest(chance.uniform(0.01, 0.05))
    state = str(screen.lua(STATE))
    screen.close()
    return took, state


def main(source: str = sysconfig.get_paths()["purelib"], seconds: str = "20") -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder).resolve())
        ignored = shutil.ignore_patterns("*.so*", "*.pyc", ".gitignore")
        shutil.copytree(source, place.workspace / "packages", ignore=ignored)
        (place.workspace / "typed.py").write_text("")
        for enabled in (False, True, False, True):
            took, state = typing(place, enabled=enabled, seconds=float(seconds))
            shutil.rmtree(place.folder / "cache", ignore_errors=True)
            took.sort()
            print(
                f"index {'on ' if enabled else 'off'} ({state} at the end) {len(took):4} keys"
                f"  p50 {statistics.median(took) * 1e3:5.2f}  p99 {took[int(len(took) * 0.99)] * 1e3:5.2f}"
                f"  max {took[-1] * 1e3:5.2f} ms",
                flush=True,
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
