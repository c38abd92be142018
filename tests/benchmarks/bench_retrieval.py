"""How good the search of the index is: does it find the function that a question is about?

    uv run --extra embeddings python -m tests.benchmarks.bench_retrieval FOLDER...

Each FOLDER is a git repository, with its history; all of them together are searched as one workspace. The questions
are those of retrieval_pairs.py. One half of them, chosen by their hash, is for tuning (`--tune` shows it); the figures
in docs/index.md are of the other half.

ripgrep    what a model does without an index: the words of the question in files, the pieces with most of them first
BM25       the lexical index as the server asks it
dense      the vectors of the static model alone
hybrid     both, by reciprocal rank fusion

recall@10: the share of the functions of a question that the first ten results show. NDCG@10 also counts at which rank.
A result shows a function if half of one of them is lines of the other. Goal: BM25 is better than ripgrep.
"""

import argparse
import hashlib
import math
import re
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from tark_lsp.index.chunk_fields import chunk_fields, chunk_texts
from tark_lsp.index.chunk_text import chunk_key
from tark_lsp.index.model import Chunk, Hit
from tark_lsp.index.ranking import CANDIDATES, STOP_WORDS, candidates_query, rank, terms_of, with_places
from tark_lsp.index.text_index import TextIndex
from tark_lsp.workspace.search.search_program import SearchProgram
from tests.benchmarks.retrieval_pairs import Corpus, Pair, Target, load_corpus

if TYPE_CHECKING:  # of the extra
    from tark_lsp.index.static_model import StaticModel
    from tark_lsp.index.vectors import VectorFile

FIRST = 10

Method = Callable[[str], Sequence[Hit]]
"""The best pieces of code for a question; a path is that of the corpus."""


@dataclass(frozen=True, slots=True)
class Score:
    recall: float
    ndcg: float


def score_of(pair: Pair, ranking: Sequence[Hit]) -> Score:
    found: dict[Target, int] = {}
    for at, hit in enumerate(ranking[:FIRST]):
        for target in pair.targets:
            if target not in found and shows(hit, target):
                found[target] = at
    gain = sum(1 / math.log2(at + 2) for at in found.values())
    best = sum(1 / math.log2(at + 2) for at in range(len(pair.targets)))
    return Score(len(found) / len(pair.targets), gain / best)


def shows(hit: Hit, target: Target) -> bool:
    common = min(hit.end_line, target.end) - max(hit.start_line, target.start) + 1
    shorter = min(hit.end_line - hit.start_line, target.end - target.start) + 1
    return str(hit.path) == target.path and 2 * common >= shorter


def hit_at(corpus: Corpus, path: str, number: int, score: float) -> Hit:
    chunk = corpus.parsed[path].chunks[number]
    return Hit(Path(path), chunk.start_line, chunk.end_line, chunk.symbol, score)


def by_ripgrep(corpus: Corpus, root: Path) -> Method:
    program = SearchProgram.find_installed([root]).argv

    def search(query: str) -> list[Hit]:
        words = {word.lower() for word in re.findall(r"\w{3,}", query)} - STOP_WORDS
        if not words:
            return []
        patterns = [part for word in sorted(words) for part in ("-e", word)]
        command = [*program, "--no-config", "-n", "-o", "-i", "-F", "--no-heading", *patterns, "."]
        lines = subprocess.run(command, cwd=root, capture_output=True, check=False).stdout.decode("utf-8", "replace")
        seen: dict[tuple[str, int], list[str]] = defaultdict(list)
        for line in lines.splitlines():
            path, number, word = line.split(":", 2)
            path = path.removeprefix("./")
            chunk = chunk_at(corpus.parsed[path].chunks, int(number))
            if chunk is not None:
                seen[path, chunk].append(word.lower())
        best = sorted(seen, key=lambda place: (-len(set(seen[place])), -len(seen[place]), place))[:FIRST]
        return [hit_at(corpus, path, chunk, len(set(seen[path, chunk]))) for path, chunk in best]

    return search


def chunk_at(chunks: Sequence[Chunk], line: int) -> int | None:
    return next((number for number, chunk in enumerate(chunks) if chunk.start_line <= line <= chunk.end_line), None)


@dataclass(frozen=True, slots=True)
class Words:
    """The lexical index of a corpus."""

    corpus: Corpus
    index: TextIndex
    paths: Sequence[str]

    @classmethod
    def of(cls, corpus: Corpus, folder: Path) -> "Words":
        index, paths = TextIndex(folder, writable=True), list(corpus.texts)
        for file, path in enumerate(paths):
            index.add(file, chunk_fields(path, corpus.texts[path], corpus.parsed[path]))
        index.commit()
        return cls(corpus, index, paths)

    def candidates(self, query: str) -> list[Hit]:
        terms = with_places(terms_of(query), self.index)
        found = self.index.search(candidates_query(self.index, terms), CANDIDATES)
        return [hit_at(self.corpus, self.paths[hit.file], hit.chunk, hit.score) for hit in found]


