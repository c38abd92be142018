"""Samples of all languages: a source in samples/, and what the index reads in it, one line for each value."""

from pathlib import Path
from typing import NamedTuple

from tark_lsp.index.model import ParsedFile
from tark_lsp.index.parsing import parse_file

FOLDER = Path(__file__).parent / "samples"


class Sample(NamedTuple):
    language: str
    file_name: str
    source: str
    read: str

    def reading(self) -> str:
        """What is read now, in the form of `read`."""
        return described(parse_file(self.file_name, self.source))


def samples() -> list[Sample]:
    return [_sample(path) for path in sorted(FOLDER.glob("*.txt"))]


def described(file: ParsedFile) -> str:
    definitions = (
        f"{one.start_line}-{one.end_line} {one.name_line}:{one.name_column} {one.kind} {one.qualified_name}"
        f" | {one.signature}"
        for one in file.definitions
    )
    imports = (f"{one.line} {one.module} {','.join(one.names)}".rstrip() for one in file.imports)
    references = (f"{one.line}:{one.column} {one.kind} {one.name} {one.inside}".rstrip() for one in file.references)
    lines = ["=== definitions", *definitions, "=== imports", *imports, "=== references", *references]
    return "\n".join(lines) + "\n"


def _sample(path: Path) -> Sample:
    file_name, _, rest = path.read_text(encoding="utf-8").partition("\n=== source\n")
    source, mark, read = rest.partition("=== definitions\n")
    return Sample(path.stem, file_name, source, mark + read)


if __name__ == "__main__":
    # Writes what is read now into the samples. Look at the diff: this is how a mistake becomes an expectation.
    for sample in samples():
        text = f"{sample.file_name}\n=== source\n{sample.source}{sample.reading()}"
        (FOLDER / f"{sample.language}.txt").write_text(text, encoding="utf-8")
