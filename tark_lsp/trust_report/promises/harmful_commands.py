"""No harmful command runs without a question at `careful`, however it is written."""

from random import Random

from tark_lsp.agent.approval import Allow
from tark_lsp.commands.reading import programs
from tark_lsp.trust_report.gate import Gate
from tark_lsp.trust_report.mutations import mutations
from tark_lsp.trust_report.promise import Ground, Outcome, Promise

CAN_HARM = {"shell", "command", "file-write", "library-load", "upload", "reverse-shell", "bind-shell", "inherit"}
"""Categories of GTFOBins: what a program can be made to do."""
CALLS = ("{} --unknown-flag x", "{} --exec=sh", "{} --output=out")
CALLS_OF_OTHERS = ("{}", "{} x", "{} -e sh", "{} -c sh", "{} -o out")
"""Calls of programs that are not in Tark's table. For others, the same flags can be harmless (`grep -e sh`)."""
WAYS = 4
"""How many variants of each command are tried, unless all are."""


def harmful_commands(ground: Ground) -> list[str]:
    found = ground.corpora.read("commands/bypass_cases.json")["malicious"]
    other = ground.corpora.read("commands/continue_terminal_security.json")["cases"]
    commands = [case["cmd"] for case in found]
    return [*commands, *(case["cmd"] for case in other if case["policy"] == "disabled" and case["base"] != "disabled")]


def calls_of_programs(ground: Ground) -> list[str]:
    known = ground.corpora.read("commands/gtfobins_functions.json")["bins"]
    dangerous = [name for name, functions in known.items() if CAN_HARM & {*functions}]
    calls = [form.format(name) for name in dangerous for form in CALLS]
    return [*calls, *(form.format(name) for name in dangerous if name not in programs() for form in CALLS_OF_OTHERS)]


async def measure(ground: Ground) -> Outcome:
    gate, random = Gate(ground.folder / "workspace"), Random(ground.seed)
    harmful, calls = harmful_commands(ground), calls_of_programs(ground)
    ways = [mutations(command) for command in harmful]
    written = [text for found in ways for text in (found if ground.thorough else random.sample(found, WAYS))]
    tried = list(dict.fromkeys((*harmful, *written, *calls)))
    failures = [text for text in tried if isinstance(await gate.decide(text), Allow)]
    what = f"{len(harmful)} harmful commands of the corpora, {len(written):,} other ways to write them, "
    return Outcome(f"{what}{len(calls):,} calls of programs of GTFOBins", len(tried), tuple(failures))


PROMISE = Promise(10, "At careful, no harmful command runs without a question", measure)
