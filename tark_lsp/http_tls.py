"""The certificates that the HTTP client trusts, and its own certificate: both from the environment (docs/keys.md)."""

import os
import ssl
from collections.abc import Callable
from pathlib import Path

from tark_lsp.errors import SettingsError

CLIENT_CERTIFICATE, CLIENT_KEY = "TARK_CLIENT_CERT", "TARK_CLIENT_KEY"


def make_tls_context(create: Callable[[], ssl.SSLContext], *, client_certificate: bool = True) -> ssl.SSLContext:
    """`create` reads SSL_CERT_FILE and SSL_CERT_DIR. Raises SettingsError, which names the variable and the file."""
    if trusted := os.environ.get("SSL_CERT_FILE"):
        _readable("SSL_CERT_FILE", trusted)
    elif (folder := os.environ.get("SSL_CERT_DIR")) and not Path(folder).is_dir():
        raise SettingsError(f"SSL_CERT_DIR is {folder}, which is not a folder", hint="set it to a folder, or unset it")
    try:
        context = create()
    except ssl.SSLError as error:
        raise SettingsError(
            f"SSL_CERT_FILE is {trusted}, which contains no certificates: {error.reason or error}",
            hint="set it to a file of PEM certificates",
        ) from error
    if not client_certificate:
        return context
    certificate, key = os.environ.get(CLIENT_CERTIFICATE), os.environ.get(CLIENT_KEY)
    if certificate:
        _load_client_certificate(context, certificate, key or None)
    elif key:
        raise SettingsError(f"{CLIENT_KEY} is set without {CLIENT_CERTIFICATE}", hint=f"set {CLIENT_CERTIFICATE} too")
    return context


def _load_client_certificate(context: ssl.SSLContext, certificate: str, key: str | None) -> None:
    _readable(CLIENT_CERTIFICATE, certificate)
    if key:
        _readable(CLIENT_KEY, key)

    def password() -> str:  # otherwise OpenSSL would ask at the terminal
        hint = "remove it with `openssl pkey -in KEY -out NEW`, and keep the new file private"
        raise SettingsError(f"the client key in {key or certificate} has a password", hint=hint)

    try:
        context.load_cert_chain(certificate, key, password)
    except ssl.SSLError as error:
        where = f"{CLIENT_CERTIFICATE} and {CLIENT_KEY} are" if key else f"{CLIENT_CERTIFICATE} is"
        message = f"{where} not a matching PEM certificate and key: {error.reason or error}"
        hint = f"check {' and '.join(filter(None, (certificate, key)))}"
        raise SettingsError(message, hint=hint) from error


def _readable(variable: str, path: str) -> None:
    try:
        Path(path).open("rb").close()
    except OSError as error:
        hint = f"correct {variable}, or unset it"
        raise SettingsError(f"{variable} is {path}, which cannot be read: {error.strerror}", hint=hint) from error
