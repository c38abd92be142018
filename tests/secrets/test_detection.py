"""What counts as a secret in which text, and what does not."""

import re
import time

import pytest

from tark_lsp.secrets.detection import find_secrets
from tests.secrets.keys import anthropic_key, body_of, github_token, letters_and_digits, private_key

HEX = "9f86d081884c7d659a2feaa0c55ad015"
RANDOM = letters_and_digits(40, "random")


def secrets_of(text: str, *, every_value: bool = False) -> list[str]:
    return [text[one.start : one.end] for one in find_secrets(text, every_value=every_value)]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f'token = "{github_token()}"', github_token()),
        (f"curl -H 'x-api-key: {anthropic_key()}' https://x", anthropic_key()),
        (f"Authorization: Bearer {RANDOM}", RANDOM),
        (f"aws_secret_access_key = {RANDOM[:20]}/{RANDOM[21:]}", f"{RANDOM[:20]}/{RANDOM[21:]}"),
        (f'"clientSecret": "{HEX}"', HEX),
        (f"api_key={HEX}&x=1", HEX),
        (f"cloudflare_key: {HEX}", HEX),
        (f'datadog := "{HEX}"', HEX),
        ("DB_PASSWORD=corr3ct-h0rse!", "corr3ct-h0rse!"),
        ('password = "tr0ub4dor&3"', "tr0ub4dor&3"),
        (r'"source": "password = \"tr0ub4dor&3\""', "tr0ub4dor&3"),
        (rf'{{"x": "api_key: \"{HEX}\""}}', HEX),
        ("  password: s3cr3t-V4lue\n", "s3cr3t-V4lue"),
        ("postgres://app:" + "hV7pQ2x@db.internal/app", "hV7pQ2x"),
        ("İstanbul 'password': 'tr0ub4dor&3'", "tr0ub4dor&3"),  # its lower case is longer
        ("https://hooks.slack.com/services/" + RANDOM[:24] + "abcd1234ef12345678xyz9", None),
    ],
)
def test_a_secret_is_found(text: str, secret: str | None) -> None:
    (found,) = secrets_of(text)
    assert secret is None or found == secret


@pytest.mark.parametrize(
    "text",
    [
        "token = tokens[index2].value3(first_value4)",
        "password = getpass.getpass('Password: ')",
        'password = os.environ["DB_PASSWORD_2"]',
        "password: ${DB_PASSWORD_1}",
        'api_key = "your_api_key_1234567890"',
        "AKIA" + "IOSFODNN7EXAMPLE",
        "http://user:password@example.com",
        'token_type = "urn:ietf:params:oauth:token-type:saml2"',
        "sk-learn-something-with-many-words",
        f"commit {HEX}01234567",
        f'"integrity": "sha512-{RANDOM}{RANDOM}=="',
        f"sha256:{HEX}{HEX}",
        "session-0123456789ab turn-abcdef012345",
        "key = 'feature_flag_2024_v2_enabled'",
        "utf8_to_utf16le_v2_x86_64(secretary, tokenizer)",
        "id: 123e4567-e89b-12d3-a456-426614174000",
        "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
        "Write `-----BEGIN PRIVATE KEY-----`: the lines after it\nare the key itself. See docs/keys.md, please.\n",
        "[masked-secret:github-token:04a0d1da] password = [masked-secret:password:baa9c9ad]",
    ],
)
def test_what_is_no_secret_is_left_alone(text: str) -> None:
    assert secrets_of(text) == []


@pytest.mark.parametrize("before", ["", "+", "  ", "src/key.pem:12: ", "    12 ", "> "], ids=repr)
@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=repr)
def test_each_line_of_a_private_key_is_found(before: str, ending: str) -> None:
    key = private_key(ending=ending)
    text = "".join(f"{before}{line}" for line in key.splitlines(keepends=True))
    assert secrets_of(f"first\n{text}last line of the file\n") == body_of(key)


def test_a_private_key_in_a_string_is_one_secret() -> None:
    key = private_key().replace("\n", "\\n")
    (found,) = secrets_of(f'{{"private_key": "{key}", "id": 1}}')
    assert found.replace("\\n", "\n").splitlines() == body_of(private_key())


def test_a_private_key_with_fields_before_its_lines() -> None:
    head, *rest = private_key().splitlines(keepends=True)
    fields = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,9F86D081884C7D659A2FEAA0C55AD015\n\n"
    assert secrets_of("".join([head, fields, *rest])) == body_of(private_key())


def test_a_private_key_whose_end_is_missing() -> None:
    assert secrets_of("\n".join(private_key().splitlines()[:6])) == body_of(private_key())[:5]


def test_in_a_file_of_keys_every_value_counts() -> None:
    text = (
        "# comment=1234\nexport A=hello123\nPORT=3000\nDEBUG=true\nURL=https://example.org/x\nMODE=production\n"
        'B="two words"\nDB=postgres://me:pw12@host/x\nLOG=./logs/today\nPASSWORD=lowercase\nTOKEN_TTL=3600\nC=\n'
    )
    assert secrets_of(text, every_value=True) == ["hello123", "two words", "pw12", "lowercase"]
    assert secrets_of(text) == ["pw12"]  # the password of a URL, as in any text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("machine github.com login me password hunter", "hunter"),
        ("localhost:5432:app:me:hunter", "hunter"),
        ("me:$apr1$x$yz", "$apr1$x$yz"),
        ("hvs-0123456789abcdef", "hvs-0123456789abcdef"),
    ],
)
def test_other_files_of_keys(text: str, secret: str) -> None:
    assert secret in "".join(secrets_of(text, every_value=True))


@pytest.mark.parametrize(
    "text",
    [
        "a1" * 100_000,
        "token" * 40_000,
        "password=" * 20_000,
        "://a:" * 40_000,
        "sk-" * 60_000,
        "eyA1234567890123." * 10_000,
        "-----BEGIN PRIVATE KEY-----\n" * 5_000,
        ("x" * 63 + "\n") * 3_000,
        "1234567890123456_" * 10_000,
        '"' * 200_000,
        "ey-1" * 60_000,
        ("ey-1" * 4_000 + " ") * 15,
        "SG.a1-" * 40_000,
        "pscale_a1_t1.-FLWSECK" * 10_000,
        "token = '" + ":" * 110 + "!1'\n" + "token = '" + "a1." * 35 + "!'\n",
        "-----BEGIN PRIVATE KEY-----\n" + ("+" * 490 + "!\n") * 300,
        ("-----BEGIN PRIVATE KEY-----\n" + "\n" * 300) * 100,
    ],
    ids=lambda text: re.sub(r"\s", " ", text[:20]),
)
def test_no_text_takes_long(text: str) -> None:
    """Quadratic time would take minutes."""
    began = time.process_time()
    find_secrets(text, every_value=True)
    assert time.process_time() - began < 5
