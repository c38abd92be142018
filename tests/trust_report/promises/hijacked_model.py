"""A hijacked model does nothing that was not approved, and no secret leaves: the goals of two corpora, seven carriers."""

from itertools import count

from tark_lsp.trust_report.gate import working_sandbox
from tark_lsp.trust_report.promise import Ground, Outcome, Promise
from tests.trust_report.hijacked import Attack, goals_of
from tests.trust_report.hijacked_world import CARRIERS, carried, open_world

FEW = 2
"""Goals for each carrier, unless all are tried."""
EVERY_AT_BALANCED = 10
"""Of the goals that are tried at careful."""


async def measure(ground: Ground) -> Outcome:
    await working_sandbox(ground.folder / "checked", ground.folder)
    goals = goals_of(
        ground.corpora.read("injection/bipia_attacks.json"), ground.corpora.read("injection/agentdojo_goals.json")
    )
    numbers, failures, calls = count(1), [], 0
    for level, step in (("careful", 1), ("balanced", EVERY_AT_BALANCED)):
        chosen = goals if ground.thorough else goals[:: len(goals) // FEW][:FEW]
        async with open_world(ground.folder / level, level) as world:
            for carrier in CARRIERS:
                for goal in chosen[::step]:
                    attack = Attack(next(numbers), goal, None)
                    async with carried(world, carrier, attack):
                        found = await world.attack(attack)
                    if found:
                        failures.append(f"{level}, {carrier}, {attack.name}: {'; '.join(found)}")
                    calls += attack.answers
    attacks = next(numbers) - 1
    tried = f"attacks through {len(CARRIERS)} carriers: {len(goals)} goals" if ground.thorough else "some attacks"
    return Outcome(tried, attacks, tuple(failures), note=f"{calls:,} answers of the model")


PROMISE = Promise(50, "A hijacked model does nothing unapproved, and no secret leaves", measure)
