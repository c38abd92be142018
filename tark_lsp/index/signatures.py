"""The signature of a definition, on one line."""

import re

from tree_sitter import Node

from tark_lsp.index.source import Source

LONGEST = 300
"""Characters of a signature."""

BEFORE = frozenset(
    {"decorator", "annotation", "marker_annotation", "attribute_item", "attribute_list", "attribute", "comment"}
)
"""Nodes that can precede the head of a definition."""
MODIFIERS = frozenset({"modifiers", "modifier"})

BODIES = (
    "body",
    "block",
    "declaration_list",
    "compound_statement",
    "field_declaration_list",
    "enumerator_list",
    "enum_variant_list",
)
"""How the types of nodes that are bodies end."""
AROUND_BODIES = ("value", "right", "type")
"""Fields of a definition that can contain the body, such as the function in `const area = () => {...}`."""

WORDS = re.compile(r"[\w <>]*")
BODY_STARTS = re.compile(r"[\s:={]+\Z")


def first_byte(node: Node) -> int:
    """The first byte after decorators, annotations and attributes."""
    for child in node.children:
        if child.type in BEFORE:
            continue
        if child.type in MODIFIERS and child.child_count and child.children[0].type in BEFORE:
            after = next((part for part in child.children if part.type not in BEFORE), None)
            if after is None:
                continue
            return after.start_byte
        return child.start_byte
    return node.start_byte


def signature(source: Source, node: Node, start: int, name: int, *, is_value: bool) -> str:
    """The text from `start` to the body, which is after the byte `name`. For a value, only the first line.

    Words before it on the same line are included: `export`, `static`.
    """
    before = source.before_on_line(start).lstrip()
    body = None if is_value else _body(node, name)
    end = min(body.start_byte if body is not None else node.end_byte, start + 4 * LONGEST)
    text = source.between(start, end)
    if is_value:
        text = text.partition("\n")[0]
    text = (before if WORDS.fullmatch(before) else "") + text
    head = BODY_STARTS.sub("", " ".join(text.split())) if body is not None else " ".join(text.split())
    return head[:LONGEST].rstrip("; ")


def _body(node: Node, name: int) -> Node | None:
    for around in (node, *map(node.child_by_field_name, AROUND_BODIES)):
        if around is None:
            continue
        body = around.child_by_field_name("body")
        if body is None:
            body = next((child for child in around.children if child.type.endswith(BODIES)), None)
        if body is not None and body.start_byte > name:
            return body
    return None
