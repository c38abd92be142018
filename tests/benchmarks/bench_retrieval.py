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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

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
