"""What runs is what the user was shown, on the object that it was shown for, whatever is swapped meanwhile."""

import shutil
from pathlib import Path
from random import Random

from tark_lsp.agent.user_interface import PermissionRequest, Permitted, Rejected
from tark_lsp.messages import ApprovalLevel
from tark_lsp.sandbox.program import find_bubblewrap
from tark_lsp.tools.sandbox_access import SandboxAccess
from tark_lsp.trust_report.gate import working_sandbox
from tark_lsp.trust_report.promise import Ground, Outcome, Promise
from tests.agent.bench import Bench
from tests.agent.script import answer
from tests.agent.scripted_user import Decision, ScriptedUser
from tests.trust_report.swaps import IN_SUB, SWAPS, Delayed, Swap, make_project

SWAPPED, ALL_SWAPPED = 32, 1000
SANDBOXED_EVERY = 3
"""Of the rounds through all swaps: in it the command runs in the sandbox."""
LATEST = 0.006
"""Seconds after the question, in which the call begins."""


class AllowsOnce(ScriptedUser):
    """Allows the first question, with the widest grant if it is asked for one, and says no to all others."""

    wants_grant = False

    async def _ask(self, request: PermissionRequest) -> Decision:
        await ScriptedUser._ask(self, request)
        if len(self.asked) > 1:
            return Rejected()
        return Permitted(request.grants[-1] if self.wants_grant and request.grants else None)


async def measure(ground: Ground) -> Outcome:
    random, failures = Random(ground.seed), []
    count = ALL_SWAPPED if ground.thorough else SWAPPED
    made = 0
    works = find_bubblewrap([]) is not None
    for number in range(count):
        swap = SWAPS[number % len(SWAPS)]
        seconds = random.choice((0.0, random.uniform(0, LATEST)))
        root = ground.folder / str(number)
        make_project(root)
        bench = Bench(root / "project")
        if works and swap.first is IN_SUB and number // len(SWAPS) % SANDBOXED_EVERY == 0:
            bench.context.sandbox = await access(root)
        wrong, was_made = await run_swap(swap, bench, seconds)
        made += was_made
        if wrong:
            failures.append(f"{swap.name}, after {seconds * 1e3:.1f} ms: {wrong}")
        shutil.rmtree(root)
    return Outcome("swaps between the question and the call", count, tuple(failures), note=f"{made} in time")


async def access(root: Path) -> SandboxAccess:
    sandbox = await working_sandbox(root, root / "project")
    return SandboxAccess(lambda: sandbox)


async def run_swap(swap: Swap, bench: Bench, seconds: float) -> tuple[str, bool]:
    """What is wrong, and whether the swap was made."""
    root = bench.root.parent
    bench.user = user = AllowsOnce(bench.workspace)
    user.wants_grant = bool(swap.again)
    user.meanwhile = delayed = Delayed(lambda: swap.swap(root), seconds)
    bench.level = ApprovalLevel.BALANCED if swap.again else ApprovalLevel.CAREFUL
    await bench.run(answer(swap.first), *(answer(one) for one in swap.again), answer("Done."))
    delayed.join()
    if not user.asked:
        return "nothing was asked", False
    told = "\n".join(bench.results())
    return (swap.wrong(root, told) if delayed.made else ""), delayed.made


PROMISE = Promise(60, "Nothing runs on another object than the one that was shown", measure)
