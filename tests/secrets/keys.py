"""Secrets for tests: made up, and put together at run time, so that no scanner takes a test for a leak."""

import base64
from random import Random
from string import ascii_letters, digits


def letters_and_digits(length: int, seed: object) -> str:
    return "".join(Random(repr(seed)).choices(ascii_letters + digits, k=length))


def github_token(seed: object = 0) -> str:
    return "gh" + "p_" + letters_and_digits(36, seed)


def anthropic_key(seed: object = 0) -> str:
    return "sk-" + "ant-api03-" + letters_and_digits(93, seed) + "AA"


def private_key(lines: int = 12, seed: object = 0, ending: str = "\n") -> str:
    """In PEM format, with lines as long as openssl makes them."""
    data = base64.b64encode(Random(repr(seed)).randbytes(48 * lines - 20)).decode()
    body = [data[at : at + 64] for at in range(0, len(data), 64)]
    kind = "RSA PRIVATE " + "KEY"
    return ending.join([f"-----BEGIN {kind}-----", *body, f"-----END {kind}-----", ""])


def body_of(key: str) -> list[str]:
    """The lines of a private key that are secret."""
    return key.splitlines()[1:-1]
