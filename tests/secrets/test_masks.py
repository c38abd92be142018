"""The tokens that replace secrets: one for each, the same everywhere, and exactly undone in the same file."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.secrets import masks
from tark_lsp.secrets.masks import SecretMasks
from tark_lsp.secrets.tokens import MARK, TOKEN, UnknownToken
from tests.secrets.keys import anthropic_key, body_of, github_token, private_key

FILE, OTHER = Path("/w/settings.py"), Path("/w/other.py")
KEY = b"k" * 32
TEXT = f'a = 1\ntoken = "{github_token()}"\nagain = "{github_token()}"\nother = "{anthropic_key()}"\n'


def tokens_of(text: str) -> list[str]:
    return [found[0] for found in TOKEN.finditer(text)]


def test_each_secret_has_one_token_everywhere() -> None:
    made = SecretMasks(KEY)
    masked = made.mask_file(FILE, TEXT).text
    first, again, other = tokens_of(masked)
    assert first == again != other
    assert github_token() not in masked
    assert anthropic_key() not in masked
    assert tokens_of(made.mask_text(f"$ echo {github_token()}")) == [first]
    assert tokens_of(SecretMasks(KEY).mask_file(OTHER, TEXT).text) == [first, again, other]
    assert tokens_of(SecretMasks(b"x" * 32).mask_file(FILE, TEXT).text)[0] != first


def test_masked_text_is_not_masked_again() -> None:
    made = SecretMasks(KEY)
    masked = made.mask_file(FILE, f"{TEXT}password = '{github_token(1)}'\n").text
    assert made.mask_text(masked) == masked
    assert SecretMasks(KEY).mask_text(masked) == masked


def test_a_private_key_keeps_its_lines() -> None:
    key = private_key()
    text = f"first\n{key}last\n"
    masked = SecretMasks(KEY).mask_file(FILE, text).text
    assert masked.count("\n") == text.count("\n")
    ids = [TOKEN.fullmatch(token)["id"] for token in tokens_of(masked)]  # type: ignore[index]  # they all match
    assert [id_.partition(".")[2] for id_ in ids] == [str(number + 1) for number in range(len(body_of(key)))]
    assert len({id_.partition(".")[0] for id_ in ids}) == 1
    assert not any(line in masked for line in body_of(key))


def test_a_part_of_a_known_private_key_is_masked() -> None:
    made = SecretMasks(KEY)
    whole = made.mask_file(FILE, private_key()).text
    some = "\n".join(body_of(private_key())[3:6])
    assert made.mask_text(f"path:4: {some}\n") == "path:4: " + "\n".join(whole.splitlines()[4:7]) + "\n"


def test_a_value_that_was_found_once_is_masked_where_no_name_is_before_it() -> None:
    made = SecretMasks(KEY, ["environment value 1"])
    assert "tr0ub4dor&3" in made.mask_text("connect('tr0ub4dor&3')")
    made.mask_text("password = 'tr0ub4dor&3'")
    assert "tr0ub4dor&3" not in made.mask_text("connect('tr0ub4dor&3')")
    assert "environment value 1" not in made.mask_text("It is environment value 1.")


@pytest.mark.parametrize("known", [False, True], ids=["restarted", "same"])
def test_a_file_is_restored_exactly(known: bool) -> None:
    for text in (
        TEXT,
        private_key(),
        private_key(ending="\r\n"),
        f"x: '{private_key().replace(chr(10), chr(92) + 'n')}'",
    ):
        made = SecretMasks(KEY)
        masked = made.mask_file(FILE, text).text
        assert masked != text
        again = made if known else SecretMasks(KEY)
        assert again.restore(FILE, masked, text) == text


def test_a_secret_that_an_edit_removed_can_be_put_back() -> None:
    made = SecretMasks(KEY)
    token = tokens_of(made.mask_file(FILE, TEXT).text)[0]
    assert made.restore(FILE, f"x = '{token}'", "a = 1\n") == f"x = '{github_token()}'"


@pytest.mark.parametrize(
    "change",
    [
        lambda token: token,  # of another file
        lambda token: token[:-3] + "]",
        lambda token: token[:-1],
        lambda token: token.upper(),
        lambda token: token.replace("github-token:", ""),
        lambda token: token.replace("]", "0]"),
        lambda _: "[masked-secret:github-token:00000000]",
        lambda _: "[masked-secret]",
    ],
)
def test_a_token_that_stands_for_nothing_is_refused(change: object) -> None:
    assert callable(change)
    made = SecretMasks(KEY)
    token = tokens_of(made.mask_file(FILE, TEXT).text)[0]
    path = OTHER if change(token) == token else FILE
    with pytest.raises(UnknownToken):
        made.restore(path, f"x = '{change(token)}'\n", "a = 1\n")


def test_the_text_of_a_token_that_stands_in_the_file_stays() -> None:
    """In a file about tokens, of another session, or with a token of its own secret."""
    made = SecretMasks(KEY)
    own = tokens_of(made.mask_file(FILE, TEXT).text)[0]
    for literal in ("[masked-secret:github-token:00000000]", "[masked-secret...]", own):
        text = f"{TEXT}# it shows {literal}\n"
        fresh = SecretMasks(KEY)
        masked = fresh.mask_file(FILE, text).text
        assert fresh.restore(FILE, masked, text) == text
        assert SecretMasks(KEY).restore(FILE, masked, text) == text


def test_ids_that_would_be_equal_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masks, "ID_DIGITS", 8)
    monkeypatch.setattr(
        SecretMasks, "_id_of", lambda _, whole, _part, digits: ("0" * 8 + whole[-8:].encode().hex())[:digits]
    )
    text = f'a = "{github_token(1)}"\nb = "{github_token(2)}"\n'
    made = SecretMasks(KEY)
    masked = made.mask_file(FILE, text).text
    assert len(set(tokens_of(masked))) == 2
    assert made.restore(FILE, masked, text) == text


def test_an_allowed_file_shows_its_secrets_everywhere() -> None:
    made = SecretMasks(KEY)
    assert made.mask_file(FILE, TEXT, shown=True).text == TEXT
    assert made.mask_text(TEXT) == TEXT
    assert made.restore(FILE, TEXT, TEXT) == TEXT


def test_places_of_the_original_in_the_masked_text() -> None:
    text = f"a {github_token()} d"
    masked = SecretMasks(KEY).mask_file(FILE, text)
    (token,) = tokens_of(masked.text)
    size = len(github_token())
    for start, end, expected in (
        (0, 2, "a "),
        (2, 2 + size, token),
        (2, 10, token),
        (10, 12, token),
        (10, len(text), f"{token} d"),
        (2 + size, len(text), " d"),
        (0, len(text), masked.text),
        (2, 2, ""),
    ):
        begin, stop = masked.place_of(start, end)
        assert masked.text[begin:stop] == expected, (start, end)


PIECES = st.sampled_from(
    [
        github_token(),
        github_token(1),
        "[masked-secret:github-token:04a0d1da]",
        f"{MARK} ",
        "password = 'tr0ub4dor&3'",
        f"\n{private_key(4)}",
        "\n",
        "\r\n",
        " x = ",
        '"',
        "İ",
        "é\u2028",
        "token=",
        " ",
    ]
)


@given(st.lists(PIECES, max_size=12).map("".join), st.booleans())
def test_whatever_the_text_masking_is_undone(text: str, every_value: bool) -> None:
    made = SecretMasks(KEY)
    masked = made.mask_file(FILE, text, every_value=every_value)
    assert made.restore(FILE, masked.text, text, every_value=every_value) == text
    assert len(re.findall(r"[\r\n]", text)) == len(re.findall(r"[\r\n]", masked.text))
    assert github_token() not in masked.text
    whole = masked.place_of(0, len(text))
    assert masked.text[slice(*whole)] == masked.text


@given(st.lists(PIECES, max_size=12).map("".join))
def test_whatever_the_text_a_result_is_masked_once(text: str) -> None:
    made = SecretMasks(KEY)
    once = made.mask_text(text)
    assert made.mask_text(once) == once
    assert github_token() not in once
