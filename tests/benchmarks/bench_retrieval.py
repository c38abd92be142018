"""How good the search of the index is: does it find the function that a question is about?

    uv run --extra embeddings python -m tests.benchmarks.bench_retrieval FOLDER...

Each FOLDER is a git repository, with its history; all of them together are searched as one workspace. The questions
are those of retrieval_pairs.py. One half of them, chosen by their hash, is for tuning (`--tune` shows it); the figures in
docs/index.md are of the other half.

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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean

from tark_lsp.index.chunk_text import chunk_key, chunk_text
from tark_lsp.index.fusion import fuse_rankings
from tark_lsp.index.model import Chunk
from tark_lsp.index.ranking import STOP_WORDS, candidates_query, terms_of
from tark_lsp.index.text_index import TextIndex
from tark_lsp.workspace.search.search_program import SearchProgram
from tests.benchmarks.retrieval_pairs import Corpus, Pair, Target, load_corpus

FIRST = 10
CANDIDATES = 100

Place = tuple[str, int]
"""A path and the number of a chunk in its file."""
Method = Callable[[str], list[Place]]


@dataclass(frozen=True, slots=True)
class Score:
    recall: float
    ndcg: float


def score_of(corpus: Corpus, pair: Pair, ranking: Sequence[Place]) -> Score:
    found: dict[Target, int] = {}
    for rank, (path, number) in enumerate(ranking[:FIRST]):
        chunk = corpus.parsed[path].chunks[number]
        for target in pair.targets:
            if target.path == path and target not in found and shows(chunk, target):
                found[target] = rank
    gain = sum(1 / math.log2(rank + 2) for rank in found.values())
    best = sum(1 / math.log2(rank + 2) for rank in range(len(pair.targets)))
    return Score(len(found) / len(pair.targets), gain / best)


def shows(chunk: Chunk, target: Target) -> bool:
    common = min(chunk.end_line, target.end) - max(chunk.start_line, target.start) + 1
    return 2 * common >= min(chunk.end_line - chunk.start_line, target.end - target.start) + 1


def by_ripgrep(corpus: Corpus, root: Path) -> Method:
    program = SearchProgram.find_installed([root]).path
    starts = {path: [chunk.start_line for chunk in parsed.chunks] for path, parsed in corpus.parsed.items()}

    def search(query: str) -> list[Place]:
        words = {word.lower() for word in re.findall(r"\w{3,}", query)} - STOP_WORDS
        if not words:
            return []
        patterns = [part for word in sorted(words) for part in ("-e", word)]
        command = [str(program), "--no-config", "-n", "-o", "-i", "-F", "--no-heading", *patterns, "."]
        lines = subprocess.run(command, cwd=root, capture_output=True, check=False).stdout.decode("utf-8", "replace")
        seen: dict[Place, list[str]] = defaultdict(list)
        for line in lines.splitlines():
            path, number, word = line.split(":", 2)
            path = path.removeprefix("./")
            if path in starts:
                chunk = chunk_at(corpus.parsed[path].chunks, int(number))
                if chunk is not None:
                    seen[path, chunk].append(word.lower())
        return sorted(seen, key=lambda place: (-len(set(seen[place])), -len(seen[place]), place))[:CANDIDATES]

    return search


def chunk_at(chunks: Sequence[Chunk], line: int) -> int | None:
    return next((number for number, chunk in enumerate(chunks) if chunk.start_line <= line <= chunk.end_line), None)


def by_words(corpus: Corpus, folder: Path) -> Method:
    index = TextIndex(folder, writable=True)
    paths = list(corpus.texts)
    for file, path in enumerate(paths):
        index.replace(file, path, corpus.texts[path], corpus.parsed[path])
    index.commit()

    def search(query: str) -> list[Place]:
        found = index.search(candidates_query(index, terms_of(query)), CANDIDATES)
        return [(paths[hit.file], hit.chunk) for hit in found]

    return search


def by_vectors(corpus: Corpus, folder: Path) -> Method:
    from tark_lsp.index.static_model import StaticModel
    from tark_lsp.index.vectors import VectorFile

    model = StaticModel()
    places: dict[int, Place] = {}
    file: VectorFile | None = None
    for path, text in corpus.texts.items():
        lines = text.split("\n")
        chunks = corpus.parsed[path].chunks
        texts = [
            chunk_text(path, chunk.symbol, "\n".join(lines[chunk.start_line - 1 : chunk.end_line])) for chunk in chunks
        ]
        keys = [chunk_key(text) for text in texts]
        places |= {key: (path, number) for number, key in enumerate(keys)}
        vectors = model.embed(texts)
        if vectors:
            file = file or VectorFile(folder / "vectors", model.name, len(vectors[0]))
            file.put(keys, vectors)
    assert file is not None
    made = file

    def search(query: str) -> list[Place]:
        return [places[key] for key, _ in made.nearest(model.embed([query])[0], CANDIDATES)]

    return search


def by_both(*methods: Method, weights: Sequence[float] = ()) -> Method:
    return lambda query: [place for place, _ in fuse_rankings([method(query) for method in methods], weights)]


def is_for_tuning(pair: Pair) -> bool:
    return hashlib.sha256(pair.query.encode()).digest()[0] % 2 == 0


def report(corpus: Corpus, pairs: Sequence[Pair], methods: dict[str, Method]) -> None:
    """Prints the table of docs/index.md: a row for each source and language, a cell for each method."""
    scores: dict[str, dict[str, list[Score]]] = defaultdict(lambda: defaultdict(list))
    seconds: dict[str, float] = defaultdict(float)
    for pair in pairs:
        for name, method in methods.items():
            began = time.perf_counter()
            score = score_of(corpus, pair, method(pair.query))
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
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for path, text in corpus.texts.items():
            (root / "tree" / path).parent.mkdir(parents=True, exist_ok=True)
            (root / "tree" / path).write_text(text, encoding="utf-8")
        (root / "words").mkdir()
        words = by_words(corpus, root / "words")
        methods = {"ripgrep": by_ripgrep(corpus, root / "tree"), "BM25": words}
        if find_spec("static_model") is not None:
            vectors = by_vectors(corpus, root)
            methods |= {"dense": vectors, "hybrid": by_both(words, vectors, weights=WEIGHTS)}
        report(corpus, pairs, methods)


def repository_name(folder: Path) -> str:
    """The name of the folder, or of the one around it if that says nothing."""
    name = folder.resolve().name.removesuffix(".git")
    return name if name not in ("repo", "") else folder.resolve().parent.name


if __name__ == "__main__":
    main()