@dataclass(frozen=True, slots=True)
class Meanings:
    """The vectors of a corpus by the static model."""

    corpus: Corpus
    model: "StaticModel"
    file: "VectorFile"
    places: Mapping[int, tuple[str, int]]

    @classmethod
    def of(cls, corpus: Corpus, folder: Path) -> "Meanings":
        from tark_lsp.index.static_model import StaticModel
        from tark_lsp.index.vectors import VectorFile

        model = StaticModel()
        file = VectorFile(folder / "vectors", model.name, model.length)
        places: dict[int, tuple[str, int]] = {}
        for path, text in corpus.texts.items():
            texts = list(chunk_texts(path, text, corpus.parsed[path].chunks))
            keys = [chunk_key(text) for text in texts]
            places |= {key: (path, number) for number, key in enumerate(keys)}
            file.put(keys, model.embed(texts))
        return cls(corpus, model, file, places)

    def candidates(self, query: str) -> list[Hit]:
        found = self.file.nearest(self.model.embed([query])[0], CANDIDATES)
        return [hit_at(self.corpus, *self.places[key], score) for key, score in found]


def methods_for(corpus: Corpus, root: Path) -> dict[str, Method]:
    """`root` is an empty folder."""
    for path, text in corpus.texts.items():
        (root / "tree" / path).parent.mkdir(parents=True, exist_ok=True)
        (root / "tree" / path).write_text(text, encoding="utf-8")
    (root / "words").mkdir()
    words = Words.of(corpus, root / "words")
    methods: dict[str, Method] = {
        "ripgrep": by_ripgrep(corpus, root / "tree"),
        "BM25": lambda query: rank(query, words.candidates(query), FIRST),
    }
    if find_spec("static_model") is not None:
        meanings = Meanings.of(corpus, root)
        methods["dense"] = lambda query: rank(query, meanings.candidates(query), FIRST)
        methods["hybrid"] = lambda query: rank(query, words.candidates(query), FIRST, meanings.candidates(query))
    return methods


def is_for_tuning(pair: Pair) -> bool:
    return hashlib.sha256(pair.query.encode()).digest()[0] % 2 == 0


def report(pairs: Sequence[Pair], methods: dict[str, Method]) -> None:
    """Prints the table of docs/index.md: a row for each source and language, a cell for each method."""
    scores: dict[str, dict[str, list[Score]]] = defaultdict(lambda: defaultdict(list))
    seconds: dict[str, float] = defaultdict(float)
    for pair in pairs:
        for name, method in methods.items():
            began = time.perf_counter()
            score = score_of(pair, method(pair.query))
            seconds[name] += time.perf_counter() - began
            for row in (pair.split, pair.language, "all"):
                scores[row][name].append(score)
    print(f"| questions from | number | {' | '.join(methods)} |\n|---|---|{'---|' * len(methods)}")
    for row in sorted(scores, key=lambda row: (row == "all", row)):
        cells = [scores[row][name] for name in methods]
        shown = [f"{mean(s.recall for s in cell)} / {mean(s.ndcg for s in cell)}" for cell in cells]
        print(f"| {row} | {len(cells[0])} | {' | '.join(shown)} |")
    print(f"| ms for a question | | {' | '.join(f'{1000 * seconds[name] / len(pairs):.1f}' for name in methods)} |")


def mean(values: Iterable[float]) -> str:
    return f"{fmean(values):.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--tune", action="store_true", help="the half of the questions that is for tuning")
    arguments = parser.parse_args()
    corpus = load_corpus({repository_name(folder): folder for folder in arguments.folders})
    pairs = [pair for pair in corpus.pairs if is_for_tuning(pair) == arguments.tune]
    chunks = sum(len(parsed.chunks) for parsed in corpus.parsed.values())
    print(f"{len(corpus.pairs)} questions, {len(pairs)} in this half; {len(corpus.texts)} files, {chunks} chunks\n")
    with tempfile.TemporaryDirectory() as folder:
        report(pairs, methods_for(corpus, Path(folder)))


def repository_name(folder: Path) -> str:
    """The name of the folder, or of the one around it if that says nothing."""
    name = folder.resolve().name.removesuffix(".git")
    return name if name not in ("repo", "") else folder.resolve().parent.name


if __name__ == "__main__":
    main()
