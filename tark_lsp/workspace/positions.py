"""Converts columns of LSP positions to code points and back, in the negotiated encoding (LSP 3.17, "Position")."""


def line_length(line: str) -> int:
    """The length of a line without its ending, in code points."""
    if line.endswith("\r\n"):
        return len(line) - 2
    return len(line) - 1 if line.endswith(("\n", "\r")) else len(line)


def from_client(line: str, units: int, encoding: str) -> int:
    """The column in code points. A column past the end of the line is its end, one inside a character its start."""
    length = line_length(line)
    if encoding == "utf-32" or line.isascii():
        return min(max(units, 0), length)
    for column in range(length):
        units -= _width(line[column], encoding)
        if units < 0:
            return column
    return length


def to_client(line: str, column: int, encoding: str) -> int:
    """The column in the client's units."""
    if encoding == "utf-32" or line.isascii():
        return column
    return sum(_width(character, encoding) for character in line[:column])


def _width(character: str, encoding: str) -> int:
    code = ord(character)
    if encoding == "utf-16":
        return 1 if code < 0x10000 else 2
    return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4
