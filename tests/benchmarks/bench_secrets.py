"""How fast secrets are masked, in megabytes a second.

    python -m tests.benchmarks.bench_secrets [FOLDER ...]

Goal: at least 20 MB/s on source text. The peer is the table of keys as one regular expression, which finds neither
passwords nor private keys. Without folders: this project, and the packages that it is installed with.
"""

import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import tark_lsp
from tark_lsp.secrets.detection import find_secrets
from tark_lsp.secrets.masks import SecretMasks
from tark_lsp.secrets.shapes import key_pattern
from tests.secrets.keys import github_token, letters_and_digits, private_key

SUFFIXES = frozenset({".py", ".md", ".ts", ".js", ".json", ".toml", ".lua", ".html", ".txt"})
LARGEST, MOST_BYTES = 2_000_000, 20_000_000


def texts_of(folder: Path) -> Iterator[str]:
    size = 0
    for path in sorted(folder.rglob("*")):
        if path.suffix in SUFFIXES and path.is_file() and path.stat().st_size < LARGEST and size < MOST_BYTES:
            text = path.read_text(encoding="utf-8", errors="replace")
            size += len(text)
            yield text


def speed(work: Callable[[str], object], texts: list[str]) -> float:
    """In millions of characters for a second of the processor."""
    started = time.process_time()
    for text in texts:
        work(text)
    return sum(map(len, texts)) / 1e6 / (time.process_time() - started)


def main(folders: list[Path]) -> None:
    for folder in folders:
        texts = list(texts_of(folder))
        size = sum(map(len, texts)) / 1e6
        found = sum(len(find_secrets(text)) for text in texts)
        masks = SecretMasks()
        rates = {
            "find": speed(find_secrets, texts),
            "mask": speed(masks.mask_text, texts),
            "keys only": speed(lambda text: key_pattern().findall(text), texts),
        }
        told = "   ".join(f"{name} {rate:.1f} MB/s" for name, rate in rates.items())
        print(f"{folder.name}: {size:.1f} MB, {found} found ({found / size:.2f} a MB)   {told}")
    dense = "".join(f"key_{n} = '{github_token(n)}'\nx_{n} = f({n})\n" for n in range(2_000)) + private_key(2_000)
    print(f"a secret in every line: {speed(lambda text: SecretMasks().mask_text(text), [dense]):.1f} MB/s")
    known = SecretMasks(known=[letters_and_digits(20, n) for n in range(500)])
    print(f"500 known values: {speed(known.mask_text, list(texts_of(folders[0]))):.1f} MB/s")


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]] or [Path(tark_lsp.__file__).parent, Path(sysconfig.get_path("purelib"))])
