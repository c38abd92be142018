from pathlib import Path

import pytest

from tests.index.building import write

SHAPES = '''\
"""Shapes of the plane."""
import math


class Circle:
    def area(self):
        return squared(self.radius) * math.pi


def squared(number):
    return number * number
'''
STORAGE = "import { open } from './files';\n\nexport function storePicture(name: string) {\n  return open(name);\n}\n"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A workspace folder with a few files."""
    folder = tmp_path / "work"
    write(folder, {"shapes.py": SHAPES, "web/storage.ts": STORAGE, "notes.txt": "Remember to water the geraniums.\n"})
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"
