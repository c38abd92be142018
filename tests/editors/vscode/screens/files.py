"""The files of the window in the pictures, in addition to the demo project."""

from pathlib import Path

BASKET = '''"""The basket of a small shop."""

from .prices import Things, total


def cheap(things: Things) -> list[int]:
    """Cheap things, lowest first."""
    found = []
    for thing in things:
        price = thing["price"]
        if thing.get("reduced"):
            price = price // 2
        if price < 1000:
            found.append(price)
    return sorted(found)


def with_tax(prices: list[int]) -> float:
    """What the basket costs with tax."""
    return total(prices) * 1.2
'''
CATALOGUE = """{
  "tea": 450,
  "cup": 900,
  "tea": 500
}
"""
FILES = {"shop/basket.py": BASKET, "shop/catalogue.json": CATALOGUE, "AGENTS.md": "Prices are in cents.\n"}


def write_files(folder: Path) -> None:
    for name, text in FILES.items():
        (folder / name).write_text(text)
