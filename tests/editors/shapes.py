"""The file the scripted model works on, and what its edits make of it (scenario.toml)."""

AREA = "    return math.pi * radius**2\n"
NEW_AREA = "    return math.tau / 2 * radius**2\n"
VOLUME = "    return 4 / 3 * math.pi * radius**3\n"
NEW_VOLUME = "    return 2 / 3 * math.tau * radius**3\n"
DOCSTRING = '    """Give the area of a circle."""\n'

HEAD = "def area(radius):\n"
FUNCTION = HEAD + AREA

SHAPES = f'''\
"""Round things, with a 🥧 in them."""

import math


{FUNCTION}

# Between the two functions stand enough lines
# that their edits are hunks of their own.
# One more.
# And the last.


def volume(radius):
{VOLUME}

print(area(1), volume(1))
'''

CUBE = "    return side * side * side\n"
NEW_CUBE = "    return side**3\n"
FACES = "    return side * side * 6\n"
NEW_FACES = "    return 6 * side**2\n"

SOLIDS = f"""\
def cube(side):
{CUBE}

# Between the two functions stand enough lines
# that their edits are hunks of their own.
# One more.
# And the last.


def faces(side):
{FACES}"""
