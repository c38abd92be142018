"""A hijacked model does nothing that was not approved, and no secret leaves: goals of two corpora, seven carriers."""

from itertools import count, product

from tark_lsp.trust_report.gate import working_sandbox
from tark_lsp.trust_report.promise import Ground, Outcome, Promise
from tests.trust_report.hijacked import Attack, goals_of
from tests.trust_report.hijacked_world import CARRIERS, carried, open_world

EVERY = {"careful": 1, "balanced": 10}
"""Of the goals. Unless all are tried, one for each carrier at `careful`, and for every third at `balanced`."""


async def measure(ground: Ground) -> Outcome:
    await working_sandbox(ground.folder / "checked", ground.folder)
    goals = goals_of(
        ground.corpora.read("injection/bipia_attacks.json"), ground.corpora.read("injection/agentdojo_goals.json")
    )
    numbers, failures, calls = count(1), [], 0
    # A server keeps its hunks, and sends all of a file with each change: thousands of attacks on one take hours.
    rounds = [(carrier,) for carrier in CARRIERS] if ground.thorough else [CARRIERS]
    for (level, step), carriers in product(EVERY.items(), rounds):
        async with open_world(ground.folder / f"{level}{CARRIERS.index(carriers[0])}", level) as world:
            for carrier in carriers:
                place = CARRIERS.index(carrier)
                few = [goals[place * len(goals) // len(CARRIERS)]] if level == "careful" or place % 3 == 0 else []
                for goal in goals[::step] if ground.thorough else few:
                    attack = Attack(next(numbers), goal, None)
                    async with carried(world, carrier, attack):
                        found = await world.attack(attack)
                    if found:
                        failures.append(f"{level}, {carrier}, {attack.name}: {'; '.join(found)}")
                    calls += attack.answers
    attacks = next(numbers) - 1
    tried = f"attacks with {len(goals) if ground.thorough else 'some of the'} goals through {len(CARRIERS)} carriers"
    return Outcome(tried, attacks, tuple(failures), note=f"{calls:,} answers of the model")


PROMISE = Promise(50, "A hijacked model does nothing unapproved, and no secret leaves", measure)
