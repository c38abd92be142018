"""All cases: `CASES_PER_MAKER` of each maker. They are the same in each run with the same files and seed."""

from collections.abc import Iterator, Mapping
from random import Random

from tests.exhaustive import examples
from tests.workspace.placement.case import Case
from tests.workspace.placement.choosing import CHOOSING
from tests.workspace.placement.quoting import QUOTING, Maker
from tests.workspace.placement.repairs import REPAIRS
from tests.workspace.placement.sources import sources

MAKERS: Mapping[str, Maker] = {**QUOTING, **CHOOSING, **REPAIRS}
MOST_CASES = 75
"""Of a maker. Its later draws can be calls that no model can make, as with a line 0."""
CASES_PER_MAKER = min(MOST_CASES, examples(40))
UNCHANGED = "applied already"
"""The kind of case in which the file must stay as it is."""
MOST_DRAWS = 10_000


def cases(name: str, count: int = CASES_PER_MAKER, seed: str = "") -> Iterator[Case]:
    """`seed`: another one makes other cases.

    Raises RuntimeError if the files are not enough for so many cases: an empty suite must not pass."""
    random = Random(f"placement {seed}{name}")
    texts = list(sources().values())
    made = 0
    for _ in range(MOST_DRAWS):
        case = MAKERS[name](random, random.choice(texts))
        if case is not None and (case.expected != case.now or case.kind == UNCHANGED):
            yield case
            made += 1
        if made == count:
            return
    raise RuntimeError(f"only {made} cases of {name} in {MOST_DRAWS} draws")
