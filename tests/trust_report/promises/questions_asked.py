"""How often the user is asked on a working day."""

from collections.abc import Iterator

from tark_lsp.trust_report.gate import working_sandbox
from tark_lsp.trust_report.promise import Ground, Outcome, Promise
from tests.trust_report.forty_turns import run_session, turns

MOST = {"careful": 4, "balanced": 2}
BEFORE = {"careful": 20, "balanced": 20}
"""The same session at commit 95712d78, with grants only for exactly one command, and every other command asking."""


async def measure(ground: Ground) -> Outcome:
    await working_sandbox(ground.folder / "checked", ground.folder)
    levels = MOST if ground.thorough else {"careful": MOST["careful"]}
    failures: list[str] = []
    asked: dict[str, int] = {}
    for level, most in levels.items():
        questions, failed = await run_session(ground.folder / level, level)
        asked[level] = len(questions)
        failures += [f"{level}: asked: {question}" for question in questions[most:]]
        failures += [f"{level}: {failure}" for failure in failed]
    count = len(turns())
    tried = f"a session of {count} turns: edits, tests, searches, git"
    return Outcome(tried, count * len(levels), tuple(failures), note="; ".join(_figures(asked)))


def _figures(asked: dict[str, int]) -> Iterator[str]:
    for level, count in asked.items():
        yield f"{level}: {count} questions (at most {MOST[level]}; {BEFORE[level]} before grants could last)"


PROMISE = Promise(95, "A working day asks few questions", measure)
