"""Computes how central files and definitions are: PageRank over references. Pure.

Loops are limited in steps, not in time, so that the same files have the same ranks on every machine.

- A file links to the files that define the names it imports and, with less weight, the names it uses without import.
- A name that is imported from a module outside of the files is ignored.
- Files that define the same name share its links. If very many files define a name, it is ignored.
- A name that very many files use without import is ignored, too: it belongs to the language (`join`).
- Ranks are personalised: half of the walks begin at the wanted files and names.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from zlib import crc32

DAMPING = 0.85
PERSONAL = 0.5
"""The share of walks that begin at wanted files and names, if there are any. The others begin anywhere."""
MOST_DEFINERS = 20
"""Files that define the same name. A name with more files is ignored."""
NOT_IMPORTED = 0.2
"""The weight of a use in a file that does not import the name."""
MOST_USERS = 20
MOST_USERS_PART = 0.05
"""Files that use a name without import, as a number and as a share of all files. Above both limits, it is ignored."""
OWN_USES = 0.2
"""The weight of a use in the defining file for the definition. For the file, such a use does not count."""
UNUSED = 0.05
"""The share of a file's rank that its definitions get even if they are unused, so that each has a rank."""
MOST_STEPS = 3_000_000
"""Edges that are followed for one ranking, over all rounds. This takes about half a second."""
MOST_ROUNDS, LEAST_ROUNDS = 30, 3
PRECISE = 1e-6
"""Rounds end when the sum of the changes of all ranks is less than this."""


def name_number(name: str, family: str = "") -> int:
    """A checksum, because it takes only 4 bytes. Two equal ones among 100,000 names do not harm a ranking."""
    return crc32(f"{family} {name}".encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True)
class FileNames:
    """The numbers of the names that a file defines, imports and uses. Modules have names, too.

    `imports` has two numbers for each import: that of the module, and that of the name.
    """

    defines: "array[int]"
    imports: "array[int]"
    uses: "array[int]"

    @classmethod
    def of(
        cls, defines: Iterable[str], imports: Iterable[tuple[str, str]], uses: Iterable[str], *, family: str = ""
    ) -> "FileNames":
        """`family`: a family of languages. Equal names of different families are different."""
        pairs = array("I", (name_number(name, family) for pair in dict.fromkeys(imports) for name in pair))
        return cls(_numbers(defines, family), pairs, _numbers(uses, family))

    def imported(self, modules: Container[int]) -> "tuple[set[int], set[int]]":
        """The names that are imported from these modules, and those that are imported from elsewhere."""
        pairs = [*zip(self.imports[::2], self.imports[1::2], strict=True)]
        inside = {name for module, name in pairs if module in modules}
        return inside, {name for _, name in pairs} - inside


