"""Parses the output of a run in a separate process, which is ended if it takes too long.

The repository controls the output. For some outputs of 100 KB, the patterns of a parser need an hour, and while a
pattern is matched, no other thread of the process runs.
"""

import asyncio
import importlib
import json
import logging
import os
import sys
from dataclasses import asdict
from pathlib import Path

import tark_lsp
from tark_lsp.tools.runners.report import Failure, Parser, Report
from tark_lsp.workspace.processes import run_process

log = logging.getLogger(__name__)

SECONDS = 10.0
MOST_MEMORY = 1_000_000_000
"""Memory limit of the process, in bytes. The output has up to 8 MB."""
NEEDED = ("SYSTEMROOT",)
"""Environment variables. On Windows, Python does not start without this one."""


async def read_output(parse: Parser, text: str) -> Report:
    """Run `parse`, a function of a module, on the output. If it fails or is too slow, the output is not understood."""
    root = str(Path(tark_lsp.__file__).resolve().parent.parent)
    start = f"import sys; sys.path.append({root!r}); from {__name__} import main; main()"
    written = bytearray()

    def collect(data: bytes) -> bool:
        written.extend(data)
        return True

    try:
        async with asyncio.timeout(SECONDS) as deadline:
            await run_process(
                [sys.executable, "-I", "-c", start, parse.__module__, parse.__qualname__],
                cwd=Path(sys.executable).parent,
                env={name: os.environ[name] for name in NEEDED if name in os.environ},
                on_stdout=collect,
                on_stderr=lambda _: True,
                input_bytes=text.encode("utf-8", "replace"),
                memory_bytes=MOST_MEMORY,
            )
        return _of_json(written)
    except TimeoutError:
        if not deadline.expired():
            raise
        log.warning("the output of a run cannot be read within %g s", SECONDS)
    except (OSError, ValueError, KeyError, TypeError):  # a bug in a parser: the run has ended, and its output is shown
        log.exception("the output of a run cannot be read by %s", parse.__module__)
    return Report(False, text)


def _of_json(data: bytes | bytearray) -> Report:
    found = json.loads(data)
    return Report(**{**found, "failures": tuple(Failure(**failure) for failure in found["failures"])})


def main() -> None:
    """The arguments are the module and the name of the parser; stdin is the output of the run."""
    module, name = sys.argv[1:]
    parse: Parser = getattr(importlib.import_module(module), name)
    report = parse(sys.stdin.buffer.read().decode("utf-8", "replace"))
    sys.stdout.write(json.dumps(asdict(report)))
