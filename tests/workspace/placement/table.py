"""What each engine does with the cases of each kind, as the table of docs/edits.md.

`python -m tests.workspace.placement.table [CASES_PER_MAKER] [SEED]`; the similarity search of "most alike" takes
minutes, so with a seed only "ours" is asked, and each case that it gets wrong or refuses though it is safe is shown.
"""

import sys
from collections import Counter, defaultdict

from tests.workspace.placement.case import Case, Verdict
from tests.workspace.placement.engines import ENGINES
from tests.workspace.placement.suite import CASES_PER_MAKER, MAKERS, cases

ANSWERS = (Verdict.RIGHT, Verdict.REFUSED, Verdict.WRONG)


def truth(case: Case) -> str:
    if case.expected is None:
        return "refuse"
    return "apply" if case.safe else "either"


def shares(counts: Counter[Verdict]) -> str:
    """`right / refused / silently wrong`, in percent."""
    total = sum(counts.values())
    return " / ".join(f"{100 * counts[answer] / total:.1f}".removesuffix(".0") for answer in ANSWERS)


def main(count: int, seed: str = "") -> None:
    made = [case for name in MAKERS for case in cases(name, count, seed)]
    engines = {"ours": ENGINES["ours"]} if seed else ENGINES
    found: dict[tuple[str, str], dict[str, Counter[Verdict]]] = defaultdict(lambda: defaultdict(Counter))
    for case in made:
        for name, engine in engines.items():
            verdict = case.judge(engine(case))
            if seed and (verdict is Verdict.WRONG or (case.safe and verdict is Verdict.REFUSED)):
                print(verdict.value, case, file=sys.stderr)
            for row in ((case.kind, truth(case)), ("**all**", "")):
                found[row][name][verdict] += 1
    print(f"| kind of case | right is to | cases | {' | '.join(engines)} |")
    print("|---|---|---|" + "---|" * len(engines))
    rows = sorted(found, key=lambda row: (row[1] == "", ("apply", "either", "refuse", "").index(row[1])))
    for row in rows:
        kind, right = row
        cells = [shares(found[row][name]) for name in engines]
        print(f"| {kind} | {right} | {sum(found[row]['ours'].values())} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else CASES_PER_MAKER, "".join(sys.argv[2:3]))