@dataclass(frozen=True, slots=True)
class Ranks:
    """`files`: by index; the sum is 1. `names`: for each definition, by index of the file and number of the name."""

    files: Sequence[float]
    names: Mapping[tuple[int, int], float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Edges:
    """`imports[file]`: names of other files that the file imports. `uses[file]`: those that it uses without import.

    `own[file]`: its own names that it uses. `definers[name]`: the files that define a name.
    """

    imports: Sequence[Sequence[int]]
    uses: Sequence[Sequence[int]]
    own: Sequence[Sequence[int]]
    definers: Mapping[int, Sequence[int]]


def rank_all(
    files: Sequence[FileNames], wanted_files: Set[int] = frozenset(), wanted_names: Set[int] = frozenset()
) -> Ranks:
    """`wanted_files` are indices, `wanted_names` are numbers of names. Unknown ones are ignored."""
    if not files:
        return Ranks(())
    edges = _edges(files)
    starts = _starts(files, edges, wanted_files, wanted_names)
    ranks = _file_ranks(edges, starts)
    return Ranks(ranks, _name_ranks(files, edges, ranks, wanted_names))


def _numbers(names: Iterable[str], family: str) -> "array[int]":
    return array("I", dict.fromkeys(name_number(name, family) for name in names))


def _edges(files: Sequence[FileNames]) -> _Edges:
    definers: dict[int, list[int]] = defaultdict(list)
    for index, names in enumerate(files):
        for name in names.defines:
            definers[name].append(index)
    known = {name: found for name, found in definers.items() if len(found) <= MOST_DEFINERS}
    imports, uses, own = [], [], []
    users: Counter[int] = Counter()
    for names in files:
        here = {*names.defines}
        imported, of_others = names.imported(definers)
        imports.append(array("I", sorted(name for name in imported - here if name in known)))
        others = here | imported | of_others
        only_used = [name for name in names.uses if name in known and name not in others]
        users.update(only_used)
        uses.append(only_used)
        own.append(array("I", (name for name in names.uses if name in here)))
    most = max(MOST_USERS, MOST_USERS_PART * len(files))
    return _Edges(imports, [array("I", (one for one in names if users[one] <= most)) for names in uses], own, known)


def _starts(
    files: Sequence[FileNames], edges: _Edges, wanted_files: Set[int], wanted_names: Set[int]
) -> Sequence[float]:
    """The probability of each file as the start of a walk; the sum is 1."""
    count = len(files)
    wanted = [[index] for index in sorted(wanted_files) if 0 <= index < count]
    wanted += [[*edges.definers[name]] for name in sorted(wanted_names) if name in edges.definers]
    starts = [(1 - PERSONAL if wanted else 1.0) / count] * count
    for group in wanted:
        for index in group:
            starts[index] += PERSONAL / len(wanted) / len(group)
    return starts


def _file_ranks(edges: _Edges, starts: Sequence[float]) -> Sequence[float]:
    steps = sum(map(len, (*edges.imports, *edges.uses, *edges.definers.values()))) + len(starts)
    ranks = [*starts]
    for _ in range(max(LEAST_ROUNDS, min(MOST_ROUNDS, MOST_STEPS // steps))):
        arrived = [0.0] * len(ranks)
        for name, flow in _flows(edges, ranks).items():
            found = edges.definers[name]
            part = flow / len(found)
            for index in found:
                arrived[index] += part
        rest = 1 - DAMPING * sum(arrived)  # the share of walks that restart, including those from files without links
        following = [DAMPING * flow + rest * start for flow, start in zip(arrived, starts, strict=True)]
        change = sum(abs(new - old) for new, old in zip(following, ranks, strict=True))
        ranks = following
        if change < PRECISE:
            break
    return ranks


def _flows(edges: _Edges, ranks: Sequence[float]) -> Mapping[int, float]:
    """How much of the files' ranks flows through each name."""
    flows: dict[int, float] = defaultdict(float)
    for rank, imports, uses in zip(ranks, edges.imports, edges.uses, strict=True):
        if imports or uses:
            part = rank / (len(imports) + NOT_IMPORTED * len(uses))
            for name in imports:
                flows[name] += part
            part *= NOT_IMPORTED
            for name in uses:
                flows[name] += part
    return flows


def _name_ranks(
    files: Sequence[FileNames], edges: _Edges, ranks: Sequence[float], wanted_names: Set[int]
) -> Mapping[tuple[int, int], float]:
    flows = _flows(edges, ranks)
    found: dict[tuple[int, int], float] = {}
    for index, names in enumerate(files):
        if not names.defines:
            continue
        unused = ranks[index] * UNUSED / len(names.defines)
        for name in names.defines:
            definers = edges.definers.get(name, ())
            used = flows.get(name, 0.0) / len(definers) if definers else 0.0
            wanted = PERSONAL / len(definers) if definers and name in wanted_names else 0.0
            found[index, name] = unused + used + wanted
        for name in edges.own[index]:
            found[index, name] += ranks[index] * OWN_USES / len(edges.own[index])
    return found
