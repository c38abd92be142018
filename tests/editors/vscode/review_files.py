"""The files of the tests of review, as they are before each test."""

SHAPES = """import math


def area(radius):
    return 3 * radius * radius


def circle(radius):
    return math.tau * radius


def volume(radius):
    return 4 * radius * radius * radius
"""
SOLIDS = """def volume(side):
    return side * side * side


def perimeter(side):
    return 12 * side


def surface(side):
    return side * side * 6
"""
LONG = """TAX = 1.2


def total(items):
    found = []
    for item in items:
        price = item.price
        if item.reduced:
            price = price * 0.9
        if price > 0:
            found.append(price)
    return sum(found)


def taxed(value):
    return value * 1.2
"""
FILES = {"shapes.py": SHAPES, "solids.py": SOLIDS, "long.py": LONG}
