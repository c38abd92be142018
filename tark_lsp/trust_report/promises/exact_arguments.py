"""A command that runs without a question runs exactly with the approved arguments. This is checked with bash itself."""

import asyncio
from collections import Counter
from random import Random

from tark_lsp.commands.shell_text import read_command
from tark_lsp.trust_report.promise import Ground, NotMeasured, Outcome, Promise
from tark_lsp.trust_report.scripts import BASH, PROGRAMS, Recorder, random_script

SCRIPTS, ALL_SCRIPTS = 150, 2000


async def measure(ground: Ground) -> Outcome:
    if not BASH.exists():
        raise NotMeasured("bash is not installed")
    return await asyncio.to_thread(compare_scripts, ground, ALL_SCRIPTS if ground.thorough else SCRIPTS)


def compare_scripts(ground: Ground, generated: int) -> Outcome:
    """`generated`: the number of random scripts. Those that are understood run twice."""
    recorder, random = Recorder(ground.folder), Random(ground.seed)
    understood, failures = 0, []
    for _ in range(generated):
        script = random_script(random)
        command = read_command(script)
        if not command.is_certain or not {part[0] for part in command.parts} <= {*PROGRAMS}:
            continue  # it needs a question, or runs other programs, which leave no record
        understood += 1
        parts = Counter(command.parts)
        # A part after `&&` runs if all succeed, one after `||` if all fail.
        ran = [recorder.run(script, code) for code in (0, 1)]
        if any(once - parts for once in ran) or {*ran[0], *ran[1]} != {*parts}:
            failures.append(f"{script!r} ran {[*ran[0], *ran[1]]}")
    tried = f"{generated:,} random scripts, of which those that are understood ran under bash"
    return Outcome(tried, understood, tuple(failures), note=f"seed {ground.seed}")


PROMISE = Promise(20, "What runs without a question has exactly the arguments that were read", measure)
